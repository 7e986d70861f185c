#!/usr/bin/python3
"""Objectives of the programs of shares beside those that runs of Gavel's simulator recorded, case by case.

usage: objectives.py [--tests PROGRAM] [--data DIR] [--update]

Runs the test ProgramsPeers, which solves the recorded programs. --update rewrites the table in experiments/peers/README.md.
"""
import csv
import math
import os
import pathlib
import subprocess
import sys
import tempfile

from tables import ROOT, options, put

TESTS = ROOT / "build/release/tests/policies_test"


def largest(gaps):
    """The largest gap that is a number."""
    known = [gap for gap in gaps if not math.isnan(gap)]
    return f"{max(known):.1e}" if known and max(known) > 0 else "0" if known else "the peer has no answer"


def main():
    given = options(__doc__)
    with tempfile.TemporaryDirectory() as folder:
        gaps = pathlib.Path(folder) / "gaps.csv"
        run = subprocess.run([TESTS, "--gtest_filter=ProgramsPeers.*"], capture_output=True, text=True, timeout=600,
                             env={**os.environ, "CORUN_DATA": given.data, "CORUN_PROGRAM_GAPS": str(gaps)})
        if run.returncode != 0:
            sys.exit(run.stdout + run.stderr)
        with open(gaps) as file:
            found = list(csv.reader(file))
    rows = ["| case | programs recorded as optimal | greatest gap | others | their greatest gap | bisections alike |",
            "|---|---|---|---|---|---|"]
    for case in sorted({row[0] for row in found}):
        mine = [(status, float(gap)) for name, status, gap in found if name == case]
        optimal = [gap for status, gap in mine if status == "optimal"]
        bisections = [gap for status, gap in mine if status == "bisection"]
        others = {}
        for status, gap in mine:
            if status not in ("optimal", "bisection"):
                others.setdefault(status, []).append(gap)
        rows.append(f"| {case} | {len(optimal) or ''} | {largest(optimal) if optimal else ''} | "
                    f"{', '.join(f'{len(of)} {status}' for status, of in others.items())} | "
                    f"{', '.join(largest(of) for of in others.values())} | "
                    + (f"{bisections.count(0)} of {len(bisections)} |" if bisections else " |"))
    print("\n".join(rows))
    if given.update:
        put("objectives", "\n".join(rows))


if __name__ == "__main__":
    main()
