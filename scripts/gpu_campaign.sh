#!/usr/bin/env bash
# The measurement campaign on a GPU machine, in one call: kernels, live co-runs, tests, groups, kills. docs/gpu.md says what
# each part measures. A part has a time limit and a directory of its own, OUTPUT/PART, with PART.json and PART.csv beside its
# words, OUTPUT/PART.log; it runs whatever became of the others. OUTPUT/summary.json and summary.csv have a row per part.
#
# It runs from a checkout, or from the bundle of scripts/gpu_bundle.sh, which needs nothing but bash, coreutils, python3
# and the driver. Nothing is fetched from the network.
#
# Exit codes: 0 every part is done, or was skipped for a reason it names; 1 a part failed or was cut short; 2 bad usage, or
# something that it needs is missing; 130 interrupted.
set -uo pipefail

ROOT=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/.." && pwd -P)
ALL_PARTS=(kernels time-slicing mps tests groups kill)
SKIPPED=77

usage() {
  cat <<'HELP'
usage: gpu_campaign.sh [options]

  --output DIR       where results go (default: gpu-campaign-out)
  --parts LIST       of kernels,time-slicing,mps,tests,groups,kill (default: all, in this order)
  --part-seconds S   time limit of a part (default: 590)
  --seconds S        length of a live job alone (default: 1.0)
  --repeats N        how often a live job, pair or group is measured (default: 2)
  --gpu N            NVML's number of the GPU (default: the first that may be used)
  --config FILE      live workloads and queue in place of the built-in ones
  --quick            a rehearsal: the smallest kernels and tests, few kills
  --corun PROGRAM    and --bench PROGRAM, --tests DIR: corun, gpu_bench, scoring_test and workloads_test
                     (default: the bundle's, else those of build/cuda, else of build/release)
  --nvml LIBRARY     as of corun live
  --allow-others     use a GPU that somebody else is using
HELP
}

die() {
  printf 'gpu_campaign.sh: %s\n' "$2" >&2
  exit "$1"
}
say() { printf '==> %s\n' "$*" >&2; }

output="gpu-campaign-out"
parts=
part_seconds=590
seconds=1.0
repeats=2
gpu=
config=
quick=0
corun=
bench=
tests=
nvml=
allow_others=0
only_part=
while (($# > 0)); do
  case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --quick | --allow-others)
      [[ $1 == --quick ]] && quick=1 || allow_others=1
      shift
      continue
      ;;
    --output | --parts | --part-seconds | --seconds | --repeats | --gpu | --config | --corun | --bench | --tests | --nvml | --only-part)
      (($# > 1)) || die 2 "$1 needs a value; see --help"
      ;;
    *) die 2 "no option '$1'; see --help" ;;
  esac
  case $1 in
    --output) output=$2 ;;
    --parts) parts=$2 ;;
    --part-seconds) part_seconds=$2 ;;
    --seconds) seconds=$2 ;;
    --repeats) repeats=$2 ;;
    --gpu) gpu=$2 ;;
    --config) config=$2 ;;
    --corun) corun=$2 ;;
    --bench) bench=$2 ;;
    --tests) tests=$2 ;;
    --nvml) nvml=$2 ;;
    --only-part) only_part=$2 ;; # used by this script: one part, in this process
  esac
  shift 2
done

# ---- what is asked and what is there ----------------------------------------------------------------

whole='^[1-9][0-9]{0,6}$'
[[ $part_seconds =~ $whole ]] || die 2 "--part-seconds: found '$part_seconds', expected whole seconds from 1"
[[ $seconds =~ ^[0-9]{1,6}(\.[0-9]+)?$ ]] || die 2 "--seconds: found '$seconds', expected a number"
[[ $repeats =~ $whole ]] || die 2 "--repeats: found '$repeats', expected a whole number from 1"
[[ -z $gpu || $gpu =~ ^[0-9]{1,4}$ ]] || die 2 "--gpu: found '$gpu', expected the number of a GPU"
[[ -z $config || (-f $config && -r $config) ]] || die 2 "--config: no file '$config'"
wanted=("${ALL_PARTS[@]}")
if [[ -n $parts ]]; then
  wanted=()
  for name in "${ALL_PARTS[@]}"; do
    [[ ,$parts, == *",$name,"* ]] && wanted+=("$name")
  done
  IFS=, read -ra named <<<"$parts"
  for name in "${named[@]}"; do
    [[ " ${ALL_PARTS[*]} " == *" $name "* ]] ||
      die 2 "--parts: found '$name', expected some of ${ALL_PARTS[*]}, with commas between"
  done
