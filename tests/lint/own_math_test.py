#!/usr/bin/python3
"""Checks that nothing which results depend on takes exp, log, pow or a trigonometric function of the C library.

usage: own_math_test.py ROOT

The last bits of these differ between processors and versions; those of sim/base/math.hpp do not (docs/design.md, 4.12).
EXCEPTIONS has the files that may take them, each with the reason. Exit code 1 with file:line of each other call, and with
each exception that is none any more. The check is tried first on lines that it must find and on others.
"""
import pathlib
import re
import sys

EXCEPTIONS = {
    "evaluation/paper_sections/regeneration_study.cpp": "the unit of the last printed digit, a power of ten",
    "evaluation/paper_sections/study_section.cpp": "a power of ten, to round a figure for a page",
    "models/knowledge/synthetic.cpp": "a power of ten up to 15, which the product is, too: exact in any library",
    "predictors/onnx/folding.cpp": "powers of constants in a graph: whole numbers, where a shape depends on them",
    "report/report_replay.cpp": "steps of a drawing",
    "runner/replay/replay_columns.cpp": "how many digits of a number are printed",
    "support/charts/svg_scale.cpp": "ticks and places on an axis",
    "support/statistics/log_histogram.cpp": "how long decisions took: no two runs take the same time",
}
FUNCTIONS = "exp exp2 expm1 log log2 log10 log1p pow sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc lgamma tgamma cbrt"
CALL = re.compile(r"(?:\bstd::|(?<![\w.:>]))(?:" + "|".join(FUNCTIONS.split()) + r")f?\s*\(|\bstd::(?:" + "|".join(FUNCTIONS.split()) + r")\b")
BAD = ["a = std::exp(x);", "return pow(2, x);", "std::transform(a, b, c, std::log);", "f(std::cos (x))", "if (log10(x) > 1)"]
GOOD = ["a = math::exp(x);", "// e to the x: exp(x)", "double exp(double x) {", "log.add(1);", "tracer->log(x)", "event_log(x)",
        'note("log(x)");', "a.pow(2)"]
DEFINITION = re.compile(r"\bdouble (?:" + "|".join(FUNCTIONS.split()) + r")\(")


def calls(line):
    """Whether a line calls one of the functions, outside comments and texts."""
    line = re.sub(r'"(?:[^"\\]|\\.)*"', '""', line)
    line = re.sub(r"//.*", "", line)
    line = re.sub(r"\bmath::\w+", "", line)
    return CALL.search(DEFINITION.sub("", line)) is not None


def try_check():
    missed = [line for line in BAD if not calls(line)] + [line for line in GOOD if calls(line)]
    if missed:
        sys.exit(f"the check is wrong about {missed}")


def main():
    try_check()
    root = pathlib.Path(sys.argv[1])
    rooms = [readme.parent for readme in sorted(root.glob("*/README.md")) if "May include:" in readme.read_text(encoding="utf-8")]
    files = [file for room in rooms for file in sorted(room.rglob("*"))
             if file.suffix in (".cpp", ".hpp", ".cu", ".cuh") and file.relative_to(root).as_posix() != "sim/base/math.hpp"]
    if not files:
        sys.exit(f"no room with C++ below {root}")
    bad, excepted = 0, set()
    for file in files:
        name = file.relative_to(root).as_posix()
        for number, line in enumerate(file.read_text(encoding="utf-8").split("\n"), 1):
            if not calls(line):
                continue
            if name in EXCEPTIONS:
                excepted.add(name)
                continue
            bad += 1
            print(f"{name}:{number}: {line.strip()}: results may depend on it; take that of sim/base/math.hpp")
    for name in sorted(set(EXCEPTIONS) - excepted):
        bad += 1
        print(f"{name}: needs no exception any more; remove it")
    print(f"{len(files)} files, {bad} mistakes")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
