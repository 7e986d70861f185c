#!/usr/bin/env python3
"""Elastic jobs: mean JCT under the policies that resize them, on two clusters.

    experiments/elastic/study.py --data DIR [--corun build/release/corun] [--check]

Runs lists of jobs 1 to 4 of every load of Pollux' artifact (elastic/pollux of DIR, the folder of the public data sets), and writes
runs.csv, the tables of experiments/elastic/README.md and its figure. It goes on where it was stopped. --check makes the tables of
runs.csv, runs the quick ones of its rows again, and exits with 1 if anything differs.
"""

import argparse
import csv
import io
import json
import itertools
import math
import os
import pathlib
import statistics
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import BLUE, FAINT, GREEN, GREY, ORANGE, PURPLE, REPO, Svg, markdown, num, with_table, write_or_check  # noqa: E402
from program import run, side_by_side  # noqa: E402

PAGE, RUNS, FIGURE = HERE / "README.md", HERE / "runs.csv", HERE / "load.svg"
CLUSTERS = {"T4": "16x4:aws", "three types": "6x4:aws+3x8:rtx+2x8:dgx-ext"}
LOADS = ["0.5", "1.0", "1.5", "2.0"]
LISTS = ["1", "2", "3", "4"]
TIRESIAS = "{name: tiresias, thresholds_s: [57600], within: entry, placement: freest}"
# What policies know -> label -> policy.
POLICIES = {
    "truth": {"tiresias": TIRESIAS, "optimus": "{name: optimus}", "sia": "{name: sia}", "pollux": "{name: pollux}",
              "srsf-packed": "{name: srsf-packed}"},
    "fitted": {"sia": "{name: sia, belief: fitted}", "pollux": "{name: pollux, belief: fitted}",
               "srsf-packed": "{name: srsf-packed}"}}
BELIEFS = {"truth": ["belief.model=truth", "estimates.duration=exact"], "fitted": ["estimates.duration=none"]}
OWN = "srsf-packed"
# Nobody has measured what these programs cost each other on a GPU. The sharing arms suppose that every pair runs at 1 / S of its
# speed alone.
SUPPOSED = ["1.25", "1.5", "1.75"]
PROGRAMS = ["bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3"]
COLUMNS = ["cluster", "load", "list", "knows", "sharing", "policy", "jct_s", "goodput_per_s", "efficiency", "restarts"]
KEY = COLUMNS[:6]
WRITING = threading.Lock()
T_975 = {2: 12.706, 3: 4.303, 4: 3.182}  # Student's t by number of values
COLOURS = {"tiresias": GREY, "optimus": PURPLE, "sia": ORANGE, "pollux": GREEN, OWN: BLUE}


def supposed_pairs(folder, slowdown):
    """A table of groups in which every pair of programs runs at 1 / slowdown of its speed alone."""
    path = pathlib.Path(folder) / f"pairs-{slowdown}.csv"
    lines = ["group,gpu,sharing,job,norm"]
    for number, pair in enumerate(itertools.combinations_with_replacement(PROGRAMS, 2)):
        lines += [f"g{number},T4,time-slicing,{program},{1 / float(slowdown):.6f}" for program in pair]
    path.write_text("\n".join(lines) + "\n")
    return path


def replayed(corun, data, cluster, load, number, knows, sharing, policy):
    """A row of runs.csv. Sharing: "none", or the slowdown that is supposed of every pair."""
    with tempfile.TemporaryDirectory() as folder:
        settings = [f"workload={{source: pollux, path: elastic/pollux/workloads_pollux.csv, part: pollux-{load}/{number}, "
                    "programs: elastic/sia, adaptivity: adaptive}", f"cluster.machines={CLUSTERS[cluster]}",
                    "control.round_s=60", "replications=1", "world.noise=false", *BELIEFS[knows],
                    f"policies=[{POLICIES[knows][policy]}]"]
        if sharing == "none":
            settings += ["cluster.max_jobs_per_gpu=1", "world.model=none"]
        else:
            settings += ["cluster.max_jobs_per_gpu=2", "world.model=measured", f"world.path={supposed_pairs(folder, sharing)}"]
        arguments = ["replay", "--data", data, "--format", "json", "-q", "--threads", "1"]
        for setting in settings:
            arguments += ["--set", setting]
        result = json.loads(run(corun, *arguments))["policies"][0]
    found = {"jct_s": result["metrics"]["jct_s"]["mean"],
             **{name: result["elastic"][name]["mean"] for name in COLUMNS[7:]}}
    return {"cluster": cluster, "load": load, "list": number, "knows": knows, "sharing": sharing, "policy": policy,
            **{name: f"{value:.6g}" for name, value in found.items()}}


