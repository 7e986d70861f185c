#!/usr/bin/env python3
"""Elastic jobs: mean JCT under the policies that resize them, on two clusters.

    experiments/elastic/study.py --data DIR [--corun build/release/corun] [--check]

Runs lists of jobs 1 to 3 of load 0.5 of Pollux' artifact (elastic/pollux of DIR, the folder of the public data sets), and writes
runs.csv and the tables of experiments/elastic/README.md. --check makes the tables of runs.csv, runs the quick ones of its rows
again, and exits with 1 if anything differs.
"""

import argparse
import csv
import io
import json
import math
import os
import pathlib
import statistics
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import REPO, markdown, num, with_table, write_or_check  # noqa: E402
from program import run, side_by_side  # noqa: E402

PAGE, RUNS = HERE / "README.md", HERE / "runs.csv"
CLUSTERS = {"T4": "16x4:aws", "three types": "6x4:aws+3x8:rtx+2x8:dgx-ext"}
LOAD = "0.5"
LISTS = ["1", "2", "3"]
TIRESIAS = "{name: tiresias, thresholds_s: [57600], within: entry, placement: freest}"
GENERATIONS = 5  # of Pollux' search; the paper has 100
# What policies know -> label -> policy.
POLICIES = {
    "truth": {"tiresias": TIRESIAS, "optimus": "{name: optimus}", "sia": "{name: sia}",
              "pollux": f"{{name: pollux, generations: {GENERATIONS}}}", "srsf-packed": "{name: srsf-packed}"},
    "fitted": {"sia": "{name: sia, belief: fitted}",
               "pollux": f"{{name: pollux, belief: fitted, generations: {GENERATIONS}}}",
               "srsf-packed": "{name: srsf-packed}"}}
BELIEFS = {"truth": ["belief.model=truth", "estimates.duration=exact"], "fitted": ["estimates.duration=none"]}
OWN = "srsf-packed"
COLUMNS = ["cluster", "load", "list", "knows", "policy", "jct_s", "goodput_per_s", "efficiency", "restarts"]
T_975 = {2: 12.706, 3: 4.303, 4: 3.182}  # Student's t by number of values


def replayed(corun, data, cluster, number, knows, policies):
    """Rows of runs.csv."""
    settings = [f"workload={{source: pollux, path: elastic/pollux/workloads_pollux.csv, part: pollux-{LOAD}/{number}, "
                "programs: elastic/sia, adaptivity: adaptive}", f"cluster.machines={CLUSTERS[cluster]}",
                "cluster.max_jobs_per_gpu=1", "world.model=none", "control.round_s=60", "replications=1",
                *BELIEFS[knows], f"policies=[{', '.join(POLICIES[knows][name] for name in policies)}]"]
    arguments = ["replay", "--data", data, "--format", "json", "-q", "--threads", "1"]
    for setting in settings:
        arguments += ["--set", setting]
    rows = []
    for policy in json.loads(run(corun, *arguments))["policies"]:
        found = {"jct_s": policy["metrics"]["jct_s"]["mean"],
                 **{name: policy["elastic"][name]["mean"] for name in COLUMNS[6:]}}
        rows.append({"cluster": cluster, "load": LOAD, "list": number, "knows": knows, "policy": policy["label"],
                     **{name: f"{value:.6g}" for name, value in found.items()}})
    return rows


def cases():
    return [(cluster, number, knows) for cluster in CLUSTERS for number in LISTS for knows in BELIEFS]


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def values(rows, column, **where):
    return [float(row[column]) for row in rows if all(row[key] == value for key, value in where.items())]


def interval(numbers):
    """Mean, and half of its 95 % interval."""
    half = T_975[len(numbers)] * statistics.stdev(numbers) / math.sqrt(len(numbers))
    return statistics.mean(numbers), half


def text(numbers, scale=1.0, digits=1):
    mean, half = interval([n / scale for n in numbers])
    return f"{num(mean, digits)} ± {num(half, digits)}"


def policies_table(rows, cluster):
    header = ["policy", "knows", "mean JCT, min", "restarts", "efficiency %"]
    lines = []
    for knows, policies in POLICIES.items():
        for name in policies:
            of = {"cluster": cluster, "knows": knows, "policy": name}
            lines.append([name, "nothing" if name == "tiresias" else knows, text(values(rows, "jct_s", **of), 60),
                          text(values(rows, "restarts", **of)), text(values(rows, "efficiency", **of), 0.01)])
    return markdown(header, lines)


def own_table(rows):
    header = ["cluster", "knows", "best of the others", "its JCT, min", f"{OWN}, min", "difference, min", "outcome"]
    lines = []
    for cluster in CLUSTERS:
        for knows, policies in POLICIES.items():
            jct = {name: values(rows, "jct_s", cluster=cluster, knows=knows, policy=name) for name in policies}
            best = min((name for name in jct if name != OWN), key=lambda name: statistics.mean(jct[name]))
            mean, half = interval([(own - other) / 60 for own, other in zip(jct[OWN], jct[best])])
            outcome = "not significantly different" if abs(mean) <= half else "win" if mean < 0 else "loss"
            lines.append([cluster, knows, best, num(statistics.mean(jct[best]) / 60),
                          num(statistics.mean(jct[OWN]) / 60), f"{num(mean)} ± {num(half)}", outcome])
    return markdown(header, lines)


def page_of(rows):
    page = PAGE.read_text()
    for cluster in CLUSTERS:
        page = with_table(page, f"policies {cluster}", policies_table(rows, cluster))
    return with_table(page, "own", own_table(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("CORUN_DATA"), help="public data sets; default: CORUN_DATA")
    parser.add_argument("--corun", type=pathlib.Path, default=REPO / "build/release/corun")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if not given.data:
        print("not run: set CORUN_DATA or give --data", file=sys.stderr)
        sys.exit(77 if given.check else 2)  # 77: skipped
    data, corun = pathlib.Path(given.data).resolve(), given.corun.resolve()
    if given.check:
        with open(RUNS, newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        quick = [("T4", "1", "truth", ["tiresias", OWN]), ("T4", "1", "fitted", [OWN])]
        again = {(row["cluster"], row["load"], row["list"], row["knows"], row["policy"]): row
                 for case in quick for row in replayed(corun, data, *case)}
        rows = [again.get(tuple(row[name] for name in COLUMNS[:5]), row) for row in rows]
    else:
        found = side_by_side(lambda case: replayed(corun, data, *case, list(POLICIES[case[2]])), cases())
        rows = [row for part in found for row in part]
    wanted = {RUNS: as_csv(rows), PAGE: page_of(rows)}
    sys.exit(1 if write_or_check(wanted, given.check) and given.check else 0)


if __name__ == "__main__":
    main()
