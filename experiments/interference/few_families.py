#!/usr/bin/env python3
"""Should a fit predict jobs of a new family by its members or by a constant? Compares rules by which it could choose, and two
further parts of the average, on families held out of public tables. Writes a table into
experiments/interference/accuracy.md, between `<!-- begin few-families -->` and `<!-- end few-families -->`.

    python3 experiments/interference/few_families.py --data DIR [--corun build/release/corun] [--check]

Each family is held out in turn; the MAE of ISD is over the co-runs of all of them, in percentage points:

    members          the program's average for new families, of gp and boosted-trees (selection.py)
    median           of the ISD of the co-runs that are known
    by families held out within
                     each other family is held out of a further fit; the median is taken unless the members err less there, by
                     the mean over these families, by 0, 1 or 2 standard errors of that mean
    low-rank         is averaged, too, with half the weight of each member
    the mean         of -log(speed) of the known co-runs is averaged, too, with a fifth of the weight of each member
    three known      only three other families are known, drawn three times; iGniter has no more

Takes three minutes of CPU time. With --check it writes nothing and exits with 1 if a file would change. Needs only Python 3.
"""

import argparse
import concurrent.futures
import itertools
import math
import pathlib
import random
import statistics
import sys

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "experiments"))
sys.path.insert(0, str(REPO / "experiments" / "interference"))

import page  # noqa: E402  (found by the path above)
from selection import MEMBERS, PAGE, PROGRAM, TABLES, isd, predicted, read  # noqa: E402

DRAWS = 3
KNOWN = 3
GP, TREES, LOW_RANK = 1, 2, 3
WEIGHT_OF_LOW_RANK = .5
WEIGHT_OF_MEAN = .2
ERRORS = (0, 1, 2)
RULES = ["members", "median",
         "the median, unless the members are better by 0 standard errors",
         "the median, unless the members are better by 1 standard error",
         "the median, unless the members are better by 2 standard errors",
         "members and low-rank", "members and the mean", "members, three families known", "median, three families known"]


class Table:
    """Rows of a table with the families of both sides, and what fits to some families say of others."""

    def __init__(self, corun, path, family):
        self.corun = corun
        self.rows = [(r, {r[f"{family}_a"], r[f"{family}_b"]}) for r in read(path, family)]
        self.families = sorted(set().union(*(sides for _, sides in self.rows)))

    def cases(self, known, asked):
        """(t measured, t of each member, median ISD and mean t of what is known) of the co-runs of `asked` with itself or a
        known family."""
        train = [r for r, sides in self.rows if sides <= known]
        test = [r for r, sides in self.rows if asked in sides and sides <= known | {asked}]
        if not train or not test:
            return []
        speeds = [-math.log(float(r[k])) for r in train for k in ("norm_a", "norm_b")]
        middle, mean = statistics.median(isd(t) for t in speeds), statistics.fmean(speeds)
        truth = [-math.log(float(r[k])) for r in test for k in ("norm_a", "norm_b")]
        return [(t, [m[0] for m in members], middle, mean)
                for t, members in zip(truth, predicted(self.corun, train, test, (*MEMBERS, "low-rank")))]


def errors(cases, prediction):
    return [abs(prediction(*case[1:]) - isd(case[0])) for case in cases]


def average(weights, ts):
    return sum(w * t for w, t in zip(weights, ts)) / sum(weights)


def by_members(members, _median, _mean):
    return isd(average(PROGRAM["family"][0], members[:LOW_RANK]))


def by_median(_members, median, _mean):
    return median


def with_low_rank(members, _median, _mean):
    return isd(average((1, 1, WEIGHT_OF_LOW_RANK), (members[GP], members[TREES], members[LOW_RANK])))


def with_mean(members, _median, mean):
    return isd(average((1, 1, WEIGHT_OF_MEAN), (members[GP], members[TREES], mean)))


def rule_of(table, known, least):
    """The predictor that families held out of `known` choose: the members if they are better by `least` standard errors."""
    gains = []
    for inner in sorted(known):
        cases = table.within[frozenset(known - {inner}), inner]
        if cases:
            gains.append(statistics.fmean(errors(cases, by_median)) - statistics.fmean(errors(cases, by_members)))
    error = statistics.stdev(gains) / math.sqrt(len(gains))
    return by_members if statistics.fmean(gains) > least * error else by_median


def column(corun, data, path, family):
    """The MAE of each of RULES."""
    table = Table(corun, data / path, family)
    everything = set(table.families)
    table.within = {}
    for a, b in itertools.combinations(table.families, 2):
        known = frozenset(everything - {a, b})
        for asked in (a, b):
            table.within[known, asked] = table.cases(known, asked)
    found = {rule: [] for rule in RULES}
    for outer in table.families:
        known = everything - {outer}
        cases = table.cases(known, outer)
        predictors = [by_members, by_median] + [rule_of(table, known, k) for k in ERRORS] + [with_low_rank, with_mean]
        for rule, predictor in zip(RULES, predictors):
            found[rule] += errors(cases, predictor)
        rng = random.Random(1)
        for _ in range(DRAWS):
            few = table.cases(set(rng.sample(sorted(known), KNOWN)), outer)
            for rule, predictor in zip(RULES[-2:], (by_members, by_median)):
                found[rule] += errors(few, predictor)
    return [statistics.fmean(found[rule]) for rule in RULES]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    parser.add_argument("--data", required=True, type=pathlib.Path, help="directory of the public tables")
    parser.add_argument("--threads", type=int, default=2, help="tables at a time")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.threads) as pool:
        columns = list(pool.map(lambda t: column(options.corun, options.data, *t[1:]), TABLES))
    lines = [[rule] + [page.num(values[r], 2) for values in columns] for r, rule in enumerate(RULES)]
    text = page.with_table(PAGE.read_text(encoding="utf-8"), "few-families", page.markdown(
        ["new families are predicted by", *(name for name, _, _ in TABLES)], lines))
    sys.exit(1 if page.write_or_check({PAGE: text}, options.check) and options.check else 0)


if __name__ == "__main__":
    main()
