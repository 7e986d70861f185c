# The word `lint` of ./run, which sources this file: format, clang-tidy, and the syntax of shell scripts.

# files_to_lint all|changed: paths from the top folder, one a line. Changed means: since this branch left
# origin/main, or in the last commit if there is no such difference; always with uncommitted work.
files_to_lint() {
  local base='' git=(git -c core.quotePath=off)
  if [[ $1 == changed ]]; then
    base=$(git merge-base HEAD origin/main 2>/dev/null || true)
    [[ -n $base && $base != $(git rev-parse HEAD) ]] ||
      base=$(git rev-parse -q --verify HEAD~1 || true)
  fi
  {
    "${git[@]}" ls-files --others --exclude-standard
    if [[ -n $base ]]; then
      "${git[@]}" diff --name-only --diff-filter=d "$base" --
    else
      "${git[@]}" ls-files
    fi
  } | sort -u
}

# translation_unit FILE: the source in which clang-tidy sees the file, if there is one.
translation_unit() {
  case $1 in
    *.hpp | *.h)
      if [[ -f ${1%.*}.cpp ]]; then
        echo "${1%.*}.cpp"
      else
        # A header that nothing includes, or that many do (git is then stopped by the end of sed), ends no list.
        git grep -lF --untracked "#include \"$1\"" -- '*.cpp' | sed -n 1p || true
      fi
      ;;
    *.cpp | *.cc) echo "$1" ;;
    *) ;; # CUDA needs the toolkit's own headers: formatted only
  esac
}

# tidy_one SOURCE: 1 if clang-tidy found anything; appends a source that exceeded the time to LEFT.
tidy_one() {
  local out status=124 seconds=$((DEADLINE - $(date +%s))) # 124: as timeout says it
  if ((seconds > 0)); then
    out=$(timeout "$seconds" clang-tidy --quiet -p "$DATABASE" \
      --extra-arg=-Wno-unknown-warning-option "$1" 2>&1) && return
    status=$?
  fi
  if ((status == 124)); then
    echo "$1" >>"$LEFT"
  else
    grep -v '^[0-9]* warnings\? .*generated\.$' <<<"$out"
    return 1
  fi
}

# tidy SECONDS FILE...: clang-tidy over the FILES' translation units. 1 if it found anything; files not
# checked in time are in UNSEEN.
UNSEEN=()
tidy() {
  local budget_s=$1 file status=0 units=() unknown=()
  shift
  # In this preset each source is compiled by itself, so that the database has them all.
  configure dev >&2 || die "configuring preset dev failed (see above)"
  cmake --build --preset dev --target corun_build_info >&2 || die "writing generated headers failed"
  # Without the precompiled headers, which are GCC's.
  export DATABASE=build/lint
  mkdir -p "$DATABASE"
  sed -E 's/ -Winvalid-pch -include [^ ]*cmake_pch\.hxx//' build/dev/compile_commands.json >"$DATABASE/compile_commands.json"
  while IFS= read -r file; do
    if grep -qF "\"$ROOT/$file\"" "$DATABASE/compile_commands.json"; then
      units+=("$file")
    else
      unknown+=("$file")
    fi
  done < <(for file in "$@"; do translation_unit "$file"; done | sort -u)
  ((${#unknown[@]} == 0)) || say "lint: not part of $DATABASE, so clang-tidy skips: ${unknown[*]}"
  ((${#units[@]})) || return 0

  say "lint: clang-tidy on ${#units[@]} file(s), about $((${#units[@]} * 15 / $(jobs) + 1)) s"
  LEFT=$(mktemp)
  DEADLINE=$(($(date +%s) + budget_s))
  export LEFT DEADLINE
  export -f tidy_one
  printf '%s\0' "${units[@]}" | xargs -0 -n 1 -P "$(jobs)" bash -c 'tidy_one "$1"' tidy || status=1
  mapfile -t UNSEEN < <(sort "$LEFT")
  rm -f "$LEFT"
  ((${#UNSEEN[@]} == 0)) ||
    say "lint: out of time, clang-tidy did not look at ${#UNSEEN[@]} file(s): ${UNSEEN[*]}"
  return "$status"
}

run_lint() {
  local which=changed fix=no budget_s=86400 files file cpp=() shell=() unformatted=() findings=0
  while (($#)); do
    case $1 in
      --all) which=all ;;
      --fix) fix=yes ;;
      --budget) # seconds for clang-tidy; what is left over then is named, not hidden
        budget_s=${2:-}
        [[ $budget_s =~ ^[0-9]+$ ]] || die "--budget wants seconds, as in './run lint --budget 300'"
        shift
        ;;
      *) die "lint knows --all, --fix and --budget SECONDS, not '$1'" ;;
    esac
    shift
  done

  cd "$ROOT"
  files=$(files_to_lint "$which") || die "could not ask git for the changed files"
  while IFS= read -r file; do
    [[ -f $file && ! -L $file ]] || continue
    case ${file##*/} in
      *.cpp | *.hpp | *.cc | *.h | *.cu | *.cuh) cpp+=("$file") ;;
      *.sh) shell+=("$file") ;;
      *.*) ;;
      *) ! LC_ALL=C grep -aqm1 '^#!.*\(ba\)\?sh\b' "$file" || shell+=("$file") ;;
    esac
  done <<<"$files"
  if ((${#cpp[@]} + ${#shell[@]} == 0)); then
    say "lint: no C++ or shell file has changed, nothing to check"
    return
  fi

  if ((${#shell[@]})); then
    say "lint: bash -n on ${#shell[@]} shell file(s)"
    for file in "${shell[@]}"; do
      bash -n "$file" || findings=1
    done
  fi
  if ((${#cpp[@]})); then
    need "to check the code" build lint
    if [[ $fix == yes ]]; then
      say "lint: formatting ${#cpp[@]} file(s)"
      clang-format -i "${cpp[@]}"
    fi
    say "lint: clang-format on ${#cpp[@]} file(s)"
    # By its output: --dry-run of version 14 reports the end of each inline namespace, which it leaves as it is.
    for file in "${cpp[@]}"; do
      clang-format "$file" | cmp -s - "$file" || unformatted+=("$file")
    done
    if ((${#unformatted[@]})); then
      findings=1
      say "lint: the format differs; './run lint --fix' repairs that: ${unformatted[*]}"
    fi
    tidy "$budget_s" "${cpp[@]}" || findings=1
  fi

  ((findings == 0)) || die "lint: there are findings (see above)"
  if ((${#UNSEEN[@]})); then
    say "lint: no findings so far, but clang-tidy has not seen ${#UNSEEN[@]} file(s)"
  else
    say "lint: no findings"
  fi
}
