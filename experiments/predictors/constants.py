#!/usr/bin/python3
"""Constants of `physics` chosen on all tables but one and scored on that one: a table of experiments/predictors/README.md.

usage: constants.py --corun CORUN --data DIR [--out DIR] [--threads N]

Settings are drawn at random, without regard to any result. For each table, the setting is taken that errs least on the
other tables (mean logarithm of the error, unseen families and architectures), and scored on the table itself. The shipped
setting is shown beside it but cannot be taken: it was settled by hand while all tables could be seen. Writes DIR/constants.csv and DIR/constants_searched.csv (experiments/predictors; every error), and
the table of experiments/predictors/README.md. With --only, the rows of the other searches stay. Takes an hour on two cores.
"""
import argparse
import concurrent.futures
import csv
import io
import itertools
import math
import pathlib
import random
import sys
import tempfile

import study

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import page  # noqa: E402  (found by the path above)

PAGE = page.REPO / "experiments" / "predictors" / "README.md"

# Values to draw from. The shipped ones are among them.
RESIDUAL = {"depth": [3, 4, 5, 7], "learning_rate": [0.02, 0.04, 0.08], "rows": [0.3, 0.5, 0.8],
            "columns": [0.1, 0.25, 0.5, 1], "leaf_factor": [0.3, 1, 3], "length": [2, 4, 8], "noise": [0.003, 0.01, 0.03],
            "process_share": [0, 0.25, 0.5, 0.75, 1], "coarse": [0, 1]}
TIME = {"coefficient_prior": [0.1, 0.3, 1], "soft": [0.1, 0.2, 0.5], "deviation_factor": [0.5, 1, 2], "freedom": [1, 2, 5, 10]}
PROBES = {"stack_probability": [0.05, 0.1, 0.25, 0.5], "stack_mib": [100, 250, 500, 1000], "stack_factor": [0.02, 0.05, 0.1],
          "odd_probability": [0.02, 0.05, 0.15], "far_probability": [0.01, 0.03, 0.099]}
LIMITS = {"missed_share": [0.001, 0.003, 0.01, 0.03], "margin_of_few": [0.9, 0.93, 0.96, 1],
          "most_false_alarms": [0.01, 0.02, 0.035, 0.05]}
SETTINGS = {"residual": 40, "time": 40, "probes": 30, "limits": 8}    # drawn besides the shipped one

# Of each search: table, name of the evaluation, its arguments, the split that chooses, the figure that counts.
EVALUATIONS = {
    "residual": [("timm", "memory", ["--target", "memory", "--jobs", study.TIMM], "family", "mape_pct"),
                 ("CNN", "memory", ["--target", "memory", "--jobs", study.CNN], "family", "mape_pct"),
                 ("CNN", "utilisation", ["--target", "utilisation", "--jobs", study.CNN], "family", "rmsle"),
                 ("MLP", "memory", ["--target", "memory", "--jobs", study.MLP], "family", "mape_pct"),
                 ("MLP", "utilisation", ["--target", "utilisation", "--jobs", study.MLP], "family", "rmsle")],
    "time": [("iteration times", "training", ["--target", "time", "--jobs", study.TIMES, "--phase", "train"], "family", "mape_pct"),
             ("iteration times", "training", ["--target", "time", "--jobs", study.TIMES, "--phase", "train"], "gpu", "mape_pct"),
             ("iteration times", "inference", ["--target", "time", "--jobs", study.TIMES, "--phase", "inference"], "family", "mape_pct"),
             ("iteration times", "inference", ["--target", "time", "--jobs", study.TIMES, "--phase", "inference"], "gpu", "mape_pct"),
             ("older times", "training", ["--target", "time", "--jobs", study.OLD_TIMES], "family", "mape_pct"),
             ("older times", "training", ["--target", "time", "--jobs", study.OLD_TIMES], "gpu", "mape_pct")],
}
# Scored besides: five rows of each GPU type held out are known.
KNOWN_ROWS = {"iteration times": ("training, 5 rows known", ["--target", "time", "--jobs", study.TIMES, "--phase", "train",
                                                            "--known", "5"], "gpu", "mape_pct")}
# The splits on which a chosen setting is scored, beside those that choose.
SCORED = {"timm": ["model", "random"], "CNN": ["random"], "MLP": ["random"], "iteration times": ["random"],
          "older times": ["model", "random"]}
# Out of memory: a missed job costs as much as so many false alarms; as 1 % missed and 4 % false alarms were the goals.
ALARMS = 4
OOM = [("timm", ["--target", "memory", "--jobs", study.TIMM, "--split", "model", "--capacity", "8,11,16,24,32"]),
       ("CNN", ["--target", "memory", "--jobs", study.CNN, "--split", "family"])]
