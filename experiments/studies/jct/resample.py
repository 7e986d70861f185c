"""Traces made of a trace's windows: other arrivals than the one trace's."""

import csv
import math
import random


def resampled(source, target, hours, seed, time="submit_time", number="job_id"):
    """Writes a trace as long as `source`: its windows of so many hours, drawn with replacement (block bootstrap).

    Jobs keep their time within the window. They are numbered from 1 in order of submission.
    """
    with open(source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    length = 3600 * hours
    windows = math.ceil((max(int(row[time]) for row in rows) + 1) / length)
    blocks = [[] for _ in range(windows)]
    for row in rows:
        blocks[int(int(row[time]) // length)].append(row)
    draw = random.Random(seed)
    jobs = []
    for place in range(windows):
        drawn = draw.randrange(windows)
        jobs += [{**row, time: int(int(row[time]) + (place - drawn) * length)} for row in blocks[drawn]]
    jobs.sort(key=lambda row: row[time])
    with open(target, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows({**row, number: i + 1} for i, row in enumerate(jobs))


def gavel_trace(source, target, jobs, seed):
    """Writes a trace of Gavel's old form (7 columns): its jobs and the gaps between arrivals, each drawn with replacement.

    Gavel's own generator draws both independently.
    """
    with open(source, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    arrivals = [float(row[5]) for row in rows]
    gaps = [b - a for a, b in zip(arrivals, arrivals[1:])]
    draw = random.Random(seed)
    now = 0.0
    with open(target, "w", encoding="utf-8") as out:
        for _ in range(jobs):
            row = draw.choice(rows)
            out.write("\t".join([*row[:5], f"{now:.6f}", *row[6:]]) + "\n")
            now += draw.choice(gaps)


def pod_order(source, target, seed):
    """Writes Alibaba's list of pods with GPUs in an order drawn with replacement, one a second. None ends within 30 years.

    As in the study of FGD: pods come until they ask for all GPUs. Returns the milli-GPUs asked by each, in order.
    """
    with open(source, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["num_gpu"]) > 0]
    draw = random.Random(seed)
    asked = []
    with open(target, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        for i in range(len(rows) * 2):
            row = draw.choice(rows)
            asked.append(int(row["num_gpu"]) * int(row["gpu_milli"]))
            out.writerow({**row, "name": f"pod-{i}", "creation_time": i, "scheduled_time": i,
                          "deletion_time": i + 1_000_000_000, "pod_phase": "Running"})
    return asked


def bootstrap_ratio(pairs, seed=1, draws=4000):
    """The ratio of sums over pairs (a, b) and its 95 % interval: pairs drawn with replacement, a and b together."""
    draw = random.Random(seed)
    ratios = []
    for _ in range(draws):
        drawn = [draw.choice(pairs) for _ in pairs]
        ratios.append(sum(a for a, _ in drawn) / sum(b for _, b in drawn))
    return sum(a for a, _ in pairs) / sum(b for _, b in pairs), *interval(ratios)


def quantile(values, q):
    """By linear interpolation."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = math.floor(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (at - low) * (ordered[high] - ordered[low])


def interval(values):
    """The 95 % percentile interval."""
    return quantile(values, 0.025), quantile(values, 0.975)
