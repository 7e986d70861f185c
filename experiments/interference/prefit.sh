#!/usr/bin/env bash
# Makes the model that comes with corun, models/prefitted/corun.model, from the papers' tables and Gavel's (NOTICE).
# docs/models.md says why from these. Give another file to write to, e.g. to compare.
#   CORUN_DATA=DIR experiments/interference/prefit.sh [OUT]      CORUN=PROGRAM: another build
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd)
"${CORUN:-$root/build/release/corun}" model fit --model gp --seed 1 \
  --pairs papers \
  --pairs coruns/gavel2019_v100_pairs.csv --pairs coruns/gavel2019_k80_pairs.csv \
  --pairs gavel/gavel_p100_pairs.csv --pairs gavel/gavel_k80_pairs.csv \
  --out "${1:-$root/models/prefitted/corun.model}" --force
