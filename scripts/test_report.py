#!/usr/bin/env python3
"""What became of the tests: the slowest, each that was skipped and why, and last a line that counts them.

usage: test_report.py JUNIT STATUS

JUNIT is what `ctest --output-junit` wrote, STATUS its exit status. A test that could not be started counts as
failed; one that is switched off or skipped itself does not.
"""
import pathlib
import re
import sys
import xml.etree.ElementTree


def skip_reason(output):
    """The text of GTEST_SKIP, else the last line of output."""
    text = re.search(r"^\S*: Skipped\n(.*?)^\[", output, re.MULTILINE | re.DOTALL)
    lines = (text[1] if text else output).split("\n")
    lines = [line.strip() for line in lines if line.strip(" \t-")]
    return " ".join(lines if text else lines[-1:]) or "no reason given"


def main():
    junit, ctest_status = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    tests = list(xml.etree.ElementTree.parse(junit).iter("testcase")) if junit.exists() else []
    passed = failed = 0
    skipped = []
    for test in tests:
        told = test.find("skipped")
        if test.get("status") == "run":
            passed += 1
        elif test.get("status") == "disabled":
            skipped.append((test.get("name"), "switched off in the source"))
        elif told is not None and told.get("message", "").startswith(("SKIP_RETURN_CODE", "SKIP_REGULAR")):
            skipped.append((test.get("name"), skip_reason(test.findtext("system-out", ""))))
        else:
            failed += 1
    if ctest_status != 0 and failed == 0:
        failed = 1
        print(f"ctest itself failed (exit {ctest_status}, see above): counted as one failure")
    if tests:
        slowest = max(tests, key=lambda test: float(test.get("time", 0)))
        print(f"slowest test: {slowest.get('name')} ({float(slowest.get('time', 0)):.2f} s)")
    for name, reason in skipped:
        print(f"SKIPPED {name}: {reason}")
    print(f"{passed} passed, {failed} failed" + (f", {len(skipped)} skipped" if skipped else ""))


main()
