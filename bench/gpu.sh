#!/usr/bin/env bash
# Measures batch scoring on the GPU of this machine, in one call of under ten minutes, and writes one JSON
# file: roofs measured in the same call, operations and bytes counted, the share achieved, transfers and
# launches, the ratio to all processor cores, the crossover, and the result of compute-sanitizer.
#
# usage: bench/gpu.sh [FILE.json]      (default: build/bench/gpu.json)
#
# Exit status: 0 measured, all bits as on the processor; 1 a check failed; 3 no GPU.
set -euo pipefail

ROOT=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)
OUT=${1:-$ROOT/build/bench/gpu.json}
DIR=$ROOT/build/cuda
ENDS=$((SECONDS + 570))
mkdir -p "$(dirname -- "$OUT")"

left() { echo $((ENDS - SECONDS > 1 ? ENDS - SECONDS : 1)); }

nvcc=$(command -v nvcc || echo /usr/local/cuda/bin/nvcc)
[[ -x $nvcc ]] || { echo "bench/gpu.sh: no nvcc on PATH or in /usr/local/cuda" >&2; exit 3; }
# Only for this machine's GPU, which shortens the build.
arch=${CORUN_GPU_ARCH:-$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null |
  head -n 1 | tr -d '. ' || true)}
[[ -n $arch ]] || { echo "bench/gpu.sh: nvidia-smi finds no GPU" >&2; exit 3; }
(
  cd "$ROOT"
  cmake --preset cuda -DCORUN_BENCH=ON -DCORUN_TESTS=OFF "-DCORUN_CUDA_ARCHITECTURES=$arch"
  timeout "$(left)" cmake --build --preset cuda --target gpu_bench
) >&2
program=$DIR/bench/gpu_bench

sanitizer='"compute-sanitizer is not installed"'
checker=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
if [[ -x $checker ]]; then
  sanitizer='"clean"'
  for tool in memcheck racecheck initcheck synccheck; do
    echo "compute-sanitizer $tool" >&2
    if ! timeout "$(($(left) < 60 ? $(left) : 60))" "$checker" --tool "$tool" --error-exitcode 9 \
      "$program" --check >&2; then
      sanitizer="\"$tool found something, or ran out of time\""
      break
    fi
  done
fi

status=0
timeout "$(left)" "$program" --seconds "$(($(left) - 20))" >"$OUT.part" || status=$?
if [[ $status -eq 0 || $status -eq 1 ]]; then
  {
    printf '{"kind": "corun gpu bench", "sanitizer": %s, "rows": [\n' "$sanitizer"
    sed '$!s/$/,/' "$OUT.part"
    printf ']}\n'
  } >"$OUT"
  rm -f "$OUT.part"
  cat "$OUT"
fi
[[ $sanitizer == '"clean"' || $sanitizer == *"not installed"* ]] || status=1
exit "$status"
