#!/usr/bin/env python3
"""Runs the experiments of this folder and writes their results into experiments/interference/README.md.

    /usr/bin/python3 experiments/interference/study.py [--data DIR]  runs all: an hour on two cores
    /usr/bin/python3 experiments/interference/study.py --page        page and figures of kept results
    /usr/bin/python3 experiments/interference/study.py --check       exit 1 if page, figures or the
                                                                first replications differ from the program's

Results of each replication are kept in experiments/interference/*.csv. The figures and the tables, between
`<!-- begin NAME -->` and `<!-- end NAME -->`, are made from them. `--only MODEL` and `--queue QUEUE` run the
cells of one belief or queue and keep the rest. Needs the public data sets and python3-h5py. The same binary
gives the same bytes.
"""

import argparse
import csv
import json
import math
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import REPO, markdown, num, with_table  # noqa: E402
from program import finished, side_by_side  # noqa: E402

PAGE = HERE / "README.md"
KEPT = HERE

TABLES = {  # name -> file, GPU type
    "Lucid RTX 3090": ("lucid/lucid_pairs.csv", "RTX-3090"),
    "Gavel V100": ("gavel/gavel_v100_pairs.csv", "V100-16GB"),
    "Gavel P100": ("gavel/gavel_p100_pairs.csv", "P100-16GB"),
    "Gavel K80": ("gavel/gavel_k80_pairs.csv", "K80"),
}
# In this world another model gives the costs of unmeasured pairs.
OTHER_WORLD = "Lucid RTX 3090, contention elsewhere"
# The papers' queue is a single queue, which one fit pairs in one way: there each replication has its own fit,
# for models whose fits use random draws. Queues drawn from the papers' jobs differ and share one fit.
JRS_QUEUE = "JRS queue"
JRS_JOBS = {"JRS jobs": "contention", "JRS jobs, factors elsewhere": "factors"}  # queue -> world.fallback
DRAWN = ["ensemble", "factors"]
JRS_REPLICATIONS = 100
KNOWN = ["0.1", "0.3", "0.6"]
# More knowledge of a belief: share of the pairs known, estimates of run times.
TOLD = {"0.3": ("0.3", "none"), "1": ("1", "none"), "0.3, lengths": ("0.3", "exact"), "1, lengths": ("1", "exact")}
RULES = ["random", "opposites", "oracle"]
LEARNING = {  # queue -> table, load (null: all at 0), replications; at these loads some jobs always wait
    "Lucid RTX 3090, load 1.6": ("Lucid RTX 3090", "1.6", 20),
    "Gavel P100, load 1.2": ("Gavel P100", "1.2", 20),
    "Lucid RTX 3090, all at 0": ("Lucid RTX 3090", "null", 8),
}
BINS = 12
# Beliefs that are compared; each fits its model in every replication, so the slow ones have fewer cells.
MODELS = ["ensemble", "factors", "contention", "cluster-mean"]
TOLD_MODELS = ["factors", "contention", "cluster-mean"]
LEARNING_MODELS = {"factors": None, "contention": None, "cluster-mean": None, "gp": 3}  # most replications
LEARNING_QUEUES = {"gp": ["Lucid RTX 3090, load 1.6"]}  # else all
CHECKED = 2  # replications that --check repeats
CHECKED_QUEUES = {"JRS queue", "JRS jobs", "Lucid RTX 3090"}


# ---------------------------------------------------------------------------------------- running

