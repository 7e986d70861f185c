#!/usr/bin/env python3
"""What carries over to other machines, and from pairs to groups. Writes three tables into experiments/interference/accuracy.md, between
`<!-- begin transfer -->`, `<!-- begin new-machine -->` and `<!-- begin groups -->` and their ends.

    python3 experiments/interference/campaigns.py --data DIR [--corun build/release/corun] [--check]

transfer: all pairs of one campaign and ten random pairs of another are fitted together; the other's remaining pairs are
predicted. The mean of twenty draws, of three where the tables share no job and the fit is slow. The constant is the mean ISD
of the same ten pairs.
new-machine: each of seven campaigns is predicted from all others, without a pair of its own (kind gp, as the model that
comes with corun).
groups: parvagpu's groups of 3 to 5 equal processes from its pairs alone, with batch sizes and without, and with the groups
of other models known (one model held out at a time); nos' groups of 5 and 7 from that of 3.

Takes twenty minutes of CPU time. With --check it writes nothing and exits with 1 if a file would change. Needs only Python 3.
"""

import argparse
import csv
import math
import pathlib
import random
import statistics
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "experiments"))

import page  # noqa: E402  (found by the path above)
import program  # noqa: E402

PAGE = REPO / "experiments" / "interference" / "accuracy.md"
KNOWN = 10
WITHIN = 1.6448536269514722
TABLES = {
    "Gavel V100 of 2019": "coruns/gavel2019_v100_pairs.csv",
    "Gavel K80 of 2019": "coruns/gavel2019_k80_pairs.csv",
    "Gavel P100 of 2020": "gavel/gavel_p100_pairs.csv",
    "Gavel K80 of 2020": "gavel/gavel_k80_pairs.csv",
    "Lucid": "lucid/lucid_pairs.csv",
    "iGniter": "coruns/igniter_v100_pairs.csv",
    "Tally": "coruns/tally2023_mps_first_pairs.csv",
}
MODES = {"Lucid": "time-slicing"}  # others: MPS
TRANSFERS = [  # from, to, draws
    ("Gavel V100 of 2019", "Gavel K80 of 2019", 20),
    ("Gavel K80 of 2019", "Gavel V100 of 2019", 20),
    ("Gavel K80 of 2020", "Gavel P100 of 2020", 20),
    ("Gavel P100 of 2020", "Gavel K80 of 2020", 20),
    ("Lucid", "Gavel V100 of 2019", 3),
    ("Lucid", "iGniter", 3),
]


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


def is_measured(row):
    return row.get("failed") != "1" and row["norm_a"] and row["norm_b"]


def isd(norm):
    return 100 * (1 / float(norm) - 1)


class Corun:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def predicted(self, fits, rows, form="pairs", kind="default"):
        """The rows with predictions of a model of this kind that was fitted to the tables of `fits`, (form, rows) each."""
        arguments = []
        for place, (of_form, table) in enumerate(fits):
            file = self.folder / f"fit{place}.csv"
            write(file, table)
            arguments += [f"--{of_form}", file]
        model, asked, out = (self.folder / name for name in ("m.model", "asked.csv", "out.csv"))
        program.run(self.path, "model", "fit", "--model", kind, *arguments, "--out", model, "--force", "--quiet")
        write(asked, rows)
        program.run(self.path, "model", "predict", "--model", model, f"--{form}", asked, "--out", out, "--force",
                    "--quiet")
        return read(out)


def judged(rows, sides=("_a", "_b")):
    """MAE and bias of ISD [points], share within the 90 % interval."""
    off, within = [], []
    for row in rows:
        for side in sides:
            speed, measured = float(row[f"pred_norm{side}"]), float(row[f"norm{side}"])
            off.append(isd(speed) - isd(measured))
            within.append(abs(math.log(measured / speed)) <= WITHIN * float(row[f"pred_sd{side}"]) / speed)
    return statistics.mean(map(abs, off)), statistics.mean(off), statistics.mean(within)


def named(name):
    return f"{name} ({MODES[name]})" if name in MODES else name


def transfers(corun, data):
    out = []
    for source, target, draws in TRANSFERS:
        of_source = [r for r in read(data / TABLES[source]) if is_measured(r)]
        of_target = [r for r in read(data / TABLES[target]) if is_measured(r)]
        ours, alone, constant, covered = [], [], [], []
        for draw in range(draws):
            rows = list(of_target)
            random.Random(draw).shuffle(rows)
            known, rest = rows[:KNOWN], rows[KNOWN:]
            mae, _, within = judged(corun.predicted([("pairs", of_source), ("pairs", known)], rest))
            ours.append(mae)
            covered.append(within)
            alone.append(judged(corun.predicted([("pairs", known)], rest))[0])
            mean = statistics.mean(isd(r[k]) for r in known for k in ("norm_a", "norm_b"))
            constant.append(statistics.mean(abs(isd(r[k]) - mean) for r in rest for k in ("norm_a", "norm_b")))
        error = statistics.stdev(o / c for o, c in zip(ours, constant)) / math.sqrt(draws)
        out.append({"source": named(source), "target": named(target), "draws": draws, "mae": statistics.mean(ours), "alone": statistics.mean(alone),
                    "constant": statistics.mean(constant),
                    "less": 100 * (1 - statistics.mean(o / c for o, c in zip(ours, constant))), "less_error": 100 * error,
                    "covered": 100 * statistics.mean(covered),
                    "covered_error": 100 * statistics.stdev(covered) / math.sqrt(draws)})
    return out


