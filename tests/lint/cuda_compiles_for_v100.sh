#!/usr/bin/env bash
# Compiles every .cu for sm_70 (V100):  cuda_compiles_for_v100.sh NVCC
# With nvcc if it still supports that GPU (toolkit 12), else with clang++-19 and the headers of toolkit 13.
# Exit code 77: neither is installed.
set -euo pipefail

nvcc=$1
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

if "$nvcc" --list-gpu-code | grep -qx sm_70; then
  compile() { "$nvcc" -std=c++20 -arch=sm_70 -fmad=false -I "$root" -ptx "$1" -o "$2"; }
elif command -v clang++-19 >/dev/null; then
  # Toolkit 13 lacks this header, but clang still includes it.
  touch "$work/texture_fetch_functions.h"
  toolkit=$(dirname -- "$(dirname -- "$(readlink -f -- "$nvcc")")")
  compile() {
    clang++-19 -x cuda --cuda-path="$toolkit" --cuda-gpu-arch=sm_70 --cuda-device-only -std=c++20 \
      -Wno-unknown-cuda-version -ffp-contract=off -I "$work" -I "$root" -S "$1" -o "$2"
  }
else
  echo "neither an nvcc with sm_70 nor clang++-19 is here"
  exit 77
fi

count=0
while IFS= read -r -d '' source; do
  compile "$source" "$work/code.ptx"
  grep -q '^\.target sm_70' "$work/code.ptx" || {
    echo "$source: not compiled for sm_70"
    exit 1
  }
  echo "${source#"$root"/}: $(grep -c '\.entry' "$work/code.ptx") kernels"
  count=$((count + 1))
done < <(find "$root" -path "$root/build" -prune -o -name '*.cu' -print0)
((count > 0)) || {
  echo "no .cu file was found below $root"
  exit 1
}
