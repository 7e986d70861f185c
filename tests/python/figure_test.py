"""The figure of a paper in docs/python.md: its code, as printed, on the public trace. The page's other code runs, too."""
import csv
import os
import re
import sys
import unittest
import warnings

import numpy
import support
from matplotlib import pyplot

PAGE = (support.ROOT / "docs" / "python.md").read_text()
CODE = re.findall(r"^```python\n(.*?)^```", PAGE, re.M | re.S)


class Figure(support.Case):
    def setUp(self):
        super().setUp()
        self.addCleanup(os.chdir, os.getcwd())
        self.addCleanup(pyplot.close, "all")
        os.chdir(self.folder)
        warnings.simplefilter("ignore")

    def test_the_first_lines_the_policy_and_the_figures(self):
        space = {}
        for code in CODE[:2]:
            exec(code, space)
        self.assertTrue((self.folder / "jct.pdf").exists())
        results = space["results"]
        exec(CODE[2], {**space, "numpy": numpy})
        exec(CODE[3], space)
        for name in ("difference", "gantt", "clusters", "belief", "pareto"):
            self.assertTrue((self.folder / f"{name}.pdf").exists(), name)
            self.assertGreater(len((self.folder / f"{name}.csv").read_text().splitlines()), 2, name)
        means = results.metrics.groupby("label").jct_s.mean()
        self.assertEqual(means["fcfs"], means["Pairs"])
        self.assertEqual(means["fcfs"], means["again"])

    def test_six_policies_in_three_lines(self):
        if not os.path.isfile(os.path.join(support.DATA, "peers/lucid/philly4_d100_200.csv")):
            print("SKIPPED: needs the public data sets: set CORUN_DATA")
            self.skipTest("no CORUN_DATA")
        replay, draw = CODE[4:]
        self.assertEqual(len(draw.splitlines()), 3)
        exec(replay, {"corun": __import__("corun")})
        exec(draw, {})
        self.assertTrue((self.folder / "jct.pdf").read_bytes().startswith(b"%PDF"))
        with open("jct.csv", newline="") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len({row["label"] for row in rows}), 6)
        wide = [row for row in rows if row["lo"] != "" and float(row["lo"]) < float(row["hi"])]
        self.assertGreater(len(wide), len(rows) / 4)
        for row in rows:
            self.assertLessEqual(float(row["lo"]), float(row["share"]) + 1e-12)
            self.assertGreaterEqual(float(row["hi"]), float(row["share"]) - 1e-12)


if __name__ == "__main__":
    support.main()
