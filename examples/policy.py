"""A policy for corun in another language: first come, first served, two jobs per GPU. For jobs of one GPU
each it does the same as the built-in `fcfs`. docs/external-policy.md explains the lines.

    corun replay --set 'policies=[{name: fcfs}, {name: external, command: [python3, examples/policy.py]}]'
"""
import json
import sys


def say(answer):
    print(json.dumps(answer), flush=True)


hello = json.loads(sys.stdin.readline())
say({"protocol": "corun-policy", "version": 1})
size = min(2, hello["max_jobs_per_gpu"] or 2)

for line in sys.stdin:
    view = json.loads(line)
    waiting, decisions = view["waiting"], []
    for gpu in view["free"]:
        if not waiting:
            break
        pair, waiting = waiting[:size], waiting[size:]
        decisions.append({"event": "start", "jobs": pair, "gpus": [gpu]})
    say({"decisions": decisions})
