#!/usr/bin/python3
"""How time and memory of a replay grow with the number of elastic jobs, at a fixed load.

usage: elastic_growth.py [--corun PROGRAM] [--data DIR] [--jobs N,N,...] [--update]

Jobs are drawn from the lists of load 1.0 of Pollux' artifact (elastic/pollux of DIR, the folder of the public data sets), half as many per
GPU and hour as there, on 250 nodes of 4 T4: 1,000 GPUs. Columns as in growth.py. --update rewrites the table in bench/performance.md.
"""
import argparse
import csv
import os
import pathlib
import random
import sys
import tempfile

from growth import measured
from table import ROOT, put

NODES = 250
JOBS_PER_S = 0.5 * 160 / (8 * 3600) / 64 * (4 * NODES)
POLICIES = {"tiresias": "{name: tiresias, thresholds_s: [57600], within: entry, placement: freest}", "optimus": "{name: optimus}"}


def write_jobs(path, data, jobs):
    with open(pathlib.Path(data, "elastic/pollux/workloads_pollux.csv"), newline="", encoding="utf-8") as file:
        known = [row for row in csv.DictReader(file) if row["set"] == "pollux-1.0"]
    draws = random.Random(1)
    arrival_s = 0.0
    with open(path, "w", encoding="utf-8") as file:
        file.write("job,arrival_s,model,tuned_gpus,tuned_batch_size\n")
        for job in range(jobs):
            arrival_s += draws.expovariate(JOBS_PER_S)
            row = draws.choice(known)
            file.write(f"{row['model']}-{job},{arrival_s:.0f},{row['model']},{row['tuned_gpus']},{row['tuned_batch_size']}\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--data", default=os.environ.get("CORUN_DATA"), help="public data sets; default: CORUN_DATA")
    parser.add_argument("--jobs", default="1000,10000,100000")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not options.data:
        sys.exit("elastic_growth.py: needs the public data sets: set CORUN_DATA or give --data")
    rows = ["| jobs | " + " | ".join(f"{policy}, {unit}" for unit in ("ms per job", "MB") for policy in POLICIES) + " |",
            "|---:|" + "---:|" * (2 * len(POLICIES))]
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/jobs.csv"
        for jobs in (int(float(n)) for n in options.jobs.split(",")):
            write_jobs(trace, options.data, jobs)
            times, memory = [], []
            for policy in POLICIES.values():
                cpu_s, peak = measured(
                    [options.corun, "replay", "--data", options.data, "--quiet", "--threads", "1", "--format", "json", "--set",
                     f"workload={{source: pollux, path: {trace}, programs: elastic/sia, adaptivity: adaptive}}", "--set",
                     f"cluster.machines={NODES}x4:aws", "--set", "cluster.max_jobs_per_gpu=1", "--set", "world.model=none", "--set",
                     "belief.model=truth", "--set", "estimates.duration=exact", "--set", "control.round_s=60", "--set",
                     "replications=1", "--set", f"policies=[{policy}]"])
                times.append(f"{cpu_s * 1e3 / jobs:.2f}")
                memory.append(f"{peak / 1e6:.0f}")
            rows.append(f"| {jobs} | " + " | ".join(times + memory) + " |")
            print(rows[-1], flush=True)
    if options.update:
        put("elastic growth", rows)


if __name__ == "__main__":
    main()
