#!/usr/bin/env bash
# Builds an image of one binary and writes it to an archive that `ctr images import`, `podman load` and `docker load` read.
#
#   tools/image.sh NAME ARCHIVE CONTAINERFILE BINARY
#
# Needs buildah, but no engine, no daemon and no registry; nothing stays behind but the archive. What is shipped is static. A
# binary that is not gets its libraries beside it, so that an everyday build can be tried in a cluster.
set -euo pipefail

[ $# = 4 ] || { echo "usage: tools/image.sh NAME ARCHIVE CONTAINERFILE BINARY" >&2; exit 2; }
name=$1 archive=$2 containerfile=$3 binary=$4

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/context"
cp "$binary" "$work/context/"
cp "$containerfile" "$work/Containerfile"
strip --strip-debug "$work/context/$(basename "$binary")" 2>/dev/null || true

mapfile -t libraries < <(ldd "$binary" 2>/dev/null | grep -oE '/[^ ]+' | sort -u || true)
if [ ${#libraries[@]} -gt 0 ]; then
  for library in "${libraries[@]}"; do
    mkdir -p "$work/context/libraries$(dirname "$library")"
    cp -L "$library" "$work/context/libraries$library"
  done
  echo "COPY libraries/ /" >>"$work/Containerfile"
fi

build=(buildah --root "$work/root" --runroot "$work/run" --storage-driver vfs)
"${build[@]}" bud --quiet --isolation chroot --tag "$name" --file "$work/Containerfile" "$work/context" >/dev/null
rm -f "$archive"
"${build[@]}" push --quiet "$name" "docker-archive:$archive:$name"
