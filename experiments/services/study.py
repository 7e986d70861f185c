#!/usr/bin/env python3
"""Measured service times: how well their stretch by co-runners is predicted, and how well a batch size between two
measured ones.

    experiments/services/study.py --data DIR [--corun build/release/corun] [--check] [--times FILE]

Writes the tables of experiments/services/README.md; with --check exit 1 if the page has others. DIR is the folder of the
public data sets. Takes about two minutes on two cores. --times writes iGniter's times alone as a table of service times
(traces/requests/service_time_table.hpp) and ends; its repository states no licence, so the table stays with you.
"""

import argparse
import csv
import json
import pathlib
import random
import statistics
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import REPO, markdown, num, with_table, write_or_check  # noqa: E402
from program import run  # noqa: E402

PAGE = HERE / "README.md"
KNOWN_PAIRS = 10    # of the model held out, for one row of the table
DRAWS = 3           # of these pairs
CASES = ["three", "six", "tight", "heavy-resnet"]  # plans of iGniter's own program with its predictions


def read(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, fieldnames=list(rows[0]), lineterminator="\n")
        out.writeheader()
        out.writerows(rows)


class IgniterModel:
    """iGniter's model of latency under sharing: Xu et al., "iGniter: Interference-Aware GPU Resource Provisioning for
    Predictable DNN Inference in the Cloud", IEEE TPDS 34(3), 2023, sections 3.2 and 3.3, with the coefficients that its
    program fits."""

    def __init__(self, path):
        found = json.loads(path.read_text())
        self.hardware, self.models = found["hardware"], found["models"]

    def latencies_ms(self, group):
        """Of processes (model, batch, share of the SMs in %) that share a GPU."""
        hardware = self.hardware
        alone, l2, power = [], [], hardware["idle_power_w"]
        for name, batch, share in group:
            model = self.models[name]
            k1, k2, k3, k4, k5 = model["active_k1_to_k5"]
            active = (k1 * batch**2 + k2 * batch + k3) / (share + k4) + k5
            alone.append(active)
            l2.append(model["l2_slope_const"][0] * 1000 * batch / active + model["l2_slope_const"][1])
            power += model["power_slope_const"][0] * 1000 * batch / active + model["power_slope_const"][1]
        above = max(0, power - hardware["max_power_w"])
        slower = 1 + hardware["power_to_frequency_slope_mhz_per_w"] * above / hardware["max_frequency_mhz"]
        per_kernel = hardware["idle_slope_ms"] * len(group) + hardware["idle_const_ms"] if len(group) > 1 else 0
        out = []
        for (name, batch, _), active, own in zip(group, alone, l2):
            model = self.models[name]
            idle = model["base_idle_ms"] + per_kernel * model["kernels"]
            active *= 1 + model["k_l2"] * (sum(l2) - own)
            transfers = (model["input_bytes"] + model["output_bytes"]) * batch / hardware["pcie_bytes_per_ms"]
            out.append((idle + active) / slower + transfers)
        return out

    def check(self, folder):
        """Ends the program unless it predicts what iGniter's own program did in the plans of CASES. Their number."""
        seen = 0
        for case in CASES:
            for gpu in json.loads((folder / case / "plan_out.json").read_text())["plan"]:
                group = [(w["model"], w["batch"], w["gpu_pct"]) for w in gpu]
                for theirs, ours in zip(gpu, self.latencies_ms(group)):
                    if abs(theirs["predicted_latency_ms"] - ours) > 1e-9 * ours:
                        sys.exit(f"{case}: iGniter predicts {theirs['predicted_latency_ms']} ms, this script {ours} ms")
                    seen += 1
        return seen


class Corun:
    def __init__(self, path, folder):
        self.path, self.folder = path, folder

    def predicted(self, form, known, rows):
        """The rows with predictions of the default model, fitted to the rows `known`. `form`: pairs or groups."""
        fit, asked, model, out = (self.folder / name for name in ("fit.csv", "asked.csv", "m.model", "out.csv"))
        write(fit, known)
        write(asked, rows)
        run(self.path, "model", "fit", f"--{form}", fit, "--out", model, "--force", "--quiet")
        run(self.path, "model", "predict", "--model", model, f"--{form}", asked, "--out", out, "--force", "--quiet")
        return read(out)


