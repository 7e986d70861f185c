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
