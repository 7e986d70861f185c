#!/usr/bin/env python3
"""Runs the experiments of this folder and writes their results into experiments/jrs/README.md.

    python3 experiments/jrs/study.py [--corun build/release/corun]   writes tables and figures
    python3 experiments/jrs/study.py --check                         exit 1 if they are not up to date

Tables go between `<!-- begin NAME -->` and `<!-- end NAME -->`; the prose around them is written by
hand. Figures go to experiments/jrs/. Needs only Python 3. The same binary gives the same bytes.
"""

import argparse
import csv
import functools
import json
import math
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import (BLUE, FAINT, GREEN, GREY, INK, ORANGE, PALETTE, PURPLE, REPO, Svg, markdown, num, scale,  # noqa: E402
                  ticks, with_table, write_or_check)
from program import run, side_by_side  # noqa: E402

PAGE = HERE / "README.md"
FIGURES = HERE

WORLDS = ["measured", "measured+cluster-mean", "contention", "cluster-mean"]
QUEUE_WORLDS = ["measured", "contention", "cluster-mean"]

# Means over the printed rows of each table [%], bins included as one group.
PRINTED = {
    "table-iv": ("IV", "min-slowdown", 15.23, 25.02, 24, 12),
    "table-v": ("V", "max-packing", 13.49, 36.60, 23, 10),
    "table-vi": ("VI", "max-packing-memory", 26.80, 39.67, 23, 8),
    "table-vii": ("VII", "balance", 20.83, 30.05, 24, 12),
}
# The paper's baseline, implied by its gains: Table IV + 3.79 and Table V - 7.74.
PAPER_RANDOM_ISD = 15.23 + 3.79
PAPER_RANDOM_PS = 36.60 - 7.74
PAPER_POLICY = {  # label in main.yaml -> (ISD, PS, table)
    "min-slowdown": (15.23, 25.02, "IV"),
    "max-packing": (13.49, 36.60, "V"),
    "max-packing-memory": (26.80, 39.67, "VI"),
    "balance": (20.83, 30.05, "VII"),
}


# ---------------------------------------------------------------------------------------- running

class Corun:
    """Runs `corun replay` once per distinct set of arguments."""

    def __init__(self, program):
        self.program = program
        self.known = {}
        self.known_knowledge = {}

    def replay(self, name, sets=(), worlds=None):
        key = (name, tuple(sets), tuple(worlds or ()))
        if key not in self.known:
            arguments = [a for s in sets for a in ("--set", s)]
            if worlds:
                arguments += ["--worlds", ",".join(worlds)]
            out = json.loads(self.run(name, arguments))
            if worlds:
                self.known[key] = {w["world"]: Result(w) for w in out["worlds"]}
            else:
                self.known[key] = Result(out)
        return self.known[key]

    def knowledge(self, name):
        """The knowledge bases of the first replication: policy -> metric -> pair -> [(n, rank, mean, count)]."""
        if name in self.known_knowledge:
            return self.known_knowledge[name]
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ranking.csv"
            self.run(name, ["--set", "replications=1", "--knowledge", str(path)])
            history = {}
            with open(path, newline="") as f:
                for row in csv.DictReader(f):
                    pairs = history.setdefault(row["policy"], {}).setdefault(row["metric"], {})
                    pairs.setdefault((int(row["cluster"]), int(row["partner"])), []).append(
                        (int(row["co_runs"]), int(row["rank"]), float(row["mean"]), int(row["count"])))
            self.known_knowledge[name] = history
            return history

    def run(self, name, arguments):
        return run(self.program, "replay", HERE / f"{name}.yaml", "--quiet", "--format", "json", *arguments)

    def prepare(self, replays, histories):
        """Runs side by side what the tables and figures ask for; what is missing here they run when they ask."""
        side_by_side(lambda job: job(), [functools.partial(self.replay, *replay) for replay in replays]
                     + [functools.partial(self.knowledge, name) for name in histories])