def new_machines(corun, data):
    """Rows of (campaign, MAE, of the mean of the others, coverage)."""
    tables = {name: [r for r in read(data / path) if is_measured(r)] for name, path in TABLES.items()}
    out = []
    for target, rows in tables.items():
        others = [table for name, table in tables.items() if name != target]
        mae, _, within = judged(corun.predicted([("pairs", table) for table in others], rows, kind="gp"))
        sides = ("norm_a", "norm_b")
        mean = statistics.mean(isd(r[k]) for table in others for r in table for k in sides)
        out.append((named(target), mae, statistics.mean(abs(isd(r[k]) - mean) for r in rows for k in sides), within))
    return out


def groups(corun, data):
    """Rows of (what, number of groups, MAE, bias, coverage)."""
    rows = read(data / "coruns/parvagpu_groups.csv")
    pairs = [r for r in rows if r["k"] == "2"]
    larger = [r for r in rows if r["k"] != "2"]
    out = []
    predicted = corun.predicted([("groups", pairs)], larger, "groups")
    out.append(("parvagpu, k = 3 to 5, from pairs alone", len(predicted), *judged(predicted, ("",))))
    predicted = corun.predicted([("groups", [{**r, "bs": ""} for r in pairs])], larger, "groups")
    out.append(("the same, batch sizes not stated", len(predicted), *judged(predicted, ("",))))
    held = []
    for model in sorted({r["model"] for r in rows}):
        test = [r for r in larger if r["model"] == model]
        learnt = [r for r in rows if r["model"] != model or r["k"] == "2"]
        held += corun.predicted([("groups", learnt)], test, "groups")
    out.append(("parvagpu, k = 3 to 5, with groups of other models known", len(held), *judged(held, ("",))))
    nos = read(data / "coruns/nos_groups.csv")
    for mode, words in (("time-slicing", "time-slicing"), ("MPS", "MPS")):
        of_mode = [r for r in nos if words.lower() in r["sharing"].lower()]
        test = [r for r in of_mode if r["k"] in ("5", "7")]
        predicted = corun.predicted([("groups", [r for r in of_mode if r["k"] == "3"])], test, "groups")
        for row in predicted:
            excess = 1 / float(row["norm"]) - 1
            relative = 100 * abs(1 / float(row["pred_norm"]) - 1 - excess) / excess
            out.append((f"nos, {mode}, k = {row['k']} from k = 3: {relative:.0f} % of the excess", 1,
                        *judged([row], ("",))))
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    parser.add_argument("--data", required=True, type=pathlib.Path, help="directory of the public tables")
    parser.add_argument("--only", choices=["groups", "transfer", "new-machine"], help="one of the tables")
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    num = page.num
    text = PAGE.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as scratch:
        corun = Corun(options.corun, pathlib.Path(scratch))
        if options.only in (None, "groups"):
            text = page.with_table(text, "groups", page.markdown(
                ["groups", "number", "MAE", "bias", "covered %"],
                [[what, str(number), num(mae), num(bias), num(100 * covered, 0)]
                 for what, number, mae, bias, covered in groups(corun, options.data)]))
        if options.only in (None, "transfer"):
            text = page.with_table(text, "transfer", page.markdown(
                ["measured", "ten pairs of", "draws", "MAE", "from the ten alone", "constant", "less than the constant %", "covered %"],
                [[m["source"], m["target"], str(m["draws"]), num(m["mae"]), num(m["alone"]), num(m["constant"]),
                  f"{num(m['less'])} +- {num(m['less_error'])}", f"{num(m['covered'])} +- {num(m['covered_error'])}"]
                 for m in transfers(corun, options.data)]))
        if options.only in (None, "new-machine"):
            found = new_machines(corun, options.data)
            covered = [100 * within for *_, within in found]
            lines = [[name, num(mae), num(mean), num(100 * within)] for name, mae, mean, within in found]
            lines.append(["mean of the campaigns", "", "", f"{num(statistics.mean(covered))} +- "
                          f"{num(statistics.stdev(covered) / math.sqrt(len(covered)))}"])
            text = page.with_table(text, "new-machine", page.markdown(
                ["campaign", "MAE", "mean of the others", "covered %"], lines))
    sys.exit(1 if page.write_or_check({PAGE: text}, options.check) and options.check else 0)


if __name__ == "__main__":
    main()
