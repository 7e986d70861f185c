"""Commands that write files, each with its files before, after, and the rule for all that may be there in between:
a target is as before or complete, nothing that was finished is lost, and the command repeated gives the bytes of
an undisturbed run and leaves no other file."""
import json
import pathlib
import re

import journal
from program import LOST_FILE, SILENT_CHANGE, Finding, restore, snapshot

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"

REPLAY = """\
policies: [fcfs, random, min-slowdown]
workload: {source: jrs-resampled, jobs: 30, load: 1}
"""
SWEEP = """\
policies: [fcfs, random, min-slowdown]
workload: {source: jrs-resampled, jobs: 30, load: 1}
sweep: {grid: {cluster.nodes: [1, 2, 4], workload.load: [0.6, 1.2]}}
"""
# What a killed replay had finished is kept aside on purpose, for its user to remove.
KEPT_PARTS = re.compile(r"\.partial\.\d+/part-\d+\.h5$")
OUTPUTS = ["--output", "r.h5", "--figure", "f.svg", "--timeline", "timeline", "--knowledge", "k.csv"]


class Scenario:
    """`arguments`: the command, in a folder with the files `before`. `after`: the files that an undisturbed run
    leaves; those in `untold` hold times and need only be whole JSON."""

    def __init__(self, name, program, folder, before, arguments):
        self.name, self.program, self.before, self.arguments = name, program, before, arguments
        restore(folder, before)
        self.out = program.must(folder, arguments).out
        self.after = snapshot(folder)
        self.untold = {path for path in self.after if path.endswith(".run.json")}

    def begin(self, folder):
        restore(folder, self.before)

    def finished(self, folder):
        """Replications that a journal in the folder keeps; None if there is no journal to keep them."""
        path = pathlib.Path(folder, "r.h5.journal")
        return journal.finished(path.read_bytes()) if path.exists() else None

    def check_between(self, folder, finished_before):
        """Findings about the files after a disturbed run. Temporary files may be there."""
        findings = []
        present = snapshot(folder)
        for path in {**self.before, **self.after}:
            if path.endswith(".journal"):
                continue
            there = [files[path] for files in (self.before, self.after) if path in files]
            if path not in present:
                if path in self.before and path in self.after:
                    findings.append(Finding(LOST_FILE, f"{path} is gone"))
            elif path in self.untold:
                if not is_json(present[path]):
                    findings.append(Finding(LOST_FILE, f"{path} is torn"))
            elif present[path] not in there:
                findings.append(Finding(LOST_FILE, f"{path} is neither as before nor complete "
                                                   f"({len(present[path])} bytes)"))
        if finished_before and present.get("r.h5") != self.after.get("r.h5"):
            now = self.finished(folder) or 0
            if now < finished_before:
                findings.append(Finding(LOST_FILE, f"{finished_before} finished replications were in the journal, "
                                                   f"{now} are left"))
        return findings

    def check_repeated(self, folder):
        """Runs the command undisturbed and gives findings about what it leaves."""
        kept = self.finished(folder)
        complete = pathlib.Path(folder, "r.h5").exists()
        outcome = self.program.run(folder, self.arguments)
        if outcome.code != 0:
            return [Finding(LOST_FILE, f"repeated, {outcome.ending()}: {outcome.err.strip()[-300:]}")]
        present = snapshot(folder)
        findings = [Finding(SILENT_CHANGE, f"repeated, {path} differs from an undisturbed run's")
                    for path in self.after
                    if path not in self.untold and present.get(path) != self.after[path]]
        findings += [Finding(SILENT_CHANGE, f"repeated, {path} is left over")
                     for path in present if path not in self.after and not KEPT_PARTS.search(path)]
        if kept and not complete and not findings:
            counted = json.loads(present["r.h5.run.json"])["replications_kept_from_before"]
            if counted < kept:
                findings.append(Finding(LOST_FILE, f"{kept} finished replications were in the journal, {counted} were "
                                                   "used"))
        return findings


def is_json(content):
    try:
        json.loads(content)
        return True
    except ValueError:
        return False


def scenarios(program, folder, replications, threads):
    """All scenarios. `replications` and `threads`: of sweeps; replays have five times as many replications."""
    folder = pathlib.Path(folder)
    common = ["--threads", threads, "--quiet"]
    replay = [*common, "--set", f"replications={5 * replications}"]
    sweep = ["sweep", "s.yaml", "--output", "r.h5", *common, "--set", f"replications={replications}"]
    files = {"s.yaml": SWEEP.encode(), "r.yaml": REPLAY.encode(),
             **{name: (EXAMPLES / name).read_bytes() for name in ("kb.yaml", "mine.corun.csv")}}

    def made(name, arguments, *paths):
        """Files that a command makes, which the scenarios begin with."""
        restore(folder / name, files)
        program.must(folder / name, arguments)
        present = snapshot(folder / name)
        return {path: present[path] for path in paths or present}

    part = made("part", [*sweep[:3], "part", *sweep[4:], "--shard", "1/1"], "part")["part"]
    half = journal.cut(part, journal.finished(part) // 2, torn=40)
    older = made("older", ["replay", "r.yaml", *OUTPUTS, *replay, "--seed", "7"])
    known = made("known", ["kb", "build", "--coruns", "jrs", "--output", "kb.yaml", "--force"], "kb.yaml")

    def scenario(name, before, arguments):
        return Scenario(name, program, folder / name, before, arguments)

    return [
        scenario("sweep", files, [*sweep, "--resume"]),
        scenario("sweep-continued", {**files, "r.h5.journal": half}, [*sweep, "--resume"]),
        scenario("merge", {**files, "part": part}, ["sweep", "--merge", "part", "--output", "r.h5", "--quiet"]),
        scenario("replay", files, ["replay", "r.yaml", *OUTPUTS, *replay]),
        scenario("replay-replaces", older, ["replay", "r.yaml", *OUTPUTS, *replay, "--force"]),
        scenario("kb-update", {**files, **known}, ["kb", "update", "kb.yaml", "--coruns", "mine.corun.csv", "--quiet"]),
    ]
