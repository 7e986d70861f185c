#!/usr/bin/python3
"""Mean JCT of corun and of Gavel's simulator for the policies that answer with shares of time.

usage: shares.py [--corun PROGRAM] [--data DIR] [--update]

Runs experiments/peers/gavel-POLICY.yaml on every case of peers3/gavel of the public data sets. --update rewrites the table
in experiments/peers/README.md.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py

from tables import ROOT, options, put

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
    given = options(__doc__)
    rows = ["| case | policy | jobs | Gavel, mean JCT s | corun, mean JCT s | ratio | largest difference of a job, s |",
            "|---|---|---|---|---|---|---|"]
    for case in sorted((pathlib.Path(given.data) / "peers3/gavel").iterdir()):
        summary = json.loads((case / "summary.json").read_text())
        with open(case / "jobs_out.csv") as file:
            theirs = [float(row["jct_s"]) for row in csv.DictReader(file)]
        ours = jct(given.corun, given.data, case, summary["policy"], summary["cluster"])
        ratio = sum(ours) / sum(theirs)
        largest = max(abs(a - b) for a, b in zip(ours, theirs))
        rows.append(f"| {case.name} | {summary['policy']} | {len(ours)} | {sum(theirs) / len(theirs):.1f} | "
                    f"{sum(ours) / len(ours):.1f} | {ratio:.4f} | {largest:.3g} |")
        print(rows[-1], flush=True)
    if given.update:
        put("shares", "\n".join(rows))


if __name__ == "__main__":
    main()
