#!/usr/bin/env bash
# Runs the whole experiment on this GPU box in one call, in less than ten minutes:
#
#   1. lists the GPUs (corun live probe) and finds the number of steps of each workload that take --seconds;
#   2. measures each workload alone and all pairs, repeatedly (corun live corun);
#   3. runs the queue under each policy, after the simulator has predicted it (corun live run);
#   4. writes one table, OUTPUT/gpu_box.json and OUTPUT/gpu_box.csv: measured ISD and PS beside the prediction
#      and beside a replay of the run's decisions (corun live validate), with a figure, OUTPUT/gpu_box.svg.
#
# With --groups it measures groups of three and four in place of steps 3 and 4, beside what models predict that were fitted
# on the pairs alone: OUTPUT/groups_beside_models.csv.
#
# The measurements of step 2 are the world of the prediction and the initial belief of the policies. Needs
# bash, timeout (coreutils) and python3 without packages. On Ctrl-C, or when its budget is spent, it ends all
# jobs and reports the results so far. Exit codes: 0 all done, 1 incomplete, 2 bad usage, 3 no usable GPU.
set -uo pipefail

HERE=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")" && pwd -P)

usage() {
  cat <<'HELP'
usage: gpu_box.sh [options]

  --output DIR     where results go (default: gpu-box-out)
  --seconds S      length of each job alone (default: 1.0)
  --repeats N      how often each workload and pair is measured (default: 2)
  --budget S       stop after so many seconds (default: 590)
  --gpu N          NVML's number of the GPU (default: the first that may be used)
  --sharing KIND   time-slicing (default) or mps
  --config FILE    another configuration in place of queue24.yaml; its commands are not calibrated
  --corun PROGRAM  (default: build/release/corun of this checkout)
  --nvml LIBRARY   as of corun live
  --groups         measure groups of three and four, and no queue
  --allow-others   use a GPU that somebody else is using
HELP
}

die() {
  printf 'gpu_box.sh: %s\n' "$2" >&2
  exit "$1"
}
say() { printf '==> %s (%s s)\n' "$*" "$SECONDS" >&2; }

corun=$HERE/../../build/release/corun
output="gpu-box-out"
seconds=1.0
repeats=2
budget=590
gpu=
sharing=time-slicing
config=
groups=0
box_options=()
job_options=()
while (($# > 0)); do
  case $1 in
    --help | -h)
      usage
      exit 0
      ;;
    --allow-others)
      job_options+=(--allow-others)
      shift
      continue
      ;;
    --groups)
      groups=1
      shift
      continue
      ;;
    --output | --seconds | --repeats | --budget | --gpu | --sharing | --config | --corun | --nvml)
      (($# > 1)) || die 2 "$1 needs a value; see --help"
      ;;
    *) die 2 "no option '$1'; see --help" ;;
  esac
  case $1 in
    --output) output=$2 ;;
    --seconds) seconds=$2 ;;
    --repeats) repeats=$2 ;;
    --budget) budget=$2 ;;
    --gpu) gpu=$2 ;;
    --sharing) sharing=$2 ;;
    --config) config=$2 ;;
    --corun) corun=$2 ;;
    --nvml) box_options+=(--nvml "$2") ;;
  esac
  shift 2
done
[[ $seconds =~ ^[0-9]+(\.[0-9]+)?$ ]] || die 2 "--seconds: found '$seconds', expected a number"
[[ $repeats =~ ^[1-9][0-9]*$ ]] || die 2 "--repeats: found '$repeats', expected a whole number from 1"
[[ $budget =~ ^[1-9][0-9]*$ ]] || die 2 "--budget: found '$budget', expected whole seconds"
[[ -z $gpu || $gpu =~ ^[0-9]+$ ]] || die 2 "--gpu: found '$gpu', expected the number of a GPU"
[[ $sharing == time-slicing || $sharing == mps ]] ||
  die 2 "--sharing: found '$sharing', expected time-slicing or mps"
[[ -x $corun ]] || die 2 "no program '$corun'; build it by ./run build, or name it by --corun"
[[ -z $config || -r $config ]] || die 2 "--config: no file '$config'"
command -v python3 >/dev/null || die 2 "python3 is missing"
mkdir -p -- "$output" || die 2 "--output: '$output' cannot be made"
output=$(cd -- "$output" && pwd -P)
[[ -z $(ls -A -- "$output") ]] || die 2 "--output: '$output' is not empty; name another directory"

