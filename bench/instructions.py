#!/usr/bin/python3
"""Instructions of a plain replay, and of the same by an earlier build of the program.

usage: instructions.py [--corun PROGRAM] [--before PROGRAM] [--runs JOBSxREPLICATIONS,...] [--update]

Stationary jobs, half of them gangs of up to 8 GPUs, come faster than 1,000 GPUs take them; `fifo` replays them on one thread.
Callgrind counts the instructions of the whole process, reading of the trace included: unlike times they do not depend on
what else the machine does. Both programs must print the same. Needs valgrind (Debian: valgrind). --update rewrites the table
in bench/performance.md, for which --before is needed.
"""
import argparse
import random
import re
import shutil
import subprocess
import sys
import tempfile

from table import ROOT, put


def write_jobs(path, jobs):
    """Poisson arrivals, run times of a lognormal distribution."""
    draws = random.Random(1)
    submit_s = 0.0
    with open(path, "w") as file:
        file.write("job,submit_s,solo_s,gpus\n")
        for job in range(jobs):
            submit_s += draws.expovariate(1 / 3.6)
            solo_s = draws.lognormvariate(7.2, 1)
            file.write(f"j{job},{submit_s:.3f},{solo_s:.3f},{draws.choice([1, 1, 1, 2, 4, 8])}\n")


def counted(program, trace, replications):
    """The instructions of a replay, and what it prints."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program, "replay", "--set",
         f"workload.path={trace}", "--set", "workload.source=csv", "--policies", "fifo", "--set",
         "cluster.machines=125x8:V100-16GB", "--replications", str(replications), "--threads", "1", "--quiet",
         "--format", "csv"], capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"instructions.py: {program}\n{done.stderr}")
    return int(found[1]), done.stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--before")
    parser.add_argument("--runs", default="20000x1,20000x5,100000x1")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.exit("instructions.py: no valgrind; install the package valgrind")
    if options.update and not options.before:
        sys.exit("instructions.py: --update needs --before: the table compares two programs")
    rows = ["| jobs | replications | before, 10^6 | now, 10^6 | ratio |", "|---:|---:|---:|---:|---:|"]
    with tempfile.TemporaryDirectory() as folder:
        trace = f"{folder}/jobs.csv"
        for run in options.runs.split(","):
            jobs, replications = (int(n) for n in run.split("x"))
            write_jobs(trace, jobs)
            now, printed = counted(options.corun, trace, replications)
            before, ratio = "-", "-"
            if options.before:
                then, expected = counted(options.before, trace, replications)
                if printed != expected:
                    sys.exit(f"instructions.py: the programs print different results of {run}")
                before, ratio = f"{then / 1e6:.0f}", f"{now / then:.3f}"
            rows.append(f"| {jobs} | {replications} | {before} | {now / 1e6:.0f} | {ratio} |")
            print(rows[-1], flush=True)
    if options.update:
        put("instructions", rows)


if __name__ == "__main__":
    main()
