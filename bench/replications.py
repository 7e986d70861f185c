#!/usr/bin/python3
"""What a replication of a batch experiment costs by events and by the batch engine.

usage: replications.py [--corun PROGRAM] [--bench PROGRAM] [--replications N] [--rounds N] [--update]

Two tables: replications within one process (batch_bench, medians of --rounds interleaved repetitions), and
whole processes, `corun replay --engine events` and `--engine batch` in turns, intervals over replications
included; CPU time, user and system, on one thread. What both print must be the same. --update rewrites the
tables in docs/performance.md.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs/performance.md"
BEGIN, END = "<!-- replications: begin -->", "<!-- replications: end -->"
UNITS = {"ns": 1e-3, "us": 1, "ms": 1e3, "s": 1e6}


def measured(command):
    """CPU seconds of a command that must succeed, and what it prints."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    out, err = process.stdout.read(), process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{err.decode()}")
    return usage.ru_utime + usage.ru_stime, out


def microseconds(bench, rounds):
    """CPU time by name of the benchmark."""
    _, out = measured([bench, "--benchmark_filter=^(events|batch)/", "--benchmark_min_time=0.2",
                       f"--benchmark_repetitions={rounds}", "--benchmark_enable_random_interleaving=true",
                       "--benchmark_format=json"])
    times = {}
    for entry in json.loads(out)["benchmarks"]:
        if entry.get("error_occurred"):
            sys.exit(f"{entry['run_name']}: {entry['error_message']}")
        if entry["run_type"] == "iteration":
            name = entry["run_name"].split("/repeats:")[0]
            times.setdefault(name, []).append(entry["cpu_time"] * UNITS[entry["time_unit"]])
    return {name: statistics.median(values) for name, values in times.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--bench", default=str(ROOT / "build/release/bench/batch_bench"))
    parser.add_argument("--replications", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()

    rows = ["| one replication | policy | by events | batch | ratio |", "|---|---|---:|---:|---:|"]
    times = microseconds(options.bench, options.rounds)
    batches = [name.split("/")[1:] for name in times if name.startswith("batch/")]
    for policy, jobs, gpus in sorted(batches, key=lambda name: (int(name[1]), name[0])):
        batch = times[f"batch/{policy}/{jobs}/{gpus}"]
        events = times[f"events/{policy}/{jobs}/{gpus}"]
        once = ", `plan: once`" if policy == "min-slowdown" else ""
        rows.append(f"| {jobs} jobs, {gpus} GPUs | `{policy}`{once} | {events:.1f} us | {batch:.1f} us "
                    f"| {events / batch:.1f} |")
        print(rows[-1], flush=True)

    rows += ["", f"| `corun replay`, {options.replications:,} replications | by events | batch | ratio |",
             "|---|---:|---:|---:|"]
    for policies in ("fcfs", "fcfs, random, opposites, exclusive"):
        listed = "policies=[" + ", ".join(f"{{name: {name}}}" for name in policies.split(", ")) + "]"
        seconds = {"events": [], "batch": []}
        printed = set()
        for _ in range(3):
            for engine, taken in seconds.items():
                cpu_s, out = measured([options.corun, "replay", "--quiet", "--threads", "1", "--format", "json",
                                       "--engine", engine, "--set", f"replications={options.replications}",
                                       "--set", listed])
                taken.append(cpu_s)
                printed.add(out)
        if len(printed) != 1:
            sys.exit(f"{policies}: the engines print different results")
        events, batch = (statistics.median(taken) for taken in seconds.values())
        rows.append(f"| `{policies}` | {events:.1f} s | {batch:.1f} s | {events / batch:.1f} |")
        print(rows[-1], flush=True)
    if options.update:
        page = PAGE.read_text()
        text = "\n".join(rows) + "\n"
        PAGE.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: f"{BEGIN}\n{text}{END}", page,
                               flags=re.S))


if __name__ == "__main__":
    main()
