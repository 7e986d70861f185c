"""One flipped bit, at every byte of the files that corun keeps."""
import json
import pathlib

import journal
from program import CRASH, SILENT_CHANGE, Finding, Result, restore, snapshot
from scenarios import EXAMPLES

SWEEP = b"""\
policies: [fcfs, random]
workload: {source: jrs-resampled, jobs: 10, load: 1}
replications: 4
sweep: {grid: {cluster.nodes: [1, 2]}}
"""
REPLAY = b"""\
policies: [random, min-slowdown]
workload: {source: csv, path: jobs.csv}
cluster: {nodes: 1, gpus_per_node: 2}
replications: 2
"""
QUIET = ["--threads", 1, "--quiet"]


class Reading:
    """A command that reads `target`; `before`: all files it needs; `writes`: the file of its answer, or None for
    stdout."""

    def __init__(self, program, folder, target, before, arguments, writes=None):
        self.target, self.before, self.arguments, self.writes = target, before, arguments, writes
        restore(folder, before)
        out = program.must(folder, arguments).out
        self.answer = self.written(folder) or out

    def written(self, folder):
        return pathlib.Path(folder, self.writes).read_bytes() if self.writes else None


class Flips:
    name, unit, share = "flip", "flipped bits", 5

    def __init__(self, setup):
        self.program = program = setup.program
        folder = setup.folder / "flips"
        files = {"s.yaml": SWEEP, "r.yaml": REPLAY,
                 **{name: (EXAMPLES / name).read_bytes() for name in ("jobs.csv", "kb.yaml", "mine.corun.csv")}}
        restore(folder, files)
        program.must(folder, ["sweep", "s.yaml", "--output", "r.h5", *QUIET])
        program.must(folder, ["sweep", "s.yaml", "--shard", "1/1", "--output", "part", *QUIET])
        program.must(folder, ["model", "fit", "--model", "gp", "--pairs", "mine.corun.csv", "--out", "gp.model"])
        program.must(folder, ["kb", "build", "--coruns", "mine.corun.csv", "--output", "kb.yaml", "--force"])
        made = snapshot(folder)
        part, results, model = made["part"], made["r.h5"], made["gp.model"]
        kb = made["kb.yaml"]
        sweep = ["sweep", "s.yaml", "--output", "r.h5", "--threads", 1]
        replay = ["replay", "r.yaml", "--format", "csv", *QUIET]  # JSON has the digest of the file

        def reading(target, content, arguments, **rest):
            return Reading(program, folder, target, {**files, target: content}, arguments, **rest)

        self.half = journal.finished(part) // 2 + 1
        self.readings = [
            (2, reading("r.h5.journal", journal.cut(part, self.half), sweep, writes="r.h5")),
            (1, reading("part", part, ["sweep", "--merge", "part", "--output", "m.h5", "--quiet"], writes="m.h5")),
            (1, reading("r.h5", results, ["sweep", "--answers", "r.h5", "--format", "json"])),
            (0.2, reading("r.h5", results, [*sweep, "--quiet"], writes="r.h5")),
            (1, reading("gp.model", model, ["model", "predict", "--model", "gp.model", "--pairs", "mine.corun.csv",
                                            "--out", "p.csv"], writes="p.csv")),
            (1, reading("gp.model", model, [*replay, "--set", "belief.model=gp", "--set", "belief.initial=gp.model"])),
            (1, reading("kb.yaml", kb, ["kb", "show", "kb.yaml", "--format", "json"])),
            (1, reading("kb.yaml", kb, [*replay, "--set", "belief.initial=kb.yaml"])),
        ]
        self.todo = self.ordered(setup)
        self.cases = len(self.todo)

    def ordered(self, setup):
        """(reading, byte) of every byte; any beginning of the list has some of each."""
        todo = []
        for weight, reading in self.readings:
            size = len(reading.before[reading.target])
            places = list(range(size))
            setup.shuffle(places)
            places = places[:size if weight >= 1 else int(weight * size)]
            # Small files come with a share of their own, and not at the end only.
            todo += [((i + 0.5) / max(len(places), 2000 * weight), reading, place) for i, place in enumerate(places)]
        todo.sort(key=lambda entry: entry[0])
        return [(reading, place) for _, reading, place in todo]

    def run(self, case, rng, folder):
        reading, place = self.todo[case]
        content = bytearray(reading.before[reading.target])
        bit = rng.randrange(8)
        content[place] ^= 1 << bit
        restore(folder, {**reading.before, reading.target: bytes(content)})
        outcome = self.program.run(folder, reading.arguments)
        result = Result(1)
        what = f"corun {reading.arguments[0]} with bit {bit} of byte {place} of {reading.target} flipped"
        if crash := outcome.crash():
            result.findings.append(Finding(CRASH, f"{what}: {crash}"))
        elif outcome.code == 0:
            if (reading.written(folder) or outcome.out) != reading.answer:
                result.findings.append(Finding(SILENT_CHANGE, f"{what}: exit code 0 with another answer"))
            elif reading.target.endswith(".journal") and reading.target not in outcome.err:
                kept = self.kept(folder)
                if kept < self.half:
                    result.findings.append(Finding(SILENT_CHANGE, f"{what}: {self.half - kept} of {self.half} finished "
                                                                  "replications ran again without a word"))
        return result

    @staticmethod
    def kept(folder):
        """Replications that the sweep took from the journal."""
        return json.loads(pathlib.Path(folder, "r.h5.run.json").read_text())["replications_kept_from_before"]
