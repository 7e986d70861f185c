"""A policy for corun in another language that gives shares of time: an equal part of each GPU type for every job. Does the
same as the built-in `isolated`. docs/external-policy.md explains the lines.

    corun replay --cluster 2x2:V100+2x2:T4 --set estimates.duration=exact \\
        --set 'policies=[isolated, {name: external-shares, command: [python3, examples/shares.py]}]'
"""
import json
import sys


def say(answer):
    print(json.dumps(answer), flush=True)


def even(job, jobs, gpus):
    """Of its time on each type: the GPUs over the jobs, over the job's own number of GPUs; in all at most 1."""
    parts = [number / jobs / job["gpus"] for number in gpus]
    return [part / max(1.0, sum(parts)) for part in parts]


json.loads(sys.stdin.readline())
say({"protocol": "corun-shares", "version": 1})

for line in sys.stdin:
    asked = json.loads(line)
    jobs, gpus = asked["jobs"], asked["gpus"]
    alone = [even(job, len(jobs), gpus) for job in jobs]
    pairs = [[0] * len(gpus)] * (len(asked["units"]) - len(jobs))  # with space_sharing: pairs
    say({"shares": alone + pairs})
