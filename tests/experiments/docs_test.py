#!/usr/bin/python3
"""Checks the documentation: every block marked `<!-- output of: corun ... -->` equals the output of that
command, and every command in a page runs as printed.

usage: docs_test.py CORUN [--update]

A block is an indented paragraph right after its comment; --update rewrites the blocks in place, and pictures
marked `<!-- figure of: corun ... -->`, for which the command is run with --figure.
A table or paragraph right after `<!-- numbers of: corun ... -->` is written by hand: the command must print
each of its numbers, with the same digits. Commands that need missing
public data sets (NEEDS_DATA; the folder is CORUN_DATA) are skipped and named. So are commands that measure on
a GPU for minutes (NEEDS_GPU); tests/experiments/live/ runs them on a fake box.
A command is any other line that begins with four spaces and `corun `, with its continuation lines after a
backslash. It runs in a folder of its own with the program on the PATH and links to examples/ and
experiments/, and must exit with 0. Exit code 1 if a block differs, a page has no block, or a command fails.
"""
import concurrent.futures
import difflib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["README.md", "docs/models.md", "docs/knowledge.md"]  # have blocks of output
BLOCK = re.compile(r"(<!-- output of: corun (.*?) -->\n)\n?((?:(?:    .*)?\n)*?)(?=\S|\Z)")
FIGURE = re.compile(r"<!-- figure of: corun (.*?) -->\n!\[[^\]]*\]\((.*?)\)")
NUMBERS = re.compile(r"<!-- numbers of: corun (.*?) -->\n\n?((?:.+\n)+)")
NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?!\w)")
COMMAND = re.compile(r"^    (corun (?:.*\\\n)*.*?)(?:\s+#.*)?$", re.MULTILINE)
DATA = pathlib.Path(os.environ["CORUN_DATA"]) if os.environ.get("CORUN_DATA") else None
DATA_FLAG = ["--data", str(DATA)] if DATA and DATA.is_dir() else []
NEEDS_DATA = {  # data that are not part of the repository
    "--pairs lucid": "lucid/lucid_pairs.csv",
    "lucid/lucid_pairs.csv": "lucid/lucid_pairs.csv",
    "experiments/studies/interference/value.yaml": "lucid/lucid_pairs.csv",
    "experiments/studies/schedtune/slices.yaml": "jobs/miso/miso_mig_steps.csv",
    "experiments/studies/interference/learning.yaml": "lucid/lucid_pairs.csv",
    "experiments/studies/jct/ours": "peers/lucid/philly4_d100_all.csv",
    "experiments/studies/peers/gavel": "gavel/simulation_throughputs.json",
    "experiments/studies/epsilon/lucid.yaml": "lucid/lucid_pairs.csv",
    "kb eval features": "alnair/alnair_dataset.csv",
    "kb eval synthetic": "alnair/alnair_dataset.csv",
    "kb eval clusters": "alnair/alnair_dataset.csv",
    "kb eval privacy": "alnair/alnair_dataset.csv",
    "alnair/alnair_dataset.csv": "alnair/alnair_dataset.csv",
}
NEEDS_GPU = re.compile(r"live (corun|run|solo|validate|workload (?!--list))")
LIMIT_S = 120


def cannot_run(command):
    """Prints a line and returns True if the command needs a missing data set, a GPU or the page of reports."""
    for words, file in NEEDS_DATA.items():
        if words in command and not (DATA and (DATA / file).exists()):
            print(f"SKIPPED because {file} is missing: corun {command}")
            return True
    if NEEDS_GPU.match(command):
        print(f"SKIPPED, since it measures on a GPU: corun {command}")
        return True
    if "corun report " in command and not has_report():
        print(f"SKIPPED, since this program was built without the page of reports: corun {command}")
        return True
    return False


def has_report():
    """Whether the program was built with the page of reports; else it says so before it reads a file."""
    asked = subprocess.run([sys.argv[1], "report", "none.h5"], capture_output=True, text=True, check=False)
    return "without the page of reports" not in asked.stderr


