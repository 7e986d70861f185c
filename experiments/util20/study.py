#!/usr/bin/env python3
"""Util20's scheduling case study: slot-based, reactive and proactive on 12 GPUs.

    experiments/util20/study.py            five runs as in the paper, then 500; seconds on two cores
    experiments/util20/study.py --check    exit 1 if five runs, page or figure differ from what is kept

Writes experiments/util20/*.csv, and from these a figure and the tables of experiments/util20/README.md. With the public data sets
(--data) figure 5a is of measured pairs, too. The jobs are generated, no measurement of the paper's is public: architectures, batch
sizes and the range of run times are the paper's (Table 1 and section 6); utilisation, memory and co-run costs are
corun's predictions and its contention model. All constants below were fixed before the first comparison.
"""

import argparse
import csv
import io
import itertools
import json
import math
import os
import pathlib
import random
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import BLUE, FAINT, GREY, INK, ORANGE, REPO, Svg, markdown, num, scale, with_table, write_or_check  # noqa: E402
from program import run, side_by_side  # noqa: E402

PAGE = HERE / "README.md"
KEPT = HERE

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
    "slot": {"gpu_util": 43.1, "makespan_min": 306.9, "makespan_sd_min": 1.15, "run_s": 1869},
    "reactive": {"gpu_util": 47.1, "makespan_min": 277.6, "makespan_sd_min": 1.72, "run_s": 2193},
    "proactive": {"gpu_util": 69.6, "makespan_min": 204.0, "makespan_sd_min": 8.5, "run_s": 2024},
}


def kinds(corun):
    """(model, batch, utilisation [%], memory [MiB]) of the jobs of Table 1 that fit the GPU."""
    wanted = [(m, b, ["--pixels", 32]) for m in IMAGE_MODELS for b in IMAGE_BATCHES]
    wanted += [(m, b, ["--tokens", 200]) for m in TEXT_MODELS for b in TEXT_BATCHES]

    def predicted(kind):
        model, batch, size = kind
        return json.loads(run(corun, "predict", "--zoo", model, *size, "--batch", batch, "--gpu", GPU, "--quiet",
                              "--format", "json"))["gpu_types"][0]
    return [(model, batch, round(told["gpu_util_pct"]["median"], 2), round(told["memory_mib"]["median"]))
            for (model, batch, _), told in zip(wanted, side_by_side(predicted, wanted)) if told["fits"]]


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


def one_run(corun, all_kinds, seed, folder, settings=(), jobs=None):
    """policy -> metrics of one draw of the jobs; jobs: the seed of the draw, where it is not that of the run."""
    path = folder / f"jobs-{seed}.csv"
    write_jobs(path, draw(all_kinds, seed if jobs is None else jobs))
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
            "run_s": both(lambda m: m["jct_s"] - m["queue_s"]), "jct_min": both(lambda m: m["jct_s"] / 60),
            "oom": both(lambda m: m["oom"])}


