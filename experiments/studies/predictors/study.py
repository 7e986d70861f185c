#!/usr/bin/python3
"""Accuracy of the predictors on public measured jobs: the tables of docs/predictors.md.

usage: study.py --corun CORUN --data DIR [--out DIR] [--only NAME] [--threads N]

Runs `corun predictor eval` on every table and split and writes what it prints, as CSV, to DIR/NAME.csv
(docs/predictors). `batches` is an experiment of its own: the largest batch that fits on 24 GB. Takes half an hour on
two cores.
"""
import argparse
import csv
import io
import pathlib
import random
import subprocess
import tempfile

JOBS = "jobs"
TIMM = f"{JOBS}/timm_memory_a100/timm_memory_clean.csv"
CNN = f"{JOBS}/gpumemnet/cnn_data_step1.csv"
MLP = f"{JOBS}/gpumemnet/mlp_data_step2.csv"
TIMES = f"{JOBS}/pytorch_gpu_benchmark/iteration_times.csv"
OLD_TIMES = f"{JOBS}/cnn_benchmarks/cnn_times.csv"
SPEED = f"{JOBS}/timm_speed"

EVALUATIONS = {
    "memory_timm": ["--target", "memory", "--jobs", TIMM, "--kind", "all", "--capacity", "8,11,16,24,32"],
    "memory_timm_no_graph": ["--target", "memory", "--jobs", TIMM, "--no-execution"],
    "memory_cnn": ["--target", "memory", "--jobs", CNN, "--kind", "all"],
    "memory_mlp": ["--target", "memory", "--jobs", MLP, "--kind", "all"],
    "utilisation_cnn": ["--target", "utilisation", "--jobs", CNN, "--kind", "all"],
    "utilisation_mlp": ["--target", "utilisation", "--jobs", MLP, "--kind", "all"],
    "time_train": ["--target", "time", "--jobs", TIMES, "--phase", "train", "--kind", "all"],
    "time_train_known": ["--target", "time", "--jobs", TIMES, "--phase", "train", "--split", "gpu", "--known", "5"],
    "time_inference": ["--target", "time", "--jobs", TIMES, "--phase", "inference", "--kind", "all"],
    "time_old": ["--target", "time", "--jobs", OLD_TIMES, "--kind", "all"],
}

# The steps that the harness of timm tries, from the largest; a model's batch is the first that fits.
STEPS = [512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1]
CAPACITY_MIB = 24 * 1024
CALIBRATION = 20   # models of other families whose batch is known, for the software's constants
SAFE_STEPS = 1     # the step below is taken, so that fewer predictions are unsafe


def run(corun, *arguments):
    return subprocess.run([corun, *map(str, arguments)], check=True, capture_output=True, text=True).stdout


def family_of(name):
    head = name[3:] if name.startswith("tf_") else name
    letters = ""
    for c in head:
        if not c.isalpha():
            break
        letters += c
    return letters


def speed_rows(data):
    """Models of timm's training benchmark on an RTX 3090 (24 GB), with features from the inference benchmarks."""
    features = {}
    for path in sorted((data / SPEED).glob("benchmark-infer-*.csv")):
        for row in csv.DictReader(open(path)):
            if row.get("infer_gmacs") and row.get("infer_macts"):
                features.setdefault(row["model"], row)
    rows = []
    for path in sorted((data / SPEED).glob("benchmark-train-*nchw*.csv")):
        for row in csv.DictReader(open(path)):
            f = features.get(row["model"])
            batch = int(float(row["train_batch_size"] or 0))
            if f is None or batch not in STEPS or not float(f["infer_gmacs"]):
                continue
            scale = (float(row["train_img_size"]) / float(f["infer_img_size"])) ** 2
            rows.append({"model": row["model"], "family": family_of(row["model"]), "img_px": row["train_img_size"],
                         "params_m": row["param_count"], "gmacs": float(f["infer_gmacs"]) * scale,
                         "macts_m": float(f["infer_macts"]) * scale, "largest": batch})
    return rows


