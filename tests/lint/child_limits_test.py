#!/usr/bin/python3
"""Checks that no program started by a Python file of tests/, experiments/ or scripts/ can run for ever.

usage: child_limits_test.py ROOT

subprocess.run, check_output, check_call and call, and wait() and communicate() of a process, need a `timeout=` other
than None; os.system, subprocess.getoutput and getstatusoutput have no limit. Only names tell a process from what else can
wait(), so that needs a limit, too. Exit code 1 with file:line of each call that lacks one. The check is tried first on
calls that it must find, and on others that it must leave alone.
"""
import ast
import pathlib
import sys

FOLDERS = ["tests", "experiments", "scripts"]
OF_SUBPROCESS = {"run", "check_output", "check_call", "call"}
WITHOUT_LIMIT = {"getoutput", "getstatusoutput"}
OF_A_PROCESS = {"wait": 0, "communicate": 1}  # -> place of the limit among the arguments
NO_PROCESS = {"os", "asyncio", "concurrent.futures"}  # modules with a wait()

BAD = """
import subprocess
import subprocess as sp
from subprocess import check_output as output, run
subprocess.run(["a"])
subprocess.run(["a"], check=True,
               timeout=None)
subprocess.check_call(["a"])
sp.call(["a"])
output(["a"])
run(["a"], **options)
process.wait()
process.communicate(b"in")
self.processes[0].wait()
subprocess.Popen(["a"]).communicate()[0]
subprocess.getoutput("a")
os.system("a")
"""
GOOD = """
import os
import subprocess
subprocess.run(["a"], check=True, timeout=5)
process.wait(timeout=LIMIT_S)
process.wait(5)
process.communicate(timeout=5)
process.communicate(None, 5)
subprocess.Popen(["a"])
program.run(corun, "a")
os.wait4(process.pid, os.WNOHANG)
concurrent.futures.wait(futures)
"""


def names_of_subprocess(tree):
    """What the file calls the module, and its functions: name -> the function's own name."""
    modules, functions = set(), {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            modules |= {a.asname or a.name for a in node.names if a.name == "subprocess"}
        elif isinstance(node, ast.ImportFrom) and node.module == "subprocess":
            functions |= {a.asname or a.name: a.name for a in node.names}
    return modules, functions


def is_limited(call, place=None):
    """Whether it has a time limit, by name or as the argument at this place."""
    given = [k.value for k in call.keywords if k.arg == "timeout"]
    if place is not None:
        given += call.args[place:place + 1]
    return any(not (isinstance(value, ast.Constant) and value.value is None) for value in given)


def unlimited(text):
    """Line and name of each call that may wait for ever."""
    tree = ast.parse(text)
    modules, functions = names_of_subprocess(tree)
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        if isinstance(call.func, ast.Name):
            of, name = "subprocess", functions.get(call.func.id)
        elif isinstance(call.func, ast.Attribute):
            of, name = ast.unparse(call.func.value), call.func.attr
            of = "subprocess" if of in modules else of
        else:
            continue
        if of == "subprocess":
            bad = name in WITHOUT_LIMIT or (name in OF_SUBPROCESS and not is_limited(call))
        elif name in OF_A_PROCESS and of not in NO_PROCESS:
            bad = not is_limited(call, OF_A_PROCESS[name])
        else:
            bad = (of, name) == ("os", "system")
        if bad:
            yield call.lineno, f"{ast.unparse(call.func)}()"


def try_check():
    found = {line for line, _ in unlimited(BAD)}
    # Every line from the first call on, without that on which one goes on.
    wanted = {i for i, line in enumerate(BAD.split("\n"), 1) if line and "import" not in line and line[0] != " "}
    if found != wanted:
        sys.exit(f"the check finds lines {sorted(found)} of its bad example, expected {sorted(wanted)}")
    if found := list(unlimited(GOOD)):
        sys.exit(f"the check finds {found} in its good example")


def main():
    try_check()
    root = pathlib.Path(sys.argv[1])
    files = sorted(file for folder in FOLDERS for file in (root / folder).rglob("*.py"))
    if not files:
        sys.exit(f"no Python file below {', '.join(FOLDERS)} of {root}")
    bad = 0
    for file in files:
        for line, call in sorted(unlimited(file.read_text(encoding="utf-8"))):
            bad += 1
            print(f"{file.relative_to(root)}:{line}: {call} has no time limit; give it timeout=")
    print(f"{len(files)} files, {bad} calls without a time limit")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
