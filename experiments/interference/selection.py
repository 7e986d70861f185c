#!/usr/bin/env python3
"""Chooses the constants of the default model on all public tables but one and judges them on that one, for each table.
Writes a table into experiments/interference/accuracy.md, between `<!-- begin selection -->` and `<!-- end selection -->`.

    python3 experiments/interference/selection.py --data DIR [--corun build/release/corun] [--check]

The default averages its members factors, gp and boosted-trees (models/interference/ensemble.hpp): weights w and a spread s,
one set each for pairs of measured jobs, pairs with an unseen job, and pairs with a job of an unseen family. Here the members
are fitted in folds of pairs, jobs (five folds) and families; then

    w   all multiples of 1/5 that add up to 1, by precision or not; the least sum over the other tables of MAE over that of
        the mean
    s   the program's times one factor, at which the intervals hold 90 % of the co-runs of the other tables

and the table that was left out is predicted with them, and with the program's constants. Unlike in the program, pairs with
an unseen job far from all measured ones count as the others of their split, and the factor of new families is 1.

Takes two minutes of CPU time. With --check it writes nothing and exits with 1 if a file would change. Needs only Python 3.
"""

import argparse
import concurrent.futures
import csv
import math
import pathlib
import random
import statistics
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "experiments"))

import page  # noqa: E402  (found by the path above)
import program  # noqa: E402
from campaigns import write  # noqa: E402

PAGE = REPO / "experiments" / "interference" / "accuracy.md"
TABLES = [  # name, path, column of families
    ("Lucid", "lucid/lucid_pairs.csv", "model"),
    ("Gavel P100", "gavel/gavel_p100_pairs.csv", "family"),
    ("Gavel K80", "gavel/gavel_k80_pairs.csv", "family"),
    ("Gavel V100 of 2019", "coruns/gavel2019_v100_pairs.csv", "family"),
    ("Gavel K80 of 2019", "coruns/gavel2019_k80_pairs.csv", "family"),
    ("iGniter", "coruns/igniter_v100_pairs.csv", "model"),
    ("Tally", "coruns/tally2023_mps_first_pairs.csv", "model"),
]
MEMBERS = ("factors", "gp", "boosted-trees")
SPLITS = ("pairs", "job", "family")
FOLDS = 5
WITHIN = 1.6448536269514722
# The program's: w, s, by precision (EnsembleModel::kMeasured, kUnseen, kFar).
PROGRAM = {
    "pairs": ((.8, .2, 0), .9, True),
    "job": ((.9, .1, 0), .8, True),
    "family": ((0, 1, 1), 2, False),
}
IMPUTED = ("PPO", "TD3")  # Lucid's, whose own speeds were not measured


def read(path, family):
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return [r for r in rows if r.get("failed") != "1" and r["norm_a"] and r["norm_b"] and
            r[f"{family}_a"] not in IMPUTED and r[f"{family}_b"] not in IMPUTED]


def folds_of(rows, split, family):
    """Lists of positions of held-out rows; a pair of two folds is held out with each."""
    if split == "pairs":
        sides = [(tuple(sorted((r["job_a"], r["job_b"]))),) for r in rows]
    else:
        column = "job" if split == "job" else family
        sides = [tuple({r[f"{column}_a"], r[f"{column}_b"]}) for r in rows]
    groups = sorted({g for side in sides for g in side})
    random.Random(1).shuffle(groups)
    count = len(groups) if split == "family" else FOLDS
    fold = {g: i % count for i, g in enumerate(groups)}
    return [[i for i, side in enumerate(sides) if any(fold[g] == f for g in side)] for f in range(count)]


def predicted(corun, train, test, members=MEMBERS):
    """Per member (t, deviation of t) of both jobs of each row."""
    out = []
    with tempfile.TemporaryDirectory() as scratch:
        known, asked, model, result = (pathlib.Path(scratch) / n for n in ("k.csv", "a.csv", "m.model", "r.csv"))
        write(known, train)
        write(asked, test)
        for member in members:
            program.run(corun, "model", "fit", "--model", member, "--pairs", known, "--out", model, "--force", "--quiet",
                        "--threads", 1)
            program.run(corun, "model", "predict", "--model", model, "--pairs", asked, "--out", result, "--force",
                        "--quiet", "--threads", 1)
            with open(result, newline="", encoding="utf-8") as file:
                out.append([(-math.log(float(r[f"pred_norm{s}"])),
                             max(.003, float(r[f"pred_sd{s}"]) / float(r[f"pred_norm{s}"])))
                            for r in csv.DictReader(file) for s in ("_a", "_b")])
    return list(zip(*out))


