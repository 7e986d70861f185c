#!/usr/bin/python3
"""Checks the documentation: every block marked `<!-- output of: corun ... -->` equals the output of that
command, and every command in a page runs as printed.

usage: docs_test.py CORUN [--update]

A block is an indented paragraph right after its comment; --update rewrites the blocks in place, and pictures
marked `<!-- figure of: corun ... -->`, for which the command is run with --figure.
A table or paragraph right after `<!-- numbers of: corun ... -->` is written by hand: the command must print
each of its numbers, with the same digits. Commands that need missing
public data sets (NEEDS_DATA; the folder is CORUN_DATA) are skipped and named. So are commands that measure on
a GPU for minutes (NEEDS_GPU); tests/live/ runs them on a fake box.
A command is any other line that begins with four spaces and `corun `, with its continuation lines after a
backslash. It runs in a folder of its own with the program on the PATH and links to examples/ and
experiments/, and must exit with 0; a long one runs with less work (cheaper()). Exit code 1 if a block differs, there
is no block, or a command fails.

Each command runs once, however often the pages have it; those that a study's --check runs, by that alone
(experiments/program.py names them). As many run at a time as there are cores.
"""
import dataclasses
import difflib
import functools
import os
import pathlib
import re
import shlex
import signal
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "experiments"))
from program import CHECKED_BY_STUDIES, side_by_side  # noqa: E402

PAGES = sorted({path.relative_to(ROOT).as_posix() for pattern in
                ("README.md", "docs/*.md", "bench/*.md", "*/README.md", "experiments/*/*.md") for path in ROOT.glob(pattern)})
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
    "experiments/interference/value.yaml": "lucid/lucid_pairs.csv",
    "experiments/schedtune/slices.yaml": "jobs/miso/miso_mig_steps.csv",
    "experiments/interference/learning.yaml": "lucid/lucid_pairs.csv",
    "experiments/jct/ours": "peers/lucid/philly4_d100_all.csv",
    "experiments/peers/gavel": "gavel/simulation_throughputs.json",
    "experiments/epsilon/lucid.yaml": "lucid/lucid_pairs.csv",
    "kb eval features": "alnair/alnair_dataset.csv",
    "kb eval synthetic": "alnair/alnair_dataset.csv",
    "kb eval clusters": "alnair/alnair_dataset.csv",
    "kb eval privacy": "alnair/alnair_dataset.csv",
    "alnair/alnair_dataset.csv": "alnair/alnair_dataset.csv",
    "realruns/shockwave": "realruns/shockwave/trace.csv",
    "serving/mig_latency": "serving/mig_latency_a100_80gb.csv",
    "serving/parvagpu": "serving/parvagpu_latency.csv",
    "requests/azure2023": "requests/azure2023_llm_conv.csv",
}
NEEDS_GPU = re.compile(r"live (corun|run|solo|validate|workload (?!--list))|validate live-out")
# Those that take seconds of CPU time, the dearest first: begun last, one of them would keep a core idle at the end.
DEAR = ["model eval --split all", "kb eval features", "prefitted", "window: 300", "experiments/jct", "predictor eval",
        "--split pairs", "model eval", "examples/beliefs.yaml"]
FITS_BELIEF = re.compile(r"experiments/interference/|examples/beliefs|belief\.model=default")  # for seconds
LIMIT_S = 120  # of a command of a page
RECORDED_LIMIT_S = 800  # of one whose output is recorded: it runs in full


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


@functools.cache
def has_report():
    """Whether the program was built with the page of reports; else it says so before it reads a file."""
    asked = subprocess.run([sys.argv[1], "report", "none.h5"], capture_output=True, text=True, check=False,
                           timeout=LIMIT_S)
    return "without the page of reports" not in asked.stderr


@dataclasses.dataclass
class Done:
    code: int  # exit code; None: the command ran out of time
    out: str
    err: str
    figure: bytes = b""


def run(arguments, limit_s, **given):
    """Ends the command with all that it has started if it runs out of time: a shell's children keep its pipes open."""
    process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, start_new_session=True, **given)
    try:
        out, err = process.communicate(timeout=limit_s)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=limit_s)
        return Done(None, "", "")
    return Done(process.returncode, out, err)


def run_recorded(program, command, has_figure):
    """What it prints and draws: a figure leaves the output as it is, so that one run gives both."""
    with tempfile.TemporaryDirectory() as folder:
        drawn = pathlib.Path(folder) / "figure.svg"
        figure = ["--figure", str(drawn)] if has_figure else []
        done = run([program, *shlex.split(command), *figure, *DATA_FLAG], RECORDED_LIMIT_S, cwd=ROOT)
        if has_figure and done.code == 0:
            done.figure = drawn.read_bytes()
    return done


def recorded():
    """The commands whose output pages have -> whether one has its figure."""
    found = {}
    for page in PAGES:
        text = (ROOT / page).read_text()
        for match in BLOCK.finditer(text):
            found.setdefault(match[2], False)
        for command, _ in NUMBERS.findall(text):
            found.setdefault(command, False)
        for command, _ in FIGURE.findall(text):
            found[command] = True
    return found


def check_recorded(results):
    """Number of recorded commands that fail."""
    wrong = 0
    for command, done in results.items():
        if done.code != 0:
            wrong += 1
            print(f"corun {command}: " + (f"took more than {RECORDED_LIMIT_S} s" if done.code is None else
                                          f"exit {done.code}\n{done.err}"))
    return wrong


