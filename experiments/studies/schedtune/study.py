#!/usr/bin/env python3
"""SchedTune's cluster experiment: kube-default without sharing beside schedtune, five GPUs, 360 jobs.

    experiments/studies/schedtune/study.py            seconds on two cores
    experiments/studies/schedtune/study.py --check    is the table what these runs give?

Writes docs/schedtune/*.csv. The jobs are GENERATED: no measurement of the paper's is public. Models, batch sizes and
the numbers of jobs are the paper's; times and memory are predictions of corun's built-in formulas, calibrated on the
numbers that sections I and III print, and on nothing else (CALIBRATION). What the paper does not print is in CHOSEN,
and swept. All of it was fixed before the first comparison.
"""

import argparse
import csv
import itertools
import json
import math
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
REPO = HERE.parents[2]
TYPES = ["RTX-2070-Super", "RTX-3070", "RTX-3090"]      # of the cluster; sections III and V-C have two more
FASTEST, SLOWEST = "RTX-3090", "K80"
CAPACITY_MIB = {SLOWEST: 11441, "RTX-2070-Super": 7982, "RTX-3070": 7973, "V100-16GB": 16160, "RTX-3090": 24268}
MODELS = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "densenet121", "densenet169", "densenet201",
          "vgg11", "vgg13", "vgg16", "vgg19"]
BATCHES = [8, 16, 32, 64]          # 12 models x 4 batch sizes: the 48 training jobs
INFERENCE_JOBS = 312               # 26 of each model
IMAGES = 50_000                    # an epoch of CIFAR-10

CALIBRATION = {
    # Training ResNet152 at batch 32 for an epoch: 280 to 2,513 s; its inference: 312 to 1,408 ms (section III).
    "train_s": (280, 2513), "inference_ms": (312, 1408),
    # Memory of inference jobs: 470 to 2,722 MB (section III).
    "inference_mb": (470, 2722),
    # Memory of training, times the prediction. ResNet152 fits 8 GB at batch 32 (figure 1), and runs out of the K80 (11,441
    # MiB) at 64: between .746 and .89. VGG16 at 64 fits the RTX 3070 (7,973) and not the RTX 2070s (7,982).
    "memory": {"resnet": 0.815, "densenet": 0.815, "vgg": 0.583}, "memory_of_turing": 1.03,
}
CHOSEN = {"inferences": 100, "start_s": 10.0, "decision_s": 0.0, "apart_s": 1.0}


