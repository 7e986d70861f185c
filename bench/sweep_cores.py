#!/usr/bin/python3
"""The speed-up of a sweep on two cores over one, measured in turns.

usage: bench/sweep_cores.py [CORUN] [--rounds N]      (build/release/corun, 5 rounds)

One sweep of 1,000 points, whose costs differ some fiftyfold, with one thread, with two, and as two
programs at once with one thread and half of the points each: the limit of the machine. The three take
turns; the output has the medians of wall-clock time of whole processes and their ratios. The ratios are
meaningless on a machine with other load: the share of a core that the single thread got is printed, too.
Exit code 1: two threads are less than 1.9 times as fast as one, or results differ.
"""
import argparse
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
LIMIT = 1.9
CONFIG = """\
policies: [fcfs, random, min-slowdown, max-packing, exclusive]
workload: {source: jrs-resampled}
replications: 4
sweep:
  latin-hypercube:
    points: 1000
    space:
      workload.jobs: {integer: [10, 500]}
      workload.load: {uniform: [0.5, 1.2]}
      cluster.nodes: {integer: [1, 8]}
      world.fallback: {choice: [contention, cluster-mean]}
"""


def timed(commands, folder):
    """Wall-clock and CPU seconds of commands that run at once."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.monotonic()
    processes = [subprocess.Popen(command, cwd=folder) for command in commands]
    if any([process.wait() for process in processes]):
        sys.exit("a sweep failed")
    wall = time.monotonic() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("corun", nargs="?", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.corun)
    with tempfile.TemporaryDirectory() as folder:
        pathlib.Path(folder, "s.yaml").write_text(CONFIG)
        sweep = [program, "sweep", "s.yaml", "--quiet", "--force"]  # each round anew
        ways = {
            "one thread": [[*sweep, "--threads", "1", "--output", "one.h5"]],
            "two threads": [[*sweep, "--threads", "2", "--output", "two.h5"]],
            "two programs": [[*sweep, "--threads", "1", "--shard", f"{n}/2", "--output", f"part{n}"]
                             for n in (1, 2)],
        }
        walls = {way: [] for way in ways}
        shares = []
        for _ in range(arguments.rounds):
            for way, commands in ways.items():
                for part in pathlib.Path(folder).glob("part*"):
                    part.unlink()
                wall, cpu = timed(commands, folder)
                walls[way].append(wall)
                if way == "one thread":
                    shares.append(cpu / wall)
        same = pathlib.Path(folder, "one.h5").read_bytes() == pathlib.Path(folder, "two.h5").read_bytes()
    medians = {way: statistics.median(times) for way, times in walls.items()}
    for way, seconds in medians.items():
        print(f"{way:12}  {seconds:6.2f} s   {medians['one thread'] / seconds:.2f} x   "
              f"[{min(walls[way]):.2f}, {max(walls[way]):.2f}]")
    print(f"share of a core that the one thread got: {statistics.median(shares):.2f}")
    print(f"results: {'the same bytes' if same else 'DIFFERENT'}")
    ratio = medians["one thread"] / medians["two threads"]
    return 0 if same and ratio >= LIMIT else 1


sys.exit(main())
