#!/usr/bin/env python3
"""Compares ways to choose the next measurements on Lucid's table (`corun model eval --measure`) and writes the table
into experiments/interference/accuracy.md, between `<!-- begin measurements -->` and `<!-- end measurements -->`, the numbers to
experiments/interference/measurements.csv and the figure to experiments/interference/measurements.svg.

    python3 experiments/interference/measurements.py --data DIR [--corun build/release/corun] [--check]

Takes eight minutes of CPU time. With --check it writes nothing and exits with 1 if a file would change.
"""

import argparse
import csv
import io
import pathlib
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "experiments"))

import page  # noqa: E402  (found by the path above)
import program  # noqa: E402

PAGE = REPO / "experiments" / "interference" / "accuracy.md"
FIGURES = REPO / "experiments" / "interference"
QUEUES = 40
POINTS = "0,5,10,20,40"
NAMES = {"suggest": "`model suggest`", "random": "random", "sd": "largest sd"}


def with_error(row, key, unit, digits):
    return f"{page.num(unit * float(row[key]), digits)} +- {page.num(unit * float(row[key + '_error']), digits)}"


def table(rows):
    points = [row["measured"] for row in rows if row["rule"] == "random"]
    lines = []
    for what, key, unit, digits in (("regret", "regret", 1, 3), ("less random's", "less_regret", 1, 3),
                                    ("MAE of ISD %", "mae", 100, 2)):
        for rule, name in NAMES.items():
            if key == "less_regret" and rule == "random":
                continue
            of_rule = [row for row in rows if row["rule"] == rule]
            lines.append([what, name, *(with_error(row, key, unit, digits) for row in of_rule)])
    return page.markdown(["score", "pairs chosen by", *(f"{n} measured" for n in points)], lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    parser.add_argument("--data", required=True, help="directory of the public tables")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        figure = pathlib.Path(scratch) / "measurements.svg"
        text = program.run(options.corun, "model", "eval", "--measure", POINTS, "--queues", QUEUES, "--pairs",
                           "lucid/lucid_pairs.csv", "--format", "csv", "--figure", figure, "--quiet", "--threads", 2,
                           "--data", options.data)
        drawn = figure.read_text(encoding="utf-8")
    rows = list(csv.DictReader(io.StringIO(text)))
    wanted = {
        FIGURES / "measurements.csv": text,
        FIGURES / "measurements.svg": drawn,
        PAGE: page.with_table(PAGE.read_text(encoding="utf-8"), "measurements", table(rows)),
    }
    stale = page.write_or_check(wanted, options.check)
    sys.exit(1 if options.check and stale else 0)


if __name__ == "__main__":
    main()
