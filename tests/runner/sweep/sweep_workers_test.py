#!/usr/bin/python3
"""Workers of a sweep that are killed, stopped and without room: the results have the bytes of one process.

usage: sweep_workers_test.py CORUN [--clock LIBRARY] [--points N [--between-kills SECONDS]]

Eight workers share a store. One is stopped (SIGSTOP) until the others have taken its chunk over; random ones are
killed (SIGKILL) and replaced; the disk of the store gets full, and room again; with LIBRARY (skewed_clock.c) the clocks
of workers differ by up to ten minutes. --points is for measuring (docs/sweeps.md): the processor seconds of workers are
compared with those of one process.
"""
import argparse
import json
import os
import pathlib
import random
import resource
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
LIMIT_S = 3600
SKEWS_S = (-300, 0, 300)
KILLS = 25


class Workers:
    def __init__(self, program, folder, store, options, clock=None):
        self.command = [program, "sweep", str(folder / "s.yaml"), "--worker", str(store), "--threads", "1",
                        "--lapse", str(LAPSE_S), "--quiet", *options]
        self.clock = clock
        self.running = []
        self.started = 0
        self.kills = 0

    def start(self):
        environment = dict(os.environ)
        if self.clock is not None:
            environment.update(LD_PRELOAD=self.clock, CORUN_SKEW_S=str(SKEWS_S[self.started % len(SKEWS_S)]))
        self.started += 1
        self.running.append(subprocess.Popen(self.command, env=environment, stderr=subprocess.PIPE, text=True))

    def kill(self, one):
        one.kill()
        one.communicate(timeout=LIMIT_S)
        self.running.remove(one)
        self.kills += 1

    def end(self):
        for one in self.running:
            one.send_signal(signal.SIGCONT)
            one.kill()
            one.communicate(timeout=LIMIT_S)

    def found_no_room(self, one):
        """Whether a worker that has ended did so for want of room; else it has finished."""
        error = one.communicate(timeout=LIMIT_S)[1]
        if one.returncode == 0:
            return False
        told = one.returncode == 2 and error.count("\n") == 1 and "No space left" in error
        assert told, f"a worker ended with {one.returncode}: {error}"
        return True


class Room:
    """The store's disk: a file system in memory of this process's own mounts, first a small one."""
    def __init__(self, store, points):
        store.mkdir()
        self.store = store
        self.is_small = True
        self.mount(f"size={max(64, points // 2)}k")

    def mount(self, options):
        subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", str(self.store)], check=True, timeout=60)

    def grow(self):
        self.is_small = False
        self.mount("remount,size=90%")

    def unmount(self):
        subprocess.run(["umount", str(self.store)], check=True, timeout=60)

    @staticmethod
    def is_possible():
        with tempfile.TemporaryDirectory() as name:
            tried = subprocess.run(["unshare", "-rm", "mount", "-t", "tmpfs", "none", name], capture_output=True,
                                   timeout=60)
            return tried.returncode == 0


def status(program, store):
    done = subprocess.run([program, "sweep", "--status", str(store), "--format", "json"],
                          check=True, capture_output=True, timeout=LIMIT_S)
    return json.loads(done.stdout)


