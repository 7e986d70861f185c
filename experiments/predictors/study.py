#!/usr/bin/python3
"""Accuracy of the predictors on public measured jobs: the tables of experiments/predictors/README.md.

usage: study.py --corun CORUN --data DIR [--out DIR] [--only NAME] [--threads N]

Runs `corun predictor eval` on every table and split and writes what it prints, as CSV, to DIR/NAME.csv
(experiments/predictors). `batches` is an experiment of its own: the largest batch that fits on 24 GB. Takes half an hour on
two cores.
"""
import argparse
import csv
import io
import itertools
import pathlib
import random
import re
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from program import run  # noqa: E402

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

COVERAGE_FIGURES = ["jobs", "mape_pct", "rmsle", "coverage_pct", "width_pct", "least_group_coverage_pct",
                    "most_group_coverage_pct"]


def coverage(corun, data, out, threads):
    """Coverage and error of `physics` by what is unknown about a job, on every table."""
    lines = ["table,held_out," + ",".join(COVERAGE_FIGURES)]
    for name, arguments in EVALUATIONS.items():
        if name == "time_train_known":
            continue
        kind = arguments.index("--kind") if "--kind" in arguments else len(arguments)
        text = run(corun, "predictor", "eval", *arguments[:kind], *arguments[kind + 2:], "--data", data, "--threads", threads,
                   "--format", "csv", "--quiet")
        values = {}
        for row in csv.DictReader(io.StringIO(text)):
            if not row["capacity_mib"]:
                values.setdefault(row["held_out"], {})[row["figure"]] = row["value"]
        for held_out, figures in values.items():
            lines.append(",".join([name, held_out] + [figures[f] and "%.4g" % float(figures[f]) for f in COVERAGE_FIGURES]))
        print(name, flush=True)
    text = "\n".join(lines) + "\n"
    (out / "coverage.csv").write_text(text)
    return text


# The steps that the harness of timm tries, from the largest; a model's batch is the first that fits.
STEPS = [512, 384, 256, 192, 128, 96, 64, 48, 32, 24, 16, 12, 8, 6, 4, 3, 2, 1]
CAPACITY_MIB = 24 * 1024
CALIBRATION = 20   # models of other families whose batch is known, for the software's constants
# Of the memory that no batch changes: the context, and a weight with its gradient and momentum.
CONTEXT_MIB = 1500
BYTES_OF_WEIGHT = 12
SAFE_STEPS = 1     # the step below is taken, so that fewer predictions are unsafe


def family_of(name):
    head = name[3:] if name.startswith("tf_") else name
    letters = ""
    for c in head:
        if not c.isalpha():
            break
        letters += c
    return letters


def architecture_of(name):
    """The name without the weights, which later versions of timm separate from it with a dot."""
    name = re.sub(r"^(gluon|tv|ssl|swsl|ig|adv|ens_adv)_", "", name.split(".")[0])
    name = re.sub(r"_v1b$", "", re.sub(r"_v1([cds])$", r"\1", name))
    return re.sub(r"_(in2[12]ft1k|in2[12]k|hnfd?)$", "", name)


def speed_rows(data):
    """Models of timm's training benchmark on an RTX 3090 (24 GB), with features from the inference benchmarks."""
    features = {}
    for path in sorted((data / SPEED).glob("benchmark-infer-*.csv")):
        for row in csv.DictReader(open(path)):
            if row.get("infer_gmacs") and row.get("infer_macts"):
                features.setdefault(architecture_of(row["model"]), row)
    rows = []
    for path in sorted((data / SPEED).glob("benchmark-train-*nchw*.csv")):
        for row in csv.DictReader(open(path)):
            f = features.get(architecture_of(row["model"]))
            batch = int(float(row["train_batch_size"] or 0))
            if f is None or batch not in STEPS or not float(f["infer_gmacs"]):
                continue
            # The same name may mean another model in another version of timm.
            if abs(float(f["param_count"]) / float(row["param_count"]) - 1) > 0.02:
                continue
            scale = (float(row["train_img_size"]) / float(f["infer_img_size"])) ** 2
            rows.append({"model": row["model"], "family": family_of(architecture_of(row["model"])), "img_px": row["train_img_size"],
                         "params_m": row["param_count"], "gmacs": float(f["infer_gmacs"]) * scale,
                         "macts_m": float(f["infer_macts"]) * scale, "largest": batch})
    return rows


