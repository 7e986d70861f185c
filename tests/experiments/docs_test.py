#!/usr/bin/python3
"""Holds the documentation true: every block that says `<!-- output of: corun ... -->` is what that
command prints.

usage: docs_test.py CORUN [--update]

With --update the blocks are rewritten in place. A block is an indented paragraph right after the
comment. Exit code 1 when one of them differs, or when a page has none left to check.
"""
import difflib
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/models.md"]
BLOCK = re.compile(r"(<!-- output of: corun (.*?) -->\n)\n?((?:(?:    .*)?\n)*?)(?=\S|\Z)")


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    update = "--update" in sys.argv[2:]
    wrong = 0
    for page in PAGES:
        path = ROOT / page
        text = path.read_text()
        checked = 0

        def renewed(match):
            nonlocal checked
            checked += 1
            done = subprocess.run([program, *shlex.split(match[2])], capture_output=True, text=True, cwd=ROOT)
            if done.returncode != 0:
                sys.exit(f"corun {match[2]}: exit {done.returncode}\n{done.stderr}")
            lines = [("    " + line).rstrip() for line in done.stdout.rstrip("\n").split("\n")]
            return match[1] + "\n" + "\n".join(lines) + "\n\n"

        new = BLOCK.sub(renewed, text)
        if checked == 0:
            print(f"{page}: no output to check")
            wrong += 1
        if new == text:
            continue
        if update:
            path.write_text(new)
            print(f"updated {page}")
        else:
            wrong += 1
            print(f"{page} is not what the program prints; renew it with {sys.argv[0]} CORUN --update")
            sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), "page", "program"))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