class Result:
    def __init__(self, json_object):
        self.labels = [p["label"] for p in json_object["policies"]]
        self.by_label = {p["label"]: p for p in json_object["policies"]}

    def value(self, label, metric):
        """(mean, lo, hi); below three replications both ends are the mean."""
        m = self.by_label[label]["metrics"][metric]
        return tuple(m["mean"] if m[end] is None else m[end] for end in ("mean", "lo", "hi"))

    def points(self, label, metric):
        return tuple(100 * x for x in self.value(label, metric))

    def gain(self, label, other, metric):
        """Improvement over another policy in points (entropies: nats); positive is better for any metric."""
        d = self.by_label[label]["versus"][other][metric]
        unit = 1 if metric.startswith("entropy") else 100
        lo, mean, hi = unit * d["lo"], unit * d["mean"], unit * d["hi"]
        return (mean, lo, hi) if metric.startswith("ps") else (-mean, -hi, -lo)

    def measured(self, label):
        return 100 * self.by_label[label]["coverage"]["measured"]


# ---------------------------------------------------------------------------------------- tables

def signed(x, digits=1):
    text = num(x, digits)
    return text if text.startswith("-") or not text.strip("0.") else "+" + text


def significant(v):
    return v[1] > 0 or v[2] < 0


def marked(text, gain):
    """Bold if the 95 % interval of the difference excludes 0."""
    return f"**{text}**" if significant(gain) else text


def shown(gain, digits=1):
    return marked(signed(gain[0], digits), gain)


# Claim: title (gain over random unless it names another), gain in the paper, policy, rival (labels of
# main.yaml), metric.
CLAIMS = [
    ("min-slowdown: ISD", "3.79", "min-slowdown", "random", "isd"),
    ("min-slowdown: ISD vs. fcfs", "2.29", "min-slowdown", "fcfs", "isd"),
    ("min-slowdown-epsilon: ISD", "5.08", "min-slowdown-epsilon", "random", "isd"),
    ("min-slowdown-epsilon: ISD vs. min-slowdown", "1.29", "min-slowdown-epsilon", "min-slowdown", "isd"),
    ("max-packing: PS", "7.74", "max-packing", "random", "ps"),
    ("max-packing: PS vs. fcfs", "7.70", "max-packing", "fcfs", "ps"),
    ("max-packing-memory: PS", "10.82", "max-packing-memory", "random", "ps"),
    ("balance: ISD", "Fig.5a", "balance", "random", "isd"),
    ("balance: PS", "Fig.5a", "balance", "random", "ps"),
    ("balance-epsilon: ISD vs. balance", "Fig.5a", "balance-epsilon", "balance", "isd"),
    ("balance-epsilon: PS vs. balance", "Fig.5a", "balance-epsilon", "balance", "ps"),
    ("min-slowdown-epsilon: ISD vs. kube-default", "5.08", "min-slowdown-epsilon", "kube-default", "isd"),
    ("max-packing-memory: PS vs. kube-default", "10.82", "max-packing-memory", "kube-default", "ps"),
    ("min-slowdown: certainty of ISD", "Fig.5c", "min-slowdown", "random", "entropy_isd"),
    ("max-packing: certainty of PS", "Fig.5b", "max-packing", "random", "entropy_ps"),
    ("balance: certainty of ISD", "Fig.5a", "balance", "random", "entropy_isd"),
    ("balance: certainty of PS", "Fig.5a", "balance", "random", "entropy_ps"),
    ("max-packing: GPU time saved", "-", "max-packing", "random", "ps_total"),
    ("max-packing-memory: GPU time saved", "-", "max-packing-memory", "random", "ps_total"),
]


def settings(corun):
    queue = corun.replay("main", worlds=WORLDS)
    drawn = corun.replay("random-queues", worlds=QUEUE_WORLDS)
    return [queue[w] for w in QUEUE_WORLDS] + [drawn[w] for w in QUEUE_WORLDS]


def verdict(gains):
    """Better or worse: the whole interval lies on that side of 0. Holds: better in every setting. Fails:
    better in none, or worse in more settings than better. Else partly."""
    better = sum(g[1] > 0 for g in gains)
    worse = sum(g[2] < 0 for g in gains)
    return "holds" if better == len(gains) else "fails" if better == 0 or worse > better else "partly"


def claims_table(corun):
    results = settings(corun)
    rows = []
    for number, (what, paper, policy, rival, metric) in enumerate(CLAIMS, 1):
        gains = [r.gain(policy, rival, metric) for r in results]
        digits = 2 if metric.startswith("entropy") else 1
        rows.append([f"{number}. {what}", paper] + [shown(g, digits) for g in gains] + [verdict(gains)])
    return markdown(["claim", "paper", "queue, measured", "contention", "cluster-mean", "random queues, measured",
                     "contention", "cluster-mean", "verdict"], rows)


