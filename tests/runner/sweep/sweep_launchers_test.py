#!/usr/bin/python3
"""The files of `corun sweep --launcher`, run on the engines that are installed: the results are those of one process.

usage: sweep_launchers_test.py CORUN

GNU parallel and Snakemake run for real, and are named where they are not installed. The command of the Kubernetes Job runs as
a pod would run it; its manifest fits the schema of the Job API of an npm package, where npm is there and can fetch it.
"""
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

CONFIG = """\
policies: [fcfs, random]
workload: {source: jrs-resampled, jobs: 12, load: 1}
replications: 3
sweep: {grid: {cluster.nodes: [1, 2, 3, 4]}}
"""
LIMIT_S = 300
SCHEMAS = "kubernetes-models@5.1.0"


def schema_folder():
    """A folder with the npm package, kept beside the build; nothing if it cannot be fetched."""
    folder = pathlib.Path(sys.argv[1]).resolve().parent / "kubernetes"
    if (folder / "node_modules" / "kubernetes-models").is_dir():
        return folder
    if shutil.which("npm") is None or shutil.which("node") is None:
        return None
    folder.mkdir(exist_ok=True)
    try:
        fetched = subprocess.run(["npm", "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", SCHEMAS],
                                 capture_output=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return None
    return folder if fetched.returncode == 0 else None


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    skipped = []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "s.yaml").write_text(CONFIG)
        (folder / "hosts").write_text(":\n")

        def run(*command, **options):
            return subprocess.run(command, cwd=folder, check=True, timeout=LIMIT_S, stdin=subprocess.DEVNULL, **options)

        sweep = [program, "sweep", "s.yaml", "--set", "seed=3"]
        run(*sweep, "--output", "whole.h5", "--quiet")
        whole = (folder / "whole.h5").read_bytes()

        def launcher(engine):
            run(*sweep, "--launcher", engine, "--store", f"a store of {engine}", "--tasks", "3", "--output", engine)
            return folder / f"a store of {engine}.h5"

        for engine, command in (("parallel", ["bash", "parallel", "hosts"]),
                                ("snakemake", ["snakemake", "--snakefile", "snakemake", "--cores", "2"])):
            results = launcher(engine)
            if shutil.which(engine) is None:
                skipped.append(engine)
                continue
            run(*command, env={**os.environ, "HOME": str(folder), "PARALLEL_HOME": str(folder)}, capture_output=True)
            assert results.read_bytes() == whole, f"the results by {engine} differ"

        schemas = schema_folder()
        if schemas is None:
            skipped.append(f"the schema of Kubernetes' Job (npm, {SCHEMAS})")
        else:
            check = "kubernetes_job_test.mjs"
            shutil.copy(pathlib.Path(__file__).parent / check, schemas)
            for store in ("a store", "s3://bucket/store"):
                run(*sweep, "--launcher", "kubernetes", "--store", store, "--output", "job.json")
                run("node", str(schemas / check), str(folder / "job.json"))
                (folder / "job.json").unlink()

        results = launcher("kubernetes")
        container = json.loads((folder / "kubernetes").read_text())["spec"]["template"]["spec"]["containers"][0]
        for index in range(2):
            run(*container["command"], env={**os.environ, "JOB_COMPLETION_INDEX": str(index)}, capture_output=True)
        run(program, "sweep", "--merge", str(results)[:-3], "--output", str(results), "--quiet")
        assert results.read_bytes() == whole

        for engine in ("slurm", "hyperqueue"):
            launcher(engine)
            run("bash", "-n", engine)
        wrong = subprocess.run([*sweep, "--launcher", "cron", "--store", "s"], cwd=folder, capture_output=True, text=True,
                               timeout=LIMIT_S)
        assert wrong.returncode == 2 and "expected one of slurm, kubernetes" in wrong.stderr, wrong
    print("the launchers' workers give the bytes of one process" +
          (f"; not installed, not run: {', '.join(skipped)}" if skipped else ""))


main()
