#!/usr/bin/env bash
# Measures the planner beside CP-SAT on the seeded families, and beside list scheduling on the Philly trace.
# STAGGER_SOLVER names the folder of the instance generator (default ../shared/solver), STAGGER_DATA that of the traces.
# Arguments go to benches/compare.py, for instance: --seeds 3 --families n500_l95,n500_l60
set -euo pipefail
cd "$(dirname "$0")/.."
generator=${STAGGER_SOLVER:-../shared/solver}
if [ ! -f "$generator/gen.py" ]; then
  echo "SKIPPED: no instance generator in $generator (set STAGGER_SOLVER)" >&2
  exit 0
fi
cache=${XDG_CACHE_HOME:-$HOME/.cache}/stagger/venv-$(sha256sum benches/requirements.txt | cut -c1-12)
if [ ! -x "$cache/bin/python" ]; then
  python3 -m venv "$cache.new"
  "$cache.new/bin/pip" install --quiet -r benches/requirements.txt
  mv "$cache.new" "$cache"
fi
binary=$(cargo bench --no-run --bench plan 2>&1 | tee /dev/stderr | sed -nE 's/.*Executable .*\((.*)\)$/\1/p' | tail -n 1)
"$cache/bin/python" benches/compare.py "$binary" "$generator" "$@"
cargo bench --bench philly