def schedules_table(corun):
    random = corun.replay("main", worlds=WORLDS)["measured"]
    rows = []
    for name, (table, policy, isd, ps, jobs, groups) in PRINTED.items():
        r = corun.replay(name)
        alone = 24 - jobs
        got_isd, got_ps = r.points(name, "isd")[0], r.points(name, "ps")[0]
        # The schedule is exact, so the interval is that of random.
        mean, lo, hi = random.points("random", "isd")
        gain_isd = (mean - got_isd, lo - got_isd, hi - got_isd)
        mean, lo, hi = random.points("random", "ps")
        gain_ps = (got_ps - mean, got_ps - hi, got_ps - lo)
        rows.append([f"{table}, {policy}", num(isd, 2), num(isd * jobs / 24, 2), num(got_isd, 2),
                     shown(gain_isd), num(ps, 2), num(ps * groups / (groups + alone), 2),
                     num(got_ps, 2), shown(gain_ps), num(r.points(name, "ps_total")[0], 1)])
    return markdown(["table", "ISD printed, %", "with lone job", "replayed", "gain", "PS printed, %",
                     "with lone job", "replayed", "gain", "GPU time saved, %"], rows)


def policies_table(corun):
    """Bold: significantly different from random."""
    results = (corun.replay("main", worlds=WORLDS)["measured"],
               corun.replay("random-queues", worlds=QUEUE_WORLDS)["measured"])
    rows = []
    for p in results[0].labels:
        if p == "exclusive":
            continue  # all zero
        row = [p]
        for r in results:
            for metric in ("isd", "ps", "ps_total"):
                value = num(r.points(p, metric)[0])
                row.append(value if p == "random" else marked(value, r.gain(p, "random", metric)))
        rows.append(row + [num(results[0].measured(p), 0)])
    return markdown(["policy", "queue: ISD, %", "PS, %", "GPU time saved, %", "random queues: ISD, %", "PS, %",
                     "GPU time saved, %", "queue: measured, %"], rows)


EPSILONS = [f"{i / 10:.1f}" for i in range(11)]
EPSILONS_SHOWN = ["0.0", "0.2", "0.3", "0.5", "1.0"]  # in the table; the figure has all


def epsilon_runs(corun):
    return {
        "measured": corun.replay("epsilon"),
        "contention": corun.replay("epsilon", ["world.model=contention"]),
        "prirect": corun.replay("epsilon", ["belief.initial=prirect"]),
    }


def epsilon_table(corun):
    runs = epsilon_runs(corun)
    columns = (("measured", "min-slowdown"), ("contention", "min-slowdown"), ("prirect", "balance"))

    def row(title, labels, measured):
        return ([title] + [num(runs[key].points(label, metric)[0])
                           for (key, _), label in zip(columns, labels) for metric in ("isd", "ps")] + [measured])

    rows = [row(e, [f"{policy}-{e}" for _, policy in columns], num(runs["measured"].measured(f"min-slowdown-{e}"), 0))
            for e in EPSILONS_SHOWN]
    rows.append(row("random", ["random"] * 3, num(runs["measured"].measured("random"), 0)))
    return markdown(["epsilon", "min-slowdown: ISD, %", "PS, %", "contention world: ISD, %", "PS, %",
                     "balance, PriRecT knowledge: ISD, %", "PS, %", "measured, %"], rows)


ENTROPY_POLICIES = ["random", "fcfs", "kube-default", "balance", "balance-epsilon", "min-slowdown",
                    "min-slowdown-epsilon", "max-packing", "max-packing-memory", "opposites"]


def joining_table(corun):
    rows = []
    for start in ("group", "join"):
        r = corun.replay("joining", [f"control.start={start}"])
        for p in r.labels:
            if p == "kube-default" and start == "group":
                continue  # it always joins
            rows.append([f"{p}, {start}", num(r.points(p, "isd")[0]), num(r.points(p, "ps")[0]),
                         num(r.points(p, "ps_total")[0]), num(r.value(p, "makespan_s")[0], 0)])
    return markdown(["policy, `start`", "ISD, %", "PS, %", "GPU time saved, %", "makespan, s"], rows)


