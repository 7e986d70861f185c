#!/usr/bin/env python3
"""Runs this folder's experiment with several beliefs and writes what epsilon teaches and costs into
experiments/epsilon/README.md.

    experiments/epsilon/study.py [--data DIR]    minutes on two cores

Needs the public data sets. The table stands between `<!-- begin epsilon -->` and `<!-- end epsilon -->`.
"""

import argparse
import json
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import with_table, write_or_check  # noqa: E402
from program import run  # noqa: E402

REPO = HERE.parents[1]
PAGE = HERE / "README.md"
BELIEFS = ("low-rank", "measured")
HALVES = {"first half": "measure.skip_last=0.5", "second half": "measure.skip_first=0.5"}


def replay(options, belief, window):
    """label -> the policy's object of `corun replay --format json`."""
    printed = run(options.corun, "replay", HERE / "lucid.yaml", "--data", options.data, "--quiet", "--format", "json",
                  "--set", f"belief.model={belief}", "--set", window)
    return {p["label"]: p for p in json.loads(printed)["policies"]}


def shown(interval):
    """Mean +- half-width of the 95 % interval, percentage points; bold if it excludes 0."""
    half_width = 50 * (interval["hi"] - interval["lo"])
    text = f"{100 * interval['mean']:.1f} +- {half_width:.1f}"
    return f"**{text}**" if interval["lo"] > 0 or interval["hi"] < 0 else text


def table(options):
    lines = ["belief, policy | " + " | ".join(f"ISD vs. random, {half}" for half in HALVES)
             + " | " + " | ".join(f"vs. epsilon 0, {half}" for half in HALVES),
             "---" + "|---:" * (2 * len(HALVES))]
    for belief in BELIEFS:
        halves = [replay(options, belief, window) for window in HALVES.values()]
        for label in halves[0]:
            if label == "random" or (label == "oracle" and belief != BELIEFS[0]):
                continue
            against = [shown(h[label]["versus"]["random"]["isd"]) for h in halves]
            against += ["-" if label in ("epsilon-0", "oracle") else shown(h[label]["versus"]["epsilon-0"]["isd"])
                        for h in halves]
            name = label if label == "oracle" else f"`{belief}`, {label.replace('-', ' ')}"
            lines.append(f"{name} | " + " | ".join(against))
    return "\n".join(lines)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    arguments.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    arguments.add_argument("--data", default=os.environ.get("CORUN_DATA", ""))
    options = arguments.parse_args()
    write_or_check({PAGE: with_table(PAGE.read_text(encoding="utf-8"), "epsilon", table(options))}, False)


if __name__ == "__main__":
    main()
