#!/usr/bin/env python3
"""SchedTune's and Util20's policies on CARMA's traces of measured jobs, four A100s.

    experiments/schedtune/carma.py --data DIR     seconds; DIR holds jobs/carma

Writes experiments/schedtune/carma.csv and its table of experiments/schedtune/README.md. Time and memory of the jobs are measured
(carma_jobs.csv); utilisation is predicted by corun's formulas where the model is in its zoo, else not known. A task's name
says its job: vgg, vgg2 and vgg3 are VGG at batch 32, 64 and 128; NAME_20e_1 is 20 epochs, of which the table has one, at
batch 32. Tasks of jobs that the table does not have are left out, and counted.
"""

import argparse
import csv
import json
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import REPO, markdown, with_table  # noqa: E402
from program import run  # noqa: E402

PAGE = HERE / "README.md"
KEPT = HERE / "carma.csv"
BATCHES = {"": 32, "2": 64, "3": 128, "1": 32}
NAMES = {"resnet": "resnet50", "BERT_base": "BERT_base_on_wiki", "BERT_large": "BERT_large_on_wiki",
         "gpt2_large": "gpt2_large_on_wiki", "dlrm": "dlrm_dlrm_s_pytorch"}
ZOO = {"resnet50": "resnet50", "vgg": "vgg16", "mobilenet": "mobilenet_v2", "BERT_base_on_wiki": "bert_base",
       "BERT_large_on_wiki": "bert_large", "gpt2_large_on_wiki": "gpt2_large"}
EPOCHS = re.compile(r"(.+_cifar100)_(\d+)e_([123])$")
NUMBERED = re.compile(r"([A-Za-z]+)([23]?)$")


def job_of(task):
    """(model, batch or "", epochs) as the table of jobs names it."""
    if found := EPOCHS.match(task):
        return found[1], str(BATCHES[found[3]]), int(found[2])
    if task in NAMES and task != "resnet":
        return NAMES[task], "", 1
    if (found := NUMBERED.match(task)) and found[1] not in ("UNet", "maskrcnn"):
        return NAMES.get(found[1], found[1]), str(BATCHES[found[2]]), 1
    return task, "", 1


def utilisation(corun, model, batch):
    """Predicted [%], "" for a model that is not in the zoo. A CIFAR image has 32 pixels."""
    small = model.endswith("_cifar100")
    zoo = model[:-len("_cifar100")] if small else ZOO.get(model)
    zoo = {"mobilenet": "mobilenet_v2"}.get(zoo, zoo)
    if zoo is None or zoo == "efficientNet":
        return ""
    told = json.loads(run(corun, "predict", "--zoo", zoo, "--batch", batch or 8, "--gpu", "A100-40GB", "--quiet",
                          "--format", "json", *(["--pixels", 32] if small else [])))
    return f"{told['gpu_types'][0]['gpu_util_pct']['median']:.2f}"


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--data", type=pathlib.Path, default=os.environ.get("CORUN_DATA"))
    options = arguments.parse_args()
    if options.data is None:
        sys.exit("carma.py: give --data DIR or CORUN_DATA, the directory of the public data sets")
    tables = options.data / "jobs" / "carma"
    with open(tables / "carma_jobs.csv", newline="") as file:
        jobs = {(r["Model"], r["batch"]): (float(r["exec_time_s"]), float(r["max_memory_used_mb"]))
                for r in csv.DictReader(file)}
    traces = {}
    with open(tables / "carma_traces.csv", newline="") as file:
        for row in csv.DictReader(file):
            traces.setdefault(row["trace"], []).append((float(row["arrival_s"]), row["task"]))
    known_utils, rows = {}, []
    with tempfile.TemporaryDirectory() as name:
        path = pathlib.Path(name) / "jobs.csv"
        for trace, tasks in traces.items():
            kept = [(at, *job_of(task)) for at, task in tasks if job_of(task)[:2] in jobs]
            if not kept:
                continue
            with open(path, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["job", "submit_s", "solo_s", "gpu_util_pct", "mem_used_mib"])
                for number, (at, model, batch, epochs) in enumerate(kept):
                    seconds, memory = jobs[model, batch]
                    if (model, batch) not in known_utils:
                        known_utils[model, batch] = utilisation(options.corun, model, batch)
                    writer.writerow([f"{model}-{batch}-{number}", at, seconds * epochs, known_utils[model, batch],
                                     memory])
            with_util = sum(known_utils[m, b] != "" for _, m, b, _ in kept)
            told = json.loads(run(options.corun, "replay", HERE / "carma.yaml", "--set", f"workload.path={path}",
                                  "--quiet", "--format", "json"))
            for policy in told["policies"]:
                m = {k: v["mean"] for k, v in policy["metrics"].items() if v and v["mean"] is not None}
                rows.append({"trace": trace, "tasks": len(tasks), "measured": len(kept), "with_utilisation": with_util,
                             "policy": policy["label"], "jct_min": f"{m['jct_s'] / 60:.1f}",
                             "makespan_h": f"{m['makespan_s'] / 3600:.2f}", "isd_pct": f"{100 * m['isd']:.1f}",
                             "oom": f"{m['oom']:.2f}", "given_up": f"{m['failed']:.2f}"})
    with open(KEPT, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    policies = list(dict.fromkeys(r["policy"] for r in rows))
    by_trace = {}
    for r in rows:
        by_trace.setdefault(f"{r['trace']}, {r['measured']} of {r['tasks']} tasks", {})[r["policy"]] = r
    PAGE.write_text(with_table(PAGE.read_text(), "schedtune-carma", markdown(
        ["trace", *policies], [[trace, *(f"{by[p]['jct_min']} / {by[p]['oom']}" for p in policies)]
                               for trace, by in by_trace.items()])))
    print(f"wrote {KEPT}")


if __name__ == "__main__":
    main()
