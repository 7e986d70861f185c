"""Every policy on every public workload: mean JCT around a base case, one factor at a time.

A workload's draws are its windows (a 48th of the trace each), drawn with replacement; their arrivals are stretched to
the load that a level states. All levels of a workload are one sweep of corun, so a killed study goes on where it was.
"""

import csv
import itertools
import json
import math
import pathlib
import random
import sys

from jct.resample import mean_ratio
from page import FAINT, GREY, INK, REPO, Svg, markdown, num
from program import run

TABLE = pathlib.Path(__file__).with_name("workloads.csv")
FIGURE = TABLE.with_suffix(".svg")
WINDOWS = 48
ENOUGH_JOBS = 1000  # a draw ends with the window that reaches so many
LONGEST_S = 86400  # of Alibaba's pods: services, which run for months, are left out
BASE = "base"
PODS = "Alibaba, openb"
BASE_LOAD = 0.9  # GPU time asked for / (span x GPUs)

JRS_BELIEF = {"model": "factors", "known": 0.1}
RTX_3090 = {"nodes": 8, "gpus_per_node": 8, "gpu_type": "RTX-3090"}
LUCID = {
    "world": {"model": "measured", "fallback": "factors", "path": "lucid/lucid_pairs.csv"},
    "belief": {"model": "factors", "initial": "lucid/lucid_pairs.csv", "known": 0.1},
}
GAVEL = {
    "cluster": {"nodes": 16, "gpus_per_node": 4, "gpu_type": "V100-16GB"},
    "world": {"model": "measured", "fallback": "factors", "path": "gavel/simulation_throughputs.json"},
    "belief": {"model": "factors", "initial": "gavel/gavel_v100_pairs.csv", "known": 0.1},
}
GAVEL_RATES = ("--rates", "gavel/simulation_throughputs.json")
JRS_PROFILES = {"profiles": "jrs"}
EIGHT_BY_EIGHT = {"nodes": 8, "gpus_per_node": 8}

# name -> file of the trace, words for `corun trace convert`, configuration. Jobs without profile get a measured JRS job's.
TRACES = {
    "Lucid, philly3": ("peers/lucid/philly3_d100_all.csv", (), {**LUCID, "cluster": RTX_3090}),
    "Lucid, philly4": ("peers/lucid/philly4_d100_all.csv", (), {**LUCID, "cluster": RTX_3090}),
    "Lucid, Venus": ("peers/lucid/venus_like.csv", (), {**LUCID, "cluster": RTX_3090}),
    "Muri, trace 2": ("peers/muri_philly_trace2.csv", (),
                      {"workload": JRS_PROFILES, "cluster": EIGHT_BY_EIGHT, "belief": JRS_BELIEF}),
    "Muri, trace 4": ("peers/muri_philly_trace4.csv", (),
                      {"workload": JRS_PROFILES, "cluster": EIGHT_BY_EIGHT, "belief": JRS_BELIEF}),
    "Gavel, 0e4a51": ("gavel/seed_0_0e4a51.trace", GAVEL_RATES, GAVEL),
    "Gavel, 6214e9": ("gavel/seed_0_6214e9.trace", GAVEL_RATES, GAVEL),
    PODS: ("openb/openb_pod_list_default.csv", (),
           {"workload": JRS_PROFILES, "cluster": "openb/openb_node_list_gpu_node.csv", "belief": JRS_BELIEF}),
}
# The queues of the JRS paper come with corun. Their draws are seeds.
QUEUES = {
    "jrs-resampled": {"workload": {"source": "jrs-resampled", "jobs": 200, "load": BASE_LOAD}, "belief": JRS_BELIEF},
    "jrs-queue": {"workload": {"source": "jrs-queue"}, "belief": JRS_BELIEF},
}
OPENB_EVERY = 80  # of Alibaba's nodes every 80th: 16 nodes, 74 GPUs

