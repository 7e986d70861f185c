#!/usr/bin/python3
"""Checks which folder includes which, and which files may include a library.

usage: rooms_test.py ROOT

Fails on an include that ROOMS does not list, on an entry of ROOMS that no include needs, on a circle between the folders
of a room, on a README.md of a room that names other rooms in its "May include:" line or leaves out a source file of the
room, and on a header of LIBRARIES outside its home. Each departure is a line.
"""
import pathlib
import re
import sys
import tempfile

# What each room may include, besides itself. bench/ and tests/ may include all; experiments/ has no C++.
ROOMS = {
    "sim": [],
    "support": ["sim"],
    "processes": ["sim"],
    "services": ["sim"],
    "traces": ["sim"],
    "models": ["sim"],
    "predictors": ["sim", "support", "traces", "models"],
    "knowledge": ["sim", "support", "traces", "models"],
    "policies": ["sim", "models", "processes"],
    "results": ["sim", "support", "traces", "models", "services"],
    "evaluation": ["sim", "support", "traces", "models", "knowledge", "policies"],
    "runner": ["sim", "support", "traces", "models", "predictors", "knowledge", "policies", "results",
               "services"],
    "live": ["sim", "support", "processes", "traces", "models", "knowledge", "policies", "results", "runner",
             "services"],
    "report": ["sim", "support", "policies", "results", "runner"],
    "cli": ["sim", "support", "traces", "models", "predictors", "knowledge", "policies", "results", "evaluation", "runner",
            "live", "report", "services"],
    "python": ["sim", "support", "models", "policies", "results", "runner"],
}
FREE = ("bench", "tests")
# Files in a room's own folder may include, and be included by, all its folders; these may not include each other in a
# circle. sim/base includes nothing else of sim.
SOURCES = {".hpp", ".h", ".cpp", ".cu", ".cuh", ".inl"}
# A README names each of these files, without its suffix: `job`. Files of one name in several folders of a room have their
# folder in front: `gp/state`. The tables in MEASURED are data as code, named as a folder.
NAMED = {*SOURCES, ".py", ".js", ".mjs"}
MEASURED = "traces/measured/"
# Libraries with a home: the headers, and the files that may include them.
LIBRARIES = {
    "HDF5": (r"(hdf5(_hl)?\.h|H5[A-Za-z]*\.h|hdf5/.*|highfive/.*)", r"results/"),
    "yaml-cpp": (r"yaml-cpp/.*", r"(support|results/export|report|live/jobs)/"),
    "Boost.ProgramOptions": (r"boost/program_options.*", r"cli/"),
    "Boost.Asio": (r"boost/(asio|beast)/.*", r"live/services/"),
    "Boost.Graph": (r"boost/(graph|property_map|pending)/.*", r"(predictors|policies)/"),
    "CUDA": (r"(cuda[A-Za-z0-9_]*\.(h|hpp)|cu(blas|rand|fft|solver|sparse|pti|dnn)[A-Za-z0-9_]*\.h|"
             r"(cuda|cub|thrust|cooperative_groups)/.*|cooperative_groups\.h|device_launch_parameters\.h|"
             r"(driver|vector)_(types|functions)\.h|math_constants\.h|nvml\.h|nvrtc\.h|nvToolsExt\.h|nvtx3/.*)",
             r"(models|live)/"),
    "LEMON": (r"lemon/.*", r"policies/groups/matching[^/]*\.cpp$"),
    "CLP": (r"((Clp|Coin)[A-Za-z]*\.(hpp|h)|coin/.*)", r"policies/shares/linear_program\.cpp$"),
    "CBC": (r"(Cbc|Cgl|Osi)[A-Za-z_]*\.(hpp|h)", r"policies/elastic/sia_program\.cpp$"),
    "NLopt": (r"nlopt\.(hpp|h)", r"models/goodput/step_time_fit\.cpp$"),
    "Qhull": (r"libqhull[a-z_]*/.*", r"models/elastic/triangulation\.cpp$"),
    "XGBoost": (r"xgboost/.*", r"models/learners/(boosting|forest|xgboost_library)\.cpp$"),
    "ONNX": (r"(onnx|google/protobuf)/.*", r"predictors/onnx/[^/]*\.cpp$"),
    "libcurl": (r"curl/.*", r"support/objects/curl_library\.hpp$"),
    "pybind11": (r"(pybind11/.*|Python\.h)", r"python/bindings/"),
}
STANDARD = re.compile(r"[a-z_0-9]+")  # headers of the C++ standard library have neither slash nor suffix
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"\n]+)[>"]', re.MULTILINE)
MAY = re.compile(r"^May include: (.*?)\.(?: |$)", re.MULTILINE)
SPAN = re.compile(r"`([\w./{},-]+)`")
CODE_BLOCK = re.compile(r"^(?: {4}|\t).*$", re.MULTILINE)


def closure(room):
    """The room and all that it may include, at any depth."""
    found = {room}
    for other in ROOMS[room]:
        found |= closure(other)
    return found


def files_of(root, room):
    return sorted(path for path in (root / room).rglob("*") if path.suffix in SOURCES)


def folder_in(room, name):
    """The folder of a room that has the file: sim, sim/base."""
    parts = name.split("/")
    return "/".join(parts[:2]) if len(parts) > 2 else room


def circle(edges):
    """Folders that include each other in a circle; none if there is no circle."""
    done, path = set(), []

    def visit(folder):
        if folder in path:
            return path[path.index(folder):] + [folder]
        if folder in done:
            return None
        path.append(folder)
        for other in sorted(edges.get(folder, ())):
            found = visit(other)
            if found:
                return found
        path.pop()
        done.add(folder)
        return None

    for folder in sorted(edges):
        found = visit(folder)
        if found:
            return found
    return None


