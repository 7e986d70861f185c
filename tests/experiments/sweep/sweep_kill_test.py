#!/usr/bin/python3
"""kill -9 at twenty random instants: the sweep goes on to the bytes of an undisturbed run, and repeats
nothing that had finished. An interrupt ends it with exit code 130 and keeps what was finished.

usage: sweep_kill_test.py CORUN

Ten sweeps are killed once, anywhere in their life; one sweep is killed ten times before it may finish.
What had finished is counted here, from the journal's own bytes: magic, then records of
(u32 size, u32 CRC-32, payload), those of a finished replication beginning with 'R'.
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


def finished(journal):
    """Number of replications in a journal: whole records before the first torn one."""
    if not journal.exists():
        return 0
    data = journal.read_bytes()
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

    def __init__(self, program, folder, name):
        self.results = folder / f"{name}.h5"
        self.journal = folder / f"{name}.h5.journal"
        self.command = [program, "sweep", str(folder / "s.yaml"), "--output", str(self.results),
                        "--threads", "2", "--resume", "--quiet"]

    def run(self):
        before = finished(self.journal)
        complete = self.results.exists()
        subprocess.run(self.command, check=True)
        kept = json.loads(pathlib.Path(f"{self.results}.run.json").read_text()) if not complete else None
        if kept is not None:
            assert kept["replications_kept_from_before"] == before, (kept, before)
        return self.results.read_bytes()

    def kill_after(self, seconds):
        """Whether it was still running at that instant."""
        process = subprocess.Popen(self.command)
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
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
                sweep = Sweep(program, folder, f"often{kills}")  # was over: another one
                continue
            kills += 1
            after = finished(sweep.journal)
            assert after >= before, "a kill took away what had finished"
            kept.append(after)
        assert sweep.run() == expected, f"{sweep.results} differs from the undisturbed run"

        for attempt in range(20):  # asked to stop: exit code 130, and what was finished is kept
            sweep = Sweep(program, folder, f"asked{attempt}")
            process = subprocess.Popen(sweep.command)
            while process.poll() is None:  # not by the clock: the machine may have other work
                if sweep.journal.exists() and sweep.journal.stat().st_size > 20000:
                    break
                time.sleep(0.002)
            process.send_signal(signal.SIGINT)
            if process.wait() == 130 and finished(sweep.journal) > 0:
                assert sweep.run() == expected, f"{sweep.results} differs from the undisturbed run"
                break
        else:
            raise AssertionError("no sweep stopped with exit code 130 and kept what was finished")
    assert kills == 20, f"only {kills} kills hit a running sweep"
    assert max(kept) > 0, "no kill came after the first replication"
    print(f"20 kills; replications finished at each: {kept} of 1080; an undisturbed run took {life:.2f} s")


main()