OURS = "srsf-packed"
NON_PREEMPTIVE = "srsf-packed, non-preemptive"
BACKFILL = ("fifo", "sjf", "srtf", "las")
PAIRS = ("fcfs", "random", "opposites", "balance", "min-slowdown", "max-packing", "incremental-matching", "oracle")
ON_ONE_NODE = ("kube-default", "fgd", "best-fit", "dot-product", "gpu-packing")
OTHERS = ("exclusive", "fifo-packed", "lucid", "schedtune", "proactive", "reactive")
NEED_ESTIMATES = ("sjf", "srtf", "lucid", "schedtune", NON_PREEMPTIVE)
KNOWS_THE_TRUTH = "oracle"
# Policies whose schedule a factor can change; the others keep the base's figures.
READ_ESTIMATES = (OURS, NON_PREEMPTIVE, "sjf", "srtf", "lucid", "schedtune", "balance", "min-slowdown", "max-packing",
                  "incremental-matching", "oracle", "fifo-packed")
READ_BELIEF = (OURS, NON_PREEMPTIVE, "balance", "min-slowdown", "max-packing", "incremental-matching", "fifo-packed")
PREEMPT = (OURS, "srtf", "las", "fifo-packed")
ALL = (OURS, NON_PREEMPTIVE, *BACKFILL, *PAIRS, *OTHERS, *ON_ONE_NODE)

# level -> settings, policies that it can change
LEVELS = {
    BASE: ({}, ALL),
    "load 0.6": ({"load": 0.6}, ALL),
    "load 1.3": ({"load": 1.3}, ALL),
    "estimates log-normal, sigma 0.5": ({"estimates.duration": "lognormal", "estimates.sigma": 0.5}, READ_ESTIMATES),
    "estimates log-normal, sigma 1": ({"estimates.duration": "lognormal", "estimates.sigma": 1}, READ_ESTIMATES),
    "estimates shuffled": ({"estimates.duration": "shuffled"}, READ_ESTIMATES),
    "no estimates": ({"estimates.duration": "none"}, READ_ESTIMATES),
    "no pairs known": ({"belief.known": 0}, READ_BELIEF),
    "60 % of the pairs known": ({"belief.known": 0.6}, READ_BELIEF),
    "all pairs known": ({"belief.known": 1}, READ_BELIEF),
    "free preemption": ({"preemption.save_s": 0, "preemption.restore_s": 0}, PREEMPT),
    "120 s per preemption": ({"preemption.save_s": 60, "preemption.restore_s": 60}, PREEMPT),
}


def policy(name, labelled):
    """As a configuration has it. labelled: the jobs have packing labels."""
    if name == NON_PREEMPTIVE:
        return {"name": OURS, "label": name, "mode": "non-preemptive"}
    if name in BACKFILL:
        return {"name": name, "blocking": "backfill"}
    if name == "lucid" and not labelled:
        return {"name": name, "label_sum": 4}
    return {"name": name}


class Trace:
    """A trace as corun's own CSV, cut to windows. types: GPU type -> GPUs; the reference type, that of `solo_s`, is ""."""

    def __init__(self, rows, types):
        self.rows = sorted(rows, key=lambda row: float(row["submit_s"]))
        self.types = types
        self.gpus = sum(types.values())
        first, last = (float(self.rows[i]["submit_s"]) for i in (0, -1))
        self.window_s = (last - first) / WINDOWS * (1 + 1e-9)
        self.blocks = [[] for _ in range(WINDOWS)]
        for row in self.rows:
            since = float(row["submit_s"]) - first
            self.blocks[int(since / self.window_s)].append((since % self.window_s, row))

    def work(self, row):
        """GPU seconds alone, at the job's mean rate over the GPUs."""
        rate = 0
        for gpu_type, number in self.types.items():
            rate += number / self.gpus / float(row[f"solo_s@{gpu_type}" if gpu_type else "solo_s"])
        return int(row["gpus"]) * int(row.get("gpu_milli") or 1000) / 1000 / rate

    def drawn(self, path, load, seed, enough=ENOUGH_JOBS):
        """Writes windows drawn with replacement until there are enough jobs, their arrivals stretched so that this load is
        offered."""
        draw = random.Random(seed)
        jobs, windows = [], 0
        while windows < WINDOWS and len(jobs) < enough:
            jobs += [(windows * self.window_s + since, row) for since, row in self.blocks[draw.randrange(WINDOWS)]]
            windows += 1
        stretch = sum(self.work(row) for _, row in jobs) / (windows * self.window_s * self.gpus * load)
        with open(path, "w", encoding="utf-8", newline="") as file:
            out = csv.DictWriter(file, fieldnames=list(self.rows[0]), lineterminator="\n")
            out.writeheader()
            for i, (at, row) in enumerate(sorted(jobs, key=lambda job: job[0])):
                out.writerow({**row, "job": i, "submit_s": f"{at * stretch:.3f}"})


