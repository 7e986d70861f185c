#!/usr/bin/env python3
"""Runs the experiments on mean JCT and writes their tables into experiments/jct/README.md.

    python3 experiments/jct/study.py [--data DIR] [--only TABLE ...] [--check]

Needs the public data sets. On two cores `workloads` and `levels` take an hour and a half, and go on where they were
stopped; the others take half an hour.
"""

import argparse
import concurrent.futures
import csv
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from jct import workloads  # noqa: E402
from jct.resample import gavel_trace, interval, mean_ratio, pod_order, resampled  # noqa: E402
from page import markdown, num, with_table, write_or_check  # noqa: E402
from program import run  # noqa: E402

REPO = HERE.parents[1]
PAGE = HERE / "README.md"
FIGURE = HERE / "completion-times.svg"
TRACE = "peers/lucid/philly4_d100_all.csv"
WINDOW_HOURS = 2
WORLDS = {"listed pairs": (), "unlisted pairs by `factors`": ("world.model=measured", "world.fallback=factors")}
FORMS = {"non-preemptive": "ours.yaml", "preemptive": "ours-preemptive.yaml"}
NODES = {32: 4, 64: 8}
OPENB_NODES = "openb/openb_node_list_gpu_node.csv"
OPENB_PODS = "openb/openb_pod_list_default.csv"


class Study:
    def __init__(self, options):
        self.options = options
        self.files = {}  # path -> text, beside the page
        self.workloads = {}  # of workloads.py

    def replay(self, config, *settings):
        """label -> metric -> mean."""
        sets = [word for setting in settings for word in ("--set", setting)]
        printed = run(self.options.corun, "replay", config, "--data", self.options.data, "--quiet", "--format", "json",
                      *sets)
        return {p["label"]: {name: m["mean"] for name, m in p["metrics"].items() if m}
                for p in json.loads(printed)["policies"]}

    def traces(self, directory):
        """The paths of resampled traces."""
        for seed in range(1, self.options.resamples + 1):
            path = pathlib.Path(directory) / f"resampled-{seed}.csv"
            if not path.exists():
                resampled(pathlib.Path(self.options.data) / TRACE, path, WINDOW_HOURS, seed)
            yield path


def between(values):
    low, high = interval(values)
    return f"{num(low, 2)} to {num(high, 2)}"


def alone_s(path):
    """Mean run time alone: no policy has a shorter mean JCT."""
    with open(path, encoding="utf-8", newline="") as file:
        times = [float(row["duration"]) for row in csv.DictReader(file)]
    return sum(times) / len(times)


def windows(study):
    """Mean JCT and p99 against Lucid's."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        paths = list(study.traces(directory))
        for form, config in FORMS.items():
            for gpus, nodes in NODES.items():
                for world, settings in WORLDS.items():
                    fixed = (f"cluster.nodes={nodes}", *settings)
                    one = study.replay(HERE / config, *fixed)
                    ours, lucid = one["srsf-packed"], one["lucid"]
                    ratios, least = [], []
                    for path in paths:
                        both = study.replay(HERE / config, *fixed, f"workload.path={path}")
                        ratios.append(both["srsf-packed"]["jct_s"] / both["lucid"]["jct_s"])
                        least.append(alone_s(path) / both["lucid"]["jct_s"])
                    rows.append([f"{form}, {gpus} GPUs, {world}", num(ours["jct_s"], 0), num(lucid["jct_s"], 0),
                                 num(ours["jct_s"] / lucid["jct_s"], 2), between(ratios), between(least),
                                 num(ours["jct_p99_s"] / lucid["jct_p99_s"], 2)])
    return markdown(["policy, cluster, world", "JCT s", "lucid's", "ratio", "95 % interval", "no policy below",
                     "p99, ratio"], rows)


def one_factor(study):
    """Mean JCT when one setting changes."""
    base = ("cluster.nodes=8",)
    las = "policies=[{name: srsf-packed, mode: preemptive}, {name: las, blocking: backfill}]"
    both = ("policies=[{name: srsf-packed, mode: non-preemptive}, {name: srsf-packed, label: preemptive}, {name: lucid}, "
            "{name: srtf, blocking: backfill}, {name: las, blocking: backfill}]")
    changes = {
        "base: 64 GPUs, exact estimates, a tenth of the pairs known, 30 s per preemption": (),
        "32 GPUs": ("cluster.nodes=4",),
        "96 GPUs": ("cluster.nodes=12",),
        "128 GPUs": ("cluster.nodes=16",),
        "estimates log-normal, sigma 0.5": ("estimates.duration=lognormal", "estimates.sigma=0.5"),
        "estimates log-normal, sigma 1": ("estimates.duration=lognormal", "estimates.sigma=1"),
        "estimates shuffled": ("estimates.duration=shuffled",),
        "no estimates": ("estimates.duration=none",),
        "no pairs known": ("belief.known=0",),
        "60 % of the pairs known": ("belief.known=0.6",),
        "all pairs known": ("belief.known=1",),
        "free preemption": ("preemption.save_s=0", "preemption.restore_s=0"),
        "120 s per preemption": ("preemption.save_s=60", "preemption.restore_s=60"),
    }
    columns = ("srsf-packed", "preemptive", "lucid", "srtf", "las")
    rows = []
    for change, settings in changes.items():
        none = "estimates.duration=none" in settings
        policies = las.replace("srsf-packed, mode", "srsf-packed, label: preemptive, mode") if none else both
        found = study.replay(HERE / FORMS["preemptive"], policies, *base, *settings)
        rows.append([change, *(num(found[c]["jct_s"], 0) if c in found else "-" for c in columns)])
    return markdown(["", *(f"{c}, s" for c in columns)], rows)


def ablation(study):
    """What each ingredient brings: mean JCT without it."""
    without = {
        "all": "",
        "no reservations": ", reservations: 0",
        "no job overtakes for having waited": ", patience: 0",
        "jobs share wherever memory suffices": ", gain: -1",
        "no job shares": ", gain: 2",
    }
    rows = []
    for name, parameters in without.items():
        row = [name]
        for form, config in FORMS.items():
            for nodes in NODES.values():
                found = study.replay(HERE / config, f"cluster.nodes={nodes}",
                                     f"policies=[{{name: srsf-packed, mode: {form}{parameters}}}]")["srsf-packed"]
                row.append(num(found["jct_s"], 0))
        rows.append(row)
    return markdown(["", *(f"{form}, {gpus} GPUs, s" for form in FORMS for gpus in NODES)], rows)


GAVEL_RATES = {
    "V100": ("gavel_v100", "cluster.gpu_type=V100-16GB"),
    "K80": ("gavel_k80", "cluster.gpu_type=K80"),
    "mixed": ("gavel_v100", "cluster={machines: 9x4:V100-16GB+9x4:P100-16GB+9x4:K80}"),
}


def gavel_traces(study, directory):
    """Traces of 1,000 jobs drawn from Gavel's two."""
    for seed in range(1, study.options.gavel_draws + 1):
        for source in ("seed_0_0e4a51", "seed_0_6214e9"):
            path = pathlib.Path(directory) / f"{source}-{seed}.trace"
            gavel_trace(pathlib.Path(study.options.data) / "gavel" / f"{source}.trace", path, 1000, seed)
            yield path


