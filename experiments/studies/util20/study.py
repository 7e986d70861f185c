#!/usr/bin/env python3
"""Util20's scheduling case study: slot-based, reactive and proactive on 12 GPUs.

    experiments/studies/util20/study.py            five runs as in the paper, then 500; seconds on two cores
    experiments/studies/util20/study.py --check    is the page what these runs give?

Writes docs/util20/*.csv. The jobs are generated, no measurement of the paper's is public: architectures, batch
sizes and the range of run times are the paper's (Table 1 and section 6); utilisation, memory and co-run costs are
corun's predictions and its contention model. All constants below were fixed before the first comparison.
"""

import argparse
import csv
import itertools
import json
import math
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]

# Table 1: models of the zoo, CIFAR-10 images and sentences of 200 words; batch sizes of section 4's caption.
IMAGE_MODELS = ["mobilenet_v2", "resnet18", "resnet34", "resnet50", "googlenet", "vgg19", "resnext50_32x4d",
                "squeezenet1_0", "densenet121", "densenet161", "densenet169", "shufflenet_v2_x0_5",
                "shufflenet_v2_x1_0", "shufflenet_v2_x2_0", "mnasnet0_5", "mnasnet1_0", "mnasnet1_3",
                "pyramidnet110_a48", "pyramidnet110_a84", "dpn92"]
IMAGE_BATCHES = [64, 128, 256, 512]
TEXT_MODELS = ["lstm", "transformer_base"]
TEXT_BATCHES = [16, 32, 64]
GPU = "RTX-2080"
JOBS = 100
# "between 2 minutes to 2 hours": uniform in the logarithm, chosen here; its mean is 1,729 s (theirs ran 1,869 s).
SHORTEST_S, LONGEST_S = 120, 7200
RUNS = 500
PAIR_MODELS = 24      # 24 jobs have the 276 pairs of figure 5a
POLICIES = ["slot", "reactive", "proactive"]
PAPER = {  # Table 4 and the summary of section 6
    "slot": {"gpu_util": 43.1, "makespan_min": 306.9, "run_s": 1869},
    "reactive": {"gpu_util": 47.1, "makespan_min": 277.6, "run_s": 2193},
    "proactive": {"gpu_util": 69.6, "makespan_min": 204.0, "run_s": 2024},
}