class Corun:
    def __init__(self, program, data):
        self.program, self.data = program, data

    def replay(self, name, sets, use):
        """The result of `use` on the results file; an empty list if a model does not apply."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.h5"
            done = finished(self.program, "replay", HERE / f"{name}.yaml", "--quiet", "--data", self.data, "--output",
                            path, "--format", "json", *(a for s in sets for a in ("--set", s)))
            if done.returncode == 2 and "belief" in done.stderr:
                print(f"does not apply: {done.stderr.strip()}", file=sys.stderr)
                return []
            if done.returncode != 0:
                sys.exit(f"corun replay {name}.yaml, {sets}: exit {done.returncode}\n{done.stderr}")
            import h5py
            with h5py.File(path) as file:
                return use(file)


def policy_sets(who):
    if who in RULES:  # these read no belief: fit none
        return [f"policies=[{{name: {who}}}]", "belief={model: default, initial: none}"]
    return ["policies=[{name: min-slowdown}]"]


def table_sets(table):
    path, gpu = TABLES[table]
    return [f"workload.path={path}", f"world.path={path}", f"belief.initial={path}", f"cluster.gpu_type={gpu}"]


def value_cells():
    """(queue, known, who) -> configuration, overrides"""
    cells = {}
    for who in RULES + MODELS:
        own = policy_sets(who) + ([] if who in RULES else [f"belief.model={who}"])
        cells[JRS_QUEUE, "", who] = ("jrs", own)
        for queue, fallback in JRS_JOBS.items():
            cells[queue, "", who] = ("jrs", own + ["workload.source=jrs-resampled", f"world.fallback={fallback}"])
        for table in TABLES:
            for known in [""] if who in RULES else KNOWN:
                sets = table_sets(table) + ([f"belief.known={known}"] if known else [])
                cells[table, known, who] = ("value", sets + own)
        for told, (known, estimates) in TOLD.items() if who in TOLD_MODELS else ():
            for table in TABLES:
                cells[table, told, who] = ("value", table_sets(table) + [
                    f"belief.known={known}", f"estimates.duration={estimates}", *own])
        sets = table_sets("Lucid RTX 3090") + ["world.fallback=contention"]
        known = "" if who in RULES else "0.3"
        cells[OTHER_WORLD, known, who] = ("value", sets + ([f"belief.known={known}"] if known else []) + own)
    return cells


def learning_cells():
    """(queue, who) -> overrides"""
    cells = {}
    for queue, (table, load, replications) in LEARNING.items():
        for who in RULES + list(LEARNING_MODELS):
            if queue not in LEARNING_QUEUES.get(who, LEARNING):
                continue
            number = min(replications, LEARNING_MODELS.get(who) or replications)
            cells[queue, who] = (table_sets(table) + [f"workload.load={load}", f"replications={number}"]
                                 + policy_sets(who) + ([] if who in RULES else [f"belief.model={who}"]))
    return cells


def value_rows(file):
    """[replication, isd, measured share of the time with co-runners]"""
    metrics, usage = file["metrics"][:], file["usage"][:]
    rows = []
    for m, u in zip(metrics, usage):
        shared = u["measured_s"] + u["modelled_s"] + u["extrapolated_s"]
        rows.append([str(m["replication"]), f"{m['isd']:.6f}", f"{u['measured_s'] / shared:.4f}" if shared else "0"])
    return rows


def learning_rows(file):
    """[replication, bin, isd]: jobs in the order of their last start, in BINS nearly equal bins."""
    runs = file["runs"][:]
    jobs = {}
    for r in runs:
        if r["finished"]:
            jobs.setdefault(int(r["replication"]), []).append((float(r["last_start_s"]), int(r["job_index"]), float(r["isd"])))
    rows = []
    for replication, started in sorted(jobs.items()):
        started.sort()
        for b in range(BINS):
            part = started[b * len(started) // BINS:(b + 1) * len(started) // BINS]
            rows.append([str(replication), str(b), f"{sum(j[2] for j in part) / len(part):.6f}"])
    return rows


WHO = {"value": 2, "learning": 1}  # column of the policy or belief
HEADERS = {"value": ["queue", "known", "who", "replication", "isd", "measured"],
           "learning": ["queue", "who", "replication", "bin", "isd"]}


def run_value(corun, only=None, check=False, only_queue=None):
    """With `check` only the first replications of a few queues."""
    cells = [((queue, known, who), *cell) for (queue, known, who), cell in value_cells().items()
             if only in (None, who) and only_queue in (None, queue)
             and (not check or (queue in CHECKED_QUEUES and known in ("", "0.1", "1, lengths")))]

    def rows_of(cell):
        (queue, known, who), name, sets = cell
        if queue == JRS_QUEUE and who in DRAWN:
            found = fit_anew(corun, name, sets, CHECKED if check else JRS_REPLICATIONS)
        else:
            found = corun.replay(name, sets + ([f"replications={CHECKED}"] if check else []), value_rows)
        print("value:", queue, known, who, len(found), file=sys.stderr, flush=True)
        return [[queue, known, who] + row for row in found]

    # The cells of one belief take about as long: the dearest beliefs first, for a better balance.
    order = sorted(range(len(cells)), key=lambda i: cells[i][0][2] not in DRAWN)
    done = dict(zip(order, side_by_side(rows_of, [cells[i] for i in order])))
    return [row for i in range(len(cells)) for row in done[i]]


def fit_anew(corun, name, sets, replications):
    """Replications one by one, each with a new random fit of the belief."""
    rows = []
    for r in range(replications):
        alone = corun.replay(name, [*sets, f"seed={1 + r}", "replications=1", f"belief.seed={1 + r}"], value_rows)
        rows += [[str(r), *row[1:]] for row in alone]
    return rows


def run_learning(corun, only=None, only_queue=None):
    rows = []
    for (queue, who), sets in learning_cells().items():
        if only not in (None, who) or only_queue not in (None, queue):
            continue
        found = corun.replay("learning", sets, learning_rows)
        rows += [[queue, who] + row for row in found]
        print("learning:", queue, who, len(found), file=sys.stderr, flush=True)
    return rows


def kept(what):
    with open(KEPT / f"{what}.csv", newline="") as f:
        return list(csv.reader(f))[1:]


def keep(what, rows):
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / f"{what}.csv", "w", newline="") as f:
        writer = csv.writer(f, lineterminator="\n")
        writer.writerow(HEADERS[what])
        writer.writerows(rows)


# ---------------------------------------------------------------------------------------- tables

def mean(values):
    return sum(values) / len(values)


def interval_of(values):
    """Mean and normal 95 % interval over replications."""
    m = mean(values)
    half = 1.96 * math.sqrt(sum((v - m) ** 2 for v in values) / (len(values) - 1) / len(values)) if len(values) > 1 else 0
    return m, m - half, m + half


def share_closed(random, own, oracle):
    """Ratio of mean gains over random, `own` to `oracle`, paired; with its delta-method 95 % interval."""
    gain = [r - o for r, o in zip(random, own)]
    most = [r - o for r, o, _ in zip(random, oracle, own)]
    ratio = mean(gain) / mean(most)
    spread = sum((g - ratio * m) ** 2 for g, m in zip(gain, most)) / (len(gain) - 1)
    half = 1.96 * math.sqrt(spread / len(gain)) / abs(mean(most))
    return ratio, ratio - half, ratio + half


def shown(v, unit=100, digits=1):
    """Value and half-width of its interval, which is symmetric."""
    return f"{num(unit * v[0], digits)}+-{num(unit * (v[2] - v[1]) / 2, digits)}"


def by_cell(rows):
    cells, measured = {}, {}
    for queue, known, who, _, isd, share in rows:
        cells.setdefault((queue, known, who), []).append(float(isd))
        measured.setdefault((queue, known, who), []).append(float(share))
    return cells, measured


def in_order(names):
    """The different names, in the order of their first appearance."""
    return list(dict.fromkeys(names))


def queue_name(queue, known):
    return f"{queue}, {int(round(100 * float(known)))} % known" if known else queue


def value_table(rows, queues):
    cells, measured = by_cell(rows)
    models = [m for m in MODELS if any(who == m for _, _, who in cells)]
    out = []
    for queue in queues:
        random, oracle = cells[queue, "", "random"], cells[queue, "", "oracle"]
        kinds = in_order(known for q, known, who in cells if q == queue and known in ["", *KNOWN] and who not in RULES)
        for known in kinds:
            row = [queue_name(queue, known), shown(interval_of(random)), shown(interval_of(oracle))]
            for cell in [(queue, "", "opposites")] + [(queue, known, model) for model in models]:
                row.append(shown(share_closed(random, cells[cell], oracle)) if cell in cells else "-")
            shares = [m for who in RULES for m in measured.get((queue, "", who), [])]
            shares += [m for model in models for m in measured.get((queue, known, model), [])]
            out.append(row + [num(100 * mean(shares), 0)])
    return markdown(["queue", "ISD, %: random", "oracle", "gap closed, %: opposites",
                     *(f"min-slowdown by {m}" for m in models), "measured, % of time with co-runners"], out)


def told_table(rows):
    cells, _ = by_cell(rows)
    share = lambda table, told, who: shown(share_closed(cells[table, "", "random"], cells[table, told, who],
                                                        cells[table, "", "oracle"]))
    rows = [[f"{table}, {who}"] + [share(table, told, who) for told in TOLD]
            for table in TABLES for who in TOLD_MODELS if (table, "1", who) in cells]
    return markdown(["queue, min-slowdown by", "30 % of the pairs", "all pairs", "30 % and run times",
                     "all pairs and run times"], rows)


QUEUES = [JRS_QUEUE, *JRS_JOBS, *TABLES, OTHER_WORLD]


def curves(rows):
    """queue -> who -> bin -> values over replications"""
    out = {}
    for queue, who, _, b, isd in rows:
        out.setdefault(queue, {}).setdefault(who, [[] for _ in range(BINS)])[int(b)].append(100 * float(isd))
    return out


def over_replications(bins):
    """Mean over some bins, one value per replication."""
    return [mean(v) for v in zip(*bins)]


def learning_table(rows):
    out = []
    for queue, by_who in curves(rows).items():
        ends = {who: (over_replications(bins[:2]), over_replications(bins[5:10]), over_replications(bins))
                for who, bins in by_who.items()}
        for who, parts in ends.items():
            row = [f"{queue}: " + (who if who in RULES else f"min-slowdown by {who}"),
                   shown(interval_of(parts[2]), 1)]
            for k in (0, 1):
                row.append("-" if who in ("random", "oracle") else
                           shown(share_closed(ends["random"][k], parts[k], ends["oracle"][k])))
            out.append(row)
    return markdown(["queue and policy", "ISD of all jobs, %", "gap closed, first 100 jobs, %", "jobs 251 to 500, %"],
                    out)


def ratio_table(cells):
    """Gap closed by the default over that closed by cluster-mean, where the latter's interval is above 0."""
    out = []
    for (queue, known, who), default in cells.items():
        if who != "ensemble" or queue not in TABLES:
            continue
        random, papers, oracle = (cells[queue, k, w] for k, w in (("", "random"), (known, "cluster-mean"), ("", "oracle")))
        if share_closed(random, papers, oracle)[1] > 0:
            out.append([queue_name(queue, known), shown(share_closed(random, default, papers), 1)])
    return markdown(["queue", "ensemble over cluster-mean"], out)


