#!/usr/bin/env python3
"""SchedTune's cluster experiment: kube-default without sharing beside schedtune, five GPUs, 360 jobs.

    experiments/schedtune/study.py            three minutes on two cores
    experiments/schedtune/study.py --check    exit 1 if the first setting, page or figure differ from what is kept

Writes experiments/schedtune/*.csv, and from these a figure and the tables of experiments/schedtune/README.md. The jobs are GENERATED: no measurement of the paper's is public. Models, batch sizes and
the numbers of jobs are the paper's; times and memory are predictions of corun's built-in formulas, calibrated on the
numbers that sections I and III print, and on nothing else (CALIBRATION). What the paper does not print is in CHOSEN,
and swept. All of it was fixed before the first comparison.
"""

import argparse
import csv
import io
import itertools
import json
import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import BLUE, FAINT, GREY, ORANGE, REPO, Svg, markdown, num, scale, with_table, write_or_check  # noqa: E402
from program import run, side_by_side  # noqa: E402

PAGE = HERE / "README.md"
KEPT = HERE
TYPES = ["RTX-2070-Super", "RTX-3070", "RTX-3090"]      # of the cluster; sections III and V-C have two more
FASTEST, SLOWEST = "RTX-3090", "K80"
CAPACITY_MIB = {SLOWEST: 11441, "RTX-2070-Super": 7982, "RTX-3070": 7973, "V100-16GB": 16160, "RTX-3090": 24268}
MODELS = ["resnet18", "resnet34", "resnet50", "resnet101", "resnet152", "densenet121", "densenet169", "densenet201",
          "vgg11", "vgg13", "vgg16", "vgg19"]
BATCHES = [8, 16, 32, 64]          # 12 models x 4 batch sizes: the 48 training jobs
MANY_BATCHES = list(range(8, 65, 4))    # "from 8 to 64", for a larger set of jobs to learn from
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


def predict(corun, model, batch, phase):
    """GPU type -> (memory [MiB], step [ms], utilisation [%])."""
    types = list(CAPACITY_MIB)
    told = json.loads(run(corun, "predict", "--zoo", model, "--batch", batch, "--phase", phase, "--gpu",
                          ",".join(types), "--quiet", "--format", "json"))["gpu_types"]
    return {t: (g["memory_mib"]["median"], g["step_ms"]["median"], g["gpu_util_pct"]["median"])
            for t, g in zip(types, told)}


class Generator:
    """Times [s] and memory [MiB] of the jobs by GPU type."""

    def __init__(self, corun, batches=()):
        wanted = [(m, b, "train") for m in MODELS for b in sorted({*BATCHES, *batches})]
        wanted += [(m, 1, "inference") for m in MODELS]
        told = dict(zip(wanted, side_by_side(lambda job: predict(corun, *job), wanted)))
        self.train = {(m, b): told[m, b, phase] for m, b, phase in wanted if phase == "train"}
        self.inference = {m: told[m, b, phase] for m, b, phase in wanted if phase == "inference"}
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
        rows.append({"jobs": str(size), "groups": str(len(increases)),
                     "least_mean_increase_pct": f"{min(i[0] for i in increases):.0f}",
                     "mean_increase_pct": f"{sum(i[0] for i in increases) / len(increases):.0f}",
                     "most_increase_pct": f"{max(i[1] for i in increases):.0f}",
                     "time_vs_one_after_another_pct": f"{sum(i[2] for i in increases) / len(increases):.0f}"})
    return rows


