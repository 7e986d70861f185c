#!/usr/bin/env python3
"""What the default model is worth to a scheduler that meets families of jobs that it has never seen. Writes a table into
experiments/interference/accuracy.md, between `<!-- begin unseen-families -->` and `<!-- end unseen-families -->`.

    python3 experiments/interference/unseen_families.py --data DIR [--corun build/release/corun] [--check]

value.yaml is replayed: queues of 24 jobs drawn from a public table of pairs, whose costs are the measured ones. The belief
knows the pairs of some families only:

    all           of all families: nothing is unseen
    but one       of all families but one, each left out once
    two thirds    the families are dealt into three parts, each left out once
    none          nothing of this table

The gap closed is (ISD of random - ISD of min-slowdown) / (ISD of random - ISD of oracle), means over the replications. The
queues are the same for all beliefs. Its standard error is that over the families or parts left out.

Takes six minutes of CPU time. With --check it writes nothing and exits with 1 if a file would change. Needs only Python 3.
"""

import argparse
import json
import math
import pathlib
import random
import statistics
import sys
import tempfile

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO / "experiments"))

import page  # noqa: E402  (found by the path above)
import program  # noqa: E402
from campaigns import is_measured, read, write  # noqa: E402

PAGE = REPO / "experiments" / "interference" / "accuracy.md"
STUDY = REPO / "experiments" / "interference" / "value.yaml"
TABLES = [  # name, path, column of families, GPU type
    ("Lucid", "lucid/lucid_pairs.csv", "model", "RTX-3090"),
    ("Gavel P100", "gavel/gavel_p100_pairs.csv", "family", "P100-16GB"),
]
PARTS = 3


def isd_by_policy(options, path, gpu, belief):
    """Mean ISD [%] of each policy."""
    out = program.run(options.corun, "replay", STUDY, "--quiet", "--format", "json", "--data", options.data, "--set",
                      f"workload.path={path}", "--set", f"world.path={path}", "--set", f"cluster.gpu_type={gpu}", "--set",
                      f"replications={options.replications}", "--set", f"belief={{{belief}}}")
    return {p["label"]: 100 * p["metrics"]["isd"]["mean"] for p in json.loads(out)["policies"]}


def closed(isd, policy="min-slowdown"):
    return 100 * (isd["random"] - isd[policy]) / (isd["random"] - isd["oracle"])


def with_error(values):
    text = page.num(statistics.mean(values), 0)
    if len(values) > 1:
        text += f" +- {page.num(statistics.stdev(values) / math.sqrt(len(values)), 0)}"
    return text


def lines_of(options, scratch, name, path, family, gpu):
    rows = [r for r in read(options.data / path) if is_measured(r)]
    families = sorted({r[f"{family}_{side}"] for r in rows for side in "ab"})
    dealt = list(families)
    random.Random(1).shuffle(dealt)
    unseen = {
        "all": [set()],
        "but one": [{f} for f in families],
        "two thirds": [set(dealt[part::PARTS]) for part in range(PARTS)],
    }
    lines = []
    for known, left_out in unseen.items():
        isd = []
        for families_out in left_out:
            seen = scratch / "seen.csv"
            write(seen, [r for r in rows if r[f"{family}_a"] not in families_out and r[f"{family}_b"] not in families_out])
            isd.append(isd_by_policy(options, path, gpu, f"model: default, initial: {seen}"))
        lines.append([name, f"{known}, {len(left_out)} times" if len(left_out) > 1 else known, "default",
                      page.num(statistics.mean(i["min-slowdown"] for i in isd)), with_error([closed(i) for i in isd])])
    found = isd_by_policy(options, path, gpu, "initial: prefitted")
    if name == "Lucid":  # prefitted has seen Gavel's
        lines.append([name, "none", "`prefitted`", page.num(found["min-slowdown"]), with_error([closed(found)])])
    lines.append([name, "none", "none: `opposites`", page.num(found["opposites"]), with_error([closed(found, "opposites")])])
    lines.append([name, "none", "none: `random`", page.num(found["random"]), "0"])
    return lines


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corun", default=str(REPO / "build" / "release" / "corun"))
    parser.add_argument("--data", required=True, type=pathlib.Path, help="directory of the public tables")
    parser.add_argument("--replications", type=int, default=100)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        lines = [line for table in TABLES for line in lines_of(options, pathlib.Path(scratch), *table)]
    text = page.with_table(PAGE.read_text(encoding="utf-8"), "unseen-families", page.markdown(
        ["table", "families whose pairs are known", "model of the belief", "min-slowdown's ISD %", "gap closed %"], lines))
    sys.exit(1 if page.write_or_check({PAGE: text}, options.check) and options.check else 0)


if __name__ == "__main__":
    main()
