#!/usr/bin/python3
"""The speed-up of batch scoring by vector units and cores, over a scalar loop of the same bits.

usage: scoring.py [--program scoring_bench] [--repetitions N] [--update]

Medians of CPU time, interleaved; of wall-clock time with several threads. The table has the nanoseconds per
pair of one thread of the scalar loop (-O3, not vectorised) and the speed-ups over it. --update rewrites the
table in bench/performance.md.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench/performance.md"
BEGIN, END = "<!-- scoring: begin -->", "<!-- scoring: end -->"
LANES = {"scalar": 1, "baseline": 2, "avx2": 4, "avx512": 8}
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", default=str(ROOT / "build/release/bench/scoring_bench"))
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--filter", default="costs|top-partners")
    parser.add_argument("--update", action="store_true")
    options = parser.parse_args()
    out = subprocess.run(
        [options.program, "--benchmark_format=json", f"--benchmark_filter={options.filter}",
         f"--benchmark_repetitions={options.repetitions}", "--benchmark_min_time=0.05",
         "--benchmark_enable_random_interleaving=true"], check=True, capture_output=True, text=True).stdout
    seen = {}
    for entry in json.loads(out)["benchmarks"]:
        if entry["run_type"] != "iteration":
            continue
        if entry.get("error_occurred"):
            raise SystemExit(f"{entry['name']}: {entry['error_message']}")
        threads = re.search("threads=([0-9]+)", entry["run_name"])
        clock = "real_time" if threads and threads[1] != "1" else "cpu_time"
        jobs = re.search("n=([0-9]+)", entry["run_name"])
        pairs = int(jobs[1]) * (int(jobs[1]) - 1) / 2 if jobs else 128 * 128
        seen.setdefault(entry["run_name"], []).append(entry[clock] * NS[entry["time_unit"]] / pairs)
    ns = {name: statistics.median(times) for name, times in seen.items()}
    speed_up = {}  # case -> (threads, instruction set) -> over one scalar thread
    scalar_ns = {}
    for name, took in ns.items():
        parts = name.replace("/real_time", "").split("/")
        threads = next((int(p.split("=")[1]) for p in parts if p.startswith("threads=")), 1)
        lanes = next(p for p in parts if p in LANES)
        what = " ".join(p for p in parts if p not in LANES and not p.startswith("threads="))
        scalar = ns.get(re.sub("threads=[0-9]+", "threads=1", name.replace(f"/{lanes}", "/scalar")))
        if scalar is None:
            continue
        scalar_ns[what] = scalar
        speed_up.setdefault(what, {})[threads, lanes] = scalar / took
    columns = sorted({c for found in speed_up.values() for c in found} - {(1, "scalar")},
                     key=lambda c: (c[0], LANES[c[1]]))
    rows = ["| what | scalar, ns a pair | " + " | ".join(f"{lanes} x {threads}" for threads, lanes in columns) + " |",
            "|---|" + "---:|" * (1 + len(columns))]
    rows += [f"| {what} | {scalar_ns[what]:.3g} | "
             + " | ".join(f"{found[c]:.2f}" if c in found else "-" for c in columns) + " |"
             for what, found in sorted(speed_up.items())]
    text = "\n".join(rows) + "\n"
    print(text, end="")
    if options.update:
        page = PAGE.read_text()
        PAGE.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), f"{BEGIN}\n{text}{END}", page, flags=re.S))


if __name__ == "__main__":
    main()
