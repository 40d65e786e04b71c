#!/usr/bin/env bash
# Makes sure that pods can truly run on this machine, for the cluster tests that need a node.
#
# A kubelet needs a container runtime, network plugins and the kernel's packet filter; images are built without any engine.
# As root on Debian or Ubuntu what is missing is installed; elsewhere this says what, and those tests say that they are
# skipped. It never fails for that: all other tests run without. When all is there it takes milliseconds.
set -euo pipefail

# Debian puts some of these outside the PATH of ordinary people.
PATH="$PATH:/usr/sbin:/sbin"
# What is called, and the Debian package that brings it.
tools=(
  containerd:containerd ctr:containerd containerd-shim-runc-v2:containerd runc:runc
  conntrack:conntrack iptables:iptables iptables-save:iptables ip:iproute2
  buildah:buildah cc:gcc setpriv:util-linux
)

missing() {
  local pair
  for pair in "${tools[@]}"; do command -v "${pair%%:*}" >/dev/null || echo "${pair##*:}"; done
  # The plugins lie where containerd looks for them on Debian, or where others put them.
  [ -x /usr/lib/cni/bridge ] || [ -x /opt/cni/bin/bridge ] || echo containernetworking-plugins
  # cc alone compiles nothing static.
  [ -e /usr/include/stdio.h ] || echo libc6-dev
}
mapfile -t packages < <(missing | sort -u)

if [ "$(uname -s)" != Linux ]; then
  echo "note: pods truly run on Linux only; the tests that need them are skipped here" >&2
elif [ "$(id -u)" != 0 ]; then
  echo "note: a node is started by root only; the tests that need one are skipped for $(id -un)${packages:+ (and install: ${packages[*]})}" >&2
elif [ ${#packages[@]} -eq 0 ]; then
  exit 0
elif command -v apt-get >/dev/null; then
  echo "Installing ${packages[*]} with apt-get, so that pods of the tests truly run." >&2
  apt-get update -qq >&2
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${packages[@]}" >&2
else
  echo "note: ${packages[*]} is missing (Debian's names); the tests that need pods that run are skipped" >&2
fi
