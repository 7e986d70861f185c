#!/usr/bin/env python3
"""Ranks every policy on the public workloads of the experiment on mean JCT, and writes experiments/jct/ranking.md.

    python3 experiments/jct/ranking.py [--data DIR] [--only TABLE ...] [--check]

Base case of workloads.py: its draws, its load, its settings. The table `queue` has the queue of the JRS paper
alone and needs no data.
"""

import argparse
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from jct import workloads  # noqa: E402
from jct.resample import mean_ratio  # noqa: E402
from jct.workloads import BASE, KNOWS_THE_TRUTH, MOST_GIVEN_UP, OURS, QUEUES, TRACES, geometric_mean  # noqa: E402
from page import REPO, markdown, num, with_table, write_or_check  # noqa: E402

PAGE = HERE / "ranking.md"
TABLE = HERE / "ranking.csv"
# Metrics of corun's results (docs/results.md) -> heading. Of each but Jain's index less is better.
METRICS = {"jct_s": "JCT", "makespan_s": "makespan", "rho": "rho, mean", "rho_max": "rho, worst", "jain": "Jain"}
MIXED = "Gavel, mixed"
WORKLOADS = (MIXED, *TRACES, *QUEUES)
POINTS = 4  # of each draw

PAIRS = {"space_sharing": "pairs"}
SHARES = {
    "max-min": {},
    "max-min, pairs": {"name": "max-min", **PAIRS},
    "max-min-water-filling": {},
    "finish-time-fairness": {},
    "finish-time-fairness, pairs": {"name": "finish-time-fairness", **PAIRS},
    "makespan": {},
    "makespan, pairs": {"name": "makespan", **PAIRS},
    "max-throughput": {},
    "isolated": {},
    "allox": {},
    "gandiva": {},
    "fifo-by-type": {"choice": "fastest"},
    "fifo-by-type, packed": {"name": "fifo-by-type", "choice": "packed"},
}
OTHERS = ("srsf", "tiresias", "blox", "sharing-las")
# Where jobs run for less than an hour on average, rounds are shorter than Gavel's 360 s, new shares sooner than 1920 s.
SHORT_JOBS = ("Lucid, philly3", "Lucid, philly4", *QUEUES)
SHORT_ROUNDS = {"round_s": 60, "reset_s": 320}


class Ranked(workloads.Workload):
    """One workload: the base case only, every policy, every metric."""

    figures = (*METRICS, "jobs", "failed")
    traces = {**TRACES, MIXED: (*TRACES["Gavel, 0e4a51"][:2], {
        **TRACES["Gavel, 0e4a51"][2], "cluster": {"machines": "9x4:V100-16GB+9x4:P100-16GB+9x4:K80"}})}
    policies = (*workloads.ALL, *OTHERS, *SHARES)
    levels = {BASE: ({}, policies)}
    enough_jobs = 300

    @staticmethod
    def together(names):
        """Several points, which threads share; each makes its world and belief anew."""
        parts = [[name for name in names if name != "reactive"][n::POINTS] for n in range(POINTS)]
        return [*(part for part in parts if part), *([name] for name in names if name == "reactive")]

    def policy(self, name):
        if name in SHARES:
            rounds = SHORT_ROUNDS if self.name in SHORT_JOBS else {}
            return {"name": name, "label": name, **SHARES[name], **rounds}
        return {"name": name} if name in OTHERS else super().policy(name)


def all_rows(study, names):
    """workload -> policy -> metric -> values, one of each draw."""
    for number, name in enumerate(names, 1):
        if name in study.found:
            continue
        print(f"ranking: {name}, {number} of {len(names)}", file=sys.stderr, flush=True)
        rows = Ranked(study, name, pathlib.Path(study.options.sweeps)).rows()
        study.found[name] = {label: {figure: [row[figure] for row in draws] for figure in Ranked.figures}
                             for (_, label), draws in rows.items()}
    return {name: study.found[name] for name in names}


def comparable(values):
    """A policy that gives up jobs has figures of the others only."""
    return sum(values["failed"]) <= MOST_GIVEN_UP * (sum(values["jobs"]) + sum(values["failed"]))


def ratios(found, name, metric):
    """Of each draw: geometric mean over the workloads of the metric over that of srsf-packed."""
    shared = [results for results in found.values() if name in results and comparable(results[name])]
    if not shared:
        return None
    return [geometric_mean([a / b for a, b in zip(of_draw, at_ours, strict=True)])
            for of_draw, at_ours in zip(zip(*(results[name][metric] for results in shared), strict=True),
                                        zip(*(results[OURS][metric] for results in shared), strict=True), strict=True)]


def table(found):
    """A row per policy, by JCT."""
    rows = []
    for name in Ranked.policies:
        where = [results for results in found.values() if name in results]
        over = {metric: ratios(found, name, metric) for metric in METRICS}
        if over["jct_s"] is None:
            continue
        cells = []
        for metric in METRICS:
            mean, low, high = mean_ratio(over[metric])
            cells.append("1" if name == OURS else f"{num(mean, 2)} [{num(low, 2)}, {num(high, 2)}]")
        kept = sum(comparable(results[name]) for results in where)
        shown = name + (" *" if name == KNOWS_THE_TRUTH else "")
        rows.append((geometric_mean(over["jct_s"]), [shown, f"{kept} of {len(found)}", *cells]))
    rows.sort(key=lambda row: row[0])
    return markdown(["policy", "workloads", *METRICS.values()],
                    [row for _, row in rows])


def ranking(study):
    found = all_rows(study, study.options.workloads)
    lines = ["workload,policy,draws,comparable," + ",".join(METRICS)]
    for workload, results in found.items():
        for name in Ranked.policies:
            if name in results:
                means = [f"{sum(results[name][m]) / len(results[name][m]):.5g}" for m in METRICS]
                cells = [workload, name, len(results[name]["jobs"]), int(comparable(results[name])), *means]
                lines.append(",".join(f'"{cell}"' if "," in str(cell) else str(cell) for cell in cells))
    study.files[TABLE] = "\n".join(lines) + "\n"
    return table(found)


def queue(study):
    return table(all_rows(study, ("jrs-queue",)))


TABLES = {"ranking": ranking, "queue": queue}


class Study:
    def __init__(self, options):
        self.options = options
        self.files = {}  # path -> text, beside the page
        self.found = {}  # of all_rows()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--data", default=os.environ.get("CORUN_DATA", ""))
    arguments.add_argument("--workloads", nargs="*", choices=WORKLOADS, default=WORKLOADS, help="of the table ranking")
    arguments.add_argument("--draws", type=int, default=3, help="of each workload")
    arguments.add_argument("--sweeps", default=REPO / "build" / "jct-ranking", help="folder of the sweeps")
    arguments.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    arguments.add_argument("--check", action="store_true", help="write nothing; exit with 1 where the page differs")
    options = arguments.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if options.check:  # as if nothing had been run
            options.sweeps = folder
        study = Study(options)
        page = PAGE.read_text(encoding="utf-8")
        for name in options.only:
            page = with_table(page, name, TABLES[name](study))
    return 1 if write_or_check({PAGE: page, **study.files}, options.check) and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