MISS = 20    # of an interval of 90 %: 2 / 0.1 (Gneiting and Raftery 2007, section 6.2)


def settings_of(values, count):
    """The shipped setting (no words), then random ones."""
    rng = random.Random(1)
    drawn = [{}]
    while len(drawn) <= count:
        setting = {name: rng.choice(choices) for name, choices in values.items()}
        if setting not in drawn:
            drawn.append(setting)
    return drawn


def words(setting):
    return ["--constants", ",".join(f"{k}={v}" for k, v in setting.items())] if setting else []


class Evaluator:
    """Figures of `corun predictor eval` by setting, each computed once."""

    def __init__(self, corun, data, threads):
        self.corun, self.data, self.pool = corun, data, concurrent.futures.ThreadPoolExecutor(threads)
        self.futures = {}

    def ask(self, arguments, split, setting):
        if "utilisation" in arguments:    # its formula has no figures of layers beside an execution
            setting = {name: value for name, value in setting.items() if name != "coarse"}
        key = (tuple(arguments), split, tuple(setting.items()))
        if key not in self.futures:
            self.futures[key] = self.pool.submit(
                study.run, self.corun, "predictor", "eval", *arguments, "--split", split, "--data", self.data, "--threads", "1",
                "--medians", "--format", "csv", "--quiet", *words(setting))
        return self.futures[key]

    def figure(self, arguments, split, setting, name):
        for row in csv.DictReader(io.StringIO(self.ask(arguments, split, setting).result())):
            if row["figure"] == name and not row["capacity_mib"]:
                return float(row["value"])
        raise KeyError(name)


def chosen(settings, errors, left_out):
    """errors[table][cell][setting]. The drawn setting of the least mean logarithm over the cells of the other tables; each
    table counts once. The first setting is the shipped one."""
    def loss(s):
        tables = [cells for table, cells in errors.items() if table != left_out]
        return sum(sum(math.log(cell[s]) for cell in cells.values()) / len(cells) for cells in tables) / len(tables)
    return min(range(1, len(settings)), key=loss)


def search(name, evaluator, lines, searched):
    settings = settings_of({"residual": RESIDUAL, "time": TIME}[name], SETTINGS[name])
    evaluations = EVALUATIONS[name]
    for setting in settings:
        for _, _, arguments, split, _ in evaluations:
            evaluator.ask(arguments, split, setting)
    errors = {}
    for table, target, arguments, split, figure in evaluations:
        values = [evaluator.figure(arguments, split, setting, figure) for setting in settings]
        errors.setdefault(table, {})[(target, split)] = values
        for setting, value in zip(settings, values):
            searched.append('%s,%s,%s,%s,"%s",%.4g' % (name, table, target, split, " ".join(words(setting)[1:]), value))
    for table in errors:
        s = chosen(settings, errors, table)
        print(name, "without", table, ":", settings[s], flush=True)
        rows = [(target, a, split, figure) for t, target, a, split, figure in evaluations if t == table]
        asked = sorted({(target, tuple(a), figure) for target, a, _, figure in rows})
        rows += [(target, list(a), split, figure) for target, a, figure in asked for split in SCORED[table]]
        if table in KNOWN_ROWS:
            rows.append(KNOWN_ROWS[table])
        for _, arguments, split, _ in rows:
            evaluator.ask(arguments, split, settings[s])
            evaluator.ask(arguments, split, {})
        for target, arguments, split, figure in rows:
            best = min(errors[table][(target, split)]) if (target, split) in errors[table] else math.nan
            lines.append('%s,%s,"%s",%s,%s,%.4g,%.4g,%.4g,"%s"' % (
                name, table, target, split, figure, evaluator.figure(arguments, split, settings[s], figure),
                evaluator.figure(arguments, split, {}, figure), best, " ".join(words(settings[s])[1:])))