def check_figures(program, update):
    """Number of pictures that differ from the program's."""
    wrong = 0
    for page in PAGES:
        path = ROOT / page
        for command, picture in FIGURE.findall(path.read_text()):
            if cannot_run(command):
                continue
            target = path.parent / picture
            with tempfile.TemporaryDirectory() as folder:
                drawn = pathlib.Path(folder) / "figure.svg"
                arguments = [*shlex.split(command), "--figure", str(drawn), *DATA_FLAG]
                subprocess.run([program, *arguments], capture_output=True, check=True, cwd=ROOT)
                bytes_now = drawn.read_bytes()
            if target.exists() and target.read_bytes() == bytes_now:
                continue
            if update:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(bytes_now)
                print(f"updated {target.relative_to(ROOT)}")
            else:
                wrong += 1
                print(f"{target.relative_to(ROOT)} is not what the program draws; renew it with --update")
    return wrong


def check_blocks(program, update):
    """Number of pages whose blocks differ from the program's output or that have none."""
    wrong = 0
    for page in PAGES:
        path = ROOT / page
        text = path.read_text()
        checked = 0

        def renewed(match):
            nonlocal checked
            checked += 1
            if cannot_run(match[2]):
                return match[0]
            arguments = [*shlex.split(match[2]), *DATA_FLAG]
            done = subprocess.run([program, *arguments], capture_output=True, text=True, cwd=ROOT)
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
    return wrong


def check_numbers(program):
    """Number of tables and paragraphs with a number that the program does not print."""
    wrong = 0
    printed = {}
    for page in PAGES:
        for command, passage in NUMBERS.findall((ROOT / page).read_text()):
            if cannot_run(command):
                continue
            if command not in printed:
                done = subprocess.run([program, *shlex.split(command), *DATA_FLAG], capture_output=True, text=True,
                                      check=True, cwd=ROOT)
                printed[command] = set(NUMBER.findall(done.stdout))
            numbers = NUMBER.findall(passage)
            missing = [number for number in numbers if number not in printed[command]]
            if not numbers or missing:
                wrong += 1
                found = ", ".join(missing) if missing else "no number at all"
                print(f"{page}: corun {command} does not print {found}, which stands in\n{passage}")
    return wrong


def commands():
    """PAGE:LINE and text of every command, without blocks of output."""
    for page in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md")), *sorted(ROOT.glob("*/README.md"))]:
        # Blank lines replace a block, so that line numbers stay.
        text = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), page.read_text())
        for match in COMMAND.finditer(text):
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", match[1]


def run_command(program, place, line):
    """The failure of this line, or None."""
    short = line
    if re.match(r"corun replay\b", line) and "replications" not in line and "--dump-config" not in line:
        short += " --set replications=2"  # only whether it runs is tested
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "bin").mkdir()
        (pathlib.Path(folder) / "bin/corun").symlink_to(program)
        here = pathlib.Path(folder) / "here"
        here.mkdir()
        for name in ["examples", "experiments"]:
            (here / name).symlink_to(ROOT / name)
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "CORUN_DATA": str(DATA)}
        try:
            done = subprocess.run(["bash", "-c", short], capture_output=True, text=True, cwd=here, env=environment,
                                  timeout=LIMIT_S, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return f"{place}: {line}\n  took more than {LIMIT_S} s"
    if done.returncode != 0:
        return f"{place}: {line}\n  exit {done.returncode}: {(done.stderr or done.stdout).strip()[-1000:]}"
    return None


def check_commands(program):
    """Number of commands that fail; 1 if there is none."""
    seen = {}
    for place, line in commands():
        if line not in seen and not cannot_run(line.removeprefix("corun ")):
            seen[line] = place
    if not seen:
        print("no command was found in any page")
        return 1
    with concurrent.futures.ThreadPoolExecutor(max_workers=4) as pool:
        results = pool.map(lambda item: run_command(program, item[1], item[0]), seen.items())
        problems = [problem for problem in results if problem]
    for problem in problems:
        print(problem)
    print(f"{len(seen)} commands ran, {len(problems)} failed")
    return len(problems)


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    update = "--update" in sys.argv[2:]
    wrong = (check_blocks(program, update) + check_figures(program, update) + check_numbers(program)
             + check_commands(program))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
