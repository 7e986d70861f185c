#!/usr/bin/python3
"""JCT of elastic clusters beside those of the simulators of Pollux and Sia, job by job, and of Pollux' random search by its mean.

usage: elastic.py [--corun PROGRAM] [--data DIR] [--update]

Each folder peers3/adaptdl-osdi21/POLICY-* of the data directory with POLICY tiresias or optimus is a run of that simulator; so is
each workload 1 to 4 of elastic/pollux/results_jct.csv (experiment jobload). The configuration is pollux-POLICY.yaml of
this folder. Each folder of peers3/sia-sosp23 is a run of Sia's simulator (sia.yaml). pollux.yaml repeats workloads 1 to 4 of load 1.0
with 20 seeds of the search. --update rewrites the tables in experiments/peers/README.md.
"""
import json
import pathlib
import subprocess
import sys

from agreement import LIMIT_S, rows_of, run
from tables import ROOT, options, put

POLICIES = ("tiresias", "optimus")
SEARCHED_LOAD = "1.0"


def recorded(data):
    """Name, policy, overrides and JCT [s] by job of each recorded run."""
    for folder in sorted(pathlib.Path(data, "peers3/adaptdl-osdi21").iterdir()):
        policy = folder.name.split("-")[0]
        if policy not in POLICIES:
            continue
        summary = json.loads((folder / "summary.json").read_text())
        settings = {"workload.path": folder / "jobs_in.csv", "workload.interference": summary["interference"],
                    "cluster.machines": f"{summary['nodes']}x{summary['gpus_per_node']}:aws"}
        yield folder.name, policy, settings, {row["job"]: float(row["jct_s"]) for row in rows_of(folder / "jobs_out.csv")}


def published(data):
    """The same of the published results."""
    folder = pathlib.Path(data, "elastic/pollux")
    results = {}
    for row in rows_of(folder / "results_jct.csv"):
        if row["experiment"] == "jobload" and row["policy"] in POLICIES and row["workload"] in "1234":
            results.setdefault((row["policy"], row["load"], row["workload"]), {})[row["job"]] = float(row["jct_s"])
    for (policy, load, workload), jct in sorted(results.items()):
        settings = {"workload.path": folder / "workloads_pollux.csv", "workload.part": f"pollux-{load}/{workload}"}
        yield f"published, load {load}, workload {workload}", policy, settings, jct


def sia(data):
    """The same of Sia's simulator. A summary's nodes are TYPE=NODES,...; a program recorded the GPUs of each type."""
    for folder in sorted(pathlib.Path(data, "peers3/sia-sosp23").iterdir()):
        summary = json.loads((folder / "summary.json").read_text())
        with open(folder / "milps.jsonl") as programs:
            gpus = json.loads(next(programs))["gpus"]
        nodes = {name: int(count) for name, count in (part.split("=") for part in summary["nodes"].split(","))}
        settings = {"workload.path": folder / "jobs_in.csv",
                    "cluster.machines": "+".join(f"{n}x{gpus[name] // n}:{name}" for name, n in nodes.items()),
                    "policies": f"[{{name: sia, p: {summary['p']}, belief: fitted}}]"}
        yield folder.name, "sia", settings, {row["job"]: float(row["jct_s"]) for row in rows_of(folder / "jobs_out.csv")}


def seeds_of_pollux(program, data):
    """A row per workload: mean JCT over 20 seeds with its 95 % interval, and the published one, of one seed."""
    folder = pathlib.Path(data, "elastic/pollux")
    lines = ["| workload | jobs | mean JCT, s, 20 seeds | 95 % interval | published | ratio |", "|---|---|---|---|---|---|"]
    for row in rows_of(folder / "results_mean.csv"):
        if (row["experiment"], row["policy"], row["load"]) != ("jobload", "pollux", SEARCHED_LOAD):
            continue
        command = [program, "replay", str(ROOT / "experiments/peers/pollux.yaml"), "--quiet", "--format", "json", "--data", data,
                   "--set", f"workload.part=pollux-{SEARCHED_LOAD}/{row['workload']}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        ours = json.loads(done.stdout)["policies"][0]["metrics"]["jct_s"]
        theirs = float(row["mean_jct_s"])
        lines.append(f"| {row['workload']} | {row['jobs']} | {ours['mean']:.1f} | {ours['lo']:.1f} to {ours['hi']:.1f} | {theirs:.1f} | "
                     f"{ours['mean'] / theirs:.4f} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main():
    given = options(__doc__)
    searched = seeds_of_pollux(given.corun, given.data)
    lines = ["| run | policy | jobs | equal to 1 s | within 5 % | mean JCT, s | the peer's | ratio |",
             "|---|---|---|---|---|---|---|---|"]
    for source in (recorded, published, sia):
        for name, policy, settings, jct in source(given.data):
            ours = {job: end - submit for job, (submit, end) in
                    run(given.corun, "sia" if policy == "sia" else f"pollux-{policy}", settings).items()}
            equal = sum(abs(ours[job] - seconds) < 1 for job, seconds in jct.items())
            near = sum(abs(ours[job] - seconds) <= 0.05 * seconds for job, seconds in jct.items())
            mean, theirs = sum(ours.values()) / len(ours), sum(jct.values()) / len(jct)
            lines.append(f"| {name} | {policy} | {len(jct)} | {equal} | {near} | {mean:.1f} | {theirs:.1f} | "
                         f"{mean / theirs:.4f} |")
            print(lines[-1], flush=True)
    if given.update:
        put("elastic", "\n".join(lines))
        put("pollux", searched)


if __name__ == "__main__":
    main()
