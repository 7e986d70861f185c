"""Runs corun for the studies."""

import subprocess
import sys


def run(corun, *arguments):
    """What corun prints; ends the program with its message where it fails."""
    done = subprocess.run([corun, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(done.stderr)
    return done.stdout