def gavel_run(study, path, pairs, cluster):
    """label -> mean JCT [s]. fifo-packed is told the true speeds, and which pairs fit."""
    shared = (f"workload.path={path}", cluster)
    ours = study.replay(HERE / "gavel.yaml", *shared, f"belief.initial=gavel/{pairs}_pairs.csv")
    told = study.replay(HERE / "gavel.yaml", *shared, "belief={model: truth}", "world.fallback=cluster-mean",
                        "policies=[{name: fifo-packed}]")
    return {label: metrics["jct_s"] for label, metrics in {**ours, **told}.items()}


def gavel(study):
    """Mean JCT on traces of Gavel: where sharing pays (V100), where it hardly does (K80), and on mixed types."""
    rows = []
    with tempfile.TemporaryDirectory() as directory:
        paths = list(gavel_traces(study, directory))
        for rates, (pairs, cluster) in GAVEL_RATES.items():
            runs = []
            with concurrent.futures.ThreadPoolExecutor(study.options.processes) as pool:
                for found in pool.map(lambda path: gavel_run(study, path, pairs, cluster), paths):
                    runs.append(found)
                    print(f"gavel, {rates}: {len(runs)} of {len(paths)} traces", file=sys.stderr, flush=True)
            for form in ("preemptive", "non-preemptive"):
                row = [f"{rates}, {form}", str(len(runs))]
                for other in ("srtf", "fifo-packed"):
                    mean, low, high = mean_ratio([run[form] / run[other] for run in runs])
                    row += [num(mean, 3), f"{num(low, 3)} to {num(high, 3)}"]
                rows.append(row)
    return markdown(["rates, form", "traces", "ratio to srtf", "95 % interval", "ratio to fifo-packed",
                     "95 % interval"], rows)