class Result:
    """What one policy does at one level of a workload."""

    def __init__(self, rows):
        self.rows = rows  # of each draw: mean JCT [s], jobs that finished, jobs that ran out of memory too often
        self.jct_s, jobs, failed = zip(*rows)
        self.given_up = sum(failed) / (sum(jobs) + sum(failed))

    def first(self, draws):
        return Result(self.rows[:draws])

    def mean_s(self):
        return sum(self.jct_s) / len(self.jct_s)

    def ratio_to(self, other):
        """Geometric mean over the draws, and its 95 % interval (None of two draws or fewer)."""
        ratios = [a / b for a, b in zip(self.jct_s, other.jct_s, strict=True)]
        if len(ratios) > 2:
            return mean_ratio(ratios)
        return math.exp(sum(map(math.log, ratios)) / len(ratios)), None, None


class Workload:
    """One workload's sweep: every level, every draw."""

    figures = ("jct_s", "jobs", "failed")
    traces = TRACES
    levels = LEVELS
    policies = ALL
    enough_jobs = ENOUGH_JOBS

    def __init__(self, study, name, directory):
        self.study, self.name = study, name
        self.directory = directory / name.replace(", ", "-").replace(" ", "-").lower()
        self.directory.mkdir(parents=True, exist_ok=True)
        self.trace = None
        self.config = {"estimates": {"duration": "exact"}, "preemption": {"save_s": 10, "restore_s": 20}}
        if name in QUEUES:
            self.config |= QUEUES[name]
            self.names = self.policies
        else:
            self.read_trace()

    def read_trace(self):
        data = pathlib.Path(self.study.options.data)
        path, words, config = self.traces[self.name]
        converted = self.directory / "jobs.csv"
        words = [data / word if "/" in word else word for word in words]
        run(self.study.options.corun, "trace", "convert", data / path, converted, "--force", "--quiet", *words)
        types = {}
        with open(converted, encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        if self.labelled():
            with open(data / "lucid/lucid_solo.csv", encoding="utf-8", newline="") as file:
                labels = {row["job"]: row["label"] for row in csv.DictReader(file)}
            rows = [{**row, "packing_label": labels[row["workload"]]} for row in rows]
        self.config |= config | {"replications": 1}
        if isinstance(config["cluster"], str):
            rows = [row for row in rows if float(row["solo_s"]) <= LONGEST_S]
            nodes = self.directory / "nodes.csv"
            types[""], largest = some_nodes(data / config["cluster"], nodes)
            self.config["cluster"] = {"path": str(nodes)}
        elif "machines" in config["cluster"]:
            types, largest = self.machines(config["cluster"]["machines"])
        else:
            largest = config["cluster"]["gpus_per_node"]
            types[""] = config["cluster"]["nodes"] * largest
        if len(types) == 1:  # times on other GPU types are left out
            rows = [{key: value for key, value in row.items() if "@" not in key} for row in rows]
        else:
            # As in gavel_trace(): without jobs that run for longer than corun reads, or nowhere, on some type.
            rows = [row for row in rows if all(row[f"solo_s@{name}"] not in ("", "-") for name in types if name)]
        self.trace = Trace(rows, types)
        wide = max(int(row["gpus"]) for row in rows) > largest
        self.names = tuple(name for name in self.policies if not (wide and name in ON_ONE_NODE))
        if self.name == PODS:  # the other policies ignore the CPU and main memory that pods ask for
            self.names = (OURS, NON_PREEMPTIVE, *ON_ONE_NODE)
        self.config["workload"] = {"source": "csv", "path": str(converted), **config.get("workload", {})}

    @staticmethod
    def machines(text):
        """GPUs by type, and those of the largest node. The first type is the reference."""
        types, largest = {}, 0
        for part in text.split("+"):
            numbers, name = part.split(":")
            nodes, each = map(int, numbers.split("x"))
            types[name.split("-")[0].lower() if types else ""] = nodes * each
            largest = max(largest, each)
        return types, largest

    def labelled(self):
        return self.name.startswith("Lucid")

    def policy(self, name):
        return policy(name, self.labelled())

    def points(self):
        """level, draw or None (a seed), and the keys that a point sets."""
        for level, (settings, changed) in self.levels.items():
            number = self.study.options.draws if level == BASE else self.study.options.level_draws
            settings = dict(settings)
            load = settings.pop("load", BASE_LOAD)
            names = [name for name in self.names if name in changed]
            if level == "no estimates":
                names = [name for name in names if name not in NEED_ESTIMATES]
            if not self.trace:
                settings["replications"] = number
                if load != BASE_LOAD:
                    if "load" not in self.config["workload"]:
                        continue
                    settings["workload.load"] = load
            for draw in range(1, number + 1) if self.trace else [None]:
                keys = dict(settings)
                if draw:
                    path = self.directory / f"load-{load}-draw-{draw}.csv"
                    self.trace.drawn(path, load, draw, self.enough_jobs)
                    keys["workload.path"] = str(path)
                for asked in self.together(names):
                    profiling = {"profiling.mode": "minute"} if asked == ["reactive"] else {}
                    yield level, draw, {**keys, **profiling, "policies": [self.policy(name) for name in asked]}

    @staticmethod
    def together(names):
        """The policies of each point: `reactive` lets each job run alone first."""
        parts = [[name for name in names if name != "reactive"], [name for name in names if name == "reactive"]]
        return [part for part in parts if part]

    def results(self):
        """(level, policy) -> a Result."""
        out = {key: Result([tuple(row[name] for name in self.figures) for row in rows])
               for key, rows in self.rows().items()}
        for level, name in itertools.product({level for level, _ in out}, self.names):
            if name not in LEVELS[level][1]:
                out[level, name] = out[BASE, name].first(self.study.options.level_draws)
        return out

    def rows(self):
        """(level, policy) -> metric -> value, of each draw."""
        import h5py  # noqa: PLC0415: only this table needs it

        points = list(self.points())
        sweep, results = self.directory / "sweep.yaml", self.directory / "sweep.h5"
        config = {**self.config, "policies": ["fifo"], "measure": {"details": False},
                  "sweep": {"list": [keys for *_, keys in points]}}
        sweep.write_text(json.dumps(config, indent=1) + "\n", encoding="utf-8")
        data = ("--data", self.study.options.data) if self.trace else ()
        run(self.study.options.corun, "sweep", sweep, "--output", results, *data, "--quiet")
        found = {}
        with h5py.File(results) as file:
            rows = file["metrics"][:]
        for row in rows:
            level, draw, _ = points[row["point"]]
            key = level, row["label"].decode()
            values = {name: float(row[name]) for name in self.figures}
            found.setdefault(key, {})[draw or int(row["replication"])] = values
        return {key: [row for _, row in sorted(draws.items())] for key, draws in found.items()}


def some_nodes(source, target):
    """Writes every OPENB_EVERY-th node of Alibaba's. Their GPUs, and the GPUs of the largest."""
    with open(source, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))[::OPENB_EVERY]
    with open(target, "w", encoding="utf-8", newline="") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)
    gpus = [int(row["gpu"]) for row in rows]
    return sum(gpus), max(gpus)