def write_csv(path, rows, columns):
    with open(path, "w", newline="") as out:
        writer = csv.DictWriter(out, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def calibrated_batches(corun, data):
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
    return found


def graph_figures(data):
    """Bytes of one image of one pixel's area, by model: tensors kept and in all, of timm's sweep."""
    figures = {}
    for row in csv.DictReader(open(data / TIMM)):
        images = float(row["batch"]) * float(row["img_px"]) ** 2 / 2**20
        figures[architecture_of(row["model"])] = (float(row["graph_fwd_mib"]) / images, float(row["graph_total_mib"]) / images)
    return figures


def predict(corun, folder, fit, test):
    columns = list(fit[0])
    write_csv(folder / "fit.csv", fit, columns)
    write_csv(folder / "test.csv", test, columns[:-1])
    run(corun, "predictor", "fit", "--target", "memory", "--jobs", folder / "fit.csv", "--out", folder / "m.predictor",
        "--force")
    run(corun, "predictor", "apply", "--model", folder / "m.predictor", "--jobs", folder / "test.csv", "--out",
        folder / "p.csv", "--force")
    return [float(p["pred"]) for p in csv.DictReader(open(folder / "p.csv"))]


def fitted_batches(corun, data):
    """Each family is held out of the benchmark itself: the memory of one sample is learnt from the largest batches of
    the others. A batch between the largest and the next step fills the GPU, so a sample takes its share of it."""
    rows = speed_rows(data)
    graphs = graph_figures(data)
    fixed = lambda r: CONTEXT_MIB + BYTES_OF_WEIGHT * float(r["params_m"]) * 1e6 / 2**20
    table = []
    for r in rows:
        above = STEPS[max(STEPS.index(r["largest"]) - 1, 0)]
        kept, peak = graphs.get(architecture_of(r["model"]), ("", ""))
        area = float(r["img_px"]) ** 2
        table.append({"model": r["model"], "family": r["family"], "gpu_type": "3090", "batch": 1,
                      "input_elements": 3 * area, "parameters": float(r["params_m"]) * 1e6,
                      "multiply_adds": r["gmacs"] * 1e9, "weighted_outputs": r["macts_m"] * 1e6,
                      "kept_bytes": kept and kept * area, "peak_bytes": peak and peak * area,
                      "mem_mib": (CAPACITY_MIB - fixed(r)) / (r["largest"] * above) ** 0.5})
    families = sorted({r["family"] for r in rows})
    random.Random(1).shuffle(families)
    found = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for fold in (set(families[i::10]) for i in range(10)):
            known = [(t, r) for t, r in zip(table, rows) if r["family"] not in fold]
            fit = [t for t, r in known if r["largest"] < STEPS[0]]
            # Of a model at the first step, no more is known than that it needs no more than that.
            bounds = [(t, (CAPACITY_MIB - fixed(r)) / STEPS[0]) for t, r in known if r["largest"] == STEPS[0]]
            test = [(t, r) for t, r in zip(table, rows) if r["family"] in fold]
            predicted = predict(corun, folder, fit, [t for t, _ in bounds])
            fit += [{**t, "mem_mib": most} for (t, most), p in zip(bounds, predicted) if p > most]
            predicted = predict(corun, folder, fit, [t for t, _ in test])
            for (_, r), p in zip(test, predicted):
                most = (CAPACITY_MIB - fixed(r)) / p
                step = next((k for k, b in enumerate(STEPS) if b <= most), len(STEPS) - 1)
                found.append((STEPS.index(r["largest"]), step))
    return found


def batches(corun, data, out):
    lines = ["fitted_to,rule,models,exact_pct,within_one_step_pct,unsafe_pct"]
    for name, found in (("other software and 20 batches", calibrated_batches(corun, data)),
                        ("batches", fitted_batches(corun, data))):
        for rule, shift in (("median", 0), ("one step less", SAFE_STEPS)):
            moved = [(true, min(step + shift, len(STEPS) - 1)) for true, step in found]
            share = lambda test: 100 * sum(map(test, moved)) / len(moved)
            lines.append("%s,%s,%d,%.1f,%.1f,%.1f" % (name, rule, len(moved), share(lambda m: m[0] == m[1]),
                                                      share(lambda m: abs(m[0] - m[1]) <= 1),
                                                      share(lambda m: m[1] < m[0])))
    text = "\n".join(lines) + "\n"
    (out / "batches.csv").write_text(text)
    return text


# The sweep ran these models at 224 x 224. Of the ResNets the table's img_px, gmacs and macts_m are of 160 or 176, but
# graph_fwd_mib is of 224: 1.96 times as much per output as that of other ResNets.
PIXELS_OF_SWEEP = 224


def own_graphs(corun, data, out):
    """Models of the sweep that are in corun's zoo, predicted by a predictor that was fitted to the others: from the
    table's graph columns, and from corun's own graphs."""
    zoo = {"mnasnet_050": "mnasnet0_5", "mnasnet_075": "mnasnet0_75", "mnasnet_100": "mnasnet1_0",
           "mobilenetv2_100": "mobilenet_v2", "mobilenetv3_large_100": "mobilenet_v3_large",
           "mobilenetv3_small_100": "mobilenet_v3_small"}
    for name in ("resnet34 resnet101 resnet152 resnet200 resnext50_32x4d resnext101_32x8d resnext101_64x4d "
                 "wide_resnet101_2 vgg13 vgg16 vgg11_bn vgg13_bn vgg16_bn vgg19_bn").split():
        zoo[name] = name
    sweep = [r for r in csv.DictReader(open(data / TIMM)) if r["status"] == "ok"]
    test = [r for r in sweep if r["model"] in zoo]
    tables = {"table's columns": test,
              "corun's graphs": [{"model": r["model"], "family": r["family"], "zoo": zoo[r["model"]], "batch": r["batch"],
                                  "img_px": PIXELS_OF_SWEEP, "gpu_type": "A100-40GB", "phase": "train"} for r in test]}
    lines = ["graphs,models,jobs,mape_pct,median_pct"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        write_csv(folder / "fit.csv", [r for r in sweep if r["model"] not in zoo], list(sweep[0]))
        run(corun, "predictor", "fit", "--target", "memory", "--jobs", folder / "fit.csv", "--out", folder / "m.predictor")
        for name, rows in tables.items():
            write_csv(folder / "test.csv", rows, list(rows[0]))
            run(corun, "predictor", "apply", "--model", folder / "m.predictor", "--jobs", folder / "test.csv", "--out",
                folder / "p.csv", "--force")
            errors = sorted(100 * abs(float(p["pred"]) / float(r["mem_mib"]) - 1)
                            for p, r in zip(csv.DictReader(open(folder / "p.csv")), test))
            lines.append("%s,%d,%d,%.1f,%.1f" % (name, len({r["model"] for r in test}), len(test),
                                                 sum(errors) / len(errors), errors[len(errors) // 2]))
    text = "\n".join(lines) + "\n"
    (out / "own_graphs.csv").write_text(text)
    return text


# CARMA's names of models that the sweep has too, on a later software stack.
CARMA = {"mobilenet": "mobilenetv2_100", "vgg": "vgg16", "resnet50": "resnet50", "Inception": "inception_v3",
         "Xception": "xception"}
KNOWN_BATCHES = [8, 16, 32, 64, 128]
DRAWS = 15    # of single rows


def held_out_models(sweep):
    """A fifth of the models of timm's sweep, drawn at random."""
    models = sorted({r["model"] for r in sweep})
    random.Random(1).shuffle(models)
    return set(models[::5])


def read_cnn(data):
    csv.field_size_limit(1 << 30)    # lists of layers
    return list(csv.DictReader(open(data / CNN, newline="")))


def cnn_architecture(row):
    return re.search("arch:([a-z]+)", row["Filename"]).group(1)


def is_measured_cnn(row):
    return row["Status"] == "SUCCESSFUL" and float(row["Depth"]) > 0 and float(row["Max GPU Memory (MiB)"]) >= 1200


def carma_jobs(data, sweep):
    """Jobs of the sweep that CARMA measured, with its memory."""
    measured = {}
    for r in csv.DictReader(open(data / JOBS / "carma/carma_jobs.csv")):
        if r["batch"]:
            measured[(CARMA.get(r["Model"]), int(float(r["batch"])))] = r["max_memory_used_mb"]
    return [{**r, "mem_mib": measured[key], "status": "ok"} for r in sweep
            if (key := (r["model"], int(r["batch"]))) in measured]


def probes(corun, data, out):
    """What a few measured jobs add (`predictor apply --seen`): the same jobs predicted without and with them. The jobs
    given are never scored."""
    sweep = list(csv.DictReader(open(data / TIMM)))
    ok = [r for r in sweep if r["status"] == "ok"]
    cnn = read_cnn(data)
    lines = ["jobs,known,draws,scored,mape_before_pct,mape_after_pct,coverage_before_pct,coverage_after_pct"]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)

        def fit(rows):
            write_csv(folder / "fit.csv", rows, list(rows[0]))
            run(corun, "predictor", "fit", "--target", "memory", "--jobs", folder / "fit.csv", "--out",
                folder / "m.predictor", "--force")

        def applied(rows, seen, value):
            write_csv(folder / "test.csv", rows, list(rows[0]))
            write_csv(folder / "seen.csv", seen, list(rows[0]))
            run(corun, "predictor", "apply", "--model", folder / "m.predictor", "--jobs", folder / "test.csv", "--out",
                folder / "p.csv", "--force", *(["--seen", folder / "seen.csv"] if seen else []))
            return [(abs(float(p["pred"]) / float(p[value]) - 1), float(p["pred_lo"]) <= float(p[value]) <= float(p["pred_hi"]))
                    for p in csv.DictReader(open(folder / "p.csv", newline=""))]

        def score(name, known, draws, value="mem_mib"):
            """draws: pairs of the rows given and those scored."""
            found = [[], []]
            for seen, rows in draws:
                found[0] += applied(rows, [], value)
                found[1] += applied(rows, seen, value)
            mean = lambda k, which: 100 * sum(x[which] for x in found[k]) / len(found[k])
            lines.append("%s,%s,%d,%d,%.1f,%.1f,%.0f,%.0f" % (name, known, len(draws), len(found[0]), mean(0, 0), mean(1, 0),
                                                            mean(0, 1), mean(1, 1)))

        held_out = held_out_models(sweep)
        fit([r for r in sweep if r["model"] not in held_out])
        test = [r for r in ok if r["model"] in held_out]
        for batch in KNOWN_BATCHES:
            seen = [r for r in test if int(r["batch"]) == batch]
            known = {r["model"] for r in seen}
            score("timm: other batches of the models", f"batch {batch}",
                  [(seen, [r for r in test if r["model"] in known and int(r["batch"]) != batch])])
        for count in (1, 2, 5):
            draws = []
            for draw in range(DRAWS):
                seen = random.Random(draw).sample(test, count)
                known = {r["model"] for r in seen}
                draws.append((seen, [r for r in test if r["model"] not in known]))
            score("timm: other models", count, draws)

        for held_out in sorted({cnn_architecture(r) for r in cnn}):
            fit([r for r in cnn if cnn_architecture(r) != held_out])
            test = [r for r in cnn if cnn_architecture(r) == held_out and is_measured_cnn(r)]
            for count in (1, 5):
                draws = []
                for draw in range(DRAWS):
                    chosen = set(random.Random(draw).sample(range(len(test)), count))
                    draws.append(([test[i] for i in chosen], [r for i, r in enumerate(test) if i not in chosen]))
                score(f"CNN: rest of the architecture {held_out}", count, draws, "Max GPU Memory (MiB)")

        test = carma_jobs(data, sweep)
        fit([r for r in sweep if r["model"] not in CARMA.values()])
        for count in (1, 2):
            score("CARMA's stack, fitted to timm's", count,
                  [(list(seen), [r for r in test if r not in seen]) for seen in itertools.combinations(test, count)])
    text = "\n".join(lines) + "\n"
    (out / "probes.csv").write_text(text)
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
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path(__file__).parents[2] / "experiments/predictors")
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
    if options.only in (None, "coverage"):
        print(coverage(options.corun, options.data, options.out, options.threads))
    if options.only in (None, "batches"):
        print(batches(options.corun, options.data, options.out))
    if options.only in (None, "own_graphs"):
        print(own_graphs(options.corun, options.data, options.out))
    if options.only in (None, "probes"):
        print(probes(options.corun, options.data, options.out))
    if options.only in (None, "memory_by_type"):
        print(memory_by_type(options.data, options.out))


if __name__ == "__main__":
    main()