def allocated_at_the_end(events, asked, end_s):
    """The milli-GPUs of the pods that run then."""
    running = set()
    with open(events, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if int(row["time_ns"]) > end_s * 10**9:
                break
            if row["event"] == "start":
                running.add(row["job"])
            elif row["event"] in ("preempt", "finish"):
                running.discard(row["job"])
    return sum(asked[pod] for pod in running)


def openb(study):
    """GPU share allocated when pods of Alibaba's trace have asked for all GPUs."""
    labels = ("srsf-packed", "fgd", "best-fit")
    found = {label: [] for label in labels}
    with open(pathlib.Path(study.options.data) / OPENB_NODES, encoding="utf-8", newline="") as file:
        capacity = 1000 * sum(int(row["gpu"]) for row in csv.DictReader(file))
    with tempfile.TemporaryDirectory() as directory:
        pods = pathlib.Path(directory) / "pods.csv"
        for seed in range(1, study.options.pod_orders + 1):
            asked = pod_order(pathlib.Path(study.options.data) / OPENB_PODS, pods, capacity, seed)
            out = pathlib.Path(directory) / str(seed)
            run(study.options.corun, "replay", HERE / "openb.yaml", "--data", study.options.data, "--quiet", "--set",
                f"workload.path={pods}", "--timeline", out)
            for label in labels:
                found[label].append(allocated_at_the_end(out / f"{label}.csv", asked, len(asked) - 1) / capacity)
            print(f"openb: {seed} of {study.options.pod_orders} orders of pods", file=sys.stderr, flush=True)
    rows = []
    for label in labels:
        mean, low, high = mean_ratio([a / b for a, b in zip(found[label], found["fgd"])])
        rows.append([label, num(100 * sum(found[label]) / len(found[label]), 2), num(mean, 4),
                     "-" if label == "fgd" else f"{num(low, 4)} to {num(high, 4)}"])
    return markdown(["policy", "allocated / capacity, %", "ratio to fgd", "95 % interval"], rows)


def queues(study):
    """JRS queues, whose jobs share in pairs."""
    rows = []
    ours = "{name: srsf-packed, mode: non-preemptive, tail: %g, label: %s}"
    without = (ours % (0, "srsf-packed"), "balance", "min-slowdown", "max-packing", "random")
    exact = (ours % (0, '"srsf-packed, exact estimates"'), ours % (2.5, '"srsf-packed, exact estimates, tail 2.5"'))
    for source in ("jrs-queue", "jrs-resampled"):
        for estimates, policies in (("none", without), ("exact", exact)):
            printed = run(study.options.corun, "replay", "--quiet", "--format", "json", "--set",
                          f"workload.source={source}", "--set", f"estimates.duration={estimates}", "--set",
                          f"policies=[{', '.join(policies)}]", "--set", "replications=50")
            for p in json.loads(printed)["policies"]:
                metrics = p["metrics"]
                rows.append([f"{source}, {p['label']}", num(metrics["jct_s"]["mean"], 0),
                             num(metrics["makespan_s"]["mean"], 0), num(100 * metrics["isd"]["mean"], 1)])
    return markdown(["queue, policy", "JCT s", "makespan s", "ISD %"], rows)


def completion_times(study):
    """Draws the distribution of completion times with the Python package of this build (docs/python.md)."""
    sys.path.insert(0, str(study.options.package))
    import corun  # noqa: PLC0415: only the figure needs it

    ours = ("preemptive", "non-preemptive")
    policies = [*({"name": "srsf-packed", "mode": mode, "label": f"srsf-packed, {mode}"} for mode in ours), "lucid",
                *({"name": name, "blocking": "backfill"} for name in ("srtf", "las"))]
    results = corun.replay(HERE / "ours-preemptive.yaml", {"cluster.nodes": NODES[64]}, policies=policies,
                           data=study.options.data, quiet=True)
    with tempfile.TemporaryDirectory() as directory:
        drawn = pathlib.Path(directory) / FIGURE.name
        corun.plot.cdf(results.runs, "jct_s", save=drawn)
        for suffix in (".svg", ".csv"):
            study.files[FIGURE.with_suffix(suffix)] = drawn.with_suffix(suffix).read_text(encoding="utf-8")
    return f"![Share of jobs over completion time, a line per policy]({FIGURE.relative_to(PAGE.parent)})\n"


TABLES = {"windows": windows, "one-factor": one_factor, "ablation": ablation, "gavel": gavel, "openb": openb,
          "queues": queues, "figure": completion_times, "workloads": workloads.base_table, "levels": workloads.level_table}


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--package", default=REPO / "build" / "release" / "python", help="folder of the Python package")
    arguments.add_argument("--data", default=os.environ.get("CORUN_DATA", ""))
    arguments.add_argument("--resamples", type=int, default=32)
    arguments.add_argument("--gavel-draws", type=int, default=8, help="traces from each of Gavel's two")
    arguments.add_argument("--pod-orders", type=int, default=3)
    arguments.add_argument("--draws", type=int, default=6, help="of each public workload, in the base case")
    arguments.add_argument("--level-draws", type=int, default=2, help="of each public workload, at the other levels")
    arguments.add_argument("--sweeps", default=REPO / "build" / "jct-sweeps", help="folder of the public workloads' sweeps")
    arguments.add_argument("--processes", type=int, default=2, help="of the table gavel, at once")
    arguments.add_argument("--only", nargs="*", choices=TABLES, default=list(TABLES))
    arguments.add_argument("--check", action="store_true", help="write nothing; exit with 1 where the page differs")
    options = arguments.parse_args()
    study = Study(options)
    page = PAGE.read_text(encoding="utf-8")
    for name in options.only:
        page = with_table(page, name, TABLES[name](study))
    return 1 if write_or_check({PAGE: page, **study.files}, options.check) and options.check else 0


if __name__ == "__main__":
    sys.exit(main())