def packing_table(corun):
    worlds = corun.replay("packing", worlds=QUEUE_WORLDS)
    r = worlds["measured"]
    rows = [[p, num(r.points(p, "isd")[0]), num(r.points(p, "ps")[0])]
            + [shown(worlds[w].gain(p, "random", "ps")) for w in QUEUE_WORLDS]
            + [num(r.points(p, "ps_total")[0]), num(r.value(p, "makespan_s")[0], 0)]
            for p in r.labels if p != "random"]
    return markdown(["policy", "ISD, %", "PS, %", "PS gain, measured", "contention", "cluster-mean",
                     "GPU time saved, %", "makespan, s"], rows)


def knowledge_table(corun):
    rows = []
    for source, where in (("jrs-queue", "queue"), ("jrs-resampled", "random queues")):
        for initial in ("jrs", "prirect", "none"):
            r = corun.replay("knowledge", [f"belief.initial={initial}", f"workload.source={source}"])
            rows.append([f"{where}, {initial}"]
                        + [shown(r.gain(p, "random", "isd")) for p in ("min-slowdown", "balance")]
                        + [shown(r.gain(p, "random", "ps")) for p in ("balance", "max-packing")])
    return markdown(["queue, `belief.initial`", "ISD gain: min-slowdown", "balance", "PS gain: balance", "max-packing"],
                    rows)


def learning_table(corun):
    rows = []
    for world in ("measured", "cluster-mean"):
        for initial in ("jrs", "none"):
            r = corun.replay("learning-long", [f"world.model={world}", f"belief.initial={initial}"])
            rows.append([f"{world}, {initial}"]
                        + [shown(r.gain(p, "random", m))
                           for m in ("isd", "ps") for p in ("min-slowdown", "balance", "max-packing")])
    return markdown(["world, `belief.initial`", "ISD gain: min-slowdown", "balance", "max-packing",
                     "PS gain: min-slowdown", "balance", "max-packing"], rows)


def name_of(metric, pair):
    return f"{pair[0]} with {pair[1]}" if metric == "isd" else f"{pair[0]} and {pair[1]}"


RANKING_SHOWN = [("isd", (2, 2)), ("ps", (0, 2)), ("ps", (2, 2))]  # in the table; the figure has all


def ranking_table(corun):
    """Rank: mean (count)."""
    histories = [("learning", "min-slowdown"), ("learning-long", "min-slowdown"),
                 ("learning-long", "max-packing")]
    start = initial_ranks(corun)
    rows = []
    for metric, pair in RANKING_SHOWN:
        records = [start[metric][pair]]
        records += [corun.knowledge(name)[policy][metric][pair][-1][1:] for name, policy in histories]
        rows.append([f"{metric.upper()}, {name_of(metric, pair)}"]
                    + [f"{rank}: {num(100 * mean)} ({count})" for rank, mean, count in records])
    return markdown(["cluster pair", "at first", "after the queue, min-slowdown", "after 500 jobs, min-slowdown",
                     "after 500 jobs, max-packing"], rows)


def initial_ranks(corun):
    """Rank, mean and count before any co-run: the records of 0 co-runs."""
    history = corun.knowledge("learning")["min-slowdown"]
    return {metric: {pair: records[0][1:] for pair, records in history[metric].items() if records[0][0] == 0}
            for metric in ("isd", "ps")}


def worlds_table(corun):
    rows = []
    for file, worlds, where in (("main", WORLDS, "queue"), ("random-queues", QUEUE_WORLDS, "random queues")):
        results = corun.replay(file, worlds=worlds)
        for w in worlds:
            r = results[w]
            usable = [p for p in r.labels if p not in ("exclusive", "oracle")]
            rows.append([f"{where}, {w}", num(r.points("random", "isd")[0]), num(r.points("random", "ps")[0]),
                         shown(r.gain("min-slowdown", "random", "isd")), shown(r.gain("oracle", "random", "isd")),
                         min(usable, key=lambda p: r.value(p, "isd")[0]),
                         num(tau(results[worlds[0]], r, usable), 2)])
    return markdown(["setting", "random: ISD, %", "PS, %", "ISD gain: min-slowdown", "oracle", "least ISD",
                     "tau"], rows)


def tau(x, y, labels):
    """Kendall's tau-b, which corrects for pairs that are tied."""
    score, untied_x, untied_y = 0, 0, 0
    for i, a in enumerate(labels):
        for b in labels[i + 1:]:
            dx = x.value(a, "isd")[0] - x.value(b, "isd")[0]
            dy = y.value(a, "isd")[0] - y.value(b, "isd")[0]
            untied_x += dx != 0
            untied_y += dy != 0
            score += (dx * dy > 0) - (dx * dy < 0)
    return score / math.sqrt(untied_x * untied_y)


