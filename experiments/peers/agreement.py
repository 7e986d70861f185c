#!/usr/bin/python3
"""Jobs that end at the same second in corun and in recorded runs of other simulators.

usage: agreement.py [--corun PROGRAM] [--data DIR] [--update]

Each folder peers3/PEER/CASE of the data directory is a run of that simulator: jobs, cluster and results. The
configuration is PEER-NAME.yaml of this folder, where NAME begins CASE (without "speed-"). --update rewrites the table in
experiments/peers/README.md.
"""
import argparse
import csv
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import h5py

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "experiments/peers/README.md"
BEGIN, END = "<!-- agreement: begin -->", "<!-- agreement: end -->"
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
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--data", default=os.environ.get("CORUN_DATA"), help="public data sets; default: CORUN_DATA")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    if not options.data:
        parser.error("needs the public data sets: set CORUN_DATA or give --data (corun data lists them)")
    lines = ["| case | configuration | jobs | equal ends | mean JCT, s | the peer's |", "|---|---|---|---|---|---|"]
    for peer in ("tiresias", "lucid", "blox"):
        for folder in sorted(pathlib.Path(options.data, "peers3", peer).iterdir()):
            config, settings, ends = case_of(peer, folder)
            runs = run(options.corun, config, settings)
            equal = sum(abs(runs[job][1] - end) < 1e-6 for job, end in ends.items())
            ours = sum(end - submit for submit, end in runs.values()) / len(runs)
            theirs = sum(end - runs[job][0] for job, end in ends.items()) / len(ends)
            lines.append(f"| {peer} {folder.name} | `{config}` | {len(ends)} | {equal} | {ours:.3f} | {theirs:.3f} |")
            print(lines[-1])
    if options.update:
        text = PAGE.read_text()
        head, rest = text.split(BEGIN)
        PAGE.write_text(f"{head}{BEGIN}\n" + "\n".join(lines) + f"\n{END}" + rest.split(END)[1])


if __name__ == "__main__":
    main()
