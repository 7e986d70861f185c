#!/usr/bin/env python3
"""The cost of `corun live profile` for the job that it watches.

    bench/profiler_overhead.py [--pairs 40] [--work-s 5] [--interval 0.5] [--idle-processes 0]
                               [--corun build/release/corun] [--nvml LIB] [--json FILE]

A job that keeps every core busy runs alone and under the profiler, in pairs whose order alternates (alone
first, profiled first, ...), so that drift of the machine cancels. Its work is fixed. Both times its
environment is empty and it has its own session. It times itself, so its start is not in the figures. The
script prints

  - the CPU time of corun and its guard processes, as a share of one core over the length of the job;
  - the change of the job's completion time (JCT) in a pair: the median, with its 95 % interval by order
    statistics, because other load of a machine comes in bursts;
  - the same of the CPU time of the job, which other load disturbs less.

--idle-processes starts that many sleeping processes, as on a shared machine: the cost of a look must not
grow with them. Without --nvml the driver of this machine is watched. On a machine without a GPU give the
fake library of the tests, build/release/tests/libfake_nvml.so. The cost of a driver's own calls is then not
in the figures.
"""
import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time

def spin(rounds):
    x = 1
    for _ in range(rounds):
        x = x * 1103515245 + 12345 & 0x7FFFFFFF
    return x


def job(processes, rounds):
    """The watched program: `processes` of equal work at a time; prints its wall and CPU seconds."""
    start = time.monotonic()
    children = []
    for _ in range(processes):
        child = os.fork()
        if child == 0:
            spin(rounds)
            os._exit(0)
        children.append(child)
    for child in children:
        os.waitpid(child, 0)
    used = os.times()
    print(json.dumps({"wall_s": time.monotonic() - start,
                      "cpu_s": used.children_user + used.children_system}))


def rounds_for(seconds):
    rounds = 200_000
    while True:
        start = time.process_time()
        spin(rounds)
        took = time.process_time() - start
        if took > 0.2:
            return int(rounds * seconds / took)
        rounds *= 2


def run_alone(words):
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL,
                          start_new_session=True, text=True)
    return json.loads(done.stdout)


def run_profiled(words, options, folder):
    done = subprocess.run(
        [options.corun, "live", "profile", "--format", "json", "--interval", str(options.interval),
         "--job-output", folder + "/job"] + (["--nvml", options.nvml] if options.nvml else []) +
        ["--"] + words, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())
    with open(folder + "/job.out") as file:
        result = json.load(file)
    told = json.loads(done.stdout)
    result["profiler_cpu_pct"] = told["profiler_cpu_pct"]
    result["samples"] = told["samples"]
    return result


def median_interval(values):
    """Median and its 95 % interval: between the order statistics that the binomial law gives."""
    values = sorted(values)
    n = len(values)
    below = max(0, math.floor(n / 2 - 1.96 * math.sqrt(n) / 2))
    return statistics.median(values), values[below], values[n - 1 - below]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=40)
    parser.add_argument("--work-s", type=float, default=5.0, help="length of the job, about")
    parser.add_argument("--interval", type=float, default=0.5, help="of the profiler [s]")
    parser.add_argument("--idle-processes", type=int, default=0)
    parser.add_argument("--corun", default="build/release/corun")
    parser.add_argument("--nvml", help="library to load in place of the driver's")
    parser.add_argument("--json", help="write all runs to this file, too")
    options = parser.parse_args()
    if options.pairs < 8 or options.work_s <= 0 or options.idle_processes < 0:
        parser.error("at least 8 pairs, of some length")
    cores = len(os.sched_getaffinity(0))
    words = ["/usr/bin/env", "-i", sys.executable, os.path.abspath(__file__), "--job", str(cores),
             str(rounds_for(options.work_s))]
    sleepers = [subprocess.Popen(["sleep", "infinity"]) for _ in range(options.idle_processes)]
    try:
        with tempfile.TemporaryDirectory() as folder:
            if options.nvml:
                options.nvml = os.path.abspath(options.nvml)
                os.mkdir(folder + "/jobs")
                with open(folder + "/gpus", "w") as file:
                    file.write("16384 0 0 Fake GPU\n")
                os.environ["FAKE_GPU_BOX"] = folder
            pairs = []
            for n in range(options.pairs):
                if n % 2 == 0:
                    alone = run_alone(words)
                    profiled = run_profiled(words, options, folder)
                else:
                    profiled = run_profiled(words, options, folder)
                    alone = run_alone(words)
                pairs.append({"alone": alone, "profiled": profiled})
    finally:
        for sleeper in sleepers:
            sleeper.kill()
            sleeper.wait()

    change = {key: median_interval([(p["profiled"][key] / p["alone"][key] - 1) * 100 for p in pairs])
              for key in ("wall_s", "cpu_s")}
    cost = [p["profiled"]["profiler_cpu_pct"] for p in pairs]
    mean_s = statistics.mean(p["alone"]["wall_s"] for p in pairs)
    print(f"{options.pairs} pairs, {cores} cores busy, job of {mean_s:.2f} s, a look every "
          f"{options.interval:g} s, {options.idle_processes} idle processes beside")
    print(f"CPU of corun and its guard     {statistics.mean(cost):6.2f} % of one core "
          f"(most in a run: {max(cost):.2f})")
    for name, key in (("JCT", "wall_s"), ("the job's CPU time", "cpu_s")):
        middle, low, high = change[key]
        print(f"change of {name:<20} {middle:+6.2f} % [{low:+.2f}, {high:+.2f}]")
    if options.json:
        with open(options.json, "w") as file:
            json.dump({"cores": cores, "interval_s": options.interval, "pairs": pairs}, file,
                      indent=1)


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--job":
        job(int(sys.argv[2]), int(sys.argv[3]))
    else:
        main()