def run(corun, *arguments):
    done = subprocess.run([corun, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout


def predict(corun, model, batch, phase):
    """GPU type -> (memory [MiB], step [ms], utilisation [%])."""
    types = list(CAPACITY_MIB)
    told = json.loads(run(corun, "predict", "--zoo", model, "--batch", batch, "--phase", phase, "--gpu",
                          ",".join(types), "--quiet", "--format", "json"))["gpu_types"]
    return {t: (g["memory_mib"]["median"], g["step_ms"]["median"], g["gpu_util_pct"]["median"])
            for t, g in zip(types, told)}


class Generator:
    """Times [s] and memory [MiB] of the jobs by GPU type."""

    def __init__(self, corun):
        self.train = {(m, b): predict(corun, m, b, "train") for m in MODELS for b in BATCHES}
        self.inference = {m: predict(corun, m, 1, "inference") for m in MODELS}
        anchor = self.train["resnet152", 32]
        spread = math.log(anchor[SLOWEST][1] / anchor[FASTEST][1])
        fast, slow = CALIBRATION["train_s"]
        self.train_factor = fast / (anchor[FASTEST][1] / 1000 * IMAGES / 32)
        self.train_power = math.log(slow / fast) / spread
        fast, slow = CALIBRATION["inference_ms"]
        self.inference_factor = fast / self.inference["resnet152"][FASTEST][1]
        self.inference_power = math.log(slow / fast) / spread
        demands = [g[t][0] for g in self.inference.values() for t in CAPACITY_MIB]
        least, most = CALIBRATION["inference_mb"]
        self.inference_slope = (most - least) / (max(demands) - min(demands))
        self.inference_least = min(demands)

    def ratio(self, model, batch, gpu):
        """How much longer a training step takes on this type than on the fastest."""
        steps = self.train[model, batch]
        return steps[gpu][1] / steps[FASTEST][1]

    def training(self, model, batch, gpu):
        memory, _, util = self.train[model, batch][gpu]
        steps = self.train[model, batch][FASTEST][1] / 1000 * IMAGES / batch
        seconds = self.train_factor * steps * self.ratio(model, batch, gpu) ** self.train_power
        family = model.rstrip("0123456789")
        memory *= CALIBRATION["memory"][family] * (CALIBRATION["memory_of_turing"] if "2070" in gpu else 1)
        return seconds, memory, util

    def inferring(self, model, gpu):
        memory, step_ms, _ = self.inference[model][gpu]
        seconds = (self.inference_factor * self.inference[model][FASTEST][1] / 1000
                   * self.ratio(model, 8, gpu) ** self.inference_power)
        memory = CALIBRATION["inference_mb"][0] + self.inference_slope * (memory - self.inference_least)
        return seconds, memory, 100 * step_ms / 1000 / seconds  # the kernels' part


def write_jobs(path, generator, chosen):
    rows = []
    for model in MODELS:
        for batch in BATCHES:
            rows.append((f"train-{model}-{batch}", [generator.training(model, batch, t) for t in TYPES]))
        for number in range(INFERENCE_JOBS // len(MODELS)):
            told = [generator.inferring(model, t) for t in TYPES]
            rows.append((f"infer-{model}-{number}",
                         [(seconds * chosen["inferences"], memory, util) for seconds, memory, util in told]))
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["job", "submit_s", "solo_s", "gpu_util_pct", "mem_used_mib"]
                        + [f"{c}@{t}" for t in TYPES for c in ("solo_s", "mem_used_mib")])
        for number, (name, by_type) in enumerate(rows):
            by_type = [(seconds + chosen["start_s"], memory, util) for seconds, memory, util in by_type]
            fastest = by_type[TYPES.index(FASTEST)]
            writer.writerow([name, chosen["apart_s"] * number, f"{fastest[0]:.3f}", f"{fastest[2]:.2f}",
                             f"{fastest[1]:.0f}"]
                            + [f"{x:.3f}" if i == 0 else f"{x:.0f}" for job in by_type
                               for i, x in enumerate(job[:2])])


def replay(corun, folder, generator, chosen=None, settings=()):
    path = folder / "jobs.csv"
    write_jobs(path, generator, {**CHOSEN, **(chosen or {})})
    options = [x for s in settings for x in ("--set", s)]
    told = json.loads(run(corun, "replay", HERE / "cluster.yaml", "--set", f"workload.path={path}", "--baseline",
                          "kube-default", "--quiet", "--format", "json", *options))
    return {p["label"]: p for p in told["policies"]}


def figure8(corun, folder, generator):
    """Increase of the time of ResNet18, 34, 50 and DenseNet121 (batch 8, an epoch) when two, three or four of them share an
    RTX 2070s."""
    gpu, models = TYPES[0], ["resnet18", "resnet34", "resnet50", "densenet121"]
    path, rows = folder / "together.csv", []
    for size in (2, 3, 4):
        increases = []
        for group in itertools.combinations(models, size):
            with open(path, "w", newline="") as file:
                writer = csv.writer(file)
                writer.writerow(["job", "submit_s", "solo_s", "gpu_util_pct"])
                for model in group:
                    seconds, _, util = generator.training(model, 8, gpu)
                    writer.writerow([model, 0, f"{seconds:.3f}", f"{util:.2f}"])
            told = run(corun, "replay", HERE / "cluster.yaml", "--set", f"workload.path={path}", "--set",
                       f"workload.gpu_type={gpu}", "--set", f"cluster.machines=1x1:{gpu}", "--set", "replications=1",
                       "--set", "policies=[{name: proactive, most_jobs: 4, capacity_pct: 1000}]", "--quiet", "--format",
                       "json")
            metrics = json.loads(told)["policies"][0]["metrics"]
            increases.append((100 * metrics["isd"]["mean"], 100 * metrics["isd_max"]["mean"],
                              100 * (1 - metrics["ps_total"]["mean"])))
        rows.append({"jobs": size, "groups": len(increases),
                     "mean_increase_pct": f"{sum(i[0] for i in increases) / len(increases):.0f}",
                     "most_increase_pct": f"{max(i[1] for i in increases):.0f}",
                     "time_vs_one_after_another_pct": f"{sum(i[2] for i in increases) / len(increases):.0f}"})
    return rows


def rows_of(name, policies):
    rows = []
    base = policies["kube-default"]["metrics"]
    for label, policy in policies.items():
        m = {key: value["mean"] for key, value in policy["metrics"].items() if value and value["mean"] is not None}
        change = 100 * (m["makespan_s"] / base["makespan_s"]["mean"] - 1)
        memory = 100 * (m["mem_util"] / base["mem_util"]["mean"] - 1)
        rows.append({"setting": name, "policy": label, "makespan_s": f"{m['makespan_s']:.0f}",
                     "makespan_change_pct": f"{change:.1f}", "mem_util_pct": f"{100 * m['mem_util']:.1f}",
                     "mem_util_change_pct": f"{memory:.0f}", "oom": f"{m['oom']:.2f}", "lost": f"{m['failed']:.2f}",
                     "jct_s": f"{m['jct_s']:.0f}"})
    return rows


def schedtune(*parameters):
    return (f"policies=[{{name: kube-default, replicas: 1}}, {{name: schedtune, {', '.join(parameters)}}}]",)


SWEEP = {  # name: (chosen, settings)
    "as above": ({}, ()),
    "decisions take 6 % of the makespan": ({}, schedtune("decision_s: 0.9")),
    "one job per GPU": ({}, schedtune("collocation_limit: 1")),
    "two jobs per GPU": ({}, schedtune("collocation_limit: 2")),
    "one per 4 GiB": ({}, schedtune("memory_per_job_mib: 4096")),
    "no margin": ({}, schedtune("memory_margin_pct: 0")),
    "1 inference per job": ({"inferences": 1}, ()),
    "1000 inferences per job": ({"inferences": 1000}, ()),
    "start of a job 0 s": ({"start_s": 0}, ()),
    "start of a job 60 s": ({"start_s": 60}, ()),
    "all jobs at once": ({"apart_s": 0}, ()),
    "memory exact": ({}, ("estimates.memory=exact",)),
    "memory error .1": ({}, ("estimates.memory_sigma=0.1",)),
    "memory error .5": ({}, ("estimates.memory_sigma=0.5",)),
    "memory error 2 (useless)": ({}, ("estimates.memory_sigma=2",)),
    "time error .5": ({}, ("estimates.sigma=0.5",)),
    "time error 2 (useless)": ({}, ("estimates.sigma=2",)),
}


def write_table(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    print(f"wrote {path}")


def printed_facts(generator):
    """The cases that section III prints, as the generator has them."""
    rows = []
    for model, batch, ooms in (("resnet152", 32, ""), ("resnet152", 64, "K80, RTX-2070-Super, RTX-3070"),
                               ("vgg16", 64, "RTX-2070-Super")):
        demand = {t: generator.training(model, batch, t)[1] for t in CAPACITY_MIB}
        ours = ", ".join(t for t, mib in CAPACITY_MIB.items() if demand[t] > mib)
        rows.append({"job": f"{model}, batch {batch}", "out of memory, paper": ooms or "none",
                     "out of memory, generated": ours or "none"})
    return rows


def figure11(generator):
    """The 48 training jobs one after another on each GPU: hours of those that fit, and how many run out of memory."""
    rows = []
    for gpu, capacity in CAPACITY_MIB.items():
        jobs = [generator.training(m, b, gpu) for m in MODELS for b in BATCHES]
        rows.append({"gpu": gpu, "training_h": f"{sum(j[0] for j in jobs if j[1] <= capacity) / 3600:.1f}",
                     "out_of_memory": sum(j[1] > capacity for j in jobs)})
    return rows


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--out", type=pathlib.Path, default=REPO / "docs" / "schedtune")
    arguments.add_argument("--check", action="store_true", help="compare the first setting with --out")
    options = arguments.parse_args()
    generator = Generator(options.corun)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first = rows_of("as above", replay(options.corun, folder, generator))
        if options.check:
            with open(options.out / "cluster.csv", newline="") as file:
                kept = list(csv.DictReader(file))[:len(first)]
            if kept != first:
                sys.exit(f"{options.out}/cluster.csv is not what these runs give; renew it with study.py")
            return
        rows = first
        for setting, (chosen, settings) in list(SWEEP.items())[1:]:
            rows = rows + rows_of(setting, replay(options.corun, folder, generator, chosen, settings))
        together = figure8(options.corun, folder, generator)
    write_table(options.out / "cluster.csv", rows)
    write_table(options.out / "figure8.csv", together)
    write_table(options.out / "figure11.csv", figure11(generator))
    write_table(options.out / "generated.csv", printed_facts(generator))


if __name__ == "__main__":
    main()
