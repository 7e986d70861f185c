"""Runs corun in a folder of its own and judges how it ended; snapshots of the folder before and after."""
import dataclasses
import os
import pathlib
import re
import shutil
import signal
import subprocess

CRASH = "crash"
SILENT_CHANGE = "silent change"
LOST_FILE = "file lost"

TIMEOUT_S = 120
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # what a terminal obeys


@dataclasses.dataclass
class Finding:
    kind: str  # CRASH, SILENT_CHANGE or LOST_FILE
    text: str


@dataclasses.dataclass
class Result:
    """Of one case."""
    disturbances: int = 0  # kills, faults, flipped bits or mutations
    findings: list = dataclasses.field(default_factory=list)


@dataclasses.dataclass
class Outcome:
    code: int  # exit code; negative: the number of the signal; None: ran out of time
    out: bytes
    err: str

    def ending(self):
        if self.code is None:
            return f"ran for {TIMEOUT_S} s and was stopped"
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        return f"exit code {self.code}"

    def crash(self, allowed=(0, 2)):
        """What is wrong about this ending, or None."""
        lines = [line for line in self.err.rstrip("\n").split("\n") if not line.startswith(("note: ", "decisions: "))]
        if self.code not in allowed:
            return f"{self.ending()}: {' / '.join(lines)[-300:]}"
        if self.code == 2 and (len(lines) != 1 or not lines[0].strip() or UNSAFE.search(lines[0])):
            return f"exit code 2, expected one line that is safe to print, found {ascii(lines)[-300:]}"
        return None


class Program:
    def __init__(self, path):
        self.path = str(pathlib.Path(path).resolve())

    def command(self, arguments):
        return [self.path, *map(str, arguments), "--device", "cpu"]

    def run(self, folder, arguments, environment=None):
        try:
            done = subprocess.run(self.command(arguments), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                                  timeout=TIMEOUT_S, env={**os.environ, "CORUN_DATA": "", **(environment or {})})
        except subprocess.TimeoutExpired:
            return Outcome(None, b"", "")
        return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace"))

    def must(self, folder, arguments):
        """Runs an undisturbed command."""
        outcome = self.run(folder, arguments)
        if outcome.code != 0:
            raise RuntimeError(f"undisturbed, in {folder}: corun {' '.join(map(str, arguments))}: "
                               f"{outcome.ending()}: {outcome.err}")
        return outcome

    def start(self, folder, arguments):
        return subprocess.Popen(self.command(arguments), cwd=folder, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                env={**os.environ, "CORUN_DATA": ""})


def snapshot(folder):
    """Contents of all files below a folder, by relative path."""
    return {str(path.relative_to(folder)): path.read_bytes()
            for path in sorted(pathlib.Path(folder).rglob("*")) if path.is_file()}


def restore(folder, files):
    """Makes a folder of a snapshot."""
    shutil.rmtree(folder, ignore_errors=True)
    pathlib.Path(folder).mkdir(parents=True)
    for name, content in files.items():
        path = pathlib.Path(folder, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