def probe_cases(corun, data, folder):
    """Fitted predictors with the jobs given and those scored: table -> list of (model file, seen rows, scored rows, the
    column of the memory)."""
    sweep = list(csv.DictReader(open(data / study.TIMM)))
    ok = [r for r in sweep if r["status"] == "ok"]
    cnn = study.read_cnn(data)
    count = itertools.count()

    def fit(rows):
        model = folder / f"{next(count)}.predictor"
        study.write_csv(folder / "fit.csv", rows, list(rows[0]))
        study.run(corun, "predictor", "fit", "--target", "memory", "--jobs", folder / "fit.csv", "--out", model)
        return model

    cases = {"timm": [], "CNN": [], "CARMA": [], "RTX 3090": []}
    held_out = study.held_out_models(sweep)
    model = fit([r for r in sweep if r["model"] not in held_out])
    test = [r for r in ok if r["model"] in held_out]
    for batch in study.KNOWN_BATCHES[::2]:
        seen = [r for r in test if int(r["batch"]) == batch]
        known = {r["model"] for r in seen}
        cases["timm"].append((model, seen, [r for r in test if r["model"] in known and int(r["batch"]) != batch], "mem_mib"))
    for given, draw in itertools.product((1, 5), range(4)):
        seen = random.Random(draw).sample(test, given)
        known = {r["model"] for r in seen}
        cases["timm"].append((model, seen, [r for r in test if r["model"] not in known], "mem_mib"))
    for name in sorted({study.cnn_architecture(r) for r in cnn}):
        model = fit([r for r in cnn if study.cnn_architecture(r) != name])
        test = [r for r in cnn if study.cnn_architecture(r) == name and study.is_measured_cnn(r)]
        for given, draw in itertools.product((1, 5), range(3)):
            taken = set(random.Random(draw).sample(range(len(test)), given))
            cases["CNN"].append((model, [test[i] for i in taken], [r for i, r in enumerate(test) if i not in taken],
                                 "Max GPU Memory (MiB)"))
    test = study.carma_jobs(data, sweep)
    model = fit([r for r in sweep if r["model"] not in study.CARMA.values()])
    for given in (1, 2):
        for seen in itertools.combinations(test, given):
            cases["CARMA"].append((model, list(seen), [r for r in test if r not in seen], "mem_mib"))
    # A batch between the largest and the next step fills the RTX 3090.
    columns = ["model", "family", "batch", "img_px", "params_m", "gmacs", "macts_m", "mem_mib", "status"]
    rows = [{**r, "batch": (r["largest"] * study.STEPS[study.STEPS.index(r["largest"]) - 1]) ** 0.5,
             "mem_mib": study.CAPACITY_MIB, "status": "ok"} for r in study.speed_rows(data) if r["largest"] < study.STEPS[0]]
    rows = [{c: r[c] for c in columns} for r in rows]
    families = sorted({r["family"] for r in rows})
    random.Random(1).shuffle(families)
    for k in range(3):
        fold = set(families[k::3])
        model = fit([{c: r[c] for c in columns} for r in ok if r["family"] not in fold])
        for draw in range(2):
            seen = random.Random(draw).sample([r for r in rows if r["family"] not in fold], study.CALIBRATION)
            cases["RTX 3090"].append((model, seen, [r for r in rows if r["family"] in fold], "mem_mib"))
    return cases


def score_probes(corun, folder, cases, setting):
    """Mean interval score of ln(memory), MAPE [%] and coverage [%]; each case counts once."""
    with tempfile.TemporaryDirectory(dir=folder) as own:
        own = pathlib.Path(own)
        scores = []
        for model, seen, rows, column in cases:
            study.write_csv(own / "test.csv", rows, list(rows[0]))
            study.write_csv(own / "seen.csv", seen, list(rows[0]))
            study.run(corun, "predictor", "apply", "--model", model, "--jobs", own / "test.csv", "--seen", own / "seen.csv",
                      "--out", own / "p.csv", "--force", *words(setting))
            found = []
            for p in csv.DictReader(open(own / "p.csv", newline="")):
                x, lo, hi = (math.log(float(p[k])) for k in (column, "pred_lo", "pred_hi"))
                found.append((hi - lo + MISS * (max(0, lo - x) + max(0, x - hi)), 100 * abs(float(p["pred"]) / float(p[column]) - 1),
                              100 * (lo <= x <= hi)))
            scores.append([sum(f[k] for f in found) / len(found) for k in range(3)])
    return [sum(s[k] for s in scores) / len(scores) for k in range(3)]


def search_probes(corun, data, threads, lines, searched):
    settings = settings_of(PROBES, SETTINGS["probes"])
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(threads) as pool:
        folder = pathlib.Path(folder)
        cases = probe_cases(corun, data, folder)
        results = {table: list(pool.map(lambda s: score_probes(corun, folder, cases[table], s), settings)) for table in cases}
    errors = {table: {"interval": [r[0] for r in values]} for table, values in results.items()}
    for table, values in results.items():
        for setting, (score, mape, coverage) in zip(settings, values):
            for figure, value in (("interval score", score), ("mape_pct", mape), ("coverage_pct", coverage)):
                searched.append('probes,%s,memory,%s,"%s",%.4g' % (table, figure, " ".join(words(setting)[1:]), value))
    for table in results:
        s = chosen(settings, errors, table)
        print("probes without", table, ":", settings[s], flush=True)
        for k, figure in enumerate(("interval score", "mape_pct", "coverage_pct")):
            best = min(r[k] for r in results[table]) if k < 2 else math.nan
            lines.append('probes,%s,memory,known jobs,%s,%.4g,%.4g,%.4g,"%s"' % (
                table, figure, results[table][s][k], results[table][0][k], best, " ".join(words(settings[s])[1:])))


HELD_OUT = {"family": "unseen family", "gpu": "unseen GPU type", "model": "unseen model", "random": "random jobs",
            "known jobs": "with known jobs"}
FIGURES = {"mape_pct": ("MAPE %", 1), "rmsle": ("RMSLE", 3), "coverage_pct": ("coverage %", 0), "interval score": ("interval score", 2),
           "missed_pct": ("missed %", 1), "false_alarms_pct": ("false alarms %", 1)}


def table_of(lines):
    """The page's table."""
    rows = []
    for row in csv.DictReader(lines):
        unit, digits = FIGURES[row["figure"]]
        show = lambda key: "-" if row[key] == "nan" else page.num(float(row[key]), digits)
        held_out = HELD_OUT[row["held_out"]]
        if row["constants"] in ("residual", "limits") and row["table"] != "timm" and row["held_out"] == "family":
            held_out = "unseen architecture"
        rows.append([f"{row['table']}: {row['target']}", held_out, unit, show("chosen_elsewhere"), show("shipped"),
                     show("best_of_search")])
    return page.markdown(["table left out", "held out", "figure", "constants chosen on the others", "shipped constants",
                          "best of the search"], rows)


def search_limits(corun, data, threads, lines, searched):
    """Each capacity counts once; of CNN only that of the crashes, 40,300 MiB, has jobs too large."""
    settings = settings_of(LIMITS, SETTINGS["limits"])

    def shares(arguments, setting):
        text = study.run(corun, "predictor", "eval", *arguments, "--data", data, "--threads", "1", "--format", "csv", "--quiet",
                         *words(setting))
        found = {}
        for row in csv.DictReader(io.StringIO(text)):
            if row["capacity_mib"]:
                found.setdefault(float(row["capacity_mib"]), {})[row["figure"]] = float(row["value"] or "nan")
        kept = [f for capacity, f in found.items() if arguments[3] == study.TIMM or capacity > 40000]
        mean = lambda figure: sum(f[figure] for f in kept) / len(kept)
        return 100 - mean("caught_pct"), mean("false_alarms_pct")

    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        asked = {table: [pool.submit(shares, arguments, s) for s in settings] for table, arguments in OOM}
        results = {table: [f.result() for f in futures] for table, futures in asked.items()}
    errors = {table: {"cost": [missed + alarms / ALARMS for missed, alarms in values]} for table, values in results.items()}
    for table, values in results.items():
        for setting, pair in zip(settings, values):
            for figure, value in zip(("missed_pct", "false_alarms_pct"), pair):
                searched.append('limits,%s,memory,%s,"%s",%.4g' % (table, figure, " ".join(words(setting)[1:]), value))
    for table, values in results.items():
        s = chosen(settings, errors, table)
        print("limits without", table, ":", settings[s], flush=True)
        best = min(range(len(settings)), key=lambda k: errors[table]["cost"][k])
        for k, figure in enumerate(("missed_pct", "false_alarms_pct")):
            lines.append('limits,%s,out of memory,%s,%s,%.4g,%.4g,%.4g,"%s"' % (
                table, "model" if table == "timm" else "family", figure, values[s][k], values[0][k], values[best][k],
                " ".join(words(settings[s])[1:])))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corun", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parents[2] / "experiments/predictors")
    parser.add_argument("--only", choices=["residual", "time", "probes", "limits"])
    parser.add_argument("--threads", default=2, type=int)
    options = parser.parse_args()
    lines = ["constants,table,target,held_out,figure,chosen_elsewhere,shipped,best_of_search,setting"]
    searched = ["constants,table,target,held_out,setting,error"]
    evaluator = Evaluator(options.corun, options.data, options.threads)
    for name in ("time", "residual"):
        if options.only in (None, name):
            search(name, evaluator, lines, searched)
    if options.only in (None, "probes"):
        search_probes(options.corun, options.data, options.threads, lines, searched)
    if options.only in (None, "limits"):
        search_limits(options.corun, options.data, options.threads, lines, searched)
    for name, found in (("constants", lines), ("constants_searched", searched)):
        path = options.out / f"{name}.csv"
        kept = path.read_text().splitlines()[1:] if options.only and path.exists() else []
        found[1:] = [line for line in kept if not line.startswith(f"{options.only},")] + found[1:]
        path.write_text("\n".join(found) + "\n")
    page.write_or_check({PAGE: page.with_table(PAGE.read_text(encoding="utf-8"), "constants", table_of(lines))}, False)


if __name__ == "__main__":
    main()
