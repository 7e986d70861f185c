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
refused "--parts: names no part" "${campaign[@]}" --parts ,
refused "--parts: found 'mps;id'" "${campaign[@]}" --parts 'mps;id'
refused "--part-seconds: found '1e3'" "${campaign[@]}" --part-seconds 1e3
refused "--seconds: found '-1'" "${campaign[@]}" --seconds -1
refused "--repeats: found '0'" "${campaign[@]}" --repeats 0
refused "--gpu: found 'a100'" "${campaign[@]}" --gpu a100
refused "--config: no file '$work'" "${campaign[@]}" --config "$work"
refused "--gpu needs a value" "${campaign[@]}" --gpu
refused "no program '/no/such'" "${campaign[@]}" --corun /no/such
refused "does not start" "${campaign[@]}" --corun "$(command -v false)"
refused "cannot be made" "${campaign[@]}" --output /dev/null/x
refused "--only-part: no part 'x'" "${campaign[@]}" --only-part x
mkdir -p "$work/none/kill" && touch "$work/none/kill/file"
refused "kill' is not empty" "${campaign[@]}" --parts kill
bundle=(bash "$ROOT/scripts/gpu_bundle.sh")
refused "no option '--arch'" "${bundle[@]}" --arch 90
refused "--build needs a value" "${bundle[@]}" --build
refused "python3 is missing" env PATH="$work" "$(command -v bash)" -c 'PATH=$1; . "$0"' "$ROOT/tests/scripts/path_without_python.sh" "$work"
