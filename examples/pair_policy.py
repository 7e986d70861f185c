"""A policy for corun that asks for the expected costs of pairs: the cheapest pair of waiting jobs starts first,
by the sum of both expected ISDs. For jobs of one GPU each, as `min-slowdown` with `pairing: greedy-rank` and a
belief about jobs. docs/external-policy.md explains the lines.

    corun replay --set belief.model=default --set 'policies=[{name: min-slowdown, pairing: greedy-rank},
        {name: external, belief: configured, command: [python3, examples/pair_policy.py]}]'
"""
import itertools
import json
import sys


def say(answer):
    print(json.dumps(answer), flush=True)


def cost(answer):  # null: not known
    return sum(float("inf") if isd is None else isd for isd in answer["isd"])


hello = json.loads(sys.stdin.readline())
say({"protocol": "corun-policy", "version": 1, "wants": ["pairs"]})
may_pair = hello["max_jobs_per_gpu"] != 1

while line := sys.stdin.readline():
    view = json.loads(line)
    waiting, groups = sorted(view["waiting"][:256]), []
    if view["free"] and len(waiting) > 1 and may_pair:
        pairs = list(itertools.combinations(waiting, 2))
        say({"ask": pairs})
        answers = json.loads(sys.stdin.readline())["pairs"]
        left = set(waiting)
        for pair, _ in sorted(zip(pairs, answers), key=lambda both: cost(both[1])):
            if left.issuperset(pair):
                groups.append(pair)
                left.difference_update(pair)
        waiting = sorted(left)
    groups += [[job] for job in waiting]
    say({"decisions": [{"event": "start", "jobs": group, "gpus": [gpu]} for group, gpu in zip(groups, view["free"])]})