def cross_validated(corun, data, name, path, family):
    """Per split, (t measured, mean t, members' (t, deviation)) of each held-out co-run."""
    rows = read(data / path, family)
    out = {}
    for split in SPLITS:
        cases = []
        for held in folds_of(rows, split, family):
            is_held = set(held)
            train = [r for i, r in enumerate(rows) if i not in is_held]
            test = [rows[i] for i in held]
            if not train or not test:
                continue
            mean = statistics.mean(1 / float(r[k]) - 1 for r in train for k in ("norm_a", "norm_b"))
            truth = [-math.log(float(r[k])) for r in test for k in ("norm_a", "norm_b")]
            cases += [(t, mean, members) for t, members in zip(truth, predicted(corun, train, test))]
        out[split] = cases
    return name, out


def average(members, constants, factor=1.0):
    """t and its deviation, as EnsembleModel::average()."""
    w, s, by_precision = constants
    asked = [m for m in range(len(MEMBERS)) if w[m] > 0]
    counts = [w[m] / members[m][1] ** 2 if by_precision else w[m] for m in asked]
    shares = [c / sum(counts) for c in counts]
    t = sum(c * members[m][0] for c, m in zip(shares, asked))
    return t, factor * math.sqrt(s * sum(c * members[m][1] ** 2 for c, m in zip(shares, asked)))


def isd(t):
    return 100 * math.expm1(min(t, 50))


def mae(cases, constants):
    return statistics.fmean(abs(isd(average(m, constants)[0]) - isd(t)) for t, _, m in cases)


def of_mean(cases):
    return statistics.fmean(abs(100 * mean - isd(t)) for t, mean, _ in cases)


def ratios(cases, constants):
    out = []
    for t, _, members in cases:
        middle, deviation = average(members, constants)
        out.append(abs(t - middle) / deviation / WITHIN)
    return out


def candidates(split):
    steps = [(a / 5, b / 5, (5 - a - b) / 5) for a in range(6) for b in range(6 - a)]
    return [(w, PROGRAM[split][1], by) for w in steps for by in (True, False)]


def judged(description):
    """The options of the command line, and the cross-validations of all tables by their names."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    parser.add_argument("--data", required=True, type=pathlib.Path, help="directory of the public tables")
    parser.add_argument("--threads", type=int, default=2, help="tables at a time")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        results = dict(pool.map(lambda t: cross_validated(options.corun, options.data, *t), TABLES))
    return options, results


def main():
    options, results = judged(__doc__)
    lines = []
    for split, words in (("pairs", "pairs"), ("job", "unseen job"), ("family", "unseen family")):
        relative = {c: {name: mae(results[name][split], c) / of_mean(results[name][split]) for name in results}
                    for c in candidates(split)}
        for name, _, _ in TABLES:
            best = min(relative, key=lambda c: sum(r for other, r in relative[c].items() if other != name))
            off = sorted(r for other in results if other != name for r in ratios(results[other][split], best))
            factor = off[math.ceil(.9 * (len(off) + 1)) - 1]
            cases = results[name][split]
            held = ratios(cases, best)
            lines.append([words, name, " ".join(page.num(x) for x in best[0]) + (", by precision" if best[2] else ""),
                          page.num(mae(cases, best), 2), page.num(mae(cases, PROGRAM[split]), 2),
                          page.num(100 * statistics.fmean(r <= factor for r in held), 0),
                          page.num(100 * statistics.fmean(r <= 1 for r in ratios(cases, PROGRAM[split])), 0)])
    text = page.with_table(PAGE.read_text(encoding="utf-8"), "selection", page.markdown(
        ["held out", "table left out", "w chosen without it", "MAE", "program's MAE", "covered %", "program's covered %"],
        lines))
    sys.exit(1 if page.write_or_check({PAGE: text}, options.check) and options.check else 0)


if __name__ == "__main__":
    main()
