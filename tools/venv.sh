#!/usr/bin/env bash
# Prints the Python of a virtual environment that holds what benches/requirements.txt pins, and makes it first where it
# is not there yet: once per machine and set of requirements, in the user's cache.
#
# Ends with 3 where no Python can make one; everything else that goes wrong is an error.
set -euo pipefail
cd "$(dirname "$0")/.."

root="${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/stagger"
venv="$root/venv-$(cksum < benches/requirements.txt | tr -d ' \n')"

if [ ! -x "$venv/bin/python" ]; then
  able() { command -v python3 >/dev/null && python3 -c 'import ensurepip, venv' 2>/dev/null; }
  # Debian ships Python without what makes virtual environments.
  if ! able && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
    { apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends python3-venv; } >&2 || true
  fi
  if ! able; then
    echo "no python3 that can make a virtual environment (Debian, Ubuntu: apt-get install python3-venv)" >&2
    exit 3
  fi
  mkdir -p "$root"
  # Made beside its place and moved there, so that nobody ever sees half of one.
  fresh=$(mktemp -d "$venv.XXXXXX")
  trap 'rm -rf "$fresh"' EXIT
  echo "Making a virtual environment of benches/requirements.txt in $venv" >&2
  python3 -m venv "$fresh" >&2
  "$fresh/bin/pip" install --quiet --disable-pip-version-check -r benches/requirements.txt >&2
  [ -e "$venv" ] || mv "$fresh" "$venv"
fi

echo "$venv/bin/python"
