#!/usr/bin/python3
"""Plants faults in the sources and says which of them the tests find.

usage: planted_faults.py [PRESET] [FAULT...]

Each fault changes one comparison or constant of one file. All are planted at once, each switched on by CORUN_FAULT=NUMBER,
so that they cost one build; the sources are put back however it ends. For each fault the named test programs of PRESET
(dev unless given) run, until a case fails. Exit code 1 if a fault is found by none of them.
"""
import os
import pathlib
import signal
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
SWITCH = """#include <cstdlib>
namespace { bool planted_fault(int n) { const char* set = std::getenv("CORUN_FAULT"); return set && std::atoi(set) == n; } }
"""
# File, right text, wrong text, test programs that should find it.
FAULTS = [
    ("sim/engine/control_loop.cpp", "job_view.resubmissions == options_.oom_retries",
     "job_view.resubmissions > options_.oom_retries", "sim_test engine_test"),
    ("sim/engine/simulated_backend.cpp", "if (out.size() > first + 1)", "if (out.size() > first + 2)", "sim_test engine_test"),
    ("sim/engine/round_backend.cpp", "if (a.at != b.at) return a.at < b.at;", "if (a.at != b.at) return a.at > b.at;",
     "sim_test engine_test"),
    ("sim/records/metrics.cpp", "return rho > 1 + kRounding;", "return rho >= 1;", "sim_test engine_test"),
    ("traces/csv_reader.cpp", "fraction[kDigits] >= '5'", "fraction[kDigits] > '5'", "traces_test"),
    ("traces/trace_cut.cpp", "job.submit < from || job.submit >= to", "job.submit < from || job.submit > to", "traces_test"),
    ("models/interference/lookup.cpp", "if (mean.count > 1) {", "if (mean.count > 2) {", "models_test"),
    ("models/interference/contention.cpp", "if (residual < least) {", "if (residual > least) {", "models_test"),
    ("models/interference/novelty.cpp", "distance > limit_", "distance >= 2 * limit_", "models_test"),
    ("models/knowledge/kmeans.cpp", "if (sizes[at(assignment.labels[i])] < 2) continue;",
     "if (sizes[at(assignment.labels[i])] < 1) continue;", "models_test"),
    ("predictors/graph/caching_allocator.cpp", "(!large || rest > kMebi)", "(!large || rest >= 2 * kMebi)", "predictors_test"),
    ("policies/kube_default.cpp", "if (nodes < kMinFeasibleNodes || percentage >= 100) return nodes;",
     "if (nodes <= kMinFeasibleNodes + 100 || percentage >= 100) return nodes;", "policies_test"),
    ("policies/lucid.cpp", "std::tie(a.length, a.submit, a.position) < std::tie(b.length, b.submit, b.position)",
     "std::tie(a.submit, a.length, a.position) < std::tie(b.submit, b.length, b.position)", "policies_test"),
    ("policies/groups/recommender.cpp", "if (filled > 100 || bin.size() == limit) break;",
     "if (filled > 150 || bin.size() == limit) break;", "policies_test"),
    ("policies/srsf_packed/placement.cpp", "if (rest / spot.speed > reservations_.free_by_s(g)) return;",
     "if (rest > reservations_.free_by_s(g)) return;", "policies_test engine_test"),
    ("processes/process_tree.cpp", "if (parent.threads == 1) {", "if (parent.threads == 2) {", "processes_test live_test"),
    ("support/statistics/mean_interval.cpp", "if (values.size() < kFewestReplications) return kNaN;",
     "if (values.size() < kFewestReplications + 1) return kNaN;", "support_test"),
    ("runner/config/config_checks.cpp", "if (config.measure.skip_first + config.measure.skip_last >= 1) {",
     "if (config.measure.skip_first + config.measure.skip_last > 1) {", "config_test"),
    ("runner/sweep/sweep_answers.cpp", "judged(metric).smaller_is_better ? a < b : a > b",
     "judged(metric).smaller_is_better ? a > b : a > b", "sweep_test"),
    ("runner/inputs/virtual_clusters.cpp", "if (number[c.co_run] == kNoNumber)", "if (number[c.co_run] == 0)",
     "commands_test"),
]


def plant(number, path, right, wrong):
    text = path.read_text()
    if text.count(right) == 0:
        sys.exit(f"{path.relative_to(ROOT)} has no `{right}` any more; renew the fault")
    # A statement stays a statement, an expression an expression.
    if right.endswith((") {", "{")):
        head, tail = right.index("(") + 1, right.rindex(")")
        new = (f"{right[:head]}planted_fault({number}) ? {wrong[wrong.index('(') + 1:wrong.rindex(')')]} : "
               f"{right[head:tail]}{right[tail:]}")
    elif right.startswith("if (") and ";" not in right:
        new = f"if (planted_fault({number}) ? {wrong[4:-1]} : {right[4:-1]})"
    elif right.endswith(";"):
        new = f"if (planted_fault({number})) {{ {wrong} }} else {{ {right} }}"
    else:
        new = f"(planted_fault({number}) ? ({wrong}) : ({right}))"
    path.write_text(SWITCH + text.replace(right, new, 1))


def finds(program, number, limit_s=600):
    """The first case that fails, if any. No end is no finding: a busy machine, or a fault that hangs."""
    try:
        done = subprocess.run([program, "--gtest_fail_fast", "--gtest_brief=1"],
                              env={**os.environ, "CORUN_FAULT": str(number)},
                              capture_output=True, text=True, errors="replace", timeout=limit_s, cwd=ROOT)
    except subprocess.TimeoutExpired:
        print(f"fault {number}: {program.name} did not end in {limit_s} s", file=sys.stderr)
        return None
    if done.returncode == 0:
        return None
    failed = [line for line in done.stdout.splitlines() if line.startswith("[  FAILED  ]")]
    return failed[0][13:].split(",")[0].split(" (")[0] if failed else f"ended with {done.returncode}"


def main():
    words = sys.argv[1:]
    preset = words.pop(0) if words and not words[0].isdigit() else "dev"
    numbers = [int(word) for word in words] or range(1, len(FAULTS) + 1)
    chosen = [(n, *FAULTS[n - 1]) for n in numbers]
    before = {ROOT / path: (ROOT / path).read_bytes() for _, path, *_ in chosen}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    missed = 0
    try:
        for number, path, right, wrong, _ in chosen:
            plant(number, ROOT / path, right, wrong)
        programs = sorted({name for *_, names in chosen for name in names.split()})
        subprocess.run(["cmake", "--build", "--preset", preset, "-j", str(os.cpu_count()), "--target", *programs],
                       cwd=ROOT, check=True, stdout=sys.stderr, timeout=3600)
        for number, path, right, wrong, names in chosen:
            found = None
            for name in names.split():
                found = found or finds(ROOT / "build" / preset / "tests" / name, number)
            missed += found is None
            print(f"{number:3}  {path}: {wrong}\n     {'found by ' + found if found else 'NOT FOUND by ' + names}", flush=True)
    finally:
        for path, text in before.items():
            path.write_bytes(text)
    print(f"{len(chosen)} faults planted, {len(chosen) - missed} found")
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
