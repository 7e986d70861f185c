#!/usr/bin/env python3
"""SchedTune's and Util20's policies on jobs measured by GPU type: MISO's on slices of A100s, Sia's on four types.

    experiments/schedtune/measured.py --data DIR     seconds; DIR holds jobs/miso and jobs/sia

Writes experiments/schedtune/{slices,sia}.csv and their tables of experiments/schedtune/README.md. MISO's times and memory are measured on
each slice. Sia's times of a step by batch size and type are measured; memory is INFERRED: its table has the largest batch
size that fits each type, so a sample needs at most memory / batch size, of all types the least. The limits of its V100 are
three times those of the T4, so it is taken as the one of 32 GB. Utilisation of Sia's jobs is predicted by corun's formulas
for the models of its zoo, else not known. Quadro RTX 6000 has no rows in the table.
"""

import argparse
import csv
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import REPO, markdown, num, with_table  # noqa: E402
from program import run  # noqa: E402

TYPES = {"dgx": ("A100-40GB", 40960), "v100": ("V100-32GB", 32768), "t4": ("T4", 15360), "rtx": ("RTX-2080Ti", 11264)}
ZOO = {"imagenet": ["resnet50"], "cifar10": ["resnet18", "--pixels", "32"], "bert": ["bert_base", "--tokens", "384"]}
CONTEXT_MIB = 600
PAGE = HERE / "README.md"
KEPT = HERE
FIGURES = {"JCT min": ("jct_s", 1 / 60), "makespan h": ("makespan_s", 1 / 3600), "ISD %": ("isd", 100), "OOM": ("oom", 1),
           "jobs given up": ("failed", 1)}


def write_table(corun, data, path):
    """corun's table of times by GPU type, of the batch sizes measured on the A100."""
    steps = {}
    with open(data / "jobs" / "sia" / "sia_1gpu_steps.csv", newline="") as file:
        for row in csv.DictReader(file):
            if row["gpu_type"] in TYPES:
                steps.setdefault(row["job"], {}).setdefault(row["gpu_type"], {})[int(row["local_bsz"])] = row["step_time_s"]
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["workload", "gpu_type", "time_s", "memory_mib", "gpu_util_pct"])
        for job, by_type in steps.items():
            a_sample = min((TYPES[t][1] - CONTEXT_MIB) / max(batches) for t, batches in by_type.items())
            for batch in by_type["dgx"]:
                rows = [(TYPES[t][0], batches.get(batch, "-" if batch > max(batches) else ""))
                        for t, batches in by_type.items()]
                util = ""
                if job in ZOO:
                    told = json.loads(run(corun, "predict", "--zoo", *ZOO[job], "--batch", batch, "--gpu", "A100-40GB",
                                          "--quiet", "--format", "json"))
                    util = f"{told['gpu_types'][0]['gpu_util_pct']['median']:.2f}"
                for gpu, seconds in rows:
                    writer.writerow([f"{job} ({batch})", gpu, seconds, f"{CONTEXT_MIB + a_sample * batch:.0f}", util])


def replay(options, name, *settings):
    return json.loads(run(options.corun, "replay", HERE / f"{name}.yaml", "--data", options.data, "--quiet", "--format",
                          "json", *settings))["policies"]


def row_of(policy):
    """Means of a policy's figures, and half-widths of their 95 % intervals."""
    row = {"policy": policy["label"]}
    for figure, (metric, unit) in FIGURES.items():
        m = policy["metrics"][metric]
        row[figure] = num(m["mean"] * unit)
        row[f"{figure} half"] = num((m["hi"] - m["lo"]) / 2 * unit)
    return row


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--data", type=pathlib.Path, default=os.environ.get("CORUN_DATA"))
    options = arguments.parse_args()
    if options.data is None:
        sys.exit("measured.py: give --data DIR or CORUN_DATA, the directory of the public data sets")
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "solo.csv"
        write_table(options.corun, options.data, path)
        told = {"slices": replay(options, "slices"), "sia": replay(options, "sia", "--set", f"workload.path={path}")}
    text = PAGE.read_text()
    for name, policies in told.items():
        rows = [row_of(policy) for policy in policies]
        text = with_table(text, f"schedtune-{name}", markdown(
            ["policy", *FIGURES], [[r["policy"], *(f"{r[f]} +- {r[f'{f} half']}" for f in FIGURES)] for r in rows]))
        with open(KEPT / f"{name}.csv", "w", newline="") as file:
            writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)
        print(f"wrote {KEPT / name}.csv")
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
