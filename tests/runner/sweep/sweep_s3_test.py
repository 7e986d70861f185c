#!/usr/bin/python3
"""Workers of a sweep that share a bucket: the results have the bytes of one process.

usage: sweep_s3_test.py CORUN [POINTS]

Two kinds of servers on the loopback address (s3_servers.py): one in memory, which loses and refuses a part of the requests
and checks every signature, and Debian's Swift with its s3api, which is named where it is not installed. Workers are killed and
replaced as long as chunks are left. With POINTS it measures against Swift alone (docs/sweeps.md).
"""
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import time

import s3_servers

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
STORE = f"s3://{s3_servers.BUCKET}/a b/sweep & merge"
LIMIT_S = 600
LAPSE_S = 2


class Test:
    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.draw = random.Random(3)

    def run(self, *arguments, given=None, **options):
        clean = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
        return subprocess.run([self.program, "sweep", *arguments], cwd=self.folder, env={**clean, **(given or {})},
                              capture_output=True, text=True, timeout=LIMIT_S, **options)

    def must(self, *arguments, given=None):
        done = self.run(*arguments, given=given)
        assert done.returncode == 0, (arguments, done)
        return done.stdout

    def refused(self, text, *arguments, given):
        done = self.run(*arguments, given=given)
        assert done.returncode == 2 and done.stdout == "" and done.stderr.count("\n") == 1 and text in done.stderr, (text, done)

    def worker(self, given, chunk):
        return subprocess.Popen([self.program, "sweep", "s.yaml", "--worker", STORE, "--lapse", str(LAPSE_S), "--threads", "1",
                                 "--quiet", *chunk], cwd=self.folder, env={**os.environ, **given})

    def share(self, given, workers, kills, between_s, chunk):
        """Runs workers until all have ended; returns how many were killed."""
        running = [self.worker(given, chunk) for _ in range(workers)]
        killed = 0
        end = time.monotonic() + LIMIT_S
        try:
            while any(one.poll() is None for one in running):
                assert time.monotonic() < end, "the workers did not end"
                time.sleep(between_s)
                alive = [one for one in running if one.poll() is None]
                if killed < kills and alive:
                    one = self.draw.choice(alive)
                    one.kill()
                    one.wait(timeout=60)
                    running.remove(one)
                    killed += 1
                    running.append(self.worker(given, chunk))
            assert all(one.returncode == 0 for one in running), [one.returncode for one in running]
        finally:
            for one in running:
                one.kill()
                one.wait(timeout=60)
        return killed

    def compare(self, given, name):
        """Status and merge; the results are those of one process."""
        status = json.loads(self.must("--status", STORE, "--format", "json", given=given))
        assert status["finished_chunks"] == status["chunks"] > 1, status
        self.must("--merge", STORE, "--output", f"{name}.h5", "--quiet", given=given)
        assert (self.folder / f"{name}.h5").read_bytes() == (self.folder / "whole.h5").read_bytes(), f"{name} differs"
        return status["chunks"]

    def memory(self):
        for conditional in ("yes", "no", "ignored"):
            with s3_servers.MemoryServer(fails=0.1, conditional=conditional, page=7) as server:
                given = server.environment
                self.share(given, 3, 2, 0.3, ["--chunk", "6"])
                self.compare(given, conditional)
                assert server.failures > 10, server.failures
                assert conditional != "no" or server.refused_puts > 0
                # A chunk is missing: told, and made anew.
                chunks = sorted(name for name in server.objects if name.endswith(".chunk"))
                del server.objects[chunks[1]]
                server.fails = 0
                self.refused("not finished (1)", "--merge", STORE, "--output", "again.h5", given=given)
                # The server refuses.
                self.refused("make the bucket first", "s.yaml", "--worker", "s3://nowhere/x", given=given)
                self.refused("SignatureDoesNotMatch", "s.yaml", "--worker", STORE,
                             given={**given, "AWS_SECRET_ACCESS_KEY": "wrong"})
                self.refused("holds no sweep", "--status", f"s3://{s3_servers.BUCKET}/empty", given=given)
                # Chunk of other bytes.
                server.objects[chunks[1]] = server.objects[chunks[0]][:-1]
                self.refused("is damaged", "--merge", STORE, "--output", "again.h5", given=given)
                server.fails = 1
                self.refused("cannot be listed", "--status", STORE, given=given)
        given = server.environment  # nobody listens there now
        self.refused("3 attempts", "--status", STORE, given=given)
        self.refused("AWS_ACCESS_KEY_ID", "--status", STORE, given={**given, "AWS_ACCESS_KEY_ID": ""})
        self.refused("expected a URL", "--status", STORE, given={**given, "AWS_ENDPOINT_URL": "127.0.0.1:1"})
        for place in ("s3://", "s3:///x", "s3://b/../x", "s3://b/x//y", "s3://a b/x"):
            self.refused("expected s3://BUCKET", "--status", place, given=given)

    def swift(self, points):
        why = s3_servers.Swift.missing(self.folder)
        if why:
            return f"SKIPPED with Swift: {why}"
        servers = self.folder / "swift"
        servers.mkdir()
        with s3_servers.Swift(servers) as server:
            measured = points is not None
            kills = self.share(server.environment, 8 if measured else 3, 25 if measured else 2, 3 if measured else 1,
                               [] if measured else ["--chunk", "12"])
            chunks = self.compare(server.environment, "swift")
            self.refused("the server answers 403", "--status", STORE,
                         given={**server.environment, "AWS_SECRET_ACCESS_KEY": "wrong"})
        return f"Swift: {chunks} chunks, {kills} kills"


def main():
    points = int(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as name:
        test = Test(str(pathlib.Path(sys.argv[1]).resolve()), pathlib.Path(name))
        (test.folder / "s.yaml").write_text(CONFIG.replace("POINTS", str(points or 30)))
        test.must("s.yaml", "--output", "whole.h5", "--quiet", "--threads", "1")
        if points is None:
            test.memory()
        print("the workers of a bucket give the bytes of one process;", test.swift(points))


main()
