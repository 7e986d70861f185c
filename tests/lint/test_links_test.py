#!/usr/bin/python3
"""Checks that a test program includes only what it says it links, and runs corun only where it says so.

usage: test_links_test.py ROOT LINKS

LINKS has a line per program: its name, libraries, TRUE if it runs corun, and sources, between `|`; tests/CMakeLists.txt
writes it. What a source includes, and what that includes, must lie in a folder of one of the libraries. The file that
tells of running corun is tests/helpers/program.hpp. Exit code 1 with a line for each departure.
"""
import functools
import pathlib
import re
import sys
import tempfile

import rooms_test

INCLUDE = re.compile(r'^\s*#\s*include "([^"]+)"', re.MULTILINE)
FOLDERS = {f"corun_{room}": rooms_test.closure(room) for room in rooms_test.ROOMS}  # a library brings its own
RUNS = "tests/helpers/program.hpp"


def departures(root, lines):
    @functools.cache
    def included(path):
        """What a file includes of the repository, at any depth, with the file that does."""
        found = {}
        for name in INCLUDE.findall((root / path).read_text(errors="replace")):
            if name not in found and (root / name).is_file():
                found[name] = path
                found.update({deep: at for deep, at in included(name).items() if deep not in found})
        return found

    for line in lines:
        program, links, runs, sources = line.split("|")
        allowed = set().union(*(FOLDERS.get(library, set()) for library in links.split())) | {"tests"}
        for source in sources.split():
            for name, at in included(f"tests/{source}").items():
                if name.split("/")[0] not in allowed:
                    yield f"tests/{source}: {program} includes {name} (by {at}), which is in no library of its LINKS"
                if name == RUNS and runs != "TRUE":
                    yield f"tests/{source}: {program} includes {RUNS}, and does not say RUNS_PROGRAM"


def selftest():
    """A tree with one departure of each kind."""
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for path, text in {"sim/a.hpp": "", "policies/p.hpp": '#include "sim/a.hpp"\n', RUNS: "",
                           "tests/good_test.cpp": '#include "sim/a.hpp"\n#include <vector>\n',
                           "tests/deep.hpp": '#include "policies/p.hpp"\n',
                           "tests/bad_test.cpp": f'#include "tests/deep.hpp"\n#include "{RUNS}"\n'}.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        good = list(departures(root, ["sim_test|corun_sim||good_test.cpp", "p_test|corun_policies|TRUE|bad_test.cpp"]))
        bad = list(departures(root, ["sim_test|corun_sim||good_test.cpp bad_test.cpp"]))
    return not good and len(bad) == 2 and "policies/p.hpp (by tests/deep.hpp)" in bad[0] and "RUNS_PROGRAM" in bad[1]


def main():
    if not selftest():
        sys.exit("the check itself does not find what it must")
    lines = [line for line in pathlib.Path(sys.argv[2]).read_text().splitlines() if line]
    found = list(departures(pathlib.Path(sys.argv[1]), lines))
    print("\n".join(found) or f"{len(lines)} programs include what they link")
    sys.exit(1 if found or not lines else 0)


if __name__ == "__main__":
    main()
