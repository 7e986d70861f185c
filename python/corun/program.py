"""The command `corun` of an installed package: the program that lies in it."""
import os
import pathlib
import sys

PROGRAM = pathlib.Path(__file__).with_name("bin") / "corun"


def main():
    if not PROGRAM.exists():
        sys.exit(f"corun: {PROGRAM} is missing; install the package again")
    os.execv(PROGRAM, ["corun", *sys.argv[1:]])
