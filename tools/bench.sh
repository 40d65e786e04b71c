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
python=$(tools/venv.sh)
binary=$(cargo bench --no-run --bench plan 2>&1 | tee /dev/stderr | sed -nE 's/.*Executable .*\((.*)\)$/\1/p' | tail -n 1)
"$python" benches/compare.py "$binary" "$generator" "$@"
cargo bench --bench philly
