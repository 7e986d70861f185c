#!/usr/bin/python3
"""CPU time of corun and of peer simulators for the same cases.

usage: speed.py [--corun PROGRAM] [--data DIR] [--update]

Peers' user CPU seconds are those of the data directory's PEERS.md, measured on another day on a machine of
the same kind. corun's are measured now, in user and system seconds of the whole process, including trace
reading. If the peer needs less than 30 s, the time of one replay within the process is given as well: that of
101 replications less that of one, over 100. --update rewrites the table in experiments/peers/README.md.
"""
import os
import pathlib
import platform
import subprocess
import sys
import threading

from tables import ROOT, options, put

LIMIT_S = 3600  # of one run
LONG_S = 30  # from this on only the whole process is compared

# case, configuration, overrides, jobs, the peer's CPU seconds
CASES = [
    ("Lucid fifo, 8 nodes, 200 jobs", "lucid-fifo", ["workload.path=peers/lucid/philly4_d100_200.csv"], 200, 0.45),
    ("Lucid fifo, 8 nodes, 2638 jobs", "lucid-fifo", ["workload.path=peers/lucid/philly4_d100_all.csv"], 2638, 7.2),
    ("Lucid sharing, 8 nodes, 992 jobs", "lucid-sharing",
     ["workload.path=peers/lucid/philly3_d100_all.csv"], 992, 992 / 66),
    ("Lucid sharing, 64 nodes, 992 jobs", "lucid-sharing",
     ["workload.path=peers/lucid/philly3_d100_all.csv", "cluster.nodes=64"], 992, 992 / 243),
    ("Lucid fifo, 135 nodes, 15 virtual clusters, 24171 jobs", "lucid-venus", [], 24171, 470),
    ("Gavel fifo, 32 V100, 984 jobs", "gavel-fifo",
     ["workload.path=peers/gavel/trace_0e4a51_1000.csv", "cluster.nodes=32", "cluster.gpus_per_node=1"], 984, 64),
    ("Gavel fifo, 64 V100, 1000 jobs", "gavel-fifo",
     ["workload.path=peers/gavel/trace_6214e9_1000.csv", "cluster.nodes=64", "cluster.gpus_per_node=1"], 1000, 184),
    ("Gavel fifo_packed, 16 V100, 200 jobs", "gavel-fifo-packed",
     ["workload.path=peers/gavel/trace_0e4a51_200.csv", "cluster.nodes=16", "cluster.gpus_per_node=1"], 200, 129),
    ("Gavel fifo_packed, 32 V100, 200 jobs", "gavel-fifo-packed",
     ["workload.path=peers/gavel/trace_0e4a51_200.csv", "cluster.nodes=32", "cluster.gpus_per_node=1"], 200, 59),
    ("Muri SRTF, 64 GPUs, trace 4", "muri-srtf", ["workload.path=peers/muri_philly_trace4.csv"], 2638, 4.5),
    ("Muri SRTF, 64 GPUs, trace 2", "muri-srtf", ["workload.path=peers/muri_philly_trace2.csv"], 5755, 21.6),
    ("openb by fgd, 1213 nodes, 6203 pods (the peer: random)", "openb-fgd", [], 6203, 6203 / 8),
]


def cpu_seconds(program, config, settings, data, replications):
    """CPU seconds and peak MiB of the whole process."""
    command = [program, "replay", str(ROOT / f"experiments/peers/{config}.yaml"), "--data", data, "--quiet",
               "--threads", "1", "--format", "json", "--set", f"replications={replications}"]
    for setting in settings:
        command += ["--set", setting]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    limit = threading.Timer(LIMIT_S, process.kill)  # os.wait4 takes no time limit
    limit.start()
    process.stdout.read()
    err = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    limit.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{err.decode()}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024


def best(measure, times=3):
    return min(measure() for _ in range(times))


def main():
    given = options(__doc__)
    rows = ["| case | peer, CPU s | corun, CPU s | MB | ratio | one replay, ms | ratio |", "|---|---|---|---|---|---|---|"]
    for name, config, settings, _, peer_s in CASES:
        if not (ROOT / f"experiments/peers/{config}.yaml").exists():
            print(f"SKIPPED: no experiments/peers/{config}.yaml", file=sys.stderr)
            continue
        process_s, mb = best(lambda: cpu_seconds(given.corun, config, settings, given.data, 1))
        row = f"| {name} | {peer_s:.3g} | {process_s:.3f} | {mb} | {peer_s / process_s:.0f} |"
        if peer_s < LONG_S:
            many_s = best(lambda: cpu_seconds(given.corun, config, settings, given.data, 101))[0]
            replay_s = max(many_s - process_s, 1e-9) / 100
            row += f" {replay_s * 1e3:.2f} | {peer_s / replay_s:.0f} |"
        else:
            row += " | |"
        rows.append(row)
        print(row, flush=True)
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")),
                 platform.machine())
    text = "\n".join(rows) + f"\n\nMeasured on one core of {os.cpu_count()} x {model}.\n"
    if given.update:
        put("peers", text.rstrip("\n"))


if __name__ == "__main__":
    main()