def run(corun, *arguments):
    done = subprocess.run([corun, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def kinds(corun):
    """(model, batch, utilisation [%], memory [MiB]) of the jobs of Table 1 that fit the GPU."""
    found = []
    wanted = [(m, b, ["--pixels", 32]) for m in IMAGE_MODELS for b in IMAGE_BATCHES]
    wanted += [(m, b, ["--tokens", 200]) for m in TEXT_MODELS for b in TEXT_BATCHES]
    for model, batch, size in wanted:
        told = json.loads(run(corun, "predict", "--zoo", model, *size, "--batch", batch, "--gpu", GPU, "--quiet",
                              "--format", "json"))["gpu_types"][0]
        if told["fits"]:
            found.append((model, batch, round(told["gpu_util_pct"]["median"], 2),
                          round(told["memory_mib"]["median"])))
    return found


def write_jobs(path, rows):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job", "workload", "submit_s", "solo_s", "gpu_util_pct", "mem_used_mib"])
        for number, (kind, seconds) in enumerate(rows):
            model, batch, util, memory = kind
            writer.writerow([f"j{number}", f"{model}-{batch}", 0, seconds, util, memory])


def draw(all_kinds, seed):
    rng = random.Random(seed)
    span = math.log(LONGEST_S / SHORTEST_S)
    return [(rng.choice(all_kinds), round(SHORTEST_S * math.exp(span * rng.random()), 1)) for _ in range(JOBS)]


def one_run(corun, all_kinds, seed, folder, settings=()):
    """policy -> metrics of one draw of the jobs."""
    path = folder / f"jobs-{seed}.csv"
    write_jobs(path, draw(all_kinds, seed))
    options = [x for s in settings for x in ("--set", s)]
    told = json.loads(run(corun, "replay", HERE / "cluster.yaml", "--set", f"workload.path={path}", "--set",
                          f"seed={seed}", "--quiet", "--format", "json", *options))
    path.unlink()
    return {p["label"]: {key: p["metrics"][key]["mean"] for key in p["metrics"] if p["metrics"][key]}
            for p in told["policies"]}


def summary(runs, policy):
    """The figures of Table 4 over these runs: mean and standard deviation."""
    def both(figure):
        values = [figure(r[policy]) for r in runs]
        return statistics.mean(values), statistics.stdev(values)
    return {"gpu_util": both(lambda m: 100 * m["gpu_util"]), "makespan_min": both(lambda m: m["makespan_s"] / 60),
            "run_s": both(lambda m: m["jct_s"] - m["queue_s"]), "oom": both(lambda m: m["oom"])}


def table4(runs):
    """Rows of Table 4, theirs beside these runs."""
    rows = []
    slot = summary(runs, "slot")
    for policy in POLICIES:
        ours, theirs = summary(runs, policy), PAPER[policy]
        rows.append({
            "policy": policy, "runs": len(runs),
            "gpu_util_pct": f"{ours['gpu_util'][0]:.1f}", "their_gpu_util_pct": theirs["gpu_util"],
            "util_gain_pct": f"{100 * (ours['gpu_util'][0] / slot['gpu_util'][0] - 1):.1f}",
            "their_util_gain_pct": f"{100 * (theirs['gpu_util'] / PAPER['slot']['gpu_util'] - 1):.1f}",
            "makespan_min": f"{ours['makespan_min'][0]:.1f}", "their_makespan_min": theirs["makespan_min"],
            "makespan_sd_min": f"{ours['makespan_min'][1]:.1f}",
            "makespan_change_pct": f"{100 * (ours['makespan_min'][0] / slot['makespan_min'][0] - 1):.1f}",
            "their_makespan_change_pct":
                f"{100 * (theirs['makespan_min'] / PAPER['slot']['makespan_min'] - 1):.1f}",
            "run_s": f"{ours['run_s'][0]:.0f}", "their_run_s": theirs["run_s"],
            "oom": f"{ours['oom'][0]:.2f}"})
    return rows


def slowdowns(corun, all_kinds, folder):
    """Figure 5a: slowdown of each job of each pair of 24 kinds, 1,800 s each, beside the summed utilisation."""
    chosen = random.Random(0).sample(all_kinds, PAIR_MODELS)
    points = []
    path = folder / "pair.csv"
    for pair in itertools.combinations(chosen, 2):
        write_jobs(path, [(kind, 1800) for kind in pair])
        told = json.loads(run(corun, "replay", HERE / "cluster.yaml", "--set", f"workload.path={path}", "--set",
                              "policies=[{name: fcfs}]", "--set", "cluster.machines=1x1:RTX-2080", "--quiet",
                              "--format", "json"))
        points.append((pair[0][2] + pair[1][2], 100 * told["policies"][0]["metrics"]["isd"]["mean"]))
    rows = []
    for low in range(60, 200, 20):
        inside = sorted(isd for total, isd in points if low <= total < low + 20)
        if inside:
            rows.append({"summed_util_pct": f"{low}-{low + 20}", "pairs": len(inside),
                         "least_slowdown_pct": f"{inside[0]:.0f}",
                         "median_slowdown_pct": f"{statistics.median(inside):.0f}",
                         "most_slowdown_pct": f"{inside[-1]:.0f}"})
    return rows


# What the paper leaves open, and what prediction errors cost. Each is one setting changed in cluster.yaml.
SWEEP = {
    "as above": (),
    "capacity 120 %": ("policies=[{name: exclusive, label: slot}, {name: reactive, capacity_pct: 120}, "
                       "{name: proactive, capacity_pct: 120}]",),
    "capacity 150 %": ("policies=[{name: exclusive, label: slot}, {name: reactive, capacity_pct: 150}, "
                       "{name: proactive, capacity_pct: 150}]",),
    "capacity 200 %": ("policies=[{name: exclusive, label: slot}, {name: reactive, capacity_pct: 200}, "
                       "{name: proactive, capacity_pct: 200}]",),
    "the minute's work is lost": ("profiling.keeps_progress=false",),
    "prediction without error": ("estimates.utilisation=exact",),
    "error .5": ("estimates.utilisation_sigma=0.5",),
    "error 1": ("estimates.utilisation_sigma=1",),
    "error 2 (useless)": ("estimates.utilisation_sigma=2",),
}


def sweep(corun, all_kinds, folder, pool, runs):
    rows = []
    for name, settings in SWEEP.items():
        done = list(pool.map(lambda seed, s=settings: one_run(corun, all_kinds, seed, folder, s), range(1, runs + 1)))
        base = [r["slot"]["makespan_s"] for r in done]
        for policy in POLICIES[1:]:
            change = [100 * (r[policy]["makespan_s"] / b - 1) for r, b in zip(done, base)]
            half = 1.96 * statistics.stdev(change) / math.sqrt(len(change))
            ours = summary(done, policy)
            rows.append({"setting": name, "policy": policy, "runs": runs,
                         "makespan_change_pct": f"{statistics.mean(change):.1f}", "half_width": f"{half:.1f}",
                         "gpu_util_pct": f"{ours['gpu_util'][0]:.1f}", "run_s": f"{ours['run_s'][0]:.0f}",
                         "oom": f"{ours['oom'][0]:.2f}"})
    return rows


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"wrote {path}")


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--out", type=pathlib.Path, default=REPO / "docs" / "util20")
    arguments.add_argument("--check", action="store_true", help="compare five runs with those in --out")
    options = arguments.parse_args()
    all_kinds = kinds(options.corun)
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(name)
        five = list(pool.map(lambda seed: one_run(options.corun, all_kinds, seed, folder), range(1, 6)))
        if options.check:
            with open(options.out / "table4.csv", newline="") as file:
                kept = [row for row in csv.DictReader(file) if row["runs"] == "5"]
            if kept != [{k: str(v) for k, v in row.items()} for row in table4(five)]:
                sys.exit(f"{options.out}/table4.csv is not what these runs give; renew it with study.py")
            return
        many = five + list(pool.map(lambda seed: one_run(options.corun, all_kinds, seed, folder), range(6, RUNS + 1)))
        write_table(options.out / "table4.csv", table4(five) + table4(many))
        write_table(options.out / "figure5a.csv", slowdowns(options.corun, all_kinds, folder))
        write_table(options.out / "sweep.csv", sweep(options.corun, all_kinds, folder, pool, 100))


if __name__ == "__main__":
    main()