MOST_GIVEN_UP = 0.005  # of the jobs: a policy that gives up more has a mean JCT of the others only


def is_comparable(result):
    return result.given_up <= MOST_GIVEN_UP


def best_peer(results, level):
    """The comparable policy of least mean JCT, of those that do not know the true costs."""
    peers = {name: result for (at, name), result in results.items()
             if at == level and name not in (OURS, NON_PREEMPTIVE, KNOWS_THE_TRUTH) and is_comparable(result)}
    return min(peers, key=lambda name: peers[name].mean_s())


def all_results(study):
    """workload -> (level, policy) -> Result."""
    if not study.workloads:
        directory = pathlib.Path(study.options.sweeps)
        for number, name in enumerate((*TRACES, *QUEUES), 1):
            print(f"workloads: {name}, {number} of {len(TRACES) + len(QUEUES)}", file=sys.stderr, flush=True)
            study.workloads[name] = Workload(study, name, directory).results()
    return study.workloads


def base_table(study):
    """Every policy on every workload, in the base case; the CSV has every level."""
    found = all_results(study)
    study.files[TABLE] = all_cells(found)
    study.files[FIGURE] = heat_map(found)
    rows = []
    for workload, results in found.items():
        ours, other = results[BASE, OURS], best_peer(results, BASE)
        row = [workload, num(ours.mean_s(), 0), num(results[BASE, NON_PREEMPTIVE].mean_s(), 0), other]
        for form in (ours, results[BASE, NON_PREEMPTIVE]):
            mean, low, high = form.ratio_to(results[BASE, other])
            row += [num(mean, 2), f"{num(low, 2)} to {num(high, 2)}"]
        rows.append(row)
    return markdown(["workload", "preemptive, s", "non-preemptive, s", "best other policy", "preemptive / it",
                     "95 % interval", "non-preemptive / it", "95 % interval"], rows)


