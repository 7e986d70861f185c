#!/usr/bin/python3
"""What tests/run_cases.py makes of programs that pass, fail, skip, crash, hang and end by themselves.

usage: run_cases_test.py
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import textwrap

# A program that behaves as GoogleTest does.
PROGRAM = textwrap.dedent("""\
    #!/usr/bin/python3
    import os, sys, time
    CASES = {"Suite.": ["Good", "Bad", "Skips", "Crash", "Hangs", "Leaves", "After"], "Typed/0.": ["Last"]}
    flags = dict(a.lstrip("-").split("=", 1) if "=" in a else (a.lstrip("-"), "") for a in sys.argv[1:])
    asked = flags["gtest_filter"].split(":")
    names = [(s, c) for s in CASES for c in CASES[s] if "*" in asked or s + c in asked or s + "*" in asked]
    if "gtest_list_tests" in flags:
        for suite in CASES:
            if any(s == suite for s, _ in names):
                print(suite + ("  # TypeParam = int" if "/" in suite else ""))
                for s, c in names:
                    if s == suite: print("  " + c)
        sys.exit()
    failed = 0
    for s, c in names:
        print(f"[ RUN      ] {s}{c}", flush=True)
        word = "       OK"
        if c == "Bad": print("x.cpp:1: Failure", flush=True); word = "  FAILED "; failed = 1
        if c == "Skips": print("x.cpp:2: Skipped\\nno data", flush=True); word = "  SKIPPED"
        if c == "Crash": os.abort()
        if c == "Hangs": time.sleep(60)
        if c == "Leaves": print("half a line", end="", flush=True); os._exit(0)
        if c == "After": print("no newline ", end="")
        print(f"[{word} ] {s}{c} (7 ms)", flush=True)
    sys.exit(failed)
    """)


def run(*options):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "fake_test"
        program.write_text(PROGRAM)
        program.chmod(0o755)
        outcomes = pathlib.Path(folder) / "out.json"
        script = pathlib.Path(__file__).resolve().parents[1] / "run_cases.py"
        done = subprocess.run([sys.executable, script, program, outcomes, "--limit", "2", *options],
                              capture_output=True, text=True, timeout=60)
        found = json.loads(outcomes.read_text()) if outcomes.exists() else []
    return done.returncode, {case["case"]: (case["outcome"], case["text"]) for case in found}


def expect(condition, found):
    if not condition:
        sys.exit(f"found: {found}")


status, cases = run()
wanted = {"Suite.Good": "passed", "Suite.Bad": "failed", "Suite.Skips": "skipped", "Suite.Crash": "failed",
          "Suite.Hangs": "failed", "Suite.Leaves": "failed", "Suite.After": "passed", "Typed/0.Last": "passed"}
expect(status == 1 and {case: outcome for case, (outcome, _) in cases.items()} == wanted, cases)
expect("x.cpp:1: Failure" in cases["Suite.Bad"][1], cases)
expect("signal 6" in cases["Suite.Crash"][1] and "printed nothing for 2" in cases["Suite.Hangs"][1], cases)
expect("half a line" in cases["Suite.Leaves"][1] and "exit code 0" in cases["Suite.Leaves"][1], cases)

# Shards have each case once; an unknown filter is an error.
shards = [set(run("--shard", f"{i}/3")[1]) for i in range(3)]
expect(set.union(*shards) == set(wanted) and sum(map(len, shards)) == len(wanted), shards)
status, cases = run("--filter", "Typed/0.*", "--alone", "*")
expect(status == 0 and list(cases) == ["Typed/0.Last"], cases)
expect(run("--filter", "None.*")[0] == 1, "a filter without a case passes")
expect(run("--filter", "Typed/0.*:None.*")[0] == 1, "a pattern without a case passes")