TABLES = {
    "claims": claims_table, "schedules": schedules_table, "policies": policies_table, "epsilon": epsilon_table,
    "joining": joining_table, "packing": packing_table, "knowledge": knowledge_table,
    "ranking": ranking_table, "learning": learning_table, "worlds": worlds_table,
}


# ---------------------------------------------------------------------------------------- figures

def figure_policies(corun):
    r = corun.replay("main", worlds=WORLDS)["measured"]
    labels = [p for p in r.labels if p != "exclusive"]
    left, panel, gap, top, row = 150, 330, 40, 58, 26
    height = top + row * len(labels) + 84
    svg = Svg(left + 2 * panel + gap + 24, height, "Mean ISD and PS of every policy")
    bottom = top + row * len(labels)
    for k, (metric, title, limits, implied) in enumerate((
            ("isd", "mean individual slowdown (ISD), %: less is better", (0, 30), PAPER_RANDOM_ISD),
            ("ps", "mean packing saving (PS), %: more is better", (20, 45), PAPER_RANDOM_PS))):
        x0 = left + k * (panel + gap)
        x = scale(*limits, x0, x0 + panel)
        svg.text(x0, 26, title, weight="bold")
        for t in ticks(*limits, 5):
            svg.line(x(t), top - 8, x(t), bottom, FAINT)
            svg.text(x(t), bottom + 16, f"{t:g}", "middle", GREY, 11)
        svg.line(x(implied), top - 8, x(implied), bottom, ORANGE, 1.4, "4 3")
        svg.text(x(implied), top - 12, f"paper's random (implied) {implied:.1f}", "middle", ORANGE, 10)
        for i, p in enumerate(labels):
            y = top + row * (i + 0.5)
            if k == 0:
                svg.text(left - 10, y + 4, p, "end")
            mean, lo, hi = r.points(p, metric)
            if p in PAPER_POLICY:
                value = PAPER_POLICY[p][0 if metric == "isd" else 1]
                svg.diamond(x(value), y)
                svg.text(x(value) + 5, y - 7, PAPER_POLICY[p][2], "start", ORANGE, 10)
            svg.whisker(y, x(lo), x(hi), BLUE)
            svg.dot(x(mean), y, BLUE)
    y = bottom + 44
    svg.dot(left, y, BLUE)
    svg.text(left + 10, y + 4, "corun, mean and 95 % interval over 200 seeds")
    svg.diamond(left + 330, y)
    svg.text(left + 342, y + 4, "the paper's table, one run each (its lone job left out)")
    svg.text(left, y + 24, "Jobs of the paper's queue; measured world. oracle knows the true costs: a bound.", colour=GREY, size=11)
    return svg.done()


def figure_epsilon(corun):
    runs = epsilon_runs(corun)
    series = [("min-slowdown, balance: the same groups", "measured", "min-slowdown", BLUE),
              ("the same in the contention world", "contention", "min-slowdown", GREEN),
              ("balance from PriRecT's knowledge", "prirect", "balance", PURPLE)]
    left, panel, gap, top, high = 62, 370, 66, 50, 270
    svg = Svg(left + 2 * panel + gap + 20, top + high + 100, "Epsilon from 0 to 1")
    for k, (metric, title, limits, step) in enumerate((("isd", "mean ISD, %", (10, 20), 2),
                                                      ("ps", "mean PS, %", (24, 34), 2))):
        x0 = left + k * (panel + gap)
        x, y = scale(0, 1, x0, x0 + panel), scale(*limits, top + high, top)
        svg.text(x0 - 40, top - 22, title, weight="bold")
        for t in ticks(*limits, step):
            svg.line(x0, y(t), x0 + panel, y(t), FAINT)
            svg.text(x0 - 8, y(t) + 4, f"{t:g}", "end", GREY, 11)
        for t in ticks(0, 1, 0.2):
            svg.text(x(t), top + high + 18, f"{t:.1f}", "middle", GREY, 11)
        svg.text(x0 + panel / 2, top + high + 38, "epsilon (probability)", "middle")
        level = runs["measured"].points("random", metric)[0]
        svg.line(x0, y(level), x0 + panel, y(level), ORANGE, 1.4, "5 4")
        svg.text(x0 + panel, y(level) - 5, "random pairs, measured world", "end", ORANGE, 11)
        for n, (_, key, policy, colour) in enumerate(series):
            points = []
            for i, e in enumerate(EPSILONS):
                mean, lo, hi = runs[key].points(f"{policy}-{e}", metric)
                px = x(i / 10) + (n - 1) * 4
                svg.whisker_v(px, y(lo), y(hi), colour)
                points.append((px, y(mean)))
            svg.path(points, colour)
            for point in points:
                svg.dot(*point, colour, 2.8)
    for n, (name, _, _, colour) in enumerate(series):
        px = left + n * 285
        svg.line(px, top + high + 70, px + 22, top + high + 70, colour, 2.5)
        svg.text(px + 28, top + high + 74, name)
    return svg.done()


