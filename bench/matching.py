#!/usr/bin/python3
"""Matching over large queues: its loss, and the time of a scheduling pass.

usage: matching.py [--program PROGRAM] [--update]

Runs bench/matching_bench.cpp (`./run bench` builds it) and prints its tables; --update puts them into
bench/performance.md. Takes some minutes.
"""
import argparse
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench/performance.md"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/bench/matching_bench"))
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    for table in ("loss", "pass"):
        text = subprocess.run([options.program, table], check=True, stdout=subprocess.PIPE, text=True).stdout
        print(text, flush=True)
        if options.update:
            begin, end = f"<!-- matching {table}: begin -->", f"<!-- matching {table}: end -->"
            page = PAGE.read_text()
            PAGE.write_text(re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{text}{end}", page,
                                   flags=re.S))


if __name__ == "__main__":
    main()
