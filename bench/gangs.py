#!/usr/bin/python3
"""How the time of a replay grows with the size of its gangs.

usage: gangs.py [--corun PROGRAM] [--gpus N,N,...] [--policies NAME,...] [--update]

60 jobs of G / 2 or G GPUs, G = 64 to 16384, on twice as many GPUs as the larger ask for, in nodes of 8: the schedule is
the same for each G, so linear is 4 times the time for 4 times the GPUs. Each policy has a process of its own on one
thread; a figure is the CPU time, user and system, of the whole process, the least of three. --update rewrites the table
in bench/performance.md.
"""
import argparse
import pathlib
import random
import tempfile

from growth import measured
from table import ROOT, put

JOBS = 60


def trace(gpus):
    """The jobs as CSV; the same times and choices for each size."""
    draws = random.Random(1)
    lines = ["job,submit_s,solo_s,gpus"]
    now = 0
    for number in range(JOBS):
        now += draws.randint(1, 2000)
        lines.append(f"j{number},{now},{draws.randint(1000, 40000)},{draws.choice([gpus // 2, gpus])}")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--gpus", default="64,256,1024,4096,16384")
    parser.add_argument("--policies", default="fifo,las,srtf,fcfs,min-slowdown,lucid,schedtune,fifo-packed,srsf-packed")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    policies = options.policies.split(",")
    rows = ["| GPUs of a gang | " + " | ".join(f"`{policy}`, ms" for policy in policies) + " |",
            "|---:|" + "---:|" * len(policies)]
    for gpus in (int(n) for n in options.gpus.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            jobs = pathlib.Path(folder) / "jobs.csv"
            jobs.write_text(trace(gpus))
            times = []
            for policy in policies:
                # las orders by GPU seconds: a fixed threshold would be passed sooner by larger gangs.
                more = {"lucid": ", label_sum: 4", "las": f", thresholds_s: [{1800 * gpus}]"}.get(policy, "")
                settings = f"{{name: {policy}{more}}}"
                command = [options.corun, "replay", str(jobs), "--quiet", "--threads", "1", "--replications", "1",
                           "--cluster", f"{2 * gpus // 8}x8", "--set", "estimates.duration=exact", "--set",
                           f"policies=[{settings}]"]
                times.append(min(measured(command)[0] for _ in range(3)))
            rows.append(f"| {gpus} | " + " | ".join(f"{1e3 * t:.0f}" for t in times) + " |")
            print(rows[-1], flush=True)
    if options.update:
        put("gangs", rows)


if __name__ == "__main__":
    main()