class Errors:
    """Of predicted latencies: absolute, and relative to the measured ones."""

    def __init__(self):
        self.ms, self.percent = [], []

    def add(self, predicted_ms, measured_ms):
        self.ms.append(abs(predicted_ms - measured_ms))
        self.percent.append(100 * abs(predicted_ms / measured_ms - 1))

    def row(self):
        return [num(statistics.mean(self.ms), 2), num(statistics.mean(self.percent)),
                num(sorted(self.percent)[int(0.9 * len(self.percent))])]


ERRORS = ["MAE ms", "mean error %", "90th percentile %"]


def other(side):
    return "b" if side == "a" else "a"


def alone_ms(row, side):
    """iGniter's rates count batches."""
    return 1000 / float(row[f"solo_rate_{side}"])


def unseen_models(data, corun):
    """Latencies of iGniter's pairs with a model that the predictor has not seen, and of the co-runner of such a model."""
    rows = read(data / "coruns/igniter_v100_pairs.csv")
    igniter = IgniterModel(data / "peers3/igniter/inputs/fitted_coefficients.json")
    cases = igniter.check(data / "peers3/igniter")
    own = {name: {"unseen": Errors(), "beside": Errors()} for name in
           ("as alone", "constant", "corun", f"corun, {KNOWN_PAIRS} pairs known", "iGniter, its times alone",
            "iGniter, measured times alone")}

    def told(name, row, side, held, predicted_ms):
        whose = "unseen" if row[f"model_{side}"] == held else "beside"
        own[name][whose].add(predicted_ms, alone_ms(row, side) / float(row[f"norm_{side}"]))

    for held in sorted({r["model_a"] for r in rows} | {r["model_b"] for r in rows}):
        test = [r for r in rows if held in (r["model_a"], r["model_b"])]
        known = [r for r in rows if r not in test]
        stretch = statistics.mean(1 / float(r[f"norm_{s}"]) for r in known for s in "ab")
        for row in test:
            group = [(row[f"model_{s}"], int(row[f"bs_{s}"]), float(row[f"share_{s}"])) for s in "ab"]
            beside = igniter.latencies_ms(group)
            for place, side in enumerate("ab"):
                alone = alone_ms(row, side)
                told("as alone", row, side, held, alone)
                told("constant", row, side, held, alone * stretch)
                told("iGniter, its times alone", row, side, held, beside[place])
                by_itself = igniter.latencies_ms([group[place]])[0]
                told("iGniter, measured times alone", row, side, held, alone * beside[place] / by_itself)
        for row in corun.predicted("pairs", known, test):
            for side in "ab":
                told("corun", row, side, held, alone_ms(row, side) / float(row[f"pred_norm_{side}"]))
        for draw in range(DRAWS):
            shuffled = list(test)
            random.Random(draw).shuffle(shuffled)
            for row in corun.predicted("pairs", known + shuffled[:KNOWN_PAIRS], shuffled[KNOWN_PAIRS:]):
                for side in "ab":
                    told(f"corun, {KNOWN_PAIRS} pairs known", row, side, held,
                         alone_ms(row, side) / float(row[f"pred_norm_{side}"]))
    table = [[name, *of["unseen"].row(), *of["beside"].row()] for name, of in own.items()]
    header = ["predicted by", *(f"{e}, unseen" for e in ERRORS), *(f"{e}, beside it" for e in ERRORS)]
    return cases, len(own["constant"]["unseen"].ms), markdown(header, table)


