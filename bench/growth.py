#!/usr/bin/python3
"""How time and memory of a replay grow with the number of jobs, at a fixed load.

usage: growth.py [--corun PROGRAM] [--jobs N,N,...] [--policies NAME,...] [--load X] [--gpus N] [--phases N] [--update]

For each size a trace is generated and replayed by one policy at a time, each in its own process on one
thread. `ms` is CPU time, user and system, of the whole process, with the reading of the trace. `MB` is the
peak memory of the replay less that of `corun trace info`, which holds the same trace. The first row is a
replay of ten jobs: the program's own cost. Needs GNU time (Debian: time). --update rewrites the table in
bench/performance.md.
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

from table import ROOT, put

TIME = "/usr/bin/time"
FEW = 10  # too few jobs to matter: the cost of the program


def measured(command):
    """CPU seconds and peak bytes of a command that must succeed."""
    # A process begins with the peak memory of its parent, and this script's is above a small replay's.
    with tempfile.NamedTemporaryFile("r") as peak:
        process = subprocess.Popen([TIME, "-f", "%M", "-o", peak.name, *command], stdout=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        err = process.stderr.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{err.decode()}")
        return usage.ru_utime + usage.ru_stime, int(peak.read()) * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--jobs", default="10000,100000,1000000,10000000")
    parser.add_argument("--policies", default="fifo,las,min-slowdown")
    parser.add_argument("--load", default="0.7")
    parser.add_argument("--gpus", type=int, default=256, help="in nodes of 8")
    parser.add_argument("--phases", type=int, default=0, help="of each job, of equal work; 0: jobs do not change")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not os.access(TIME, os.X_OK):
        sys.exit(f"growth.py: no {TIME}; install the package time")
    policies = options.policies.split(",")
    rows = ["| jobs | " + " | ".join(f"{policy}, {unit}" for unit in ("ms", "MB") for policy in policies) + " |",
            "|---:|" + "---:|" * (2 * len(policies))]
    for jobs in [FEW] + [int(float(n)) for n in options.jobs.split(",")]:
        with tempfile.TemporaryDirectory() as folder:
            trace = f"{folder}/jobs.csv"
            measured([options.corun, "trace", "generate", trace, "--jobs", str(jobs), "--gpus",
                      str(options.gpus), "--load", options.load, "--quiet"])
            _, trace_bytes = measured([options.corun, "trace", "info", trace, "--format", "json", "--quiet"])
            phases = []
            if options.phases:
                names = pathlib.Path(trace).read_text().splitlines()[1:]
                table = f"{folder}/phases.csv"
                with open(table, "w") as file:
                    file.write("job,share,gpu_util_pct\n")
                    for row in names:
                        for p in range(options.phases):
                            file.write(f"{row.split(',')[0]},{1 / options.phases!r},{20 + 20 * p % 80}\n")
                phases = ["--set", f"workload.phases={table}"]
            times, memory = [], []
            for policy in policies:
                cpu_s, peak = measured(
                    [options.corun, "replay", "--quiet", "--threads", "1", "--format", "json", "--set", "workload.source=csv",
                     "--set", f"workload.path={trace}", "--set", f"cluster.nodes={options.gpus // 8}", "--set",
                     "cluster.gpus_per_node=8", "--set", "replications=1", "--set", "estimates.duration=exact", "--set",
                     f"policies=[{{name: {policy}}}]", *phases])
                times.append(f"{cpu_s * 1e3:.0f}")
                memory.append(f"{(peak - trace_bytes) / 1e6:.1f}")
            rows.append(f"| {jobs} | " + " | ".join(times + memory) + " |")
            print(rows[-1], flush=True)
    if options.update:
        put("growth", rows)


if __name__ == "__main__":
    main()
