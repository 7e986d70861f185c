#!/usr/bin/env bash
# Files compiled for AVX2 and AVX-512 must not share a function with other files: the linker keeps one of
# several copies, and a processor without these units could get theirs.
#
# usage: tests/lint/vector_units_test.sh libcorun_models.a
set -euo pipefail

seen=0
for unit in kernels_avx2 kernels_avx512; do
  symbols=$(nm -C "$1" 2>/dev/null | awk -v unit="$unit.cpp.o:" '
    /:$/ { here = ($1 == unit) } here && ($2 ~ /^[WVu]$/)')
  members=$(nm "$1" 2>/dev/null | grep -c "^$unit.cpp.o:" || true)
  [[ $members -eq 1 ]] || { echo "no $unit in $1"; exit 1; }
  seen=$((seen + 1))
  if [[ -n $symbols ]]; then
    printf '%s shares these with other files:\n%s\n' "$unit" "$symbols"
    exit 1
  fi
done
echo "$seen vector units, nothing shared"
