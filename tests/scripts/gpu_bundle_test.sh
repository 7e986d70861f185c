#!/usr/bin/env bash
# The bundle of scripts/gpu_bundle.sh, and the campaign of scripts/gpu_campaign.sh that it is for: all parts on a fake box, in
# a root without network that has the bundle, bash, coreutils, sed, grep and python3, and no other program or library.
#
# usage: gpu_bundle_test.sh BUILD_DIR
#
# Exit code 77, with the reason, where patchelf is missing or no root of one's own is permitted.
set -euo pipefail

BUILD=$1
ROOT=$(cd -- "$(dirname -- "$(readlink -f -- "${BASH_SOURCE[0]}")")/../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf -- "$work"' EXIT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}
skip() {
  printf 'SKIPPED, NOTHING WAS TESTED BEYOND HERE: %s\n' "$*" >&2
  exit 77
}

# refused TEXT COMMAND...: exit code 2, and one line with TEXT.
refused() {
  local text=$1 code=0
  shift
  "$@" >"$work/out" 2>"$work/err" </dev/null || code=$?
  [[ $code -eq 2 ]] || fail "exit code $code, expected 2: $*: $(cat "$work/err")"
  [[ $(wc -l <"$work/err") -eq 1 ]] || fail "expected one line: $*: $(cat "$work/err")"
  grep -qF -- "$text" "$work/err" || fail "expected '$text': $*: $(cat "$work/err")"
}

campaign=(bash "$ROOT/scripts/gpu_campaign.sh" --corun "$BUILD/corun" --output "$work/none")
refused "no option '--part'" "${campaign[@]}" --part kernels
refused "--parts: found 'kernel'" "${campaign[@]}" --parts kernel,tests
refused "--parts: found ''" "${campaign[@]}" --parts ,
refused "--parts: found 'mps;id'" "${campaign[@]}" --parts 'mps;id'
refused "--part-seconds: found '1e3'" "${campaign[@]}" --part-seconds 1e3
refused "--seconds: found '-1'" "${campaign[@]}" --seconds -1
refused "--repeats: found '0'" "${campaign[@]}" --repeats 0
refused "--gpu: found 'a100'" "${campaign[@]}" --gpu a100
refused "--config: no file '$work'" "${campaign[@]}" --config "$work"
refused "--gpu needs a value" "${campaign[@]}" --gpu
refused "no program '/no/such'" "${campaign[@]}" --corun /no/such
printf '#!/bin/sh\nexit 1\n' >"$work/ends" && chmod 755 "$work/ends"
refused "does not start" "${campaign[@]}" --corun "$work/ends"
refused "cannot be made" "${campaign[@]}" --output /dev/null/x
refused "--only-part: no part 'x'" "${campaign[@]}" --only-part x
mkdir -p "$work/none/kill" && touch "$work/none/kill/file"
refused "kill' is not empty" "${campaign[@]}" --parts kill
bundle=(bash "$ROOT/scripts/gpu_bundle.sh")
refused "no option '--arch'" "${bundle[@]}" --arch 90
refused "--build needs a value" "${bundle[@]}" --build
mkdir "$work/tools"
for tool in bash readlink dirname; do ln -s "$(command -v "$tool")" "$work/tools/$tool"; done
refused "timeout is missing on PATH" env PATH="$work/tools" bash "$ROOT/scripts/gpu_campaign.sh" --corun "$BUILD/corun"

# ---- the bundle ---------------------------------------------------------------------------------------

command -v patchelf >/dev/null || skip "patchelf is missing, which the bundle needs"
[[ $(uname -m) == x86_64 ]] || skip "the bundle is for x86-64"
refused "no program" "${bundle[@]}" --build "$work" --output "$work/nothing"
root=$work/root
mkdir -p "$root"/{usr/bin,tmp,proc,dev/shm,box/jobs,box/lib,out}
"${bundle[@]}" --build "$BUILD" --output "$root/gpu-bundle" >"$work/said" 2>&1 || fail "the bundle: $(cat "$work/said")"
cat "$work/said"
refused "is there already" "${bundle[@]}" --build "$BUILD" --output "$root/gpu-bundle"
[[ $(du -sb "$root/gpu-bundle" | cut -f 1) -lt $((200 << 20)) ]] || fail "the bundle is too large"

# ---- a root with no more than it needs -----------------------------------------------------------------

# put PROGRAM...: with the libraries that it needs, where they are here.
put() {
  local program library
  for program in "$@"; do
    program=$(type -P "$program") || fail "no $program"
    cp -L -- "$program" "$root/usr/bin/"
    for library in $(ldd "$program" | grep -oE '/[^ ]+' || true); do
      mkdir -p "$root/${library%/*}"
      cp -L --update -- "$library" "$root$library"
    done
  done
}
PATH=/usr/bin:$PATH # Debian's python3
put bash sh env sed grep python3 timeout mkdir cp mv rm cat cut tr ls readlink dirname touch sleep true
mkdir -p "$root/bin"
cp "$root/usr/bin/sh" "$root/bin/sh"
library=$(python3 -c 'import sysconfig; print(sysconfig.get_paths()["stdlib"])')
mkdir -p "$root$library"

cp -- "$BUILD/tests/libfake_nvml.so" "$root/box/"
cp -- "$BUILD/tests/fake_workload" "$root/box/"
ldd "$BUILD/tests/fake_workload" | grep -oE '/[^ ]+' | xargs -I{} cp -L {} "$root/box/lib/"
patchelf --set-rpath /box/lib "$root/box/fake_workload"
echo "16384 0 0 Fake V100" >"$root/box/gpus"
# An MPS daemon that only makes its control pipe and waits.
cat >"$root/usr/bin/nvidia-cuda-mps-control" <<'MPS'
#!/bin/sh
[ "$1" = -f ] || exit 9
touch "$CUDA_MPS_PIPE_DIRECTORY/control"
trap '' TERM
while :; do sleep 0.05; done
MPS
chmod 755 "$root/usr/bin/nvidia-cuda-mps-control"
cat >"$root/box/box.yaml" <<'BOX'
live: {sample_s: 0.02, disk_free_mib: 0, grace_s: 0.2, timeout_s: 60}
workloads:
  a: {command: [/box/fake_workload, /box, 0.1, 90, 1200, 30, 0.8]}
  b: {command: [/box/fake_workload, /box, 0.05, 80, 2400, 30, 0.7]}
  c: {command: [/box/fake_workload, /box, 0.05, 60, 1536, 80, 0.5]}
  d: {command: [/box/fake_workload, /box, 0.05, 20, 300, 5, 0.1]}
queue: [a, d, c, b, c, a, d, b]
policies: [{name: fcfs}, {name: min-slowdown}, {name: srsf-packed, mode: non-preemptive}]
BOX

for name in null zero full urandom; do touch "$root/dev/$name"; done
ln -s /proc/self/fd "$root/dev/fd"
cat >"$work/enter.sh" <<'ENTER'
set -e
root=$1 library=$2
shift 2
for name in null zero full urandom; do mount --bind "/dev/$name" "$root/dev/$name"; done
mount --bind "$library" "$root$library"
mount -t tmpfs none "$root/dev/shm"
mount -t proc none "$root/proc"
exec chroot "$root" /usr/bin/env -i PATH=/usr/bin HOME=/tmp TMPDIR=/tmp FAKE_GPU_BOX=/box "$@"
ENTER
enter=(unshare --user --map-root-user --mount --pid --net --fork --kill-child bash "$work/enter.sh" "$root" "$library")
if ! "${enter[@]}" /usr/bin/true 2>"$work/why"; then
  enter=(unshare --mount --pid --net --fork --kill-child bash "$work/enter.sh" "$root" "$library")
  "${enter[@]}" /usr/bin/true 2>"$work/why" || skip "no root of one's own is permitted: $(cat "$work/why")"
fi

# ---- the campaign in it --------------------------------------------------------------------------------

options=(--config /box/box.yaml --nvml /box/libfake_nvml.so --quick --repeats 1)
code=0
"${enter[@]}" /usr/bin/bash /gpu-bundle/gpu_campaign.sh "${options[@]}" --output /out/all --part-seconds 200 || code=$?
[[ $code -eq 0 ]] || {
  tail -n 20 "$root"/out/all/*.log >&2
  fail "exit code $code of the campaign"
}
# A part that has too little time does not take it from the next.
code=0
"${enter[@]}" /usr/bin/bash /gpu-bundle/gpu_campaign.sh "${options[@]}" --output /out/short --part-seconds 1 \
  --parts time-slicing,mps || code=$?
[[ $code -eq 1 ]] || fail "exit code $code of a campaign without time, expected 1"
for program in "$root"/gpu-bundle/bin/*; do
  "${enter[@]}" /usr/bin/env LD_TRACE_LOADED_OBJECTS=1 "/gpu-bundle/bin/${program##*/}" >"$work/libraries"
  ! grep -v -e '[[:space:]]/gpu-bundle/' -e linux-vdso "$work/libraries" ||
    fail "${program##*/} loads libraries from outside"
done
[[ -z $(ls -A "$root/tmp") ]] || fail "left in /tmp: $(ls -A "$root/tmp")"

python3 - "$root/out" <<'CHECK'
import csv, json, pathlib, sys
out = pathlib.Path(sys.argv[1])

def read(run, part):
    with open(out / run / part / (part + ".csv"), newline="") as file:
        rows = list(csv.DictReader(file))
    return json.load(open(out / run / part / (part + ".json"))), rows

ends = {part["part"]: part for part in json.load(open(out / "all" / "summary.json"))["parts"]}
assert list(ends) == ["kernels", "time-slicing", "mps", "tests", "groups", "kill"], ends
assert ends["kernels"]["end"] == "skipped" and ends["kernels"]["reason"], ends["kernels"]
for part in list(ends)[1:]:
    assert ends[part]["end"] == "done", ends[part]
for part in ends:
    read("all", part)
for sharing in ("time-slicing", "mps"):
    box, rows = read("all", sharing)
    assert box["complete"] and box["measured"]["sharing"] == sharing
    assert len(box["measured"]["solo"]) == 4 and len(box["measured"]["together"]) == 6
    assert {p["policy"] for p in box["run"]["policies"]} == {"fcfs", "min-slowdown", "srsf-packed"}
    assert sum(row["kind"] == "policy" and row["metric"] == "jct_s" for row in rows) == 3
box, rows = read("all", "groups")
sizes = sorted(len(co_run["jobs"]) for co_run in box["measured"]["together"])
assert sizes == [2] * 6 + [3] * 4 + [4], sizes
assert {(row["model"], row["size"], row["members"]) for row in box["groups"]} == {
    (model, size, members) for model in ("default", "contention", "cluster-mean")
    for size, members in ((3, 12), (4, 4))}, box["groups"]
tests, rows = read("all", "tests")
ran = {row["check"]: row for row in rows}
assert ran["scoring_test"]["end"] == ran["workloads_test"]["end"] == "passed", ran
assert int(ran["scoring_test"]["cases_passed"]) == 1 and int(ran["workloads_test"]["cases_passed"]) > 3, ran
_, rows = read("all", "kill")
killed = [row["phase"] for row in rows if row["end"] == "clean"]
assert killed == ["profile", "solo", "corun", "queue", "mps-solo", "mps-corun"], rows
ends = {part["part"]: part["end"] for part in json.load(open(out / "short" / "summary.json"))["parts"]}
assert set(ends) == {"time-slicing", "mps"} and "done" not in ends.values(), ends
for part in ends:
    read("short", part)
CHECK
echo "the campaign ran in a root of its own"