def figure_entropy(corun):
    r = corun.replay("main", worlds=WORLDS)["measured"]
    left, panel, gap, top, row = 150, 330, 48, 48, 26
    labels = ENTROPY_POLICIES
    bottom = top + row * len(labels)
    svg = Svg(left + 2 * panel + gap + 24, bottom + 60, "Differential entropy")
    for k, (metric, title, lo, hi) in enumerate((
            ("entropy_isd", "entropy of the jobs' ISD, nats: less is more certain", -2.0, 0.0),
            ("entropy_ps", "entropy of the groups' PS, nats: less is more certain", -3.0, 0.0))):
        x0 = left + k * (panel + gap)
        x = scale(lo, hi, x0, x0 + panel)
        svg.text(x0, 24, title, weight="bold")
        for t in ticks(lo, hi, 0.5):
            svg.line(x(t), top - 6, x(t), bottom, FAINT)
            svg.text(x(t), bottom + 16, f"{t:g}", "middle", GREY, 11)
        level = r.value("random", metric)[0]
        svg.line(x(level), top - 6, x(level), bottom, ORANGE, 1.4, "4 3")
        svg.text(x(level), top - 9, "random", "middle", ORANGE, 10)
        for i, p in enumerate(labels):
            y = top + row * (i + 0.5)
            mean, a, b = r.value(p, metric)
            if k == 0:
                svg.text(left - 10, y + 4, p, "end")
            edge = x(0)
            svg.rect(min(edge, x(mean)), y - 8, abs(x(mean) - edge), 16, "#a9c8e4")
            svg.whisker(y, x(a), x(b), BLUE)
        svg.line(x(0), top - 6, x(0), bottom, INK, 1)
    svg.text(left, bottom + 42, "Bars from 0; whiskers: 95 % interval over 200 seeds. Paper's queue, measured world.", colour=GREY, size=11)
    return svg.done()


def figure_ranking(corun):
    history = corun.knowledge("learning-long")["min-slowdown"]
    left, panel, gap, top, step = 62, 330, 185, 62, 32
    svg = Svg(left + 2 * panel + gap + 140, top + 9 * step + 50, "The ranking as the knowledge base learns")
    last = max(rec[0] for rec in next(iter(history["isd"].values())))
    x_hi = math.log10(last)
    moments = [t for t in (1, 2, 3, 5, 7, 10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448) if t < 0.9 * last] + [last]
    for k, metric in enumerate(("isd", "ps")):
        x0 = left + k * (panel + gap)
        x = scale(0, x_hi, x0, x0 + panel)
        pairs = history[metric]
        n = len(pairs)
        bottom = top + step * (n - 1)
        what = "ISD of a job of the first cluster: 1 is least" if metric == "isd" else "PS of two clusters: 1 is most"
        svg.text(x0 - 40, 26, "rank by mean " + what, weight="bold")
        for rank in range(1, n + 1):
            svg.text(x0 - 14, top + step * (rank - 1) + 4, str(rank), "end", GREY, 11)
        for t in (1, 3, 10, 30, 100, 300, 1000):
            if t <= last:
                svg.line(x(math.log10(t)), top - 10, x(math.log10(t)), bottom + 10, FAINT)
                svg.text(x(math.log10(t)), bottom + 30, str(t), "middle", GREY, 11)
        svg.text(x0 + panel / 2, bottom + 50, "co-runs finished (logarithmic)", "middle")
        order = sorted(pairs, key=lambda p: pairs[p][0][1])
        for i, pair in enumerate(order):
            colour = PALETTE[i]
            rank_at = {n_runs: rank for n_runs, rank, _, _ in pairs[pair]}
            points = [(x(math.log10(t)), top + step * (rank_at[t] - 1)) for t in moments if t in rank_at]
            before = points[-1][1]
            svg.path(points, colour, 2.4)
            for point in points:
                svg.dot(*point, colour, 3)
            records = pairs[pair]
            svg.text(x0 + panel + 8, before + 4, f"{name_of(metric, pair)}  (n {records[0][3]} to {records[-1][3]})",
                     "start", colour, 11)
    return svg.done()


