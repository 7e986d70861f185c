#!/usr/bin/env python3
"""What is each part of the default model worth? Takes every member, rule and set of constants out in turn, puts one weight in,
and judges the rest on held-out pairs of all public tables. Writes a table into experiments/interference/accuracy.md,
between `<!-- begin ablation -->` and `<!-- end ablation -->`.

    python3 experiments/interference/ablation.py --data DIR [--corun build/release/corun] [--check]

Members, folds and the average are those of selection.py: the default model without its factor of new families, and with
jobs far from all measured ones as the others of their split. A member is out where its weight is 0; the others then share
its weight. Seconds are CPU time of a fit to all pairs of a table, which differs from run to run, so --check leaves them
out.

With --check it writes nothing and exits with 1 if a figure would change. Needs only Python 3.
"""

import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "experiments"))

import page  # noqa: E402  (found by the path above)
from campaigns import write  # noqa: E402
from selection import (MEMBERS, PAGE, PROGRAM, SPLITS, TABLES, judged, mae, ratios, read)  # noqa: E402

HELD_OUT = {"pairs": "pairs", "job": "unseen job", "family": "unseen family"}


def without(member):
    """The program's constants of a split without a member; None where it has no weight anyway."""
    def constants(split):
        w, s, by_precision = PROGRAM[split]
        if w[member] == 0:
            return None
        return tuple(0 if m == member else x for m, x in enumerate(w)), s, by_precision
    return constants


def with_member(member, weight, *splits):
    """The program's constants of these splits with a weight for a member that has none."""
    def constants(split):
        w, s, by_precision = PROGRAM[split]
        if split not in splits or w[member] != 0:
            return None
        return tuple(weight if m == member else x for m, x in enumerate(w)), s, by_precision
    return constants


def by_weights_alone(split):
    w, s, by_precision = PROGRAM[split]
    return (w, s, False) if by_precision else None


def of(other, *splits):
    """The constants of another split in these."""
    return lambda split: PROGRAM[other] if split in splits else None


PARTS = [(f"member {name}", without(m)) for m, name in enumerate(MEMBERS)] + [
    ("division by a member's variance", by_weights_alone),
    ("nothing, but boosted-trees has a weight of 0.05", with_member(2, .05, "pairs", "job")),
    ("constants of unseen jobs: those of pairs", of("pairs", "job")),
    ("constants of new families: those of unseen jobs", of("job", "family")),
]


def covered(cases, constants):
    return 100 * statistics.fmean(r <= 1 for r in ratios(cases, constants))


def rows_of(results):
    """Per split: the figures of the whole model, then what changes without each part."""
    rows = []
    for split in SPLITS:
        whole = {name: mae(results[name][split], PROGRAM[split]) for name, _, _ in TABLES}
        rows.append([HELD_OUT[split], "nothing: MAE (covered %)"] + [
            f"{page.num(whole[name], 2)} ({page.num(covered(results[name][split], PROGRAM[split]), 0)})"
            for name, _, _ in TABLES] + [""])
        for part, constants_of in PARTS:
            constants = constants_of(split)
            if constants is None:
                continue
            more = [100 * (mae(results[name][split], constants) / whole[name] - 1) for name, _, _ in TABLES]
            rows.append([HELD_OUT[split], part] + [
                f"{x:+.1f} % ({page.num(covered(results[name][split], constants), 0)})"
                for x, (name, _, _) in zip(more, TABLES)] + [f"{statistics.fmean(more):+.1f} %"])
    return rows


def seconds(corun, data):
    """CPU time of a fit of each member to each table."""
    out = {}
    with tempfile.TemporaryDirectory() as scratch:
        known, model = (pathlib.Path(scratch) / n for n in ("k.csv", "m.model"))
        for name, path, family in TABLES:
            write(known, read(data / path, family))
            for member in MEMBERS:
                child = subprocess.Popen([corun, "model", "fit", "--model", member, "--pairs", known, "--out", model,
                                          "--force", "--quiet", "--threads", "1"], stdout=subprocess.DEVNULL)
                _, status, used = os.wait4(child.pid, 0)
                child.returncode = os.waitstatus_to_exitcode(status)
                if child.returncode != 0:
                    sys.exit(f"the fit of {member} to {path} failed")
                out[member, name] = used.ru_utime + used.ru_stime
    return out


def main():
    options, results = judged(__doc__)
    names = [name for name, _, _ in TABLES]
    text = page.with_table(PAGE.read_text(encoding="utf-8"), "ablation", page.markdown(
        ["held out", "taken out: MAE (covered %)", *names, "mean"], rows_of(results)))
    if not options.check:
        took = seconds(options.corun, options.data)
        text = page.with_table(text, "ablation seconds", page.markdown(
            ["member", *names], [[m] + [page.num(took[m, name], 2) for name in names] for m in MEMBERS]))
    sys.exit(1 if page.write_or_check({PAGE: text}, options.check) and options.check else 0)


if __name__ == "__main__":
    main()
