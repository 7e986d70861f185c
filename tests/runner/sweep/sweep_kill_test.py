#!/usr/bin/python3
"""kill -9 at twenty random instants: the resumed sweep gives the bytes of an undisturbed run and repeats no
finished replication. An interrupt ends it with exit code 130 and keeps finished replications.

usage: sweep_kill_test.py CORUN

Ten sweeps are killed once, at any time of their run; one sweep is killed ten times before it may finish. Another one, whose
points stop when they have enough replications, is killed, too.
Finished replications are counted from the bytes of the journal: magic, then records (u32 size, u32 CRC-32,
payload); the payload of a finished replication begins with 'R'.
"""
import json
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time
import zlib

CONFIG = """\
policies: [fcfs, random, min-slowdown]
workload: {source: jrs-resampled, jobs: 40, load: 1}
replications: 120
sweep:
  grid:
    cluster.nodes: [1, 2, 4]
    workload.load: [0.6, 0.9, 1.2]
"""
MAGIC = b"corun sweep 1\n"
LIMIT_S = 300  # of a sweep that takes seconds, under sanitizers on a busy machine


def finished(journal):
    """Number of replications in a journal: complete records up to the first incomplete one."""
    if not journal.exists():
        return 0
    data = journal.read_bytes()
    if MAGIC.startswith(data):  # killed while it began
        return 0
    assert data.startswith(MAGIC), f"{journal} does not begin as a journal"
    at, count = len(MAGIC), 0
    while at + 8 <= len(data):
        size, crc = struct.unpack_from("<II", data, at)
        payload = data[at + 8:at + 8 + size]
        if len(payload) < size or zlib.crc32(payload) != crc:
            break
        count += payload[:1] == b"R"
        at += 8 + size
    return count


class Sweep:
    """One sweep in a folder of its own."""

    def __init__(self, program, folder, name, *options):
        self.results = folder / f"{name}.h5"
        self.journal = folder / f"{name}.h5.journal"
        self.command = [program, "sweep", str(folder / "s.yaml"), "--output", str(self.results),
                        "--threads", "2", "--resume", "--quiet", *options]

    def run(self):
        before = finished(self.journal)
        complete = self.results.exists()
        subprocess.run(self.command, check=True, timeout=LIMIT_S)
        kept = json.loads(pathlib.Path(f"{self.results}.run.json").read_text()) if not complete else None
        if kept is not None:
            assert kept["replications_kept_from_before"] == before, (kept, before)
        return self.results.read_bytes()

    def kill_after(self, seconds):
        """Starts the sweep and kills it after this time; returns whether it was still running."""
        process = subprocess.Popen(self.command)
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=LIMIT_S)
            return True


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    instants = random.Random(20)
    kills, torn, kept = 0, 0, []
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "s.yaml").write_text(CONFIG)
        began = time.monotonic()
        expected = Sweep(program, folder, "undisturbed").run()
        life = time.monotonic() - began

        for attempt in range(60):
            if kills == 10:
                break
            sweep = Sweep(program, folder, f"once{attempt}")
            if not sweep.kill_after(instants.uniform(0, life)):
                continue
            kills += 1
            kept.append(finished(sweep.journal))
            assert sweep.run() == expected, f"{sweep.results} differs from the undisturbed run"
            assert not sweep.journal.exists()

        sweep = Sweep(program, folder, "often")
        for _ in range(60):
            if kills == 20:
                break
            before = finished(sweep.journal)
            if not sweep.kill_after(instants.uniform(0, 0.15 * life)):
                sweep = Sweep(program, folder, f"often{kills}")  # it had finished: another one
                continue
            kills += 1
            after = finished(sweep.journal)
            assert after >= before, "a kill took away what had finished"
            kept.append(after)
        assert sweep.run() == expected, f"{sweep.results} differs from the undisturbed run"

        for attempt in range(20):  # interrupted: exit code 130, finished replications are kept
            sweep = Sweep(program, folder, f"asked{attempt}")
            process = subprocess.Popen(sweep.command)
            while process.poll() is None:  # by the journal's size: the machine may be slow
                if sweep.journal.exists() and sweep.journal.stat().st_size > 20000:
                    break
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            if process.wait(timeout=LIMIT_S) == 130 and finished(sweep.journal) > 0:
                assert sweep.run() == expected, f"{sweep.results} differs from the undisturbed run"
                break
        else:
            raise AssertionError("no sweep stopped with exit code 130 and kept what was finished")

        until = ("--until", "0.1")
        began = time.monotonic()
        needed = Sweep(program, folder, "needed", *until).run()
        life = time.monotonic() - began
        assert needed != expected
        hits = 0
        for attempt in range(60):
            if hits == 5:
                break
            sweep = Sweep(program, folder, f"needed{attempt // 3}", *until)
            hits += sweep.kill_after(instants.uniform(0, 0.8 * life))
            if attempt % 3 == 2:
                assert sweep.run() == needed, f"{sweep.results} differs from the undisturbed run"
        assert sweep.run() == needed, f"{sweep.results} differs from the undisturbed run"
        assert hits == 5, f"only {hits} kills hit a sweep with --until"
    assert kills == 20, f"only {kills} kills hit a running sweep"
    assert max(kept) > 0, "no kill came after the first replication"
    print(f"20 kills; replications finished at each: {kept} of 1080; an undisturbed run took {life:.2f} s")


main()