def level_table(study):
    """The preemptive form over the best other policy, level by level, by the same draws."""
    draws = study.options.level_draws
    found = {workload: {key: result.first(draws) for key, result in results.items()}
             for workload, results in all_results(study).items()}
    rows = []
    for level in LEVELS:
        row = [level]
        for results in found.values():
            if (level, OURS) not in results:
                row.append("-")
                continue
            other = best_peer(results, level)
            row.append(f"{num(results[level, OURS].ratio_to(results[level, other])[0], 2)} {other}")
        rows.append(row)
    return markdown(["", *found], rows)


def all_cells(found):
    lines = ["workload,level,policy,draws,jct_s,given_up,ratio_to_srsf_packed,low,high"]
    for workload, results in found.items():
        for (level, name), result in sorted(results.items(), key=lambda cell: (list(LEVELS).index(cell[0][0]), cell[0][1])):
            ratio = ["" if x is None else f"{x:.4g}" for x in result.ratio_to(results[level, OURS])]
            cells = [workload, level, name, len(result.jct_s), f"{result.mean_s():.6g}", f"{result.given_up:.3g}", *ratio]
            lines.append(",".join(f'"{cell}"' if "," in str(cell) else str(cell) for cell in cells))
    return "\n".join(lines) + "\n"


def heat_map(found):
    """Mean JCT over that of srsf-packed, base case: a row per policy, a column per workload."""
    shown = [name for name in ALL if any((BASE, name) in results for results in found.values())]
    centre = {name: geometric_mean([results[BASE, name].ratio_to(results[BASE, OURS])[0] for results in found.values()
                                    if (BASE, name) in results]) for name in shown}
    shown.sort(key=centre.get)
    left, top, width, height = 190, 96, 64, 21
    svg = Svg(left + width * len(found) + 70, top + height * len(shown) + 14, "Mean JCT over that of srsf-packed, by policy and workload")
    for column, workload in enumerate(found):
        svg.text(left + width * (column + 0.5) - 8, top - 8, workload, rotate=-35)
    for line, name in enumerate(shown):
        y = top + height * line
        svg.text(left - 8, y + 15, name, anchor="end")
        for column, results in enumerate(found.values()):
            x = left + width * column
            result = results.get((BASE, name))
            if result is None:
                svg.text(x + width / 2, y + 15, "-", anchor="middle", colour=GREY)
                continue
            ratio = result.ratio_to(results[BASE, OURS])[0]
            lost = not is_comparable(result)
            svg.rect(x + 1, y + 1, width - 2, height - 2, FAINT if lost else shade(ratio))
            svg.text(x + width / 2, y + 15, num(ratio, 2 if ratio < 10 else 0) + ("*" if lost else ""), anchor="middle",
                     colour=GREY if lost else INK)
    return svg.done()


def geometric_mean(values):
    return math.exp(sum(map(math.log, values)) / len(values))


def shade(ratio):
    """White at 1; blue below, down to half; orange above, up to eight times."""
    most, colour = (math.log(8), (217, 115, 26)) if ratio > 1 else (math.log(2), (31, 111, 178))
    part = 0.75 * min(1.0, abs(math.log(ratio)) / most)
    return "#" + "".join(f"{round(255 + part * (c - 255)):02x}" for c in colour)