def page_tables(rows):
    return {
        "value": value_table(rows["value"], QUEUES),
        "ratio": ratio_table(by_cell(rows["value"])[0]),
        "told": told_table(rows["value"]),
        "learning": learning_table(rows["learning"]),
    }


# ---------------------------------------------------------------------------------------- figure

FONT = "font-family='Helvetica, Arial, sans-serif'"
INK, GREY, FAINT = "#222222", "#666666", "#e2e2e2"
RULE_COLOURS = {"random": "#888888", "opposites": "#c58a00", "oracle": "#111111"}
PALETTE = ["#1f6fb4", "#c23b4b", "#2a8f5b", "#7a4fb5", "#b8651b", "#12908e", "#a0307f"]


def figure_learning(rows):
    """One panel per queue: mean ISD by order of start, 95 % intervals over replications as bars."""
    panels = curves(rows)
    left, wide, high, gap, top = 64, 700, 300, 76, 54
    names = in_order(who for by_who in panels.values() for who in by_who)
    models = [n for n in names if n not in RULES]
    colour = {**RULE_COLOURS, **{m: PALETTE[i % len(PALETTE)] for i, m in enumerate(models)}}
    width, height = left + wide + 250, top + len(panels) * (high + gap)
    out = [f"<svg xmlns='http://www.w3.org/2000/svg' width='{width}' height='{height}' viewBox='0 0 {width} {height}'>",
           "<title>Mean ISD by order of start, as beliefs learn from nothing</title>",
           f"<rect width='{width}' height='{height}' fill='#ffffff'/>"]

    def text(x, y, s, anchor="start", fill=INK, size=12, extra=""):
        out.append(f"<text x='{x:.1f}' y='{y:.1f}' {FONT} font-size='{size}' text-anchor='{anchor}' fill='{fill}'{extra}>{s}</text>")

    def line(x1, y1, x2, y2, stroke, w=1.0):
        out.append(f"<line x1='{x1:.1f}' y1='{y1:.1f}' x2='{x2:.1f}' y2='{y2:.1f}' stroke='{stroke}' stroke-width='{w}'/>")

    for k, (queue, by_who) in enumerate(panels.items()):
        y0 = top + k * (high + gap)
        ends = {who: [interval_of(b) for b in bins] for who, bins in by_who.items()}
        low = min(e[1] for v in ends.values() for e in v)
        most = max(e[2] for v in ends.values() for e in v)
        step = next(s for s in (1, 2, 5, 10, 20, 50, 100) if (most - low) / s <= 8)
        low, most = step * math.floor(low / step), step * math.ceil(most / step)
        x = lambda b: left + wide * (b + 0.5) / BINS
        y = lambda v: y0 + high * (most - v) / (most - low)
        text(left, y0 - 14, f"{queue}, 8 GPUs", extra=" font-weight='bold'")
        for i in range(int(round((most - low) / step)) + 1):
            v = low + i * step
            line(left, y(v), left + wide, y(v), INK if v == 0 else FAINT)
            text(left - 8, y(v) + 4, str(v), "end", GREY, 11)
        for b in range(BINS):
            text(x(b), y0 + high + 16, f"{50 * b + 1}-{50 * b + 50}", "middle", GREY, 10)
        text(left + wide / 2, y0 + high + 34, "jobs in the order of their start", "middle")
        text(18, y0 + high / 2, "mean ISD, %", "middle", INK, 12, f" transform='rotate(-90 18 {y0 + high / 2:.1f})'")
        for i, (who, values) in enumerate(ends.items()):
            shift = 4 * (i - (len(ends) - 1) / 2)
            points = [(x(b) + shift, y(v[0])) for b, v in enumerate(values)]
            dash = " stroke-dasharray='6 4'" if who in RULES else ""
            for b, v in enumerate(values):
                line(x(b) + shift, y(v[1]), x(b) + shift, y(v[2]), colour[who], 0.8)
            out.append(f"<polyline fill='none' stroke='{colour[who]}' stroke-width='2.2'{dash} points='"
                       + " ".join(f"{px:.1f},{py:.1f}" for px, py in points) + "'/>")
            at = y0 + 10 + 20 * i
            out.append(f"<line x1='{left + wide + 16}' y1='{at}' x2='{left + wide + 46}' y2='{at}' "
                       f"stroke='{colour[who]}' stroke-width='2.2'{dash}/>")
            text(left + wide + 54, at + 4, who if who in RULES else f"min-slowdown by {who}", fill=colour[who])
        text(left + wide + 16, y0 + 10 + 20 * len(ends) + 8, "bars: 95 % over replications", fill=GREY, size=11)
    return "\n".join(out + ["</svg>", ""])


