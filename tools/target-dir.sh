#!/usr/bin/env bash
# Prints the target folder that all clones of this project on this machine share.
#
# Its name is a checksum of what decides how dependencies are compiled: Cargo.lock, the toolchain and the profiles.
# A fresh clone of the same commit therefore finds the solver's C++ already compiled. Cargo itself checks what is
# stale inside, so two different inputs with one checksum would cost time, not correctness.
set -euo pipefail
cd "$(dirname "$0")/.."

root="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/stagger"
key=$({ cat Cargo.lock rust-toolchain.toml; sed -n '/^\[features\]/,/^\[/p; /^\[profile/,/^$/p' Cargo.toml; } | cksum | tr -d ' \n')
folder="$root/target-$key"
mkdir -p "$folder"
touch "$folder"

# Old folders are several gigabytes each. Two are kept: this commit's and the one before a change of dependencies.
ls -1dt "$root"/target-*/ | tail -n +3 | while read -r old; do rm -rf "$old"; done

# Each clone leaves its own incremental state behind, keyed by its path. What nobody touched for a week is dropped.
if [ -d "$folder/release/incremental" ]; then
  find "$folder/release/incremental" -mindepth 1 -maxdepth 1 -mtime +7 -exec rm -rf {} +
fi

echo "$folder"