def equal_processes(data, corun):
    """Latencies of ParvaGPU's groups of equal processes, their model held out."""
    rows = read(data / "coruns/parvagpu_groups.csv")
    names = ["k times as long", "constant by k", "corun", "corun, its pairs known"]
    two = {name: Errors() for name in names[:3]}
    more = {name: Errors() for name in names}

    def measured(row):
        return 1000 * float(row["bs"]) / float(row["corun_rate"])

    def alone(row):
        return 1000 * float(row["bs"]) / float(row["solo_rate"])

    for held in sorted({r["model"] for r in rows}):
        test = [r for r in rows if r["model"] == held]
        known = [r for r in rows if r["model"] != held]
        for row in test:
            errors = two if row["k"] == "2" else more
            errors["k times as long"].add(alone(row) * int(row["k"]), measured(row))
            of_k = statistics.mean(1 / float(r["norm"]) for r in known if r["k"] == row["k"])
            errors["constant by k"].add(alone(row) * of_k, measured(row))
        for row in corun.predicted("groups", known, test):
            errors = two if row["k"] == "2" else more
            errors["corun"].add(alone(row) / float(row["pred_norm"]), measured(row))
        pairs = [r for r in test if r["k"] == "2"]
        for row in corun.predicted("groups", known + pairs, [r for r in test if r["k"] != "2"]):
            more["corun, its pairs known"].add(alone(row) / float(row["pred_norm"]), measured(row))
    table = [[name, *(two[name].row() if name in two else ["", "", ""]), *more[name].row()] for name in names]
    header = ["predicted by", *(f"{e}, k = 2" for e in ERRORS), *(f"{e}, k = 3 to 5" for e in ERRORS)]
    return len(two["corun"].ms), len(more["corun"].ms), markdown(header, table)


def igniter_times(data):
    """iGniter's times alone: (model, share) -> batch -> [ms]."""
    times = {}
    for row in read(data / "coruns/igniter_v100_pairs.csv"):
        for side in "ab":
            key = (row[f"model_{side}"], row[f"share_{side}"])
            times.setdefault(key, {})[int(row[f"bs_{side}"])] = alone_ms(row, side)
    return times


def between_sizes(data):
    """Errors where a measured batch size is left out and its time read from its neighbours, linearly in the size."""
    mig, processes = {}, {}
    for row in read(data / "serving/mig_latency_a100_80gb.csv"):
        if row["phase"] == "inference":
            key = (row["model"], row["mig_profile"], row["sequence_tokens"])
            mig.setdefault(key, {})[int(row["batch_size"])] = float(row["latency_ms"])
    for row in read(data / "serving/parvagpu_latency.csv"):
        key = (row["model"], row["mig_slices"], row["processes"])
        batch = int(row["batch_size"])
        processes.setdefault(key, {})[batch] = 1000 * batch / float(row["requests_per_s_per_process"])
    table = []
    for name, tables in [("MIGProfiler, A100-80GB slices", mig), ("ParvaGPU, A100-80GB slices, 1 to 5 processes", processes),
                         ("iGniter, V100 shares", igniter_times(data))]:
        errors, times = Errors(), 0
        for times_of in tables.values():
            sizes = sorted(times_of)
            times += len(sizes)
            for low, size, high in zip(sizes, sizes[1:], sizes[2:]):
                share = (size - low) / (high - low)
                errors.add(times_of[low] + share * (times_of[high] - times_of[low]), times_of[size])
        table.append([name, str(len(tables)), str(times), str(len(errors.ms)), *errors.row()])
    return markdown(["table", "services", "times", "left out", *ERRORS], table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--corun", type=pathlib.Path, default=REPO / "build/release/corun")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--times", type=pathlib.Path)
    given = parser.parse_args()
    if given.times:
        write(given.times, [{"model": model, "gpu_type": "V100-16GB", "slice": f"{share}%", "batch_size": batch,
                             "latency_ms": f"{ms:.6f}"}
                            for (model, share), of in sorted(igniter_times(given.data).items())
                            for batch, ms in sorted(of.items())])
        return
    with tempfile.TemporaryDirectory() as folder:
        corun = Corun(given.corun, pathlib.Path(folder))
        page = PAGE.read_text()
        cases, latencies, table = unseen_models(given.data, corun)
        print(f"iGniter's model here gives the {cases} latencies that its own program predicts; {latencies} latencies of an unseen model")
        page = with_table(page, "unseen models", table)
        twos, more, table = equal_processes(given.data, corun)
        print(f"{twos} pairs of equal processes, {more} larger groups")
        page = with_table(page, "equal processes", table)
        page = with_table(page, "between sizes", between_sizes(given.data))
    sys.exit(1 if write_or_check({PAGE: page}, given.check) and given.check else 0)


if __name__ == "__main__":
    main()
