#!/usr/bin/env bash
# Builds the control plane that the cluster tests start, and prints its folder: etcd, the parts of Kubernetes, Kueue, KWOK
# and cert-manager as `bin/`, the manifests they bring as `manifests/`.
#
# Everything is compiled from Go modules at the versions that tests/controlplane/*/go.sum pin. Each part lies in a cache
# folder of its own, named by a checksum of its module files and this script's recipe for it, so a machine compiles a part
# once for all clones. A part is built beside its place and moved there whole: an interrupted build leaves nothing half done.
#
# With STAGGER_TEST_KUBERNETES=next the API server of the next Kubernetes is built too, which the tests then start instead.
set -euo pipefail
cd "$(dirname "$0")/.."

source=tests/controlplane
root="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/stagger/controlplane"
mkdir -p "$root"
# Two test runs on one new machine: the second waits instead of compiling the same.
exec 9>"$root/lock"
flock 9

kubernetes=v1.35.4
kubernetes_next=v1.36.3
kueue=v0.17.0

if ! command -v go >/dev/null; then
  echo "error: the control plane of the cluster tests is compiled with Go, and there is no \`go\` on the PATH (https://go.dev/doc/install)" >&2
  exit 1
fi

key() { { cat "$source/$1"/*; declare -f "build_$1"; } | sha256sum | cut -c1-12; }

# The folder of a module of the build list of part $1, with its files present.
module() { (cd "$source/$1" && go mod download "$2" && go list -m -f '{{.Dir}}' "$2"); }

build_etcd() {
  (cd "$source/etcd" && go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$1/bin/etcd" .)
}

build_kubernetes() {
  local version="-X k8s.io/component-base/version.gitVersion=$kubernetes -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=35"
  (cd "$source/kubernetes" && go build -buildvcs=false -trimpath -ldflags "-s -w $version" -o "$1/bin/kubernetes" .)
  local name
  for name in kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy; do ln -s kubernetes "$1/bin/$name"; done
}

build_kubernetes-next() {
  local version="-X k8s.io/component-base/version.gitVersion=$kubernetes_next -X k8s.io/component-base/version.gitMajor=1 -X k8s.io/component-base/version.gitMinor=36"
  (cd "$source/kubernetes-next" && go build -buildvcs=false -trimpath -ldflags "-s -w $version" -o "$1/bin/kube-apiserver" .)
}

build_kueue() {
  (cd "$source/kueue" && go build -buildvcs=false -trimpath -ldflags "-s -w -X sigs.k8s.io/kueue/pkg/version.GitVersion=$kueue" -o "$1/bin/kueue" sigs.k8s.io/kueue/cmd/kueue)
  local from; from=$(module kueue sigs.k8s.io/kueue)
  mkdir -p "$1/manifests"
  cp -r "$from/config/components/crd/bases" "$1/manifests/crds"
  cp "$from/config/components/webhook/manifests.yaml" "$1/manifests/webhooks.yaml"
  cp -r "$from/config/components/rbac" "$1/manifests/rbac"
  from=$(module kueue sigs.k8s.io/jobset)
  cp -r "$from/config/components/crd/bases" "$1/manifests/jobset"
  chmod -R u+w "$1/manifests"
}

build_kwok() {
  (cd "$source/kwok" && go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$1/bin/kwok" sigs.k8s.io/kwok/cmd/kwok)
  local from; from=$(module kwok sigs.k8s.io/kwok)
  mkdir -p "$1/manifests"
  cp -r "$from/kustomize/crd" "$1/manifests/crd"
  cp -r "$from/kustomize/stage" "$1/manifests/stage"
  chmod -R u+w "$1/manifests"
}

# After Kubernetes, whose libraries it shares at the same versions: then two minutes are enough.
build_cert-manager() {
  (cd "$source/cert-manager" && go build -buildvcs=false -trimpath -ldflags '-s -w' -o "$1/bin/cert-manager" .)
  local from; from=$(module cert-manager github.com/cert-manager/cert-manager)
  mkdir -p "$1/manifests"
  cp -r "$from/deploy/crds" "$1/manifests/crds"
  chmod -R u+w "$1/manifests"
  rm "$1/manifests/crds/README.md"
}

parts=(etcd kubernetes kueue kwok cert-manager)
case ${STAGGER_TEST_KUBERNETES:-} in
  '') ;;
  next) parts+=(kubernetes-next) ;;
  *) echo "error: STAGGER_TEST_KUBERNETES is \`$STAGGER_TEST_KUBERNETES\`; expected \`next\` or nothing" >&2; exit 2 ;;
esac
for part in "${parts[@]}"; do
  folder="$root/$part-$(key "$part")"
  if [ ! -e "$folder/bin" ]; then
    echo "building $part of the test control plane (once per machine)" >&2
    new=$(mktemp -d "$root/new-$part-XXXXXX")
    mkdir "$new/bin"
    "build_$part" "$new"
    if ! mv -T "$new" "$folder" 2>/dev/null; then rm -rf "$new"; fi # another clone was faster
    ls -1dt "$root/$part"-????????????/ | tail -n +3 | xargs -r rm -rf
  fi
  touch "$folder"
  echo "$part=$folder"
done
