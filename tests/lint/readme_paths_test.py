#!/usr/bin/python3
"""Checks that every file named in a page of the documentation exists.

usage: readme_paths_test.py [ROOT]

It checks links to files and code spans that look like a path of the repository: two or more parts, the first
of them a folder in the top folder, models/ or the page's folder. A span may omit the extension
(`runner/config/config_keys`) or have a `*`. Exit code 1 with page, line and name of each missing file.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
if ROOT.is_file():
    ROOT = ROOT.parents[2]
SPAN = re.compile(r"`([\w.*-]+(?:/[\w.*-]+)+/?)`")
LINK = re.compile(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)")
CODE = (".cpp", ".hpp", ".py", ".sh", ".cmake")  # such a path is one of the repository, whatever its folder
BENCHMARKS = ("knowledge/observe",)  # names in tables of timings, not files
DATA = ("elastic/sia", "elastic/pollux")  # folders of the data directory
BASES = [ROOT, ROOT / "models"]


def is_there(base, path):
    return any(base.glob(path.rstrip("/"))) or any(base.glob(path.rstrip("/") + ".*"))


def missing(page):
    bases = [page.parent, *BASES]
    for number, line in enumerate(page.read_text().splitlines(), 1):
        for path in SPAN.findall(line):
            first = path.split("/")[0]
            homes = [base for base in bases if (base / first).is_dir()]
            if path.startswith((*BENCHMARKS, *DATA)) or first in ("build", ".."):  # a build's output, or outside
                continue
            if not homes and not path.endswith(CODE):
                continue
            if not any(is_there(base, path) for base in homes):
                yield number, path
        for path in LINK.findall(line):
            if not (page.parent / path).exists():
                yield number, path


def main():
    pages = [p for p in ROOT.rglob("*.md") if "build" not in p.relative_to(ROOT).parts]
    found = [f"{page.relative_to(ROOT)}:{number}: there is no {path}" for page in sorted(pages)
             for number, path in missing(page)]
    print("\n".join(found))
    print(f"{len(pages)} pages, {len(found)} names of what is not there")
    return 1 if found or not pages else 0


sys.exit(main())
