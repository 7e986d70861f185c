#!/usr/bin/env python3
"""The experiments on the JRS paper: each file of experiments/jrs runs and gives plausible results,
and the schedules of Tables IV to VII give the printed means.

    jrs_experiments_test.py CORUN
"""

import json
import math
import pathlib
import subprocess
import sys
import unittest

CORUN = "corun"
EXPERIMENTS = pathlib.Path(__file__).resolve().parents[2] / "experiments" / "jrs"
JOBS = 24

# As printed [%]: means over the pairs; ISD of the bin's jobs and PS of the bin.
# Tables V and VI omit the job that an odd bin leaves over; it runs alone, ISD 0 and PS 0.
PRINTED = {
    "table-iv": {"isd": 15.23, "ps": 25.02, "pairs": 12, "bin": [], "bin_ps": None},
    "table-v": {"isd": 14.77, "ps": 32.88, "pairs": 9, "bin": [1.5, 9.1, 24.6, 8.1, 1.2], "bin_ps": 70.1},
    "table-vi": {"isd": 5.15, "ps": 35.46, "pairs": 7,
                 "bin": [62.0, 193.1, 37.4, 80.4, 79.5, 19.3, 13.7, 18.8, 40.6], "bin_ps": 69.2},
    "table-vii": {"isd": 20.83, "ps": 30.05, "pairs": 12, "bin": [], "bin_ps": None},
}
WITH_BIN = {"table-v": (None, 36.60), "table-vi": (26.8, 39.67)}

# The printed ISD of a bin's jobs differ by up to 4 points from those of the printed times; the simulation
# follows the times: (J_c, J_a) [s].
BIN_TIMES = {
    "table-v": [(189, 187.27), (167, 153.97), (91, 73.93), (281, 260.23), (285, 281.43)],
    "table-vi": [(248, 153.97), (214, 73.93), (257, 187.27), (175, 96.89), (167, 93.19), (556, 467.04),
                 (365, 321.95), (334, 281.4), (187, 133.42)],
}

# J1-205 with J6-230, measured twice: ISD of both and PS, in Tables V and VII and again in Table VI.
# Without noise a repeated pair runs at its mean speed, close to its mean ISD and PS.
TWICE = {"table-v": ([5.6, 26.3], 19.2), "table-vi": ([3.5, 4.1], 20.1), "table-vii": ([5.6, 26.3], 19.2)}
TWICE_MEAN = ([4.55, 15.2], 19.65)

# Percentage points. Figures are printed to 0.1, PS mostly cut off rather than rounded, and a mean speed does
# not give exactly the mean ISD.
ISD_TOLERANCE = 0.1
PS_TOLERANCE = 0.15


def run(path, *arguments):
    command = [CORUN, "replay", str(path), "--quiet", "--format", "json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


class EveryFile(unittest.TestCase):
    def test_there_are_files(self):
        self.assertGreaterEqual(len(list(EXPERIMENTS.glob("*.yaml"))), 10)

    def test_runs_and_is_sane(self):
        for path in sorted(EXPERIMENTS.glob("*.yaml")):
            with self.subTest(path.name):
                out = run(path, "--set", "replications=3")
                self.assertAlmostEqual(sum(out["coverage"].values()), 1, places=6)
                labels = [p["label"] for p in out["policies"]]
                self.assertEqual(len(labels), len(set(labels)))
                for policy in out["policies"]:
                    metrics = policy["metrics"]
                    for name in ("isd", "ps", "ps_total"):
                        m = metrics[name]
                        self.assertLessEqual(m["lo"], m["mean"] + 1e-12)
                        self.assertLessEqual(m["mean"], m["hi"] + 1e-12)
                        self.assertTrue(math.isfinite(m["mean"]))
                    self.assertGreaterEqual(metrics["isd"]["mean"], 0)
                    self.assertLess(metrics["ps"]["mean"], 1)
                    self.assertGreaterEqual(metrics["jobs"]["mean"], JOBS)
                    self.assertEqual(metrics["failed"]["mean"], 0)

    def test_says_its_command(self):
        for path in sorted(EXPERIMENTS.glob("*.yaml")):
            with self.subTest(path.name):
                head = path.read_text().split("workload:")[0]
                self.assertIn(f"corun replay experiments/jrs/{path.name}", head)


class PrintedSchedules(unittest.TestCase):
    def test_means(self):
        for name, printed in PRINTED.items():
            with self.subTest(name):
                isd = printed["isd"] * 2 * printed["pairs"] + sum(printed["bin"])
                ps = printed["ps"] * printed["pairs"] + (printed["bin_ps"] or 0)
                groups = printed["pairs"] + (printed["bin_ps"] is not None)
                ran = 2 * printed["pairs"] + len(printed["bin"])
                self.assertIn(JOBS - ran, (0, 1))
                if name in WITH_BIN:  # the printed means with the bin follow from those without
                    if WITH_BIN[name][0]:
                        self.assertAlmostEqual(isd / ran, WITH_BIN[name][0], delta=0.05)
                    self.assertAlmostEqual(ps / groups, WITH_BIN[name][1], delta=0.01)
                if name in BIN_TIMES:
                    isd += sum(100 * (c / a - 1) for c, a in BIN_TIMES[name]) - sum(printed["bin"])
                if name in TWICE:
                    isd += sum(TWICE_MEAN[0]) - sum(TWICE[name][0])
                    ps += TWICE_MEAN[1] - TWICE[name][1]
                policy = run(EXPERIMENTS / f"{name}.yaml")["policies"][0]
                metrics = policy["metrics"]
                self.assertAlmostEqual(100 * metrics["isd"]["mean"], isd / JOBS, delta=ISD_TOLERANCE)
                self.assertAlmostEqual(100 * metrics["ps"]["mean"], ps / (groups + JOBS - ran),
                                       delta=PS_TOLERANCE)
                self.assertEqual(metrics["jobs"]["mean"], JOBS)
                self.assertAlmostEqual(policy["coverage"]["measured"], 1, places=9)
                self.assertEqual(metrics["isd"]["lo"], metrics["isd"]["hi"])


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    CORUN = sys.argv.pop(1)
    unittest.main()
