#!/usr/bin/env python3
"""Runs cases of a GoogleTest program and writes the outcome of each to a file.

usage: run_cases.py PROGRAM OUTCOMES [--shard I/N] [--filter F] [--alone F] [--limit SECONDS]

OUTCOMES is a JSON file: a list of {case, outcome, seconds, text}; outcome is passed, failed or skipped, text is what
the case printed, if it did not pass. Cases share a process, but those of --alone (a GoogleTest filter) have one each:
they fork, set signal handlers, limits or the environment. Shard I of N has every N-th case, from I on. A case that
ends its process, or that prints nothing for SECONDS, has failed; the cases behind it run in a new process.
Exit code 1 if a case failed, or if no case of the whole program matches a pattern of the filter.
"""
import argparse
import fnmatch
import json
import os
import pathlib
import re
import selectors
import signal
import subprocess
import sys
import time

END = re.compile(r"^\[ *(OK|FAILED|SKIPPED) *\] (\S+?)(?:, where .*)? \((\d+) ms\)$")
OUTCOME = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}


def cases_of(program, pattern):
    """Names of the cases that match a GoogleTest filter, those that are switched off left out."""
    listed = subprocess.run([program, "--gtest_list_tests", f"--gtest_filter={pattern}"], capture_output=True,
                            text=True, check=True, timeout=60).stdout
    suite, cases = "", []
    for line in listed.splitlines():
        name = line.split("#")[0].rstrip()
        if line.startswith("  "):
            cases.append(suite + name.strip())
        elif name.endswith("."):
            suite = name
    return [case for case in cases if "DISABLED_" not in case]


def run(program, cases, limit_s):
    """Outcomes of the cases up to and with the first that ended its process."""
    flags = [f"--gtest_filter={':'.join(cases)}", "--gtest_color=no", "--gtest_brief=0", "--gtest_also_run_disabled_tests=0"]
    outcomes, running, text, began = [], None, [], time.monotonic()

    def ended(outcome, case, seconds):
        outcomes.append({"case": case, "outcome": outcome, "seconds": seconds,
                         "text": "" if outcome == "passed" else "".join(text)})

    with subprocess.Popen([program, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, start_new_session=True) as process:
        reads = selectors.DefaultSelector()
        reads.register(process.stdout, selectors.EVENT_READ)
        rest, hung = b"", False
        while True:
            if not reads.select(timeout=limit_s):
                hung = True
                os.killpg(process.pid, signal.SIGKILL)  # and what it has started
                break
            read = os.read(process.stdout.fileno(), 1 << 16)
            if not read:
                break
            *lines, rest = (rest + read).split(b"\n")
            for raw in lines:
                line = raw.decode(errors="replace")
                if line.startswith("[ RUN      ] "):
                    running, text, began = line[13:], [], time.monotonic()
                    continue
                # What a case prints without a newline stands before the line of its end.
                at = max(line.rfind(mark) for mark in ("[       OK ] ", "[  FAILED  ] ", "[  SKIPPED ] "))
                end = END.match(line[at:]) if at >= 0 and running else None
                if end and end[2] == running:
                    if at > 0:
                        text.append(line[:at] + "\n")
                    ended(OUTCOME[end[1]], running, int(end[3]) / 1000)
                    running, text = None, []
                elif running:
                    text.append(line + "\n")
        status = process.wait(timeout=60)  # its output has ended
    if running:
        text.append(rest.decode(errors="replace") + "\n")
        text.append(f"it printed nothing for {limit_s} s and was killed\n" if hung else
                    f"the process ended in this case, with {describe(status)}\n")
        ended("failed", running, time.monotonic() - began)
    elif status != 0 and not any(o["outcome"] == "failed" for o in outcomes):
        text.append(f"the process ended after its cases, with {describe(status)}\n" + rest.decode(errors="replace"))
        ended("failed", cases[-1] if not outcomes else outcomes.pop()["case"], 0)
    return outcomes


def describe(status):
    return f"signal {-status}" if status < 0 else f"exit code {status}"


def main():
    parse = argparse.ArgumentParser()
    parse.add_argument("program")
    parse.add_argument("outcomes", type=pathlib.Path)
    parse.add_argument("--shard", default="0/1")
    parse.add_argument("--filter", default="*")
    parse.add_argument("--alone", default="")
    parse.add_argument("--limit", type=float, default=300)
    given = parse.parse_args()
    shard, shards = map(int, given.shard.split("/"))

    every = cases_of(given.program, given.filter)
    alone = set(cases_of(given.program, given.alone)) if given.alone else set()
    for pattern in given.filter.split("-")[0].split(":"):
        if not fnmatch.filter(every, pattern or "*"):
            sys.exit(f"{given.program} has no case that matches {pattern}")
    mine = every[shard::shards]
    outcomes = []
    for case in [case for case in mine if case in alone]:
        outcomes += run(given.program, [case], given.limit)
    left = [case for case in mine if case not in alone]
    while left:
        outcomes += run(given.program, left, given.limit)
        done = {outcome["case"] for outcome in outcomes}
        if left[0] not in done:
            sys.exit(f"{given.program} did not run {left[0]}")
        left = [case for case in left if case not in done]

    given.outcomes.parent.mkdir(parents=True, exist_ok=True)
    partial = given.outcomes.with_suffix(".partial")
    partial.write_text(json.dumps(outcomes, indent=1))
    partial.replace(given.outcomes)
    failed = [outcome for outcome in outcomes if outcome["outcome"] == "failed"]
    for outcome in outcomes:
        if outcome["outcome"] == "skipped":
            print(f"skipped: {outcome['case']}")
    for outcome in failed:
        print(f"FAILED: {outcome['case']} ({outcome['seconds']:.2f} s)\n{outcome['text']}")
    print(f"{pathlib.Path(given.program).name} {shard + 1}/{shards}: {len(outcomes) - len(failed)} of {len(outcomes)} "
          f"cases did not fail, {sum(outcome['seconds'] for outcome in outcomes):.1f} s")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
