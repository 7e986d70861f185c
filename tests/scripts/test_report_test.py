#!/usr/bin/python3
"""What scripts/test_report.py makes of the tests that ctest ran.

usage: test_report_test.py ROOT
"""
import pathlib
import subprocess
import sys
import tempfile

SKIPPED = '<skipped message="{}"/>'
DATA = "t.cpp:7: Skipped\nneeds the public data sets: set CORUN_DATA\nmissing: {}\n\n[  SKIPPED ] T\n"


def case(name, status="notrun", result="", output=""):
    return (f'<testcase name="{name}" status="{status}" time="0.5">{result}'
            f"<system-out>{output}</system-out></testcase>")


def report(cases, status=0):
    with tempfile.TemporaryDirectory() as folder:
        junit = pathlib.Path(folder) / "junit.xml"
        junit.write_text(f'<testsuite>{"".join(cases)}</testsuite>')
        script = pathlib.Path(sys.argv[1]) / "scripts/test_report.py"
        done = subprocess.run([sys.executable, script, junit, str(status)], capture_output=True, text=True, check=True,
                              timeout=60)
    return done.stdout.splitlines()[1:]  # without the slowest test


def expect(found, wanted):
    if found != wanted:
        sys.exit("found:\n" + "\n".join(found) + "\nwanted:\n" + "\n".join(wanted))


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
       ["1 passed, 1 failed"])
expect(report([good], 8)[-1:], ["1 passed, 1 failed"])
expect(report([case("silent", result=code)]), ["SKIPPED silent: no reason given", "0 passed, 0 failed, 1 skipped"])