def rows_of(name, policies):
    """One row per policy; `half` columns are half-widths of 95 % intervals, of changes by paired replications."""
    rows = []
    base = {key: value["mean"] for key, value in policies["kube-default"]["metrics"].items() if value}
    for label, policy in policies.items():
        m = {key: value["mean"] for key, value in policy["metrics"].items() if value and value["mean"] is not None}
        versus = policy["versus"].get("kube-default", {})

        def half(metric, of, unit=1):
            return num(unit * (of[metric]["hi"] - of[metric]["lo"]) / 2, 2) if metric in of else "0"
        by_run = policy["metrics"]
        rows.append({"setting": name, "policy": label, "makespan_s": num(m["makespan_s"], 0),
                     "makespan_change_pct": num(100 * (m["makespan_s"] / base["makespan_s"] - 1)),
                     "makespan_half_pct": half("makespan_s", versus, 100 / base["makespan_s"]),
                     "mem_util_pct": num(100 * m["mem_util"]),
                     "mem_util_change_pct": num(100 * (m["mem_util"] / base["mem_util"] - 1), 0),
                     "oom": num(m["oom"], 2), "lost": num(m["failed"], 2), "lost_half": half("failed", by_run),
                     "jct_min": num(m["jct_s"] / 60), "jct_half_min": half("jct_s", by_run, 1 / 60)})
    return rows


def schedtune(*parameters):
    return (f"policies=[{{name: kube-default, replicas: 1}}, {{name: schedtune, {', '.join(parameters)}}}]",)


SWEEP = {  # name: (chosen, settings)
    "as above": ({}, ()),
    "decisions take 0.9 s: 6 % of kube-default's makespan or 10 % of schedtune's": ({}, schedtune("decision_s: 0.9")),
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


PREDICTORS = {"memory": ["random-forest", "boosting", "voting", "physics", "torchinfo"],
              "time": ["random-forest", "boosting", "physics"]}


def predictors(corun, folder, generator):
    """Tables II, IV and V on the training jobs that fit: errors of random jobs, and of a model or GPU type never seen."""
    rows, path = [], folder / "measured.csv"
    for batches in (BATCHES, MANY_BATCHES):
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["zoo", "batch", "gpu_type", "phase", "mem_mib", "step_ms"])
            for model, batch, gpu in itertools.product(MODELS, batches, CAPACITY_MIB):
                seconds, memory, _ = generator.training(model, batch, gpu)
                if memory <= CAPACITY_MIB[gpu]:
                    writer.writerow([model, batch, gpu, "train", round(memory), f"{1000 * seconds * batch / IMAGES:.3f}"])
        for target, kinds in PREDICTORS.items():
            for kind in kinds:
                told = csv.DictReader(io.StringIO(run(corun, "predictor", "eval", "--target", target, "--jobs", path,
                                                      "--kind", kind, "--quiet", "--format", "csv")))
                found = {}
                for r in told:
                    if not r["capacity_mib"]:
                        found.setdefault(r["held_out"], {})[r["figure"]] = float(r["value"])
                for held_out, figures in found.items():
                    rows.append({"batch_sizes": str(len(batches)), "jobs": num(figures["jobs"], 0), "target": target,
                                 "predictor": kind, "held_out": held_out, "mape_pct": num(figures["mape_pct"]),
                                 "rmsle": num(figures["rmsle"], 3)})
    return rows


def memory_over_time(corun, folder, generator):
    """Figure 14: memory in use by the cluster's jobs [% of all memory] by minute, of the first replication."""
    jobs, timelines = folder / "jobs.csv", folder / "timelines"
    write_jobs(jobs, generator, CHOSEN)
    run(corun, "replay", HERE / "cluster.yaml", "--set", f"workload.path={jobs}", "--set", "replications=1", "--timeline",
        timelines, "--quiet")
    types = [TYPES[0], TYPES[0], TYPES[1], TYPES[1], TYPES[2]]
    all_memory = sum(CAPACITY_MIB[t] for t in types)
    with open(jobs, newline="") as file:
        demand = {r["job"]: {t: float(r[f"mem_used_mib@{t}"]) for t in TYPES} for r in csv.DictReader(file)}
    rows = {}
    for policy in ("kube-default", "schedtune"):
        changes, held = [], {}
        with open(timelines / f"{policy}.csv", newline="") as file:
            for event in csv.DictReader(file):
                at, job = int(event["time_ns"]) / 60e9, event["job"]
                if event["event"] == "start":
                    held[job] = demand[job][types[int(event["gpus"])]]
                    changes.append((at, held[job]))
                elif event["event"] in ("finish", "oom", "fail", "failed") and job in held:
                    changes.append((at, -held.pop(job)))
        used, before, sums = 0.0, 0.0, {}
        for at, change in changes:
            while before < at:
                end = min(at, math.floor(before) + 1)
                sums[math.floor(before)] = sums.get(math.floor(before), 0) + used * (end - before)
                before = end
            used += change
        for minute, area in sums.items():
            rows.setdefault(minute, {"minute": str(minute)})[policy] = num(100 * area / all_memory)
    return [{"minute": r["minute"], "kube-default": r.get("kube-default", "0"), "schedtune": r.get("schedtune", "0")}
            for _, r in sorted(rows.items())]


