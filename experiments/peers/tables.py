"""What the scripts of this folder share: their options, and their tables in README.md.

A table stands there between `<!-- NAME: begin -->` and `<!-- NAME: end -->`.
"""
import argparse
import os
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "experiments/peers/README.md"


def options(description):
    """--corun, --data and --update of the command line; ends the program where no data are named."""
    parser = argparse.ArgumentParser(description=description.split("\n")[0])
    parser.add_argument("--corun", default=str(ROOT / "build/release/corun"))
    parser.add_argument("--data", default=os.environ.get("CORUN_DATA"), help="public data sets; default: CORUN_DATA")
    parser.add_argument("--update", action="store_true", help="rewrite the table in README.md")
    given = parser.parse_args()
    if not given.data:
        parser.error("needs the public data sets: set CORUN_DATA or give --data (corun data lists them)")
    return given


def put(name, text):
    """Writes this text as the table NAME of the page; ends the program where there is not one place for it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    page = PAGE.read_text()
    if page.count(begin) != 1 or page.count(end) != 1:
        sys.exit(f"expected one place for the table '{name}' in {PAGE}")
    head, rest = page.split(begin)
    PAGE.write_text(f"{head}{begin}\n{text}\n{end}{rest.split(end)[1]}")
