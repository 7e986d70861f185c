#!/usr/bin/python3
"""What scripts/test_report.py makes of the tests that ctest ran.

usage: test_report_test.py ROOT
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

SKIPPED = '<skipped message="{}"/>'
DATA = "t.cpp:7: Skipped\nneeds the public data sets: set CORUN_DATA\nmissing: {}\n\n[  SKIPPED ] T\n"


def case(name, status="notrun", result="", output=""):
    return (f'<testcase name="{name}" status="{status}" time="0.5">{result}'
            f"<system-out>{output}</system-out></testcase>")


def report(cases, status=0, outcomes=()):
    """Lines of the report; outcomes: (test, list of cases) as run_cases.py writes them."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        (folder / "junit.xml").write_text(f'<testsuite>{"".join(cases)}</testsuite>')
        names = re.findall('testcase name="([^"]*)"', "".join(cases))
        labels = [{"name": "LABELS", "value": ["study", "release"]}]
        (folder / "tests.json").write_text(json.dumps({"tests": [{"name": n, "properties": labels} for n in names]}))
        (folder / "cases").mkdir()
        for test, found in outcomes:
            (folder / "cases" / f"{test}.json").write_text(json.dumps(found))
        script = pathlib.Path(sys.argv[1]) / "scripts/test_report.py"
        done = subprocess.run([sys.executable, script, "release", folder, str(status)], capture_output=True,
                              text=True, check=True, timeout=60)
    return done.stdout.splitlines()


def expect(found, wanted):
    """The first lines and the last ones, around the tables of seconds."""
    tables = next(i for i, line in enumerate(found) if line.startswith("seconds by label"))
    after = next(i for i, line in enumerate(found) if i > tables and not line.startswith((" ", "seconds", "the dearest")))
    if found[:tables] + found[after:] != wanted:
        sys.exit("found:\n" + "\n".join(found) + "\nwanted, around the tables:\n" + "\n".join(wanted))


regular, code = SKIPPED.format("SKIP_REGULAR_EXPRESSION_MATCHED"), SKIPPED.format("SKIP_RETURN_CODE=77")
good = case("good", "run")

# One line for each reason; what names a file of its own does not count as another reason.
expect(report([case("A", result=regular, output=DATA.format("a.csv")), good,
               case("no_slurm", result=code, output="starting\nSKIPPED: no Slurm\n"),
               case("B", result=regular, output=DATA.format("b.csv")),
               case("page", result=code, output="missing: c.csv\nneeds the public data sets: set CORUN_DATA\n"),
               case("off", "disabled")]),
       ["SKIPPED 3 tests: needs the public data sets: set CORUN_DATA",
        "SKIPPED no_slurm: SKIPPED: no Slurm",
        "SKIPPED off: switched off in the source",
        "1 passed, 0 failed, 5 skipped"])

# One that could not be started has failed; so has ctest, whatever it says of tests.
expect(report([good, case("lost", result=SKIPPED.format("Unable to find executable"))], 8),
       ["FAILED, preset release: lost", "1 passed, 1 failed"])
expect(report([good], 8),
       ["ctest itself failed (preset release, exit 8, see above): counted as one failure", "1 passed, 1 failed"])
expect(report([case("silent", result=code)]), ["SKIPPED silent: no reason given", "0 passed, 0 failed, 1 skipped"])


# Cases of a shard count one by one; a shard that failed without a failed case, once.
def ran(name, outcome, seconds=1.0, text=""):
    return {"case": name, "outcome": outcome, "seconds": seconds, "text": text}


found = report([case("sim_test.1of2", "run"), case("sim_test.2of2", "fail"), case("odd.1of1", "fail")], 8,
               [("sim_test.1of2", [ran("T.a", "passed", 2), ran("T.b", "skipped", text=DATA.format("a"))]),
                ("sim_test.2of2", [ran("T.c", "failed", 4)]), ("odd.1of1", [ran("T.d", "passed", 8)])])
expect(found, ["FAILED, preset release: T.c", "FAILED, preset release: odd.1of1",
               "SKIPPED T.b: needs the public data sets: set CORUN_DATA", "2 passed, 2 failed, 1 skipped"])
for line in ("    15.0  study (5 cases)", "     7.0  sim_test, release (3 cases)", "     8.0  T.d, release"):
    if line not in found:
        sys.exit("found:\n" + "\n".join(found) + f"\nwanted the line: {line}")
