#!/usr/bin/env python3
"""Files that corun 0.1 has made (commit 56be46f5e706) are read, or refused in one line that says what to do.

usage: older_files_test.py CORUN

made_by_0.1.tar.xz holds them: the results of a replay and of a sweep, the journal of a sweep that was stopped, a model
file, and a dumped configuration.
"""
import pathlib
import subprocess
import sys
import tarfile
import tempfile

LIMIT_S = 60
HERE = pathlib.Path(__file__).resolve().parent
PAIRS = HERE.parents[1] / "examples" / "mine.corun.csv"


def main():
    program = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as name:
        with tarfile.open(HERE / "made_by_0.1.tar.xz") as archive:
            archive.extractall(name)
        folder = pathlib.Path(name) / "made_by_0.1"

        def corun(*arguments):
            return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, check=False,
                                  timeout=LIMIT_S)

        for shown, arguments in (
                ("", ["timeline", "results.h5", "--output", "t.json"]),
                ("3 replications", ["sweep", "--answers", "sweep.h5"]),
                ("min-slowdown", ["replay", "config.yaml", "--set", "replications=1"]),
                ("6 pairs", ["model", "predict", "--model", "mine.model", "--pairs", PAIRS, "--out", "out.csv"])):
            done = corun(*arguments)
            assert done.returncode == 0, (arguments, done.stderr)
            assert shown in done.stdout + done.stderr, (arguments, done.stdout, done.stderr)
        refused = corun("sweep", "stopped.yaml", "--output", "stopped.h5", "--quiet")
        assert refused.returncode == 2 and refused.stderr.count("\n") == 1, refused.stderr
        assert "was begun by corun 0.1.0 (56be46f5e706)" in refused.stderr, refused.stderr
        assert "go on with what it was begun with, or begin anew with --force" in refused.stderr, refused.stderr
        assert not (folder / "stopped.h5").exists()
    print("five files of 0.1: four read, one refused in one line")


main()