fi
((${#wanted[@]} > 0)) || die 2 "--parts: names no part, expected some of ${ALL_PARTS[*]}"
for tool in timeout python3 sed grep mkdir cp cat cut tr ls; do
  command -v "$tool" >/dev/null || die 2 "$tool is missing on PATH; install it (bash, coreutils, sed, grep and python3 are needed)"
done
python3 -c 'import sys; sys.exit(sys.version_info < (3, 6))' 2>/dev/null || die 2 "python3 does not start, or is older than 3.6"

if [[ -z $corun ]]; then
  if [[ -x $ROOT/bin/corun ]]; then
    python3 "$ROOT/scripts/bundle_loader.py" "$ROOT" || exit 2
    build=$ROOT/bin
    corun=$build/corun
    bench=${bench:-$build/gpu_bench}
    tests=${tests:-$build}
  else
    build=$ROOT/build/cuda
    [[ -x $build/corun ]] || build=$ROOT/build/release
    corun=$build/corun
  fi
else
  build=$(dirname -- "$corun")
fi
bench=${bench:-$build/bench/gpu_bench}
tests=${tests:-$build/tests}
[[ -f $corun && -x $corun ]] || die 2 "no program '$corun'; build it by ./run build cuda, or name it by --corun"
corun=$(readlink -f -- "$corun")
[[ -z $config ]] || config=$(readlink -f -- "$config")
[[ -z $nvml ]] || nvml=$(readlink -f -- "$nvml")
version=$("$corun" --version 2>&1) || die 2 "'$corun' does not start: ${version//$'\n'/ }"
mkdir -p -- "$output" 2>/dev/null || die 2 "--output: '$output' cannot be made"
output=$(cd -- "$output" && pwd -P)
[[ -w $output ]] || die 2 "--output: '$output' cannot be written"

# ---- the parts --------------------------------------------------------------------------------------

# skip REASON: ends a part that cannot be measured here.
skip() {
  printf '%s\n' "$1" >"$dir/skipped"
  exit "$SKIPPED"
}

report() { python3 "$ROOT/scripts/gpu_campaign.py" "$@"; }

# live_box OPTION...: gpu_box.sh for this part.
live_box() {
  local options=(--corun "$corun" --output "$dir" --seconds "$seconds" --repeats "$repeats"
    --budget "$((part_seconds > 40 ? part_seconds - 20 : part_seconds))")
  [[ -z $nvml ]] || options+=(--nvml "$nvml")
  [[ -z $gpu ]] || options+=(--gpu "$gpu")
  [[ -z $config ]] || options+=(--config "$config")
  ((allow_others == 0)) || options+=(--allow-others)
  bash "$ROOT/experiments/live/gpu_box.sh" "${options[@]}" "$@" &
  wait_for_it
}

# wait_for_it: the exit code of the last background command, also after a signal, which is passed on.
wait_for_it() {
  local child=$! code
  trap 'kill -TERM "$child" 2>/dev/null' INT TERM
  while wait "$child" && code=0 || code=$?; kill -0 "$child" 2>/dev/null; do :; done
  trap - INT TERM
  return "$code"
}

live_part() {
  local code=0
  live_box "$@" || code=$?
  if [[ ! -e $dir/gpu_box.json ]]; then
    ((code != 3)) || skip "no GPU may be used: see $part.log"
    exit "$((code > 0 ? code : 1))"
  fi
  exit "$code"
}

run_kernels() {
  [[ -x $bench ]] || skip "no gpu_bench at '$bench': this build has no CUDA toolkit"
  local options=(--seconds "$((part_seconds > 60 ? part_seconds - 40 : part_seconds))") code=0
  ((quick == 0)) || options+=(--quick)
  "$bench" "${options[@]}" >"$dir/kernels.jsonl" 2>"$dir/kernels.err" &
  wait_for_it || code=$?
  cat "$dir/kernels.err" >&2
  ((code != 3)) || skip "$(sed -n '$p' "$dir/kernels.err")"
  exit "$code"
}

run_time-slicing() { live_part --sharing time-slicing; }

run_mps() {
  command -v nvidia-cuda-mps-control >/dev/null || skip "MPS is not installed: no nvidia-cuda-mps-control on PATH"
  live_part --sharing mps
}

run_groups() { live_part --groups; }

# check NAME LIMIT COMMAND...: one check of the part `tests`, its words in NAME.log, its end in checks.csv.
check() {
  local name=$1 limit=$2 code=0 began=$SECONDS
  shift 2
  local left=$((part_seconds - 15 - SECONDS))
  ((limit <= left)) || limit=$left
  if ((limit < 1)); then
    printf '%s,not run,,0,no time was left\n' "$name" >>"$dir/checks.csv"
    return
  fi
  say "$name"
  CORUN_TEST_PROGRAM=$corun timeout --kill-after=5 "$limit" "$@" >"$dir/$name.log" 2>&1 || code=$?
  local end=passed
  case $code in
    0) ;;
    3) end=skipped ;;
    124 | 137) end="out of time" ;;
    *) end=failed ;;
  esac
  printf '%s,%s,%s,%s,%s\n' "$name" "$end" "$code" "$((SECONDS - began))" \
    "$([[ $code -eq 0 ]] || sed -n '$p' "$dir/$name.log" | tr ',"' ';_' | cut -c 1-200)" >>"$dir/checks.csv"
}