# A signal is passed on to the running command, which ends its jobs and writes its results so far.
cut_short=0 # 1: the results are incomplete
stopped=0
child=
trap 'stopped=1; [[ -z $child ]] || kill -TERM "$child" 2>/dev/null' INT TERM

# within COMMAND...: runs it for at most the rest of the budget, then sends SIGTERM, and SIGKILL after 20 s.
within() {
  local left=$((budget - SECONDS))
  if ((left < 1 || stopped)); then
    cut_short=1
    return 1
  fi
  timeout --foreground --signal=TERM --kill-after=20 "$left" "$@" </dev/null &
  child=$!
  local code
  while wait "$child" && code=0 || code=$?; kill -0 "$child" 2>/dev/null; do
    : # a signal ended the wait, not the child
  done
  child=
  # Exit code 1: a job ended badly; the results say which one.
  if ((code != 0)); then
    cut_short=1
    printf 'gpu_box.sh: exit code %s of: %s\n' "$code" "$*" >&2
  fi
  return "$code"
}

say "what is here"
"$corun" live probe "${box_options[@]}" --format json >"$output/probe.json" || exit $?
read -r gpu uuid memory_mib < <(
  python3 "$HERE/gpu_box_report.py" choose "$output/probe.json" "$sharing" "$gpu" \
    "${#job_options[@]}"
) || exit 3

say "GPU $gpu, $sharing"
if [[ -z $config ]]; then
  config=$output/box.yaml
  cp -- "$HERE/queue24.yaml" "$config"
  # hungry takes half of a smaller GPU, as it does of one with 16 GiB.
  if ((memory_mib < 16000)); then
    sed -i -E "s/(workload, hungry, --steps, [0-9]+)/\1, --memory-mib, $((memory_mib / 2))/" "$config"
  fi
  while read -r workload; do
    line=$(CUDA_VISIBLE_DEVICES=$uuid within "$corun" live workload "$workload" --seconds "$seconds") ||
      die 1 "workload $workload cannot be calibrated"
    printf '%s\n' "$line" >>"$output/calibration.jsonl"
    steps=$(sed -E 's/.*"steps":([0-9]+).*/\1/' <<<"$line")
    sed -i -E "s/(workload, $workload, --steps, )[0-9]+/\1$steps/" "$config"
    say "$workload: $steps steps"
  done < <(sed -n -E 's/^  ([a-z-]+): \{command: \[corun, live, workload, .*/\1/p' "$config")
fi
settings=(--output "$output" --set "live.gpus=[$gpu]" --set "cluster.sharing=$sharing")

sets=all
if ((groups)); then
  sets=$(python3 "$HERE/gpu_box_report.py" sets "$config") || exit 2
  say "alone, in pairs, and in groups of three and four"
else
  say "alone and in pairs"
fi
within "$corun" live corun "$config" "${box_options[@]}" "${job_options[@]}" "${settings[@]}" \
  --repeats "$repeats" --pairs "$sets" --format json >"$output/corun.json"

if ((groups)); then
  # What models say of groups that know the pairs alone.
  if [[ -s $output/measured.groups.csv ]] &&
    python3 "$HERE/gpu_box_report.py" split "$output"; then
    for model in default contention cluster-mean; do
      say "groups as $model predicts them"
      within "$corun" model fit --model "$model" --groups "$output/groups_of_two.csv" --quiet \
        --out "$output/$model.model" >/dev/null &&
        within "$corun" model predict --model "$output/$model.model" --quiet \
          --groups "$output/larger_groups.csv" --out "$output/$model.groups.csv" >/dev/null
    done
  else
    cut_short=1
  fi
elif [[ -s $output/measured.corun.csv ]]; then
  say "the queue under each policy"
  within "$corun" live run "$config" "${box_options[@]}" "${job_options[@]}" "${settings[@]}" \
    --set "world.path=$output/measured.corun.csv" --set belief.model=default \
    --set "belief.initial=$output/measured.corun.csv" --format json >"$output/run.json"
  within "$corun" live validate "$output" --quiet --format json --figure "$output/gpu_box.svg" \
    >"$output/validate.json"
else
  cut_short=1
fi

python3 "$HERE/gpu_box_report.py" report "$output" "$SECONDS" "$cut_short" || exit 1
exit "$cut_short"