def table4(jobs, runs):
    """Rows of Table 4, theirs beside these runs. jobs: "drawn anew" for each run, or "the same" hundred in another order."""
    rows = []
    slot = summary(runs, "slot")
    for policy in POLICIES:
        ours, theirs = summary(runs, policy), PAPER[policy]
        rows.append({
            "policy": policy, "jobs": jobs, "runs": str(len(runs)),
            "gpu_util_pct": f"{ours['gpu_util'][0]:.1f}", "their_gpu_util_pct": str(theirs["gpu_util"]),
            "util_gain_pct": f"{100 * (ours['gpu_util'][0] / slot['gpu_util'][0] - 1):.1f}",
            "their_util_gain_pct": f"{100 * (theirs['gpu_util'] / PAPER['slot']['gpu_util'] - 1):.1f}",
            "makespan_min": f"{ours['makespan_min'][0]:.1f}", "their_makespan_min": str(theirs["makespan_min"]),
            "makespan_sd_min": f"{ours['makespan_min'][1]:.1f}", "their_makespan_sd_min": str(theirs["makespan_sd_min"]),
            "makespan_change_pct": f"{100 * (ours['makespan_min'][0] / slot['makespan_min'][0] - 1):.1f}",
            "their_makespan_change_pct":
                f"{100 * (theirs['makespan_min'] / PAPER['slot']['makespan_min'] - 1):.1f}",
            "run_s": f"{ours['run_s'][0]:.0f}", "their_run_s": str(theirs["run_s"]),
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
        metrics = told["policies"][0]["metrics"]
        if metrics["oom"]["mean"] == 0:
            points.append((pair[0][2] + pair[1][2], 100 * metrics["isd"]["mean"]))
    return by_summed_utilisation("the contention model", points)


def measured_slowdowns(data):
    """The same of Lucid's pairs, measured on an RTX 3090; a job that ran faster beside another has a negative slowdown."""
    with open(data / "lucid" / "lucid_pairs.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    points = [(float(r["solo_gpu_util_a"]) + float(r["solo_gpu_util_b"]), 100 * (1 / float(r[f"norm_{x}"]) - 1))
              for r in rows for x in "ab"]
    return by_summed_utilisation("measured, RTX 3090", points)


def by_summed_utilisation(source, points):
    """Rows of figure 5a of points (summed utilisation [%], slowdown [%])."""
    rows = []
    for low in range(0, 200, 20):
        inside = sorted(slowdown for total, slowdown in points if low <= total < low + 20)
        if len(inside) >= 4:
            least, median, most = (inside[round(q * (len(inside) - 1))] for q in (0.05, 0.5, 0.95))
            rows.append({"source": source, "summed_util_pct": f"{low}-{low + 20}", "slowdowns": str(len(inside)),
                         "p5_pct": num(least, 0), "median_pct": num(median, 0), "p95_pct": num(most, 0),
                         "correlation": f"{statistics.correlation(*zip(*points)):.2f}"})
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


def sweep(corun, all_kinds, folder, runs):
    rows = []
    for name, settings in SWEEP.items():
        done = side_by_side(lambda seed, s=settings: one_run(corun, all_kinds, seed, folder, s), range(1, runs + 1))
        base = [r["slot"]["makespan_s"] for r in done]
        for policy in POLICIES[1:]:
            change = [100 * (r[policy]["makespan_s"] / b - 1) for r, b in zip(done, base)]
            half = 1.96 * statistics.stdev(change) / math.sqrt(len(change))
            ours = summary(done, policy)
            half_of = lambda figure: 1.96 * ours[figure][1] / math.sqrt(runs)  # noqa: E731
            rows.append({"setting": name, "policy": policy, "runs": str(runs),
                         "makespan_change_pct": num(statistics.mean(change)), "half_width": num(half),
                         "gpu_util_pct": num(ours["gpu_util"][0]),
                         "run_s": num(ours["run_s"][0], 0), "run_half_s": num(half_of("run_s"), 0),
                         "jct_min": num(ours["jct_min"][0], 0), "jct_half_min": num(half_of("jct_min"), 0),
                         "oom": num(ours["oom"][0]), "oom_half": num(half_of("oom"))})
    return rows


def as_csv(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def kept(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def figure(tables):
    """Slowdown by summed utilisation (figure 5a), and Table 4's figures by what may add up on a GPU."""
    svg = Svg(860, 400, "Util20: slowdown by summed utilisation; makespan by the capacity for summed utilisation")
    left, top, wide, high = 60, 56, 330, 240
    y = scale(0, 200, top + high, top)
    x = scale(0, 200, left, left + wide)
    svg.text(left - 40, 24, "slowdown of a job of a pair, % (fig. 5a; paper: 10 to 200)", weight="bold")
    for t in range(0, 201, 50):
        svg.line(left, y(t), left + wide, y(t), FAINT)
        svg.text(left - 8, y(t) + 4, str(t), "end", GREY, 11)
        svg.text(x(t), top + high + 18, str(t), "middle", GREY, 11)
    svg.text(left + wide / 2, top + high + 38, "summed utilisation of the two alone, %", "middle")
    for i, (source, colour) in enumerate((("measured, RTX 3090", BLUE), ("the contention model", ORANGE))):
        points = []
        for row in (r for r in tables["figure5a"] if r["source"] == source):
            low, above = map(int, row["summed_util_pct"].split("-"))
            px = x((low + above) / 2) + 4 * i
            svg.whisker_v(px, y(max(0, float(row["p5_pct"]))), y(float(row["p95_pct"])), colour)
            points.append((px, y(float(row["median_pct"]))))
        svg.path(points, colour)
        for point in points:
            svg.dot(*point, colour, 3)
        svg.dot(left + 170 * i, top + high + 62, colour)
        svg.text(left + 10 + 170 * i, top + high + 66, source)
    svg.text(left, top + high + 86, "dots: medians; bars: 5 to 95 %", colour=GREY, size=11)
    left = 500
    settings = [("100", "as above")] + [(c, f"capacity {c} %") for c in ("120", "150", "200")]
    y = scale(-40, 0, top + high, top)
    svg.text(left - 40, 24, "change of the makespan vs. slot, %", weight="bold")
    for t in range(-40, 1, 10):
        svg.line(left, y(t), left + wide, y(t), FAINT)
        svg.text(left - 8, y(t) + 4, str(t), "end", GREY, 11)
    x = {c: left + wide * (i + 0.5) / len(settings) for i, (c, _) in enumerate(settings)}
    for i, (policy, colour, theirs) in enumerate((("reactive", BLUE, -9.5), ("proactive", ORANGE, -33.6))):
        svg.line(left, y(theirs), left + wide, y(theirs), colour, 1.2, "5 4")
        svg.text(left + wide - 2, y(theirs) - 4, f"paper, {policy}", "end", colour, 10)
        for capacity, setting in settings:
            row = next(r for r in tables["sweep"] if r["setting"] == setting and r["policy"] == policy)
            mean, half, px = float(row["makespan_change_pct"]), float(row["half_width"]), x[capacity] + 8 * i - 4
            svg.whisker_v(px, y(mean - half), y(mean + half), colour)
            svg.dot(px, y(mean), colour)
        svg.dot(left + 110 * i, top + high + 62, colour)
        svg.text(left + 10 + 110 * i, top + high + 66, policy)
    for capacity in x:
        svg.text(x[capacity], top + high + 18, capacity, "middle", GREY, 11)
    svg.text(left + wide / 2, top + high + 38, "most that may add up on a GPU, % of its utilisation", "middle")
    svg.text(left, top + high + 86, "dots: means; bars: 95 % intervals", colour=GREY, size=11)
    return svg.done()


def page(tables):
    text = PAGE.read_text()
    rows = [[r["policy"], r["jobs"], r["runs"], f"{r['gpu_util_pct']} ({r['their_gpu_util_pct']})",
             f"{r['makespan_min']} ({r['their_makespan_min']})",
             f"{r['makespan_change_pct']} ({r['their_makespan_change_pct']})",
             f"{r['makespan_sd_min']} ({r['their_makespan_sd_min']})", f"{r['run_s']} ({r['their_run_s']})"]
            for r in tables["table4"]]
    text = with_table(text, "util20-table4", markdown(
        ["policy (paper's figure in brackets)", "jobs", "runs", "utilisation %", "makespan min", "vs. slot %",
         "its deviation min", "mean run time s"], rows))
    rows = [[r["source"], r["summed_util_pct"], r["slowdowns"], r["p5_pct"], r["median_pct"], r["p95_pct"]]
            for r in tables["figure5a"]]
    text = with_table(text, "util20-figure5a", markdown(
        ["slowdowns", "summed utilisation %", "number", "5 % below", "median %", "5 % above"], rows))
    by_setting = {}
    for r in tables["sweep"]:
        by_setting.setdefault(r["setting"], {})[r["policy"]] = r
    rows = [[setting, f"{r['makespan_change_pct']} +- {r['half_width']}", f"{p['makespan_change_pct']} +- {p['half_width']}",
             p["gpu_util_pct"], f"{p['run_s']} +- {p['run_half_s']}", f"{p['jct_min']} +- {p['jct_half_min']}",
             f"{p['oom']} +- {p['oom_half']}"]
            for setting, by_policy in by_setting.items() for r, p in [(by_policy["reactive"], by_policy["proactive"])]]
    text = with_table(text, "util20-sweep", markdown(
        ["setting", "makespan, reactive %", "proactive %", "utilisation, proactive %", "run time, proactive s",
         "JCT, proactive min", "OOM, proactive"], rows))
    return text


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--data", type=pathlib.Path, default=os.environ.get("CORUN_DATA"))
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 where results differ")
    options = arguments.parse_args()
    tables = {name: kept(KEPT / f"{name}.csv") for name in ("table4", "figure5a", "sweep")} if options.check else {}
    all_kinds = kinds(options.corun)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)

        def runs(seeds, **rest):
            return side_by_side(lambda seed: one_run(options.corun, all_kinds, seed, folder, **rest), seeds)
        five = table4("drawn anew", runs(range(1, 6)))
        if options.check:
            tables["table4"] = five + tables["table4"][len(five):]
        else:
            tables["table4"] = (five + table4("drawn anew", runs(range(1, RUNS + 1)))
                                + table4("the same", runs(range(1, RUNS + 1), jobs=1, settings=["workload.order=shuffled"])))
            old = kept(KEPT / "figure5a.csv") if (KEPT / "figure5a.csv").exists() else []
            measured = [r for r in old if r["source"] == "measured, RTX 3090"]
            if options.data is not None:
                measured = measured_slowdowns(options.data)
            else:
                print("without --data or CORUN_DATA: the measured pairs are as kept", file=sys.stderr)
            tables["figure5a"] = slowdowns(options.corun, all_kinds, folder) + measured
            tables["sweep"] = sweep(options.corun, all_kinds, folder, 100)
    wanted = {KEPT / f"{name}.csv": as_csv(rows) for name, rows in tables.items()}
    wanted[KEPT / "util20.svg"] = figure(tables)
    wanted[PAGE] = page(tables)
    return 1 if write_or_check(wanted, options.check) and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