run_tests() {
  local kernels='Scoring.*:Sizes/ScoringParity.*:LearnedKernels*:GpKernels.*:TreesKernels.*' workloads='-CublasTest.*'
  if ((quick)); then
    kernels=Sizes/ScoringParity.EveryWayGivesTheBitsOfPredict/0
    workloads=Workloads.*
  fi
  printf 'check,end,exit_code,seconds,words\n' >"$dir/checks.csv"
  # First those that need the GPU.
  if [[ -x $bench ]]; then
    check same-bits 60 "$bench" --check
    local sanitizer tool
    sanitizer=$(command -v compute-sanitizer || echo /usr/local/cuda/bin/compute-sanitizer)
    for tool in memcheck racecheck initcheck synccheck; do
      if [[ ! -x $sanitizer ]]; then
        printf '%s,skipped,,0,compute-sanitizer is not installed\n' "$tool" >>"$dir/checks.csv"
      elif ! grep -q '^same-bits,passed' "$dir/checks.csv"; then
        printf '%s,skipped,,0,same-bits did not pass\n' "$tool" >>"$dir/checks.csv"
      else
        check "$tool" 75 "$sanitizer" --tool "$tool" --error-exitcode 9 "$bench" --check
      fi
    done
  else
    printf 'same-bits,skipped,,0,this build has no gpu_bench\n' >>"$dir/checks.csv"
  fi
  local binary filter
  for binary in workloads_test scoring_test; do
    [[ $binary == scoring_test ]] && filter=$kernels || filter=$workloads
    if [[ -x $tests/$binary ]]; then
      check "$binary" 400 "$tests/$binary" --gtest_filter="$filter" --gtest_output="json:$dir/$binary.json"
    else
      printf '%s,skipped,,0,no program %s\n' "$binary" "${tests//,/;}/$binary" >>"$dir/checks.csv"
    fi
  done
  ! grep -Eq '^[^,]*,(failed|out of time|not run),' "$dir/checks.csv" || exit 1
  exit 0
}

run_kill() {
  local options=("$dir" "$corun" --budget "$((part_seconds > 40 ? part_seconds - 20 : part_seconds))")
  [[ -z $nvml ]] || options+=(--nvml "$nvml")
  [[ -z $gpu ]] || options+=(--gpu "$gpu")
  ((allow_others == 0)) || options+=(--allow-others)
  [[ ! -x $bench ]] || options+=(--bench "$bench")
  ((quick == 0)) || options+=(--kills 1)
  python3 "$ROOT/scripts/gpu_kill_check.py" "${options[@]}" --config "${config:-$ROOT/experiments/live/queue24.yaml}" &
  local code=0
  wait_for_it || code=$?
  ((code != 3)) || skip "no GPU may be used: see kill.log"
  exit "$code"
}

if [[ -n $only_part ]]; then
  part=$only_part
  dir=$output/$part
  # Parts have no names but these.
  [[ " ${ALL_PARTS[*]} " == *" $part "* ]] || die 2 "--only-part: no part '$part'"
  "run_$part"
fi

# ---- one after the other ----------------------------------------------------------------------------

for part in "${wanted[@]}"; do
  [[ ! -e $output/$part || -z $(ls -A -- "$output/$part") ]] ||
    die 2 "--output: '$output/$part' is not empty; name another directory, or other parts"
done
say "${version//$'\n'/; }"
options=(--output "$output" --part-seconds "$part_seconds" --seconds "$seconds" --repeats "$repeats"
  --corun "$corun" --bench "$bench" --tests "$tests")
[[ -z $gpu ]] || options+=(--gpu "$gpu")
[[ -z $config ]] || options+=(--config "$config")
[[ -z $nvml ]] || options+=(--nvml "$nvml")
((allow_others == 0)) || options+=(--allow-others)
((quick == 0)) || options+=(--quick)

stopped=0
child=
trap 'stopped=1; [[ -z $child ]] || kill -TERM "$child" 2>/dev/null' INT TERM
failed=0
for part in "${wanted[@]}"; do
  ((stopped == 0)) || break
  mkdir -p -- "$output/$part" || die 2 "--output: '$output/$part' cannot be made"
  say "$part, at most $part_seconds s"
  began=$SECONDS
  timeout --kill-after=30 "$part_seconds" bash "${BASH_SOURCE[0]}" "${options[@]}" --only-part "$part" \
    >"$output/$part.log" 2>&1 </dev/null &
  child=$!
  while wait "$child" && code=0 || code=$?; kill -0 "$child" 2>/dev/null; do :; done
  child=
  report part "$output" "$part" "$code" "$((SECONDS - began))" "$version" || failed=1
done
report summary "$output" || failed=1
((stopped == 0)) || exit 130
exit "$failed"
