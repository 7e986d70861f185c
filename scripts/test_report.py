#!/usr/bin/env python3
"""Report of the tests: the slowest, the reasons of skipped tests, and last a line with the counts.

usage: test_report.py JUNIT STATUS

JUNIT is the output of `ctest --output-junit`, STATUS its exit status. A test that could not be started
counts as failed; a test that is switched off or skipped itself does not. Tests skipped for the same reason
share one line: `SKIPPED 63 tests: REASON`, or `SKIPPED NAME: REASON` for a single one. ctest has printed
all names before.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree


def skip_reason(output):
    """The first line of the text of GTEST_SKIP, else the last line of output."""
    text = re.search(r"^\S*: Skipped\n(.*?)^\[", output, re.MULTILINE | re.DOTALL)
    lines = (text[1] if text else output).split("\n")
    lines = [line.strip() for line in lines if line.strip(" \t-")]
    if not lines:
        return "no reason given"
    return lines[0 if text else -1]


def main():
    junit, ctest_status = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    tests = list(xml.etree.ElementTree.parse(junit).iter("testcase")) if junit.exists() else []
    passed = failed = 0
    skipped = {}  # names by reason, in the order of the tests
    for test in tests:
        told = test.find("skipped")
        if test.get("status") == "run":
            passed += 1
        elif test.get("status") == "disabled":
            skipped.setdefault("switched off in the source", []).append(test.get("name"))
        elif told is not None and told.get("message", "").startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR")):
            skipped.setdefault(skip_reason(test.findtext("system-out", "")), []).append(test.get("name"))
        else:
            failed += 1
    if ctest_status != 0 and failed == 0:
        failed = 1
        print(f"ctest itself failed (exit {ctest_status}, see above): counted as one failure")
    if tests:
        slowest = max(tests, key=lambda test: float(test.get("time", 0)))
        print(f"slowest test: {slowest.get('name')} ({float(slowest.get('time', 0)):.2f} s)")
    for reason, names in skipped.items():
        print(f"SKIPPED {names[0] if len(names) == 1 else f'{len(names)} tests'}: {reason}")
    count = sum(len(names) for names in skipped.values())
    print(f"{passed} passed, {failed} failed" + (f", {count} skipped" if count else ""))


main()
