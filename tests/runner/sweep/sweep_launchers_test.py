#!/usr/bin/python3
"""The files of `corun sweep --launcher`, run on the engines that are installed: the results are those of one process.

usage: sweep_launchers_test.py CORUN

GNU parallel and Snakemake run for real, and are named where they are not installed. The command of the Kubernetes Job runs as
a pod would run it.
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
