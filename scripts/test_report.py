#!/usr/bin/env python3
"""Report of the tests: where the seconds go, the reasons of skipped tests, and last a line with the counts.

usage: test_report.py PRESET FOLDER STATUS [PRESET FOLDER STATUS]...

Three words for each run of ctest: the preset, a folder and the exit status. The folder has `junit.xml`, of `ctest
--output-junit`; `tests.json`, of `ctest --show-only=json-v1`, for the labels, which JUnit files of CMake 3.25 lack; and
`cases`, in which tests/run_cases.py has put the outcomes of GoogleTest cases, by the name of the test. A test without such
a file is a case itself. A test that could not be started counts as failed; one that is switched off or skipped itself does not.
Seconds are those of the cases, summed; two cases at a time take half of it. Cases skipped for the same reason share one
line: `SKIPPED 63 tests: REASON`, or `SKIPPED NAME: REASON` for a single one.
"""
import collections
import json
import pathlib
import re
import sys
import xml.etree.ElementTree

DEAREST = 20


def skip_reason(output):
    """The first line of the text of GTEST_SKIP, else the last line of output."""
    text = re.search(r"^\S*: Skipped\n(.*?)(?:^\[|\Z)", output, re.MULTILINE | re.DOTALL)
    lines = (text[1] if text else output).split("\n")
    lines = [line.strip() for line in lines if line.strip(" \t-")]
    if not lines:
        return "no reason given"
    return lines[0 if text else -1]


def outcome_of(test):
    told = test.find("skipped")
    if test.get("status") == "run":
        return "passed"
    if test.get("status") == "disabled":
        return "off"
    if told is not None and told.get("message", "").startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR")):
        return "skipped"
    return "failed"


def labels_in(file):
    """By the name of a test the label that says what it is, not which build runs it."""
    labels = {}
    for test in json.loads(file.read_text())["tests"] if file.exists() else []:
        words = next((p["value"] for p in test.get("properties", []) if p["name"] == "LABELS"), [])
        labels[test["name"]] = next((word for word in words if word not in ("release", "sanitized", "threads")), "unit")
    return labels


class Seconds:
    """Tables of seconds."""

    def __init__(self):
        self.of = {"label": collections.Counter(), "test program": collections.Counter()}
        self.count = {"label": collections.Counter(), "test program": collections.Counter()}
        self.cases = []

    def add(self, preset, label, program, case, seconds):
        for kind, key in (("label", label), ("test program", f"{program}, {preset}")):
            self.of[kind][key] += seconds
            self.count[kind][key] += 1
        self.cases.append((seconds, f"{case}, {preset}"))

    def show(self):
        for kind, seconds in self.of.items():
            print(f"seconds by {kind}:")
            for key, sum_s in seconds.most_common():
                print(f"{sum_s:8.1f}  {key} ({self.count[kind][key]} cases)")
        print("the dearest cases:")
        for seconds, case in sorted(self.cases, reverse=True)[:DEAREST]:
            print(f"{seconds:8.1f}  {case}")


def main():
    words = sys.argv[1:]
    counts = collections.Counter()
    skipped = {}  # names by reason, in the order of the tests
    table = Seconds()
    for preset, folder, status in zip(*[iter(words)] * 3):
        junit, folder = pathlib.Path(folder, "junit.xml"), pathlib.Path(folder, "cases")
        labels = labels_in(pathlib.Path(folder.parent, "tests.json"))
        tests = list(xml.etree.ElementTree.parse(junit).iter("testcase")) if junit.exists() else []
        failed_before = counts["failed"]
        for test in tests:
            name, outcome = test.get("name"), outcome_of(test)
            file = folder / f"{name}.json"
            if outcome not in ("passed", "failed") or not file.exists():
                cases = [{"case": name, "outcome": outcome, "seconds": float(test.get("time", 0)),
                          "text": test.findtext("system-out", "")}]
            else:
                cases = json.loads(file.read_text())
                if outcome == "failed" and not any(case["outcome"] == "failed" for case in cases):
                    cases.append({"case": name, "outcome": "failed", "seconds": 0, "text": ""})
            for case in cases:
                if case["outcome"] == "off":
                    skipped.setdefault("switched off in the source", []).append(case["case"])
                elif case["outcome"] == "skipped":
                    skipped.setdefault(skip_reason(case["text"]), []).append(case["case"])
                elif case["outcome"] == "failed":
                    print(f"FAILED, preset {preset}: {case['case']}")
                counts[case["outcome"]] += 1
                table.add(preset, labels.get(name, "unit"), name.split(".")[0], case["case"], case["seconds"])
        if int(status) != 0 and counts["failed"] == failed_before:
            counts["failed"] += 1
            print(f"ctest itself failed (preset {preset}, exit {status}, see above): counted as one failure")
    table.show()
    for reason, names in skipped.items():
        print(f"SKIPPED {names[0] if len(names) == 1 else f'{len(names)} tests'}: {reason}")
    count = sum(len(names) for names in skipped.values())
    print(f"{counts['passed']} passed, {counts['failed']} failed" + (f", {count} skipped" if count else ""))


if __name__ == "__main__":
    main()
