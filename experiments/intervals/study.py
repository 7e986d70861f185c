#!/usr/bin/env python3
"""Measures how often the 95 % intervals of this folder's experiments hold the true mean, for experiments/intervals/README.md.

    experiments/intervals/study.py            runs `corun replay --coverage` on each and writes the page
    experiments/intervals/study.py --check    exit 1 if the tables of the experiments differ

The tables stand between `<!-- begin NAME -->` and `<!-- end NAME -->`: one per experiment, and one that compares
methods, whose implementation here (numpy) is independent of the program's.
"""

import argparse
import csv
import io
import pathlib
import re
import statistics
import sys
import tempfile

import h5py
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import with_table, write_or_check  # noqa: E402
from program import COVERAGE, run, side_by_side  # noqa: E402

REPO = HERE.parents[1]
PAGE = HERE / "README.md"
SIZES = ("3", "5", "10", "30")


def coverage(corun, name):
    """{metric: {n: [(held, approximate) of each policy]}}, in the order of the program."""
    # The first experiment is the page's command: run here as it stands there.
    words = COVERAGE if name == "jrs-queue" else ["replay", HERE / f"{name}.yaml", "--coverage"]
    found = {}
    for row in csv.DictReader(io.StringIO(run(corun, *words, "--format", "csv", "--quiet"))):
        found.setdefault(row["metric"], {}).setdefault(row["n"], []).append(
            (float(row["held"]), float(row["approximate"])))
    return found


def cell(policies):
    """Least and most over the policies, %; "~" if most intervals of the policy with the least are marked as approximate."""
    held = [100 * h for h, _ in policies]
    marked = min(policies)[1] > 0.5
    low, high = f"{min(held):.0f}", f"{max(held):.0f}"
    return ("~" if marked else "") + (low if low == high else f"{low} to {high}")


def table(found):
    lines = ["metric | " + " | ".join(f"n = {n}" for n in SIZES), "---" + "|---:" * len(SIZES)]
    for metric, sizes in found.items():
        lines.append(f"`{metric}` | " + " | ".join(cell(sizes[n]) if n in sizes else "-" for n in SIZES))
    return "\n".join(lines)


T = {3: 4.302653, 5: 2.776445, 10: 2.262157, 30: 2.045230}  # Student's t, 97.5 %
NEAR_NORMAL = ("isd", "ps", "jct_s", "makespan_s")
TRIALS, RESAMPLES = 1000, 500


def student(x, _):
    half_width = T[x.shape[1]] * x.std(1, ddof=1) / np.sqrt(x.shape[1])
    return x.mean(1) - half_width, x.mean(1) + half_width


def percentile(_, resampled):
    means = resampled.mean(2)
    return np.quantile(means, 0.025, axis=1), np.quantile(means, 0.975, axis=1)


def bootstrap_t(x, resampled):
    n = x.shape[1]
    mean, error = x.mean(1), x.std(1, ddof=1) / np.sqrt(n)
    away = resampled.mean(2) - mean[:, None]
    with np.errstate(all="ignore"):
        t = away / (resampled.std(2, ddof=1) / np.sqrt(n))
    t = np.where(np.isnan(t), 0, np.clip(t, -1e3, 1e3))
    return (mean - np.quantile(t, 0.975, axis=1) * error, mean - np.quantile(t, 0.025, axis=1) * error)


def bca(x, resampled):
    normal = statistics.NormalDist()
    n, means = x.shape[1], np.sort(resampled.mean(2), 1)
    below = np.clip((means < x.mean(1)[:, None]).mean(1) + 0.5 * (means == x.mean(1)[:, None]).mean(1), 1e-3, 1 - 1e-3)
    z0 = np.vectorize(normal.inv_cdf)(below)
    left_out = (x.sum(1, keepdims=True) - x) / (n - 1)
    away = left_out.mean(1, keepdims=True) - left_out
    with np.errstate(all="ignore"):
        a = np.nan_to_num((away ** 3).sum(1) / (6 * (away ** 2).sum(1) ** 1.5))
    ends = []
    for z in (-1.959964, 1.959964):
        q = np.vectorize(normal.cdf)(z0 + (z0 + z) / (1 - a * (z0 + z)))
        ends.append(means[np.arange(len(x)), np.clip((q * RESAMPLES).astype(int), 0, RESAMPLES - 1)])
    return ends


METHODS = {"Student's t": student, "bootstrap, percentiles": percentile,
           "bootstrap, bias-corrected and accelerated (BCa)": bca, "bootstrap of t": bootstrap_t}


def methods(corun):
    """Coverage by method, %: least and most over the policies and metrics of the default comparison."""
    with tempfile.TemporaryDirectory() as folder:
        results = pathlib.Path(folder) / "results.h5"
        run(corun, "replay", HERE / "jrs-queue.yaml", "--quiet", "--output", results)
        with h5py.File(results) as file:
            runs = file["metrics"][:]
    random = np.random.default_rng(1)
    found = {(method, n): [] for method in METHODS for n in T}
    for policy in np.unique(runs["policy"]):
        for metric in NEAR_NORMAL:
            values = runs[metric][runs["policy"] == policy]
            if values.std() < 1e-9:
                continue
            for n in T:
                x = values[random.integers(0, len(values), (TRIALS, n))]
                resampled = x[:, random.integers(0, n, (RESAMPLES, n))]
                for method, function in METHODS.items():
                    low, high = function(x, resampled)
                    found[method, n].append(100 * np.mean((low <= values.mean()) & (values.mean() <= high)))
    lines = ["method | " + " | ".join(f"n = {n}" for n in T), "---" + "|---:" * len(T)]
    for method in METHODS:
        lines.append(f"{method} | " + " | ".join(f"{min(found[method, n]):.0f} to {max(found[method, n]):.0f}" for n in T))
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 if the page differs")
    options = arguments.parse_args()
    page = PAGE.read_text(encoding="utf-8")
    new = page
    names = re.findall(r"<!-- begin (\S+) -->", page)
    if options.check:
        names.remove("methods")  # two minutes, and no output of the program
    texts = side_by_side(lambda name: methods(options.corun) if name == "methods" else
                         table(coverage(options.corun, name)), names)
    for name, text in zip(names, texts):
        new = with_table(new, name, text)
    sys.exit(1 if write_or_check({PAGE: new}, options.check) and options.check else 0)


if __name__ == "__main__":
    main()