def cases():
    """Of every row its KEY, the quick loads first."""
    found = []
    for load, cluster, number in itertools.product(LOADS, CLUSTERS, LISTS):
        found += [(cluster, load, number, knows, "none", policy) for knows in POLICIES for policy in POLICIES[knows]]
        if cluster == "T4":
            found += [(cluster, load, number, "truth", slowdown, OWN) for slowdown in SUPPOSED]
    return found


def key(row):
    return tuple(row[name] for name in KEY)


def read_rows():
    if not RUNS.exists():
        return []
    with open(RUNS, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def all_rows(corun, data):
    """Runs what runs.csv lacks, and writes it after each run: a stopped study goes on there."""
    found = {key(row): row for row in read_rows()}
    missing = [case for case in cases() if case not in found]

    def one(case):
        row = replayed(corun, data, *case)
        found[case] = row
        with WRITING:
            part = RUNS.with_suffix(".part")
            part.write_text(as_csv([found[name] for name in cases() if name in found]))
            part.replace(RUNS)

    side_by_side(one, missing)
    return [found[case] for case in cases()]


def as_csv(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def values(rows, column, **where):
    return [float(row[column]) for row in rows if all(row[key] == value for key, value in where.items())]


def interval(numbers):
    """Mean, and half of its 95 % interval."""
    half = T_975[len(numbers)] * statistics.stdev(numbers) / math.sqrt(len(numbers))
    return statistics.mean(numbers), half


def text(numbers, scale=1.0, digits=1):
    mean, half = interval([n / scale for n in numbers])
    return f"{num(mean, digits)} ± {num(half, digits)}"


def of_policies():
    return [(knows, name) for knows, policies in POLICIES.items() for name in policies]


def policies_table(rows, cluster):
    """A row per policy, a column per load."""
    lines = []
    for knows, name in of_policies():
        of = {"cluster": cluster, "knows": knows, "policy": name, "sharing": "none"}
        lines.append([name, "nothing" if name == "tiresias" else knows,
                      *(text(values(rows, "jct_s", load=load, **of), 60) for load in LOADS)])
    return markdown(["policy", "knows", *(f"load {load}" for load in LOADS)], lines)


def behaviour_table(rows, load):
    lines = []
    for cluster in CLUSTERS:
        for knows, name in of_policies():
            of = {"cluster": cluster, "knows": knows, "policy": name, "sharing": "none", "load": load}
            lines.append([cluster, name, "nothing" if name == "tiresias" else knows, text(values(rows, "restarts", **of)),
                          text(values(rows, "efficiency", **of), 0.01)])
    return markdown(["cluster", "policy", "knows", "restarts", "efficiency %"], lines)


def compared(own, other):
    """Difference and outcome of two lists of JCTs [s], paired."""
    mean, half = interval([(a - b) / 60 for a, b in zip(own, other, strict=True)])
    outcome = "not significantly different" if abs(mean) <= half else "win" if mean < 0 else "loss"
    return f"{num(mean)} ± {num(half)}", outcome


def own_table(rows):
    header = ["cluster", "knows", "load", "best of the others", "its JCT, min", f"{OWN}, min", "difference, min", "outcome"]
    lines = []
    for cluster, knows, load in itertools.product(CLUSTERS, POLICIES, LOADS):
        jct = {name: values(rows, "jct_s", cluster=cluster, knows=knows, load=load, sharing="none", policy=name)
               for name in POLICIES[knows]}
        best = min((name for name in jct if name != OWN), key=lambda name: statistics.mean(jct[name]))
        lines.append([cluster, knows, load, best, num(statistics.mean(jct[best]) / 60), num(statistics.mean(jct[OWN]) / 60),
                      *compared(jct[OWN], jct[best])])
    return markdown(header, lines)


def sharing_table(rows):
    lines = []
    for load in LOADS:
        of = {"cluster": "T4", "knows": "truth", "load": load, "policy": OWN}
        alone = values(rows, "jct_s", sharing="none", **of)
        lines.append([load, num(statistics.mean(alone) / 60),
                      *(compared(values(rows, "jct_s", sharing=slowdown, **of), alone)[0] for slowdown in SUPPOSED)])
    return markdown(["load", "alone, min", *(f"{slowdown} times, difference" for slowdown in SUPPOSED)], lines)


def figure_load(rows):
    """Mean JCT [min, logarithmic] over load, a panel per cluster and belief; whiskers: 95 % intervals."""
    width, height, left, top = 250, 240, 56, 40
    panels = list(itertools.product(CLUSTERS, POLICIES))
    ticks = [10, 20, 50, 100, 200]
    svg = Svg(left + len(panels) * (width + 18), top + height + 76, "Mean JCT of elastic jobs by load, policy, cluster and belief")

    def y(minutes):
        low, high = math.log(7), math.log(250)
        return top + height * (1 - (math.log(min(max(minutes, 7), 250)) - low) / (high - low))

    for number, (cluster, knows) in enumerate(panels):
        x0 = left + number * (width + 18)
        svg.text(x0, top - 16, f"{cluster}, {knows}", weight="bold")
        for tick in ticks:
            svg.line(x0, y(tick), x0 + width, y(tick), FAINT)
            if number == 0:
                svg.text(x0 - 8, y(tick) + 4, f"{tick}", "end", GREY, 11)
        at = {load: x0 + width * (index + 0.5) / len(LOADS) for index, load in enumerate(LOADS)}
        for load in LOADS:
            svg.text(at[load], top + height + 18, load, "middle", GREY, 11)
        for offset, name in enumerate(POLICIES[knows]):
            shift = 5 * (offset - len(POLICIES[knows]) / 2)
            points = []
            for load in LOADS:
                mean, half = interval([n / 60 for n in values(rows, "jct_s", cluster=cluster, knows=knows, load=load, sharing="none",
                                                              policy=name)])
                points.append((at[load] + shift, y(mean)))
                svg.whisker_v(points[-1][0], y(max(mean - half, 1)), y(mean + half), COLOURS[name])
                svg.dot(*points[-1], COLOURS[name], 3)
            svg.path(points, COLOURS[name], 1.6)
    svg.text(left, top + height + 38, "load of Pollux' lists; mean JCT, min", "start", GREY, 11)
    x = left
    for name in POLICIES["truth"]:
        svg.dot(x + 4, top + height + 58, COLOURS[name])
        svg.text(x + 14, top + height + 62, name)
        x += 30 + 8 * len(name)
    return svg.done()


def page_of(rows):
    page = PAGE.read_text()
    for cluster in CLUSTERS:
        page = with_table(page, f"policies {cluster}", policies_table(rows, cluster))
    page = with_table(page, "behaviour", behaviour_table(rows, "1.0"))
    page = with_table(page, "sharing", sharing_table(rows))
    return with_table(page, "own", own_table(rows))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default=os.environ.get("CORUN_DATA"), help="public data sets; default: CORUN_DATA")
    parser.add_argument("--corun", type=pathlib.Path, default=REPO / "build/release/corun")
    parser.add_argument("--check", action="store_true")
    given = parser.parse_args()
    if not given.data:
        print("not run: set CORUN_DATA or give --data", file=sys.stderr)
        sys.exit(77 if given.check else 2)  # 77: skipped
    data, corun = pathlib.Path(given.data).resolve(), given.corun.resolve()
    if given.check:
        rows = read_rows()
        quick = [("T4", "0.5", "1", "truth", "none", "tiresias"), ("T4", "0.5", "1", "truth", "none", OWN),
                 ("T4", "0.5", "1", "fitted", "none", OWN), ("T4", "0.5", "1", "truth", "1.5", OWN)]
        again = {case: replayed(corun, data, *case) for case in quick}
        rows = [again.get(key(row), row) for row in rows]
    else:
        rows = all_rows(corun, data)
    wanted = {RUNS: as_csv(rows), PAGE: page_of(rows), FIGURE: figure_load(rows)}
    sys.exit(1 if write_or_check(wanted, given.check) and given.check else 0)


if __name__ == "__main__":
    main()
