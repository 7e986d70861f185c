#!/usr/bin/python3
"""Does corun keep its files under kills, failing disks, flipped bits and hostile inputs? docs/reliability.md has what
it promises; `./run soak` runs this for an hour, `./run test` for a minute.

Prints a table of areas. Each finding is one line with the command that repeats its case; exit code 1 if there is
any. A case depends on the seed, its area and its number alone; the time given decides how many cases run. Only
the instants of kills are those of a clock, so a repeated kill may hit another place.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import resource
import sys
import tempfile
import threading
import time

from faults import Faults
from flips import Flips
from kills import Kills
from mutations import Mutations, TraceMutations
from program import CRASH, LOST_FILE, SILENT_CHANGE, Finding, Program, Result

AREAS = [Kills, Faults, Flips, Mutations, TraceMutations]
FINDINGS_SHOWN = 20  # per area
MEMORY_BYTES = 8 << 30  # of each process


class Setup:
    """What an area is made of."""

    def __init__(self, options, area, folder):
        self.program = Program(options.corun)
        self.shim, self.traces_test = options.shim, options.traces_test
        self.folder = folder
        self.shuffle = random.Random(f"{options.seed} {area.name} order").shuffle


class Total:
    def __init__(self):
        self.runs = self.disturbances = 0
        self.findings = collections.Counter()
        self.seconds = 0.0


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corun", type=pathlib.Path, help="the program")
    parser.add_argument("--shim", type=pathlib.Path, help="the library of fail_call.c (area fault)")
    parser.add_argument("--traces-test", type=pathlib.Path, help="the program traces_test (area traces)")
    parser.add_argument("--seconds", type=float, default=3600, help="for all areas together (3600)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[area.name for area in AREAS], help="this area")
    parser.add_argument("--case", type=int, help="with --only: this case")
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)), help="cases at a time (cores)")
    options = parser.parse_args()
    if options.case is not None and not options.only:
        parser.error("--case goes with --only")
    if options.shim:
        options.shim = options.shim.resolve()
    return options


def show_progress(area, total, deadline):
    """One line on a terminal, renewed; the wait may be an hour."""
    if sys.stderr.isatty():
        left = max(0, deadline - time.monotonic())
        found = total.findings.total()
        print(f"\r{area.name}: {total.runs} of {area.cases}, {found} findings, at most {left:.0f} s left\033[K", end="",
              file=sys.stderr, flush=True)


def clear_progress():
    if sys.stderr.isatty():
        print("\r\033[K", end="", file=sys.stderr, flush=True)


def soak(area_type, options, folder, deadline):
    """Runs cases until the deadline; prints findings as they come."""
    began = time.monotonic()
    total = Total()
    folder.mkdir()
    area = area_type(Setup(options, area_type, folder))
    numbers = iter(range(area.cases) if options.case is None else [options.case])
    lock = threading.Lock()

    def work(worker):
        place = folder / f"case{worker}"
        while True:
            with lock:
                case = next(numbers, None)
            if case is None or (time.monotonic() > deadline and total.runs > 0):
                return
            rng = random.Random(f"{options.seed} {area.name} {case}")
            try:
                result = area.run(case, rng, place)
            except Exception as error:  # a fault of corun may look like one of this script
                result = Result(0, [Finding(CRASH, f"the soak itself failed: {error!r}")])
            with lock:
                total.runs += 1
                total.disturbances += result.disturbances
                if result.findings:
                    clear_progress()
                for finding in result.findings:
                    total.findings[finding.kind] += 1
                    if total.findings.total() <= FINDINGS_SHOWN:
                        repeat = f"--only {area.name} --seed {options.seed} --case {case}"
                        print(f"{finding.kind}: {finding.text} [{repeat}]", flush=True)
                show_progress(area, total, deadline)

    with concurrent.futures.ThreadPoolExecutor(options.jobs) as workers:
        for done in [workers.submit(work, worker) for worker in range(options.jobs)]:
            done.result()
    clear_progress()
    total.seconds = time.monotonic() - began
    return area, total


def table(totals, options):
    lines = [["area", "runs", "disturbed by", "crashes", "silent changes", "files lost", "time [s]"]]
    for area, total in totals:
        lines.append([area.name, f"{total.runs} of {area.cases}", f"{total.disturbances} {area.unit}",
                      *[str(total.findings[kind]) for kind in (CRASH, SILENT_CHANGE, LOST_FILE)],
                      f"{total.seconds:.0f}"])
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    text = [" | ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines]
    text.insert(1, "-|-".join("-" * width for width in widths))
    return "\n".join([f"soak: seed {options.seed}, {options.corun}", *text])


def main():
    options = arguments()
    # A mutated number must not take the machine's memory.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    needs = {Faults: options.shim, TraceMutations: options.traces_test}
    areas = [area for area in AREAS if options.only in (None, area.name)]
    for area in [area for area in areas if area in needs and not needs[area]]:
        print(f"area {area.name} is left out: see --help for the file that it needs", file=sys.stderr)
        areas.remove(area)
    end = time.monotonic() + options.seconds
    totals = []
    with tempfile.TemporaryDirectory(prefix="corun-soak-") as name:
        folder = pathlib.Path(name).resolve()
        for number, area in enumerate(areas):
            now = time.monotonic()
            share = area.share / sum(later.share for later in areas[number:])
            totals.append(soak(area, options, folder / area.name, now + share * (end - now)))
    print(table(totals, options))
    return 1 if any(total.findings.total() for _, total in totals) else 0


if __name__ == "__main__":
    sys.exit(main())