def unnamed(root, room, page):
    """The source files of a room, without suffixes, that its README does not name."""
    spans = {re.sub(r"\.(\w+|\{[\w,]+\})$", "", span) for span in SPAN.findall(CODE_BLOCK.sub("", MAY.sub("", page)))}
    ends = {span.split("/")[-1] for span in spans}
    files = {path.relative_to(root).with_suffix("") for path in (root / room).rglob("*") if path.suffix in NAMED}
    files = {path for path in files if not path.as_posix().startswith(MEASURED)}
    stems = [path.name for path in files]
    for path in sorted(files):
        own = [span for span in spans if f"/{path.as_posix()}".endswith(f"/{span}")]
        if stems.count(path.name) == 1:
            named = path.name in ends
        else:
            named = any("/" in span for span in own) or (own and len(path.parts) == 2)
        if not named:
            yield path.as_posix()


def departures(root, rooms=None):
    rooms = ROOMS if rooms is None else rooms
    seen = 0
    for room, allowed in rooms.items():
        used, edges = set(), {}
        for path in files_of(root, room):
            name = path.relative_to(root).as_posix()
            text = path.read_text(errors="replace")
            for found in INCLUDE.finditer(text):
                quote, header = found.groups()
                where = f"{name}:{text.count(chr(10), 0, found.start()) + 1}: includes {header}"
                seen += 1
                other = header.split("/")[0]
                if quote == '"' and other in {*rooms, *FREE}:
                    used.add(other)
                    if other != room and other not in allowed:
                        yield f"{where}, but {room}/ may include only {', '.join([room, *allowed])}"
                    own, target = folder_in(room, name), folder_in(room, header)
                    if other == room and own != target and room not in (own, target):
                        edges.setdefault(own, set()).add(target)
                    if name.startswith("sim/base/") and not header.startswith("sim/base/"):
                        yield f"{where}, but sim/base/ may include only itself and the standard library"
                    continue
                if ".." in header.split("/"):
                    yield f"{where}: write the path from the top folder"
                if room == "sim" and not STANDARD.fullmatch(header):
                    yield f"{where}, but sim/ may include only itself and the standard library"
                for library, (headers, home) in LIBRARIES.items():
                    if re.fullmatch(headers, header) and not re.match(home, name):
                        yield f"{where}, but {library} belongs to files that match {home}"
        for other in sorted(set(allowed) - used):
            yield f"{room}/ may include {other}/ and never does: take it out of ROOMS"
        found = circle(edges)
        if found:
            yield f"{' -> '.join(found)}: folders that include each other in a circle"
        readme = root / room / "README.md"
        page = readme.read_text() if readme.is_file() else ""
        told = MAY.search(page)
        names = re.findall(r"`(\w+)`", told[1]) if told else None
        if names != allowed and not (not allowed and told and told[1] == "nothing"):
            yield (f"{room}/README.md: found {told[0] if told else 'no line `May include:`'}, expected "
                   f"May include: {', '.join(f'`{name}`' for name in allowed) or 'nothing'}.")
        for name in unnamed(root, room, page):
            yield f"{room}/README.md does not name {name}: say there what the file holds"
    if not seen:
        yield f"{root}: no include was found"


def selftest():
    """Each rule can fail, and none fails on a tree that keeps them."""
    rooms = {"sim": [], "traces": ["sim"]}
    good = {"sim/a.hpp": "#include <vector>\n", "sim/base/b.hpp": "#include <cmath>\n",
            "sim/README.md": "May include: nothing.\n`a` `base/b`\n", "traces/README.md": "May include: `sim`.\n`t` `x/t`\n",
            "traces/t.cpp": '#include "sim/a.hpp"\n#include "traces/x/t.hpp"\n', "traces/x/t.hpp": ""}
    bad = {
        "may include only sim": {"sim/c.cpp": '#include "traces/x/t.hpp"\n'},
        "sim/base/ may include only": {"sim/base/b.hpp": '#include "sim/a.hpp"\n'},
        "only itself and the standard library": {"sim/a.hpp": "#include <unistd.h>\n"},
        "belongs to files": {"traces/t.cpp": '#include "sim/a.hpp"\n#include <hdf5.h>\n'},
        "never does": {"traces/t.cpp": ""},
        "in a circle": {"traces/x/t.hpp": '#include "traces/y/u.hpp"\n', "traces/y/u.hpp": '#include "traces/x/t.hpp"\n'},
        "README.md: found": {"traces/README.md": "May include: `sim`, `models`.\n"},
        "sim/README.md does not name sim/base/b": {"sim/README.md": "May include: nothing.\n`a`\n"},
        "traces/README.md does not name traces/x/t": {"traces/README.md": "May include: `sim`.\n`t`\n"},
        "from the top folder": {"traces/x/t.hpp": '#include "../t.hpp"\n'},
        "no include was found": {"sim/a.hpp": "", "sim/base/b.hpp": "", "traces/t.cpp": "", "traces/x/t.hpp": ""},
    }
    for expected, changed in [(None, {}), *bad.items()]:
        with tempfile.TemporaryDirectory() as folder:
            for name, text in {**good, **changed}.items():
                path = pathlib.Path(folder, name)
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text)
            found = list(departures(pathlib.Path(folder), rooms))
        if (expected is None and found) or (expected and not any(expected in line for line in found)):
            return f"{expected}: {found}"
    return None


def main():
    wrong = selftest()
    if wrong:
        sys.exit(f"the check itself does not find what it must: {wrong}")
    found = list(departures(pathlib.Path(sys.argv[1])))
    print("\n".join(found) or f"{len(ROOMS)} rooms include what they may")
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
