#!/usr/bin/python3
"""Writes the checksums of what corun prints and writes, to be compared before and after a change that must alter none.

usage: output_manifest.py CORUN SOURCE > MANIFEST

CORUN is the program, SOURCE the checkout that it was built from. A line is a checksum and a command. The commands: --help
of every word, every list, every YAML file of examples/ and experiments/ with two replications (table, JSON, CSV, results
file, timeline, page), fitted models and predictors, knowledge bases, recommendations, traces, sweeps. Commands that need
public data are run if CORUN_DATA is set. Version, commit and place of the checkout are left out of every text; of a
results file only the tables count.
"""
import concurrent.futures
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import h5py

LIMIT_S = 600
WORDS = {"": ["replay", "sweep", "report", "timeline", "recommend", "predict"], "kb": ["build", "show", "assign", "update", "eval"],
         "model": ["fit", "predict", "suggest", "eval"], "predictor": ["fit", "apply", "eval"],
         "trace": ["info", "convert", "cut", "generate"], "data": ["list", "derive"],
         "live": ["probe", "profile", "solo", "corun", "run", "validate", "workload"]}
LISTS = "policies models traces knowledge experiments gpus keys zoo predictors figures".split()
KINDS = "ensemble factors gp boosted-trees low-rank contention cluster-mean".split()


def tables(path):
    """The checksum of the tables of an HDF5 file."""
    found = hashlib.sha256()

    def add(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.names:
            found.update(name.encode())
            for column in item.dtype.names:
                values = item[column]
                if values.dtype.kind == "O":
                    found.update(repr(values.tolist()).encode())
                else:
                    found.update(values.tobytes())
    with h5py.File(path) as file:
        file.visititems(add)
    return found.hexdigest()


def plain(data, corun):
    """Bytes without what differs between checkouts."""
    text = data.replace(os.fsencode(str(corun)), b"corun").replace(b"experiments/studies/", b"experiments/")
    text = re.sub(rb"\b[0-9a-f]{12}(-dirty)?\b", b"COMMIT", text)
    text = re.sub(rb"(wall|took|in) [0-9.]+ (s|ms|min)\b", b"TIME", text)
    return text


def commands(source):
    """(arguments, files that it writes), in groups whose commands follow each other."""
    yield [(["--help"], [])]
    for group, words in WORDS.items():
        if group:
            yield [([group, "--help"], [])]
        for word in words:
            yield [(([group] if group else []) + [word, "--help"], [])]
    for what in LISTS:
        yield [(["list", what, "--format", form], []) for form in ("table", "json", "csv")]
    yamls = sorted(source.glob("examples/*.yaml")) + sorted(source.glob("experiments/**/*.yaml"))
    for path in yamls:
        name = path.relative_to(source).as_posix().replace("studies/", "").replace("/", "-")[:-5]
        text = path.read_text()
        if "live:" in text or "gpu_types" in name or not re.search(r"^(workload|policies|sweep|belief|world|cluster):", text, re.M):
            continue
        given = [path.as_posix(), "--set", "replications=2", "--quiet"]
        if re.search(r"^sweep:", text, re.M):
            yield [(["sweep", *given, "-o", f"{name}.h5"], [f"{name}.h5"])]
            continue
        yield [(["replay", *given], []), (["replay", *given, "--format", "json"], []),
               (["replay", *given, "--format", "csv"], []), (["replay", *given, "-o", f"{name}.h5"], [f"{name}.h5"]),
               (["timeline", f"{name}.h5", "-o", f"{name}.trace.json"], [f"{name}.trace.json"])]
    yield [(["replay", "--replications", "3", "--figure", "f.svg", "--quiet"], ["f.svg"]),
           (["replay", "--replications", "3", "--quiet", "-o", "r.h5"], ["r.h5"]), (["report", "r.h5", "-o", "r.html"], ["r.html"])]
    for kind in KINDS:
        model = f"{kind}.model"
        yield [(["model", "fit", "--pairs", "examples/mine.corun.csv", "--model", kind, "--out", model], [model]),
               (["model", "predict", "--model", model, "--pairs", "examples/mine.corun.csv", "--out", "p.csv"], ["p.csv"])]
    yield [(["model", "eval", "--model", "gp", "--queues", "20"], [])]
    for kb in ("jrs", "prirect"):
        yield [(["kb", "show", "--kb", kb], []), (["kb", "show", "--kb", kb, "--format", "json"], [])]
        for objective in ("balance", "min-slowdown", "max-packing"):
            yield [(["recommend", "--queue", "jrs-queue", "--kb", kb, "--objective", objective], [])]
    yield [(["predictor", "fit", "--target", "memory", "--jobs", "examples/measured_jobs.csv", "--out", "p"], ["p"]),
           (["predictor", "eval", "--target", "memory", "--jobs", "examples/measured_jobs.csv"], [])]
    yield [(["predict", "--zoo", "resnet50", "--batch", "64", "--gpu", "T4"], [])]
    rates = ["--rates", "examples/gavel_rates.json"]
    columns = ["--columns", "job_id=job,submit_time=submit_s,num_gpus=gpus,duration_min=solo_s*60"]
    for path, more in (("examples/jobs.csv", []), ("examples/gavel.csv", rates), ("examples/log.csv", columns)):
        yield [(["trace", "info", path, *more], []), (["trace", "convert", path, "t.csv", *more], ["t.csv"])]
    yield [(["trace", "generate", "g.csv", "--jobs", "200", "--seed", "3"], ["g.csv"])]
    sweep = ["sweep", "examples/sweep.yaml", "--quiet"]
    yield [([*sweep, "--shard", "1/2", "-o", "a.journal"], []), ([*sweep, "--shard", "2/2", "-o", "b.journal"], []),
           (["sweep", "--merge", "a.journal", "b.journal", "-o", "c.h5"], ["c.h5"]), (["sweep", "--answers", "c.h5"], [])]


def run(number, group, corun, source):
    """Lines of the manifest for one group."""
    lines = []
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        shutil.copytree(source / "examples", folder / "examples")
        for arguments, files in group:
            done = subprocess.run([corun, *arguments, "--threads", "1"] if "--help" not in arguments else [corun, *arguments],
                                  cwd=folder, capture_output=True, timeout=LIMIT_S, check=False)
            shown = " ".join(arguments).replace(f"{source}/", "").replace("experiments/studies/", "experiments/")
            out = plain(done.stdout + b"\0" + done.stderr, corun).replace(os.fsencode(f"{source}/"), b"")
            lines.append(f"{hashlib.sha256(out).hexdigest()[:16]} {done.returncode} {shown}")
            for name in files:
                path = folder / name
                if not path.is_file():
                    found = "absent"
                elif name.endswith(".h5"):
                    found = tables(path)[:16]
                else:
                    found = hashlib.sha256(plain(path.read_bytes(), corun).replace(os.fsencode(f"{source}/"), b"")).hexdigest()[:16]
                lines.append(f"{found} {name} of {shown}")
    return number, lines


def main():
    corun, source = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        asked = [pool.submit(run, i, group, corun, source) for i, group in enumerate(commands(source))]
        for _, lines in sorted(task.result() for task in asked):
            print("\n".join(lines))


if __name__ == "__main__":
    main()