def as_csv(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def kept(name):
    with open(KEPT / f"{name}.csv", newline="") as file:
        return list(csv.DictReader(file))


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
                     "out_of_memory": str(sum(j[1] > capacity for j in jobs))})
    return rows


def figure(tables):
    """Figures 8, 11, 14 and 15, ours."""
    svg = Svg(880, 620, "SchedTune on generated jobs: sharing, GPUs, memory of the cluster, makespan")
    wide, high = 340, 200

    def panel(column, line, title, most, unit, step):
        left, top = 60 + 440 * column, 50 + 310 * line
        svg.text(left - 40, top - 24, title, weight="bold")
        y = scale(0, most, top + high, top)
        for t in range(0, most + 1, step) if step else ():
            svg.line(left, y(t), left + wide, y(t), FAINT)
            svg.text(left - 8, y(t) + 4, f"{t}{unit}", "end", GREY, 11)
        return left, top + high, y

    left, bottom, y = panel(0, 0, "increase of time by jobs on an RTX 2070s (fig. 8)", 80, " %", 20)
    for i, row in enumerate(tables["figure8"]):
        px = left + wide * (i + 0.5) / 3
        svg.whisker_v(px, y(float(row["least_mean_increase_pct"])), y(float(row["most_increase_pct"])), BLUE)
        svg.dot(px, y(float(row["mean_increase_pct"])), BLUE)
        svg.text(px, bottom + 18, f"{row['jobs']} jobs", "middle")
    svg.text(left, bottom + 42, "mean; bars: least group's mean to slowest job", colour=GREY, size=11)

    left, bottom, y = panel(1, 0, "48 training jobs one after another, hours (fig. 11)", 20, "", 5)
    for i, row in enumerate(tables["figure11"]):
        px = left + wide * i / 5 + 10
        hours = float(row["training_h"])
        svg.rect(px, y(hours), wide / 5 - 20, bottom - y(hours), BLUE)
        svg.text(px + wide / 10 - 10, y(hours) - 5, f"{row['out_of_memory']} OOM", "middle", ORANGE, 11)
        svg.text(px + wide / 10 - 10, bottom + 18, row["gpu"].replace("-Super", "s").replace("-16GB", ""), "middle", size=11)

    left, bottom, y = panel(0, 1, "memory in use by the cluster's jobs (fig. 14)", 100, " %", 25)
    minutes = len(tables["figure14"])
    x = scale(0, minutes, left, left + wide)
    for i, (policy, colour) in enumerate((("kube-default", BLUE), ("schedtune", ORANGE))):
        svg.path([(x(int(r["minute"]) + 0.5), y(float(r[policy]))) for r in tables["figure14"]], colour)
        svg.line(left + 120 * i, bottom + 38, left + 120 * i + 20, bottom + 38, colour, 2.5)
        svg.text(left + 120 * i + 26, bottom + 42, policy)
    for t in range(0, minutes, 20):
        svg.text(x(t), bottom + 18, f"{t} min", "middle", GREY, 11)

    left, bottom, _ = panel(1, 1, "makespan vs. kube-default (fig. 15)", 1, "", None)
    shown = ["as above", "two jobs per GPU", "one per 4 GiB", "one job per GPU", "memory error .5", "time error 2 (useless)"]
    x = scale(-60, 20, left + 130, left + wide)
    for t in range(-60, 21, 20):
        svg.line(x(t), bottom - high, x(t), bottom, FAINT)
        svg.text(x(t), bottom + 18, f"{t} %", "middle", GREY, 11)
    svg.line(x(-17.5), bottom - high, x(-17.5), bottom, ORANGE, 1.4, "5 4")
    svg.text(x(-17.5), bottom - high - 6, "paper -17.5", "middle", ORANGE, 11)
    for i, setting in enumerate(shown):
        row = next(r for r in tables["cluster"] if r["setting"] == setting and r["policy"] == "schedtune")
        mean, half, py = float(row["makespan_change_pct"]), float(row["makespan_half_pct"]), bottom - high + 30 * i + 22
        svg.text(left + 122, py + 4, setting, "end", size=11)
        svg.whisker(py, x(mean - half), x(mean + half), BLUE)
        svg.dot(x(mean), py, BLUE)
    return svg.done()