def check_figures(results, update):
    """Number of pictures that differ from the program's."""
    wrong = 0
    for page in PAGES:
        path = ROOT / page
        for command, picture in FIGURE.findall(path.read_text()):
            if command not in results:
                continue
            target = path.parent / picture
            if target.exists() and target.read_bytes() == results[command].figure:
                continue
            if update:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(results[command].figure)
                print(f"updated {target.relative_to(ROOT)}")
            else:
                wrong += 1
                print(f"{target.relative_to(ROOT)} is not what the program draws; renew it with --update")
    return wrong


def check_blocks(results, update):
    """Number of pages whose blocks differ from the program's output; 1 if there is no block at all."""
    wrong = checked = 0
    for page in PAGES:
        path = ROOT / page
        text = path.read_text()

        def renewed(match):
            nonlocal checked
            checked += 1
            if match[2] not in results:
                return match[0]
            lines = [("    " + line).rstrip() for line in results[match[2]].out.rstrip("\n").split("\n")]
            return match[1] + "\n" + "\n".join(lines) + "\n\n"

        new = BLOCK.sub(renewed, text)
        if new == text:
            continue
        if update:
            path.write_text(new)
            print(f"updated {page}")
        else:
            wrong += 1
            print(f"{page} is not what the program prints; renew it with {sys.argv[0]} CORUN --update")
            sys.stdout.writelines(difflib.unified_diff(text.splitlines(True), new.splitlines(True), "page", "program"))
    if checked == 0:
        print("no page has output to check")
        wrong += 1
    return wrong


def check_numbers(results):
    """Number of tables and paragraphs with a number that the program does not print."""
    wrong = 0
    for page in PAGES:
        for command, passage in NUMBERS.findall((ROOT / page).read_text()):
            if command not in results:
                continue
            printed = set(NUMBER.findall(results[command].out))
            numbers = NUMBER.findall(passage)
            missing = [number for number in numbers if number not in printed]
            if not numbers or missing:
                wrong += 1
                found = ", ".join(missing) if missing else "no number at all"
                print(f"{page}: corun {command} does not print {found}, which stands in\n{passage}")
    return wrong


def commands():
    """PAGE:LINE and text of every command, without blocks of output."""
    for page in map(ROOT.joinpath, PAGES):
        # Blank lines replace a block, so that line numbers stay.
        text = BLOCK.sub(lambda block: "\n" * block[0].count("\n"), page.read_text())
        for match in COMMAND.finditer(text):
            yield f"{page.relative_to(ROOT)}:{text.count(chr(10), 0, match.start()) + 1}", match[1]


def cheaper(line):
    """The line with less work, for only whether it runs is tested: at most two replications of replays, fits of a tenth
    of the work, and predictors without intervals."""
    if "--coverage" in line:  # needs a thousand replications
        return line
    short = re.sub(r"(\breplications=|--replications )\d{2,}", r"\g<1>2", line)
    if re.match(r"corun replay\b", line) and "--dump-config" not in line:
        if "replications" not in line:
            short += " --set replications=2"
        if FITS_BELIEF.search(line) and "prefitted" not in line:
            short += " --set belief.effort=0.1"
    short = re.sub(r"\bcorun model (fit|eval)\b", r"\g<0> --effort 0.1", short)
    return re.sub(r"\bcorun predictor eval\b", r"\g<0> --medians", short)


def run_command(program, line):
    """Runs a command of a page as a reader does, in a folder with examples/ and experiments/."""
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "bin").mkdir()
        (pathlib.Path(folder) / "bin/corun").symlink_to(program)
        here = pathlib.Path(folder) / "here"
        here.mkdir()
        for name in ["examples", "experiments"]:
            (here / name).symlink_to(ROOT / name)
        environment = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}"}
        return run(["bash", "-c", cheaper(line)], LIMIT_S, cwd=here, env=environment)


def check_commands(results, places):
    """Number of commands that fail; 1 if there is none."""
    if not results:
        print("no command was found in any page")
        return 1
    failed = 0
    for line, done in results.items():
        if done.code == 0:
            continue
        failed += 1
        print(f"{places[line]}: {line}")
        if done.code is None:
            print(f"  took more than {LIMIT_S} s")
        else:
            print(f"  exit {done.code}: {(done.err or done.out).strip()[-1000:]}")
    print(f"{len(results)} commands ran, {failed} failed")
    return failed


def run_all(program):
    """What the recorded commands print, what the commands of pages do, and the places of these."""
    kept = {command: figure for command, figure in recorded().items() if not cannot_run(command)}
    places = {}
    for place, line in commands():
        command = line.removeprefix("corun ")
        if line not in places and command not in kept and line not in CHECKED_BY_STUDIES and not cannot_run(command):
            places[line] = place

    def cost(line):
        return next((i for i, words in enumerate(DEAR) if words in line), len(DEAR))

    jobs = [(command, functools.partial(run_recorded, program, command, figure)) for command, figure in kept.items()]
    jobs += [(line, functools.partial(run_command, program, line)) for line in places]
    jobs.sort(key=lambda job: cost(job[0]))
    results = dict(zip([name for name, _ in jobs], side_by_side(lambda job: job[1](), jobs)))
    return {command: results[command] for command in kept}, {line: results[line] for line in places}, places


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    update = "--update" in sys.argv[2:]
    kept, ran, places = run_all(program)
    failed = check_recorded(kept)
    good = {command: done for command, done in kept.items() if done.code == 0}
    wrong = (failed + check_blocks(good, update) + check_figures(good, update) + check_numbers(good)
             + check_commands(ran, places))
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
