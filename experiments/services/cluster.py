#!/usr/bin/env python3
"""Training beside services on one cluster: how much training do policies get done, and how many latency goals do they miss?

    experiments/services/cluster.py --data DIR [--corun build/release/corun] [--check]

Writes the table of experiments/services/cluster.md and its figure; with --check exit 1 if they differ. DIR is the folder of
the public data sets. Takes about a minute.
"""

import argparse
import csv
import json
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import FAINT, GREY, INK, PALETTE, REPO, Svg, markdown, num, with_table, write_or_check  # noqa: E402

PAGE, FIGURE = HERE / "cluster.md", HERE / "cluster.svg"
LIMIT_S = 300  # of a replay
REPLICATIONS = 10
SEEDS = 3  # of jobs
PAIRS = "coruns/igniter_v100_pairs.csv"
# name, trace of requests, start [s], iGniter's model|batch|share of a replica, goal [ms]
SERVICES = [("code", "azure2023_llm_code.csv", 300, "ssd|16|20", 800),
            ("conversation", "azure2023_llm_conv.csv", 900, "ssd|8|20", 500),
            ("mooncake", "mooncake_conversation.csv", 1500, "vgg19|16|20", 600)]
LENGTH_S = 3400
TRAINING = ["resnet50|8|80", "resnet50|32|80", "alexnet|8|80", "alexnet|32|80"]  # the other share of the SMs
JOBS = 60
POLICIES = {
    "fcfs": "{name: fcfs}",
    "kube-default": "{name: kube-default}",
    "min-slowdown": "{name: min-slowdown}",
    "srsf-packed": "{name: srsf-packed}",
    "priority": "{name: priority, label: priority}",
    "priority, apart": "{name: priority, beside: none, label: 'priority, apart'}",
    "priority, scaled by utilisation": "{name: priority, scale: utilisation, label: 'priority, scaled by utilisation'}",
    "priority, scaled by latency": "{name: priority, scale: latency, label: 'priority, scaled by latency'}",
}


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def inputs(data, folder, seed):
    """The times of replicas, the services and the jobs of one seed; the jobs' mean solo time [s]."""
    rate = {}
    with open(data / PAIRS, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            for side in "ab":
                rate[row[f"job_{side}"]] = float(row[f"solo_rate_{side}"])  # batches per second
    write(folder / "times.csv", [{"model": key, "batch_size": key.split("|")[1], "latency_ms": 1000 / rate[key]}
                                 for *_, key, _ in SERVICES])
    write(folder / "services.csv",
          [{"name": name, "times": "times.csv", "model": key, "workload": key, "start_s": start,
            "end_s": start + LENGTH_S, "goal_ms": goal, "requests": data / "requests" / trace,
            "batch": key.split("|")[1], "replicas": 3, "least_replicas": 1, "gpu_util_pct": key.split("|")[2]}
           for name, trace, start, key, goal in SERVICES])
    draw = random.Random(seed)
    jobs = [{"job": f"j{i}", "workload": draw.choice(TRAINING), "submit_s": round(draw.uniform(0, 3600), 3),
             "solo_s": round(draw.uniform(300, 900), 3), "gpu_util_pct": 80} for i in range(JOBS)]
    write(folder / "jobs.csv", sorted(jobs, key=lambda job: job["submit_s"]))
    return sum(job["solo_s"] for job in jobs) / JOBS


def replay(corun, data, folder):
    settings = ["workload={source: csv, path: jobs.csv, services: services.csv}", "cluster.nodes=8",
                "cluster.gpus_per_node=1", "cluster.max_jobs_per_gpu=2", "cluster.sharing=mps", "control.start=join",
                "estimates.duration=lognormal", f"world.path={data / PAIRS}",
                f"belief={{model: boosted-trees, initial: '{data / PAIRS}', known: 0.5}}",
                f"replications={REPLICATIONS}", f"policies=[{', '.join(POLICIES.values())}]"]
    config = folder / "config.yaml"
    config.write_text("seed: 1\n")
    command = [corun, "replay", config, "--format", "json", "-q"]
    for setting in settings:
        command += ["--set", setting]
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, check=False, cwd=folder,
                          timeout=LIMIT_S)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def figure(points):
    """points: policy -> (missed goals [%], throughput, lo, hi)"""
    svg = Svg(640, 380, "Training throughput against missed latency goals")
    left, right, top, bottom = 70, 400, 30, 320
    most = max(p[0] for p in points.values()) * 1.1 + 0.1
    high = max(p[3] for p in points.values()) * 1.1
    x = lambda v: left + (right - left) * v / most  # noqa: E731
    y = lambda v: bottom - (bottom - top) * v / high  # noqa: E731
    for i in range(6):
        at = high * i / 5
        svg.line(left, y(at), right, y(at), FAINT)
        svg.text(left - 8, y(at) + 4, num(at, 2), "end", GREY, 11)
        at = most * i / 5
        svg.text(x(at), bottom + 18, num(at, 1), "middle", GREY, 11)
    svg.text((left + right) / 2, bottom + 40, "requests outside their latency goal, or not answered [%]", "middle", INK)
    svg.text(20, (top + bottom) / 2, "training: solo time / completion time", "middle", INK, rotate=-90)
    for i, (name, (missed, mean, lo, hi)) in enumerate(points.items()):
        svg.whisker_v(x(missed), y(lo), y(hi), PALETTE[i % len(PALETTE)])
        svg.dot(x(missed), y(mean), PALETTE[i % len(PALETTE)])
        svg.dot(right + 30, top + 22 * i, PALETTE[i % len(PALETTE)])
        svg.text(right + 42, top + 22 * i + 4, name)
    return svg.done()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--corun", type=pathlib.Path, default=REPO / "build/release/corun")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    data, corun = given.data.resolve(), given.corun.resolve()
    sums = {name: [] for name in POLICIES}
    for seed in range(SEEDS):
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            solo_s = inputs(data, folder, seed)
            for policy in replay(corun, data, folder)["policies"]:
                sums[policy["label"]].append((solo_s, policy))
    rows, points = [], {}
    for name, runs in sums.items():
        def mean(of, runs=runs):
            return sum(of(solo_s, policy) for solo_s, policy in runs) / len(runs)
        total = lambda policy: policy["services"][-1]  # noqa: E731
        missed = mean(lambda _, p: 100 * (1 - total(p)["within_goal"]["mean"]))
        ends = [mean(lambda s, p, e=e: s / p["metrics"]["jct_s"][e]) for e in ("mean", "hi", "lo")]
        points[name] = (missed, *ends)
        each = [mean(lambda _, p, i=i: 100 * (1 - p["services"][i]["within_goal"]["mean"])) for i in range(len(SERVICES))]
        rows.append([name, f"{num(ends[0], 3)} [{num(ends[1], 3)}, {num(ends[2], 3)}]",
                     num(mean(lambda _, p: p["metrics"]["jct_s"]["mean"] / 60), 1), num(missed, 2),
                     *(num(e, 2) for e in each), num(mean(lambda _, p: 1000 * total(p)["p99_s"]["mean"]), 0),
                     num(mean(lambda _, p: total(p)["replicas"]["mean"]), 2)])
    header = ["policy", "training throughput", "JCT min", "missed %", *(f"{s[0]} %" for s in SERVICES), "p99 ms",
              "replicas"]
    page = with_table(PAGE.read_text(), "training and missed goals", markdown(header, rows))
    sys.exit(1 if write_or_check({PAGE: page, FIGURE: figure(points)}, given.check) and given.check else 0)


if __name__ == "__main__":
    main()
