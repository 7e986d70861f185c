"""Runs corun for the studies.

A command that stands in a page and that a study's --check runs as it stands there is run by that check alone:
tests/docs/docs_test.py leaves out the lines of CHECKED_BY_STUDIES.
"""

import concurrent.futures
import os
import subprocess
import sys
import time

COVERAGE = ["replay", "--coverage", "--set", "replications=2000"]  # intervals/study.py
CHECKED_BY_STUDIES = {f"corun {' '.join(COVERAGE)}"}

# For one run of the program. A check has 900 s in all; the studies that are run by hand have runs of an hour.
LIMIT_S = 600 if "--check" in sys.argv else 4 * 3600


def cores():
    """How many this process may use."""
    return len(os.sched_getaffinity(0))


def finished(corun, *arguments):
    """The finished process, whatever its exit code; ends the program where it takes too long. A line on stderr tells
    that it ran, and how long."""
    command = [str(a) for a in (corun, *arguments)]
    began = time.monotonic()
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=LIMIT_S)
        print(f"{time.monotonic() - began:8.1f} s  corun {' '.join(command[1:])}"[:200], file=sys.stderr, flush=True)
        return done
    except subprocess.TimeoutExpired:
        sys.exit(f"{' '.join(command)}: took more than {LIMIT_S} s")


def run(corun, *arguments):
    """What corun prints; ends the program with its message where it fails."""
    done = finished(corun, *arguments)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, (corun, *arguments)))}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def side_by_side(function, items):
    """The results of function(item), in the order of the items; as many run at a time as there are cores. If one fails,
    those that have not begun never do."""
    with concurrent.futures.ThreadPoolExecutor(cores()) as pool:
        running = [pool.submit(function, item) for item in items]
        try:
            return [future.result() for future in running]
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise
