#!/usr/bin/python3
"""Workers of a sweep that are killed, stopped and without room: the results have the bytes of one process.

usage: sweep_workers_test.py CORUN [POINTS] [SECONDS_BETWEEN_KILLS]

Eight workers share a store. One is stopped (SIGSTOP) until the others have taken its chunk over; random ones are
killed (SIGKILL) and replaced. A larger number of points is for measuring (docs/sweeps.md).
"""
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time

CONFIG = """\
policies: [fcfs, random, min-slowdown]
workload: {source: jrs-resampled, jobs: 12, load: 1}
replications: 3
sweep:
  random:
    points: POINTS
    space:
      cluster.nodes: {integer: [1, 8]}
      workload.load: {uniform: [0.5, 1.5]}
"""
WORKERS = 8
LAPSE_S = 2
LIMIT_S = 1200


class Workers:
    def __init__(self, program, folder, chunk):
        self.command = [program, "sweep", str(folder / "s.yaml"), "--worker", str(folder / "store"), "--threads", "1",
                        "--lapse", str(LAPSE_S), "--quiet", *chunk]
        self.running = []
        self.kills = 0

    def start(self):
        self.running.append(subprocess.Popen(self.command))

    def kill(self, one):
        one.kill()
        one.wait(timeout=LIMIT_S)
        self.running.remove(one)
        self.kills += 1

    def end(self):
        for one in self.running:
            one.send_signal(signal.SIGCONT)
            one.kill()
            one.wait(timeout=LIMIT_S)


def status(program, folder):
    done = subprocess.run([program, "sweep", "--status", str(folder / "store"), "--format", "json"],
                          check=True, capture_output=True, timeout=LIMIT_S)
    return json.loads(done.stdout)


def run(program, folder, between_s, draw, chunk):
    workers = Workers(program, folder, chunk)
    try:
        for _ in range(WORKERS):
            workers.start()
        end = time.monotonic() + LIMIT_S
        stopped = workers.running[0]
        stopped.send_signal(signal.SIGSTOP)
        resume_at = time.monotonic() + 3 * LAPSE_S
        while time.monotonic() < end:
            time.sleep(between_s)
            if stopped is not None and time.monotonic() > resume_at:
                stopped.send_signal(signal.SIGCONT)
                stopped = None
            done = [one for one in workers.running if one.poll() is not None]
            for one in done:
                assert one.returncode == 0, f"a worker ended with {one.returncode}"
            alive = [one for one in workers.running if one.poll() is None and one is not stopped]
            if len(done) + (stopped is not None) == len(workers.running):
                break
            if workers.kills < 25 and alive:
                workers.kill(draw.choice(alive))
                workers.start()
        else:
            raise AssertionError("the workers did not end")
        if stopped is not None:
            stopped.send_signal(signal.SIGCONT)
            assert stopped.wait(timeout=LIMIT_S) == 0
        return workers.kills
    finally:
        workers.end()


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    points = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    between_s = float(sys.argv[3]) if len(sys.argv) > 3 else 0.2
    chunk = [] if len(sys.argv) > 2 else ["--chunk", "6"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "s.yaml").write_text(CONFIG.replace("POINTS", str(points)))
        began = time.monotonic()
        subprocess.run([program, "sweep", str(folder / "s.yaml"), "--output", str(folder / "whole.h5"), "--quiet",
                        "--threads", "1"], check=True, timeout=LIMIT_S)
        alone_s = time.monotonic() - began

        began = time.monotonic()
        kills = run(program, folder, between_s, random.Random(7), chunk)
        workers_s = time.monotonic() - began
        found = status(program, folder)
        assert found["finished_chunks"] == found["chunks"] and found["finished_units"] == 3 * points, found
        subprocess.run([program, "sweep", "--merge", str(folder / "store"), "--output", str(folder / "merged.h5"),
                        "--quiet"], check=True, timeout=LIMIT_S)
        assert (folder / "merged.h5").read_bytes() == (folder / "whole.h5").read_bytes(), "the results differ"
        left = sorted(path.name for path in folder.iterdir())
        assert left == ["merged.h5", "s.yaml", "store", "whole.h5", "whole.h5.run.json"], left

        # A chunk is missing: told, and made anew.
        chunks = sorted((folder / "store").glob("*.chunk"))
        chunks[0].unlink()
        again = [program, "sweep", "--merge", str(folder / "store"), "--output", str(folder / "again.h5")]
        refused = subprocess.run(again, capture_output=True, text=True, timeout=LIMIT_S)
        assert refused.returncode == 2 and "1 of" in refused.stderr and "not finished (0)" in refused.stderr, refused
        assert not (folder / "again.h5").exists()
        subprocess.run(Workers(program, folder, []).command, check=True, timeout=LIMIT_S)
        subprocess.run([*again, "--quiet"], check=True, timeout=LIMIT_S)
        assert (folder / "again.h5").read_bytes() == (folder / "whole.h5").read_bytes()

        # Workers that all measure how many replications a chunk of the new store has.
        at_once = [subprocess.Popen([program, "sweep", str(folder / "s.yaml"), "--worker", str(folder / "measured"),
                                     "--quiet"]) for _ in range(4)]
        assert [one.wait(timeout=LIMIT_S) for one in at_once] == [0, 0, 0, 0]

        # No room: one line, exit code 2, and nothing half written.
        full = subprocess.run(["bash", "-c", "ulimit -f 1; exec \"$@\"", "-", program, "sweep", str(folder / "s.yaml"),
                               "--worker", str(folder / "full"), "--chunk", "30", "--quiet"],
                              capture_output=True, text=True, timeout=LIMIT_S)
        assert full.returncode == 2 and full.stderr.count("\n") == 1, full
        assert not list((folder / "full").glob("*.chunk")), full
    print(f"{points} points, {found['chunks']} chunks, {kills} kills, one worker stopped: the same bytes; one process "
          f"{alone_s:.1f} s, eight workers with kills {workers_s:.1f} s")


main()