def figure_worlds(corun):
    columns = [(f"queue: {w}", corun.replay("main", worlds=WORLDS)[w]) for w in WORLDS]
    columns += [(f"random queues: {w}", corun.replay("random-queues", worlds=QUEUE_WORLDS)[w]) for w in QUEUE_WORLDS]
    labels = ["random", "fcfs", "kube-default", "balance", "min-slowdown", "min-slowdown-epsilon",
              "max-packing", "max-packing-memory", "opposites"]
    left, right, top, wide, step = 170, 180, 74, 118, 30
    svg = Svg(left + wide * (len(columns) - 1) + right, top + step * len(labels) + 44,
              "Ranking by mean ISD across worlds and queues")
    svg.text(14, 24, "rank by mean ISD (1 is least), mean ISD in %; every column is another world or queue", weight="bold")
    colours = dict(zip(labels, PALETTE))
    place = {p: [] for p in labels}
    for c, (title, r) in enumerate(columns):
        x = left + wide * c
        head, tail = title.split(": ")
        svg.text(x, top - 32, head, "middle", GREY, 11)
        svg.text(x, top - 18, tail, "middle", INK, 11)
        order = sorted(labels, key=lambda p: (round(r.value(p, "isd")[0], 9), labels.index(p)))
        for i, p in enumerate(order):
            place[p].append((x, top + step * (i + 0.3), r.points(p, "isd")[0]))
    for p in labels:
        points = [(x, y) for x, y, _ in place[p]]
        for run in (points[:len(WORLDS)], points[len(WORLDS):]):
            svg.path(run, colours[p], 2.2)
        for x, y, value in place[p]:
            svg.rect(x - 15, y - 8, 30, 16, "#ffffff")
            svg.text(x, y + 4, num(value), "middle", colours[p], 11, "bold")
        svg.text(points[0][0] - 24, points[0][1] + 4, p, "end", colours[p], 11)
        svg.text(points[-1][0] + 24, points[-1][1] + 4, p, "start", colours[p], 11)
    edge = left + wide * (len(WORLDS) - 0.5)
    svg.line(edge, top - 40, edge, top + step * len(labels), FAINT, 1.5)
    svg.text(14, top + step * len(labels) + 24, "balance and min-slowdown form the same groups on the paper's queue: equal there, not ranked.", colour=GREY, size=11)
    return svg.done()


DRAWINGS = {"policies": figure_policies, "epsilon": figure_epsilon, "entropy": figure_entropy,
            "ranking": figure_ranking, "worlds": figure_worlds}


# ---------------------------------------------------------------------------------------- page

# All replays of the tables and figures: arguments of Corun.replay, the dearest first.
REPLAYS = [
    ("random-queues", (), QUEUE_WORLDS), ("main", (), WORLDS), ("packing", (), QUEUE_WORLDS),
    *(("learning-long", (f"world.model={world}", f"belief.initial={initial}"))
      for world in ("measured", "cluster-mean") for initial in ("jrs", "none")),
    ("epsilon",), ("epsilon", ("world.model=contention",)), ("epsilon", ("belief.initial=prirect",)),
    *(("knowledge", (f"belief.initial={initial}", f"workload.source={source}"))
      for source in ("jrs-resampled", "jrs-queue") for initial in ("jrs", "prirect", "none")),
    *(("joining", (f"control.start={start}",)) for start in ("group", "join")),
    *((name,) for name in PRINTED),
]


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 where results differ")
    options = arguments.parse_args()

    corun = Corun(options.corun)
    corun.prepare(REPLAYS, ("learning", "learning-long"))
    page = PAGE.read_text()
    for name, table in TABLES.items():
        page = with_table(page, name, table(corun))
    wanted = {PAGE: page}
    for name, draw in DRAWINGS.items():
        wanted[FIGURES / f"{name}.svg"] = draw(corun)

    stale = write_or_check(wanted, options.check)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
