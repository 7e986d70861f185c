#!/usr/bin/python3
"""Jobs that end at the same second in corun and in recorded runs of other simulators.

usage: agreement.py [--corun PROGRAM] [--data DIR] [--update]

Each folder peers3/PEER/CASE of the data directory is a run of that simulator: jobs, cluster and results. The
configuration is PEER-NAME.yaml of this folder, where NAME begins CASE (without "speed-"). --update rewrites the table in
experiments/peers/README.md.
"""
import csv
import json
import pathlib
import subprocess
import sys
import tempfile

import h5py

from tables import ROOT, options, put

LIMIT_S = 600  # of one run


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def case_of(peer, folder):
    """Configuration, overrides, and ends [s] by job."""
    words = folder.name.removeprefix("speed-").split("-")
    if peer == "tiresias":
        spec = rows_of(folder / "cluster.csv")[0]
        switch = int(spec["num_node_p_switch"])
        settings = {"workload.path": folder / "jobs_in.csv", "cluster.nodes": int(spec["num_switch"]) * switch,
                    "cluster.gpus_per_node": int(spec["num_gpu_p_node"])}
        if words[1] == "yarn":
            settings["cluster.nodes_per_switch"] = switch
        ends = {row["job_id"]: int(row["end_time"]) for row in rows_of(folder / "jobs_out.csv")}
        return "-".join([peer, *words[:2]]), settings, ends
    summary = json.loads((folder / "summary.json").read_text())
    settings = {"workload.path": folder / "jobs.csv", "workload.source": "finished-jobs",
                "cluster.nodes": summary["nodes"], "cluster.gpus_per_node": summary["gpus_per_node"]}
    ends = {row["job"]: int(row["end_s"]) for row in rows_of(folder / "jobs.csv")}
    return "-".join([peer, *words[:1 if peer == "lucid" else 2]]), settings, ends


def run(program, config, settings):
    """Submission and end [s] by job."""
    with tempfile.TemporaryDirectory() as directory:
        output = pathlib.Path(directory) / "results.h5"
        command = [program, "replay", str(ROOT / f"experiments/peers/{config}.yaml"), "--quiet", "--output", str(output)]
        for key, value in settings.items():
            command += ["--set", f"{key}={value}"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT_S)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}\n{done.stderr}")
        with h5py.File(output, "r") as file:
            runs = file["runs"][:]
    return {row["job"].decode(): (row["submit_s"], row["finish_s"]) for row in runs}


def main():
    given = options(__doc__)
    lines = ["| case | configuration | jobs | equal ends | mean JCT, s | the peer's |", "|---|---|---|---|---|---|"]
    for peer in ("tiresias", "lucid", "blox"):
        for folder in sorted(pathlib.Path(given.data, "peers3", peer).iterdir()):
            config, settings, ends = case_of(peer, folder)
            runs = run(given.corun, config, settings)
            equal = sum(abs(runs[job][1] - end) < 1e-6 for job, end in ends.items())
            ours = sum(end - submit for submit, end in runs.values()) / len(runs)
            theirs = sum(end - runs[job][0] for job, end in ends.items()) / len(ends)
            lines.append(f"| {peer} {folder.name} | `{config}` | {len(ends)} | {equal} | {ours:.3f} | {theirs:.3f} |")
            print(lines[-1])
    if given.update:
        put("agreement", "\n".join(lines))


if __name__ == "__main__":
    main()