def page(tables):
    text = PAGE.read_text()
    by_setting = {}
    for r in tables["cluster"]:
        by_setting.setdefault(r["setting"], {})[r["policy"]] = r
    rows = [[setting, f"{s['makespan_change_pct']} +- {float(s['makespan_half_pct']):.1f}", s["mem_util_change_pct"],
             f"{k['lost']} +- {k['lost_half']}", f"{s['lost']} +- {s['lost_half']}",
             f"{k['jct_min']} +- {float(k['jct_half_min']):.1f}", f"{s['jct_min']} +- {float(s['jct_half_min']):.1f}"]
            for setting, by_policy in by_setting.items() for k, s in [(by_policy["kube-default"], by_policy["schedtune"])]]
    text = with_table(text, "schedtune-cluster", markdown(
        ["setting", "makespan vs. kube-default %", "memory utilisation %", "lost, kube-default", "lost, schedtune",
         "JCT min, kube-default", "JCT min, schedtune"], rows))
    cells = {}
    for r in tables["predictors"]:
        cells.setdefault((r["target"], r["predictor"]), {})[r["batch_sizes"], r["held_out"]] = r
    columns = [(str(len(BATCHES)), "random"), (str(len(MANY_BATCHES)), "random"), (str(len(MANY_BATCHES)), "gpu"),
               (str(len(MANY_BATCHES)), "model"), (str(len(MANY_BATCHES)), "family")]
    rows = [[f"{target}, {kind}", *(f"{by[c]['mape_pct']} / {by[c]['rmsle']}" for c in columns)]
            for (target, kind), by in cells.items()]
    return with_table(text, "schedtune-predictors", markdown(
        ["average error % / RMSLE", "random jobs, 4 batch sizes", "15 batch sizes", "unseen GPU type", "unseen model",
         "unseen family"], rows))


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 where results differ")
    options = arguments.parse_args()
    generator = Generator(options.corun, () if options.check else MANY_BATCHES)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        first = rows_of("as above", replay(options.corun, folder, generator))
        if options.check:
            tables = {name: kept(name) for name in ("cluster", "figure8", "figure11", "figure14", "generated", "predictors")}
            tables["cluster"][:len(first)] = first
        else:
            tables = {"cluster": first}
            for setting, (chosen, settings) in list(SWEEP.items())[1:]:
                tables["cluster"] = tables["cluster"] + rows_of(setting, replay(options.corun, folder, generator, chosen,
                                                                                settings))
            tables["figure8"] = figure8(options.corun, folder, generator)
            tables["figure14"] = memory_over_time(options.corun, folder, generator)
            tables["predictors"] = predictors(options.corun, folder, generator)
            tables["figure11"] = figure11(generator)
            tables["generated"] = printed_facts(generator)
    wanted = {KEPT / f"{name}.csv": as_csv(rows) for name, rows in tables.items()}
    wanted[KEPT / "schedtune.svg"] = figure(tables)
    wanted[PAGE] = page(tables)
    return 1 if write_or_check(wanted, options.check) and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