def processor_s():
    """Of the programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def disturb(workers, room, stopped_s, between_s, draw):
    """Runs workers until all have finished, whatever happens to them."""
    for _ in range(WORKERS):
        workers.start()
    end = time.monotonic() + LIMIT_S
    stopped = workers.running[0]
    stopped.send_signal(signal.SIGSTOP)
    resume_at = time.monotonic() + stopped_s
    while time.monotonic() < end:
        time.sleep(between_s)
        if stopped is not None and time.monotonic() > resume_at:
            stopped.send_signal(signal.SIGCONT)
            stopped = None
        for one in [one for one in workers.running if one.poll() is not None]:
            if workers.found_no_room(one):
                workers.running.remove(one)
        alive = [one for one in workers.running if one.poll() is None and one is not stopped]
        if room is not None and room.is_small and not alive:
            room.grow()
            for _ in range(WORKERS - (stopped is not None)):
                workers.start()
        elif not alive:
            break
        elif workers.kills < KILLS:
            workers.kill(draw.choice(alive))
            workers.start()
    else:
        raise AssertionError("the workers did not end")
    if stopped is not None:
        stopped.send_signal(signal.SIGCONT)
        assert not workers.found_no_room(stopped)


def check_clocks(store):
    """The names of workers have the microseconds of their clocks."""
    began = [int(path.stem.rpartition("-")[2], 16) for path in store.glob("*.worker")]
    assert max(began) - min(began) > 250e6, "the clocks of the workers do not differ"


def measure(program, folder, chunk_units, alone_s):
    """Processor seconds of eight undisturbed workers against one process that writes its journal alone."""
    def cost(command):
        before = processor_s()
        subprocess.run(command, check=True, timeout=LIMIT_S)
        return processor_s() - before

    one_s = cost([program, "sweep", str(folder / "s.yaml"), "--shard", "1/1", "--output", str(folder / "one.journal"),
                  "--threads", "1", "--quiet"])
    workers = Workers(program, folder, folder / "undisturbed", ["--chunk", str(chunk_units)])
    before = processor_s()
    try:
        for _ in range(WORKERS):
            workers.start()
        for one in workers.running:
            assert not workers.found_no_room(one)
    finally:
        workers.end()
    workers_s = processor_s() - before
    start_s = cost(workers.command)  # nothing is left to do
    chunks = status(program, folder / "undisturbed")["chunks"]
    runs_s = one_s - start_s
    extra_s = workers_s - WORKERS * start_s - runs_s
    print(f"processor seconds: one process {alone_s:.1f}, without results file {one_s:.1f}; eight undisturbed workers "
          f"{workers_s:.1f}, of these {start_s:.2f} each to start; {chunks} chunks of {runs_s / chunks:.2f} s, each "
          f"{extra_s / chunks:.3f} s more: {100 * extra_s / runs_s:.1f} %")


def test(options):
    program = str(pathlib.Path(options.program).resolve())
    points = options.points or 60
    chunk = [] if options.points else ["--chunk", "6"]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        store = folder / "store"
        (folder / "s.yaml").write_text(CONFIG.replace("POINTS", str(points)))
        before = processor_s()
        began = time.monotonic()
        subprocess.run([program, "sweep", str(folder / "s.yaml"), "--output", str(folder / "whole.h5"), "--quiet",
                        "--threads", "1"], check=True, timeout=LIMIT_S)
        alone_s = time.monotonic() - began
        alone_processor_s = processor_s() - before

        room = Room(store, points) if options.room else None
        workers = Workers(program, folder, store, chunk, options.clock)
        began = time.monotonic()
        try:
            disturb(workers, room, 60 if options.points else 3 * LAPSE_S, options.between_kills, random.Random(7))
        finally:
            workers.end()
        workers_s = time.monotonic() - began
        assert room is None or not room.is_small, "the disk was never full"
        if options.clock is not None:
            check_clocks(store)
        found = status(program, store)
        assert found["finished_chunks"] == found["chunks"] and found["finished_units"] == 3 * points, found
        subprocess.run([program, "sweep", "--merge", str(store), "--output", str(folder / "merged.h5"),
                        "--quiet"], check=True, timeout=LIMIT_S)
        assert (folder / "merged.h5").read_bytes() == (folder / "whole.h5").read_bytes(), "the results differ"
        left = sorted(path.name for path in folder.iterdir())
        assert left == ["merged.h5", "s.yaml", "store", "whole.h5", "whole.h5.run.json"], left

        # A chunk is missing: told, and made anew.
        chunks = sorted(store.glob("*.chunk"))
        chunks[0].unlink()
        again = [program, "sweep", "--merge", str(store), "--output", str(folder / "again.h5")]
        refused = subprocess.run(again, capture_output=True, text=True, timeout=LIMIT_S)
        assert refused.returncode == 2 and "1 of" in refused.stderr and "not finished (0)" in refused.stderr, refused
        assert not (folder / "again.h5").exists()
        subprocess.run(workers.command, check=True, timeout=LIMIT_S)
        subprocess.run([*again, "--quiet"], check=True, timeout=LIMIT_S)
        assert (folder / "again.h5").read_bytes() == (folder / "whole.h5").read_bytes()
        chunk_units = json.loads(next(store.glob("*.sweep.json")).read_text())["chunk_units"]
        if room is not None:
            room.unmount()

        # Workers that all measure how many replications a chunk of the new store has.
        if not options.points:
            at_once = [subprocess.Popen([program, "sweep", str(folder / "s.yaml"), "--worker", str(folder / "measured"),
                                         "--quiet"]) for _ in range(4)]
            assert [one.wait(timeout=LIMIT_S) for one in at_once] == [0, 0, 0, 0]

        # No room: one line, exit code 2, and nothing half written.
        full = subprocess.run(["bash", "-c", "ulimit -f 1; exec \"$@\"", "-", program, "sweep", str(folder / "s.yaml"),
                               "--worker", str(folder / "full"), "--chunk", "30", "--quiet"],
                              capture_output=True, text=True, timeout=LIMIT_S)
        assert full.returncode == 2 and full.stderr.count("\n") == 1, full
        assert not list((folder / "full").glob("*.chunk")), full
        print(f"{points} points, {found['chunks']} chunks, {workers.kills} kills, one worker stopped, clocks "
              f"{'skewed' if options.clock else 'NOT skewed (no --clock)'}, disk "
              f"{'full for a while' if room else 'NOT full (mounts are not allowed here)'}: the same bytes; one process "
              f"{alone_s:.1f} s, eight workers {workers_s:.1f} s")
        if options.points:
            measure(program, folder, chunk_units, alone_processor_s)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--points", type=int)
    parser.add_argument("--between-kills", type=float, default=0.2)
    parser.add_argument("--clock")
    parser.add_argument("--room", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.room and Room.is_possible():
        os.execvp("unshare", ["unshare", "-rm", sys.executable, *sys.argv, "--room"])
    test(options)


main()
