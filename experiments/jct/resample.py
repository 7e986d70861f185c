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
    """Writes a trace of Gavel's old form (7 columns): jobs and gaps between arrivals, each drawn with replacement.

    Gavel's own generator draws both independently. Jobs of more than 5e7 steps are left out: on a K80 they would
    run for longer than corun reads.
    """
    with open(source, encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    arrivals = [float(row[5]) for row in rows]
    rows = [row for row in rows if int(row[4]) <= 5e7]
    gaps = [b - a for a, b in zip(arrivals, arrivals[1:])]
    draw = random.Random(seed)
    now = 0.0
    with open(target, "w", encoding="utf-8") as out:
        for _ in range(jobs):
            row = draw.choice(rows)
            out.write("\t".join([*row[:5], f"{now:.6f}", *row[6:]]) + "\n")
            now += draw.choice(gaps)


def pod_order(source, target, capacity, seed):
    """Writes Alibaba's list of pods with GPUs in an order drawn with replacement, one a second. All end after 2.5 years.

    As in the study of FGD: pods come until they ask for `capacity` milli-GPUs. Returns the milli-GPUs asked by
    each, by name.
    """
    with open(source, encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if int(row["num_gpu"]) > 0]
    draw = random.Random(seed)
    asked = {}
    with open(target, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        total = 0
        while total < capacity:
            i = len(asked)
            row = draw.choice(rows)
            asked[f"pod-{i}"] = int(row["num_gpu"]) * int(row["gpu_milli"])
            total += asked[f"pod-{i}"]
            out.writerow({**row, "name": f"pod-{i}", "creation_time": i, "scheduled_time": i,
                          "deletion_time": 80_000_000, "pod_phase": "Running"})
    return asked


def mean_ratio(ratios):
    """The geometric mean of a few ratios and its 95 % interval: Student's t of their logarithms."""
    quantile_of = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262, 11: 2.201,
                   15: 2.131}
    logs = [math.log(ratio) for ratio in ratios]
    mean = sum(logs) / len(logs)
    variance = sum((x - mean) ** 2 for x in logs) / (len(logs) - 1)
    half = quantile_of[len(logs) - 1] * math.sqrt(variance / len(logs))
    return math.exp(mean), math.exp(mean - half), math.exp(mean + half)


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
