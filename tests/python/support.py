"""Shared by the tests of the Python package."""
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ["CORUN_PROGRAM"]
DATA = os.environ.get("CORUN_DATA", "")
LIMIT_S = 300  # for one run of a program

# A shell that starts the tests in the background has them ignore Ctrl-C, and with them the programs that they start.
signal.signal(signal.SIGINT, signal.default_int_handler)

# A short run with beliefs: the JRS queue on four GPUs.
SHORT = {"replications": 3, "policies": ["fcfs", "min-slowdown"], "quiet": True}


def run(*arguments):
    """The program corun."""
    done = subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=LIMIT_S)
    if done.returncode != 0:
        raise AssertionError(f"corun {arguments}: {done.stderr}")
    return done.stdout


class Case(unittest.TestCase):
    """A test with a folder of its own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="corun-test-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def one_line(self, error, *parts):
        text = str(error)
        self.assertNotIn("\n", text)
        for part in parts:
            self.assertIn(part, text)


def main():
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]], verbosity=1)
