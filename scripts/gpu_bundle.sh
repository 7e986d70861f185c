#!/usr/bin/env bash
# Makes a bundle for scripts/gpu_campaign.sh: programs, tests, scripts and all shared libraries but the driver's, a C library
# and a dynamic loader included. On a GPU machine it needs bash, coreutils, sed, python3 and the driver, and no network.
#
# usage: scripts/gpu_bundle.sh [--output FILE.tar.gz|DIRECTORY] [--build DIR]
#
#   --output   an archive, or a folder without one (default: build/gpu-bundle.tar.gz)
#   --build    a build folder with what is to be bundled, taken as it is (default: build/cuda, which is built by preset
#              cuda, for all GPUs that the toolkit knows of V100, A100 and H100)
#
# Needs patchelf. Exit codes: 0 made; 1 the build failed, or the archive is above 64 MiB; 2 bad usage, or something is
# missing.
set -euo pipefail

ROOT=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)
MOST_MIB=64
# Room for the path of the loader, which bundle_loader.py writes.
ROOM=/$(printf 'x%.0s' {1..1023})

die() {
  printf 'gpu_bundle.sh: %s\n' "$2" >&2
  exit "$1"
}

output=$ROOT/build/gpu-bundle.tar.gz
build=
while (($# > 0)); do
  case $1 in
    --help | -h)
      sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$ROOT/scripts/gpu_bundle.sh"
      exit 0
      ;;
    --output | --build) (($# > 1)) || die 2 "$1 needs a value; see --help" ;;
    *) die 2 "no option '$1'; see --help" ;;
  esac
  case $1 in
    --output) output=$2 ;;
    --build) build=$2 ;;
  esac
  shift 2
done
[[ $(uname -m) == x86_64 ]] || die 2 "this machine is a $(uname -m), expected x86_64"
for tool in patchelf strip ldd tar gzip; do
  command -v "$tool" >/dev/null || die 2 "$tool is missing; install it"
done
[[ -n $output ]] || die 2 "--output: names nothing, expected a folder or a file of .tar.gz"
if [[ -z $build ]]; then
  build=$ROOT/build/cuda
  (
    cd "$ROOT"
    cmake --preset cuda -DCORUN_BENCH=ON
    cmake --build --preset cuda --target corun gpu_bench scoring_test workloads_test
  ) >&2 || die 1 "the build failed"
fi
[[ -x $build/corun ]] || die 2 "--build: no program '$build/corun'; build it by ./run build cuda"
if [[ $output == *.tar.gz ]]; then
  [[ ! -d $output ]] || die 2 "--output: '$output' is a folder"
  mkdir -p -- "$(dirname -- "$output")" || die 2 "--output: '$output' cannot be made"
  stage=$(mktemp -d)
  trap 'rm -rf -- "$stage"' EXIT
  into=$stage/gpu-bundle
else
  [[ ! -e $output || (-d $output && -z $(ls -A -- "$output")) ]] ||
    die 2 "--output: '$output' is there already; name another folder, or a file of .tar.gz"
  into=$output
fi
mkdir -p -- "$into"/{bin,lib,scripts,bench,experiments/live} || die 2 "--output: '$output' cannot be made"

for program in corun bench/gpu_bench tests/scoring_test tests/workloads_test; do
  if [[ ! -x $build/$program ]]; then
    printf 'gpu_bundle.sh: without %s, which %s does not have\n' "$program" "$build" >&2
    continue
  fi
  copy=$into/bin/${program##*/}
  strip -o "$copy" "$build/$program"
  libraries=$(ldd "$build/$program") || die 2 "ldd fails on $build/$program"
  [[ $libraries != *"not found"* ]] || die 2 "a library of $build/$program is missing: ${libraries//$'\n'/;}"
  # "name => path (address)", and the loader as "path (address)"
  while read -r first arrow path _; do
    [[ $arrow == '=>' ]] || path=$first
    [[ $path == /* ]] || continue
    cp -L --update -- "$path" "$into/lib/${first##*/}"
  done <<<"$libraries"
  # The libraries of the driver and of CUDA ask for these, which must come from the same C library: they are loaded first.
  # (patchelf 0.14 confuses the two changes in one call.)
  patchelf --add-needed libdl.so.2 --add-needed libpthread.so.0 --add-needed librt.so.1 "$copy"
  patchelf --set-interpreter "$ROOM" --force-rpath --set-rpath "\$ORIGIN/../lib" "$copy"
done
c_library=$(ldd "$build/corun" | sed -n 's/.*libc\.so\.6 => \([^ ]*\) .*/\1/p')
for name in libdl.so.2 libpthread.so.0 librt.so.1 libm.so.6; do
  cp -L --update -- "${c_library%/*}/$name" "$into/lib/$name"
done
# A library finds the others beside itself, whatever LD_LIBRARY_PATH says.
for library in "$into"/lib/*; do
  chmod 755 "$library"
  case ${library##*/} in
    ld-linux-* | libc.so.6 | libm.so.6 | libdl.so.2 | libpthread.so.0 | librt.so.1) ;;
    *) patchelf --force-rpath --set-rpath "\$ORIGIN" "$library" ;;
  esac
done

cp -- "$ROOT"/scripts/{gpu_campaign.sh,gpu_campaign.py,gpu_kill_check.py,bundle_loader.py} "$into/scripts/"
cp -- "$ROOT/bench/gpu.sh" "$into/bench/"
cp -r -- "$ROOT"/experiments/live/{gpu_box.sh,gpu_box_report.py,queue24.yaml} "$into/experiments/live/"
cp -- "$ROOT/LICENSE" "$ROOT/NOTICE" "$into/"
ln -s scripts/gpu_campaign.sh "$into/gpu_campaign.sh"

# What was built for which GPUs, from the commands of the build.
architectures=none
if [[ -r $build/compile_commands.json ]]; then
  architectures=$(grep -oE 'code=\[(sm|compute)_[0-9]+[a-z]?\]' "$build/compile_commands.json" |
    sed -E 's/code=\[(.*)\]/\1/' | sort -u | tr '\n' ' ' || true)
  architectures=${architectures% }
fi
missing=
for wanted in sm_70 sm_80 sm_90; do
  [[ " $architectures " == *" $wanted "* ]] || missing+=" $wanted"
done
{
  "$build/corun" --version | head -n 1
  printf 'code for: %s\n' "${architectures:-none}"
  [[ -z $missing ]] || printf 'without code for:%s, which the CUDA toolkit of the build lacks\n' "$missing"
  printf 'run: ./gpu_campaign.sh --output DIR (docs/gpu.md)\n'
} >"$into/BUNDLE.txt"

if [[ $output == *.tar.gz ]]; then
  tar -C "$stage" --owner=0 --group=0 --sort=name -cf - gpu-bundle | gzip -9n >"$output.part"
  mv -- "$output.part" "$output"
  bytes=$(stat -c %s "$output")
else
  bytes=$(du -sb -- "$output" | cut -f 1)
fi
cat "$into/BUNDLE.txt"
awk -v bytes="$bytes" -v file="$output" 'BEGIN {printf "%s: %.1f MiB\n", file, bytes / 1048576}'
[[ $output != *.tar.gz ]] || ((bytes <= MOST_MIB << 20)) ||
  die 1 "the archive is above $MOST_MIB MiB"