def write_csv(path, rows, columns):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def batches(corun, data, out):
    """Each family is held out: the predictor is fitted to timm's memory sweep (another precision and software) without
    it, and refitted on the batches of 20 models of other families."""
    columns = ["model", "family", "batch", "img_px", "params_m", "gmacs", "macts_m", "mem_mib", "status"]
    sweep = [r for r in csv.DictReader(open(data / TIMM)) if r["status"] == "ok"]
    rows = speed_rows(data)
    families = sorted({r["family"] for r in rows})
    random.Random(1).shuffle(families)
    folds = [set(families[i::5]) for i in range(5)]
    found = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for fold in folds:
            write_csv(folder / "fit.csv", [r for r in sweep if r["family"] not in fold], columns)
            others = [r for r in rows if r["family"] not in fold and r["largest"] < STEPS[0]]
            seen = []
            for r in random.Random(2).sample(others, CALIBRATION):
                above = STEPS[STEPS.index(r["largest"]) - 1]
                seen.append({**r, "batch": (r["largest"] * above) ** 0.5, "mem_mib": CAPACITY_MIB, "status": "ok"})
            write_csv(folder / "seen.csv", seen, columns)
            test = [{**r, "batch": b} for r in rows if r["family"] in fold for b in STEPS]
            write_csv(folder / "test.csv", test, columns[:7])
            run(corun, "predictor", "fit", "--target", "memory", "--jobs", folder / "fit.csv", "--out", folder / "m.predictor",
                "--force")
            run(corun, "predictor", "apply", "--model", folder / "m.predictor", "--jobs", folder / "test.csv", "--seen",
                folder / "seen.csv", "--out", folder / "p.csv", "--force")
            predicted = list(csv.DictReader(open(folder / "p.csv")))
            for i in range(0, len(predicted), len(STEPS)):
                part = predicted[i:i + len(STEPS)]
                fits = [k for k, p in enumerate(part) if float(p["pred"]) <= CAPACITY_MIB]
                step = fits[0] if fits else len(STEPS) - 1
                found.append((STEPS.index(test[i]["largest"]), step))
    lines = ["rule,models,exact_pct,within_one_step_pct,unsafe_pct"]
    for rule, shift in (("median", 0), ("one step less", SAFE_STEPS)):
        moved = [(true, min(step + shift, len(STEPS) - 1)) for true, step in found]
        share = lambda test: 100 * sum(map(test, moved)) / len(moved)
        lines.append("%s,%d,%.1f,%.1f,%.1f" % (rule, len(moved), share(lambda m: m[0] == m[1]),
                                               share(lambda m: abs(m[0] - m[1]) <= 1), share(lambda m: m[1] < m[0])))
    text = "\n".join(lines) + "\n"
    (out / "batches.csv").write_text(text)
    return text


def memory_by_type(data, out):
    """Lambda's runs of the same image, test, precision and batch on two GPU types: peak less idle memory. And the same
    job on the same GPU type under two software stacks: timm's sweep and CARMA's."""
    runs = {}
    for row in csv.DictReader(open(data / JOBS / "lambda/lambda_single_gpu.csv")):
        if row["mem_peak_mib"] and row["suspect"] == "0" and row["batch"]:
            key = (row["system"].endswith("_v1"), row["test"], row["precision"], row["batch"])
            runs.setdefault(key, {}).setdefault(row["gpu_type"], []).append(float(row["mem_peak_mib"]) - float(row["mem_idle_mib"]))
    pairs = {}
    for by_type in runs.values():
        types = sorted(by_type)
        for i, a in enumerate(types):
            for b in types[i + 1:]:
                mean = lambda t: sum(by_type[t]) / len(by_type[t])
                pairs.setdefault((a, b), []).append((mean(b) - mean(a), 100 * (mean(b) / mean(a) - 1)))
    lines = ["gpu_type_a,gpu_type_b,runs,median_difference_mib,median_difference_pct"]
    for (a, b), values in sorted(pairs.items()):
        middle = lambda k: sorted(v[k] for v in values)[len(values) // 2]
        lines.append("%s,%s,%d,%.0f,%.2f" % (a, b, len(values), middle(0), middle(1)))
    text = "\n".join(lines) + "\n"
    (out / "memory_by_type.csv").write_text(text)
    sweep = {(r["model"], int(r["batch"])): r["mem_mib"] for r in csv.DictReader(open(data / TIMM)) if r["status"] == "ok"}
    names = {"resnet50": "resnet50", "mobilenet": "mobilenetv2_100", "vgg": "vgg16"}
    lines = ["model,batch,sweep_mib,carma_mib"]
    for r in csv.DictReader(open(data / JOBS / "carma/carma_jobs.csv")):
        key = (names.get(r["Model"]), int(float(r["batch"] or 0)))
        if key in sweep:
            lines.append("%s,%d,%s,%.0f" % (*key, sweep[key], float(r["max_memory_used_mb"])))
    stack = "\n".join(lines) + "\n"
    (out / "memory_by_stack.csv").write_text(stack)
    return text + stack


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--corun", required=True)
    parser.add_argument("--data", required=True, type=pathlib.Path)
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parents[3] / "docs/predictors")
    parser.add_argument("--only")
    parser.add_argument("--threads", default="2")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for name, arguments in EVALUATIONS.items():
        if options.only not in (None, name):
            continue
        text = run(options.corun, "predictor", "eval", *arguments, "--data", options.data, "--threads", options.threads,
                   "--format", "csv", "--quiet")
        (options.out / f"{name}.csv").write_text(text)
        print(name, flush=True)
        values = {}
        for row in csv.DictReader(io.StringIO(text)):
            values.setdefault((row["held_out"], row["known"], row["predictor"], row["capacity_mib"]), {})[row["figure"]] = row["value"]
        for key, figures in values.items():
            shown = " ".join(f"{k} {float(v):.4g}" for k, v in figures.items() if v)
            print("  ", " ".join(k for k in key if k), shown, flush=True)
    if options.only in (None, "batches"):
        print(batches(options.corun, options.data, options.out))
    if options.only in (None, "memory_by_type"):
        print(memory_by_type(options.data, options.out))


if __name__ == "__main__":
    main()
