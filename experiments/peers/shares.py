#!/usr/bin/python3
"""Mean JCT of corun and of Gavel's simulator for the policies that answer with shares of time.

usage: shares.py [--corun PROGRAM] [--data DIR] [--update]

Runs experiments/peers/gavel-POLICY.yaml on every case of peers3/gavel of the public data sets. --update rewrites the table
in experiments/peers/README.md.
"""
import argparse
import csv
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "experiments/peers/README.md"
BEGIN, END = "<!-- shares: begin -->", "<!-- shares: end -->"
TYPES = ("V100-16GB", "P100-16GB", "K80")


def jct(program, data, case, policy, cluster):
    """JCT of each job [s], by job."""
    machines = "+".join(f"{n}x1:{name}" for n, name in zip(cluster.split(":"), TYPES) if n != "0")
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "results.h5"
        command = [program, "replay", str(ROOT / f"experiments/peers/gavel-{policy.replace('_', '-')}.yaml"), "--data", data,
                   "--quiet", "--threads", "1", "--set", f"workload.path={case / 'jobs_in.csv'}",
                   "--set", f"cluster.machines={machines}", "-o", str(out)]
        run = subprocess.run(command, capture_output=True, text=True, timeout=600)
        if run.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{run.stderr}")
        with h5py.File(out) as results:
            return [float(x) for x in results["runs"]["jct_s"]]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--data", default=os.environ.get("CORUN_DATA"), help="public data sets; default: CORUN_DATA")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not options.data:
        parser.error("needs the public data sets: set CORUN_DATA or give --data (corun data lists them)")
    rows = ["| case | policy | jobs | Gavel, mean JCT s | corun, mean JCT s | ratio | largest difference of a job, s |",
            "|---|---|---|---|---|---|---|"]
    for case in sorted((pathlib.Path(options.data) / "peers3/gavel").iterdir()):
        summary = json.loads((case / "summary.json").read_text())
        with open(case / "jobs_out.csv") as file:
            theirs = [float(row["jct_s"]) for row in csv.DictReader(file)]
        ours = jct(options.corun, options.data, case, summary["policy"], summary["cluster"])
        ratio = sum(ours) / sum(theirs)
        largest = max(abs(a - b) for a, b in zip(ours, theirs))
        rows.append(f"| {case.name} | {summary['policy']} | {len(ours)} | {sum(theirs) / len(theirs):.1f} | "
                    f"{sum(ours) / len(ours):.1f} | {ratio:.4f} | {largest:.3g} |")
        print(rows[-1], flush=True)
    if options.update:
        page = PAGE.read_text()
        text = "\n".join(rows)
        PAGE.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), f"{BEGIN}\n{text}\n{END}", page, flags=re.S))


if __name__ == "__main__":
    main()