# ---------------------------------------------------------------------------------------- page

def wanted_files(rows):
    page = PAGE.read_text()
    for name, table in page_tables(rows).items():
        page = with_table(page, name, table)
    return {PAGE: page, KEPT / "learning.svg": figure_learning(rows["learning"])}


def check(corun, rows):
    """Everything that is not up to date, one line each."""
    stale = [f"{path.relative_to(REPO)} is not what the kept results give" for path, text in wanted_files(rows).items()
             if not path.exists() or path.read_text() != text]
    known = {tuple(row[:4]): row[4:] for row in rows["value"]}
    for row in run_value(corun, check=True):
        old = known.get(tuple(row[:4]))
        if old is None:
            stale.append(f"experiments/interference/value.csv has no {row[:4]}")
        elif any(abs(float(a) - float(b)) > 2e-6 for a, b in zip(old, row[4:])):
            stale.append(f"experiments/interference/value.csv has {old} for {row[:4]}, the program gives {row[4:]}")
    return stale


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--data", default=os.environ.get("CORUN_DATA", ""))
    arguments.add_argument("--part", choices=list(HEADERS), help="run this part alone and keep what it gives")
    arguments.add_argument("--only", choices=RULES + MODELS + list(LEARNING_MODELS), help="run the cells of one belief")
    arguments.add_argument("--queue", choices=QUEUES + list(LEARNING), help="run the cells of one queue")
    arguments.add_argument("--page", action="store_true", help="run nothing; page and figures from the kept results")
    arguments.add_argument("--check", action="store_true", help="write nothing; exit 1 where results differ")
    options = arguments.parse_args()
    corun = Corun(options.corun, options.data)

    if not options.page:
        try:
            import h5py  # noqa: F401
        except ImportError:
            print(f"NOT CHECKED: {sys.executable} lacks h5py; install python3-h5py and use /usr/bin/python3", file=sys.stderr)
            return 77
        missing = [path for path, _ in TABLES.values() if not (pathlib.Path(options.data) / path).is_file()]
        if missing:
            print(f"missing: {', '.join(missing)}", file=sys.stderr)
            print("needs the public data sets: set CORUN_DATA (corun data lists them)", file=sys.stderr)
            return 77
    if options.check:
        stale = check(corun, {what: kept(what) for what in HEADERS})
        print("\n".join(stale), end="\n" if stale else "")
        return 1 if stale else 0
    if not options.page:
        for what, run in (("value", run_value), ("learning", run_learning)):
            if options.part in (None, what):
                others = [row for row in kept(what) if options.only not in (None, row[WHO[what]])
                          or options.queue not in (None, row[0])]
                keep(what, others + run(corun, options.only, only_queue=options.queue))
        if options.part:
            return 0
    for path, text in wanted_files({what: kept(what) for what in HEADERS}).items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"wrote {path.relative_to(REPO)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
