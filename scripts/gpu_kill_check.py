#!/usr/bin/env python3
"""Kills corun by SIGKILL in each phase of live mode, and checks that nothing is left: no process, no MPS daemon, no file.

    gpu_kill_check.py DIRECTORY CORUN --config CONFIG [--bench GPU_BENCH] [--nvml LIBRARY] [--gpu N] [--allow-others]
                      [--kills N] [--budget SECONDS] [--seed N]

Phases: calibrating a workload, profiling, measuring alone, measuring pairs, a queue, the same alone and for a queue with
MPS, and scoring by gpu_bench. In each, --kills (3) runs are killed a random time of up to one second after the first job
has started. All processes of a run have a TMPDIR of their own in their environment, by which those left are found in
/proc; MPS daemons, too. DIRECTORY/kill.jsonl gets a row per kill:

    phase, kill        which phase, and which kill of it
    after_s            from the start of the first job to the kill [s]
    processes, jobs    running at the kill
    cleared_s          until nothing was left [s]; null if something was left after ten seconds
    left               what was left then: processes, mps_daemons, files, gpu_processes
    end                clean, left, or skipped with `reason`

Exit codes: 0 nothing was left; 1 something was, or a phase could not be killed; 3 no GPU may be used.
"""

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

CLEARED_WITHIN_S = 10.0
STARTS_WITHIN_S = 60.0
LIMIT_S = 600  # of a command that is not killed; a driver that hangs must not hang the check


def environment_of(pid):
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return file.read().split(b"\0")
    except OSError:
        return []


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
            return file.read().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return "X"


def command_of(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return file.read().replace(b"\0", b" ").decode(errors="replace").strip()
    except OSError:
        return ""


class Box:
    """A TMPDIR of the check's own, and the processes that have it."""

    def __init__(self):
        # Without symbolic links: corun tells its jobs the resolved path.
        self.tmp = os.path.realpath(tempfile.mkdtemp(prefix="corun-kill-"))
        self.own = f"TMPDIR={self.tmp}".encode()

    def processes(self):
        """Numbers of running processes, and of those of them that are jobs: their TMPDIR is one of a session."""
        running, jobs = [], []
        for name in os.listdir("/proc"):
            if not name.isdigit() or int(name) == os.getpid():
                continue
            marks = [v for v in environment_of(name) if v == self.own or v.startswith(self.own + b"/")]
            if not marks or state_of(name) in "ZX":
                continue
            running.append(int(name))
            if any(mark != self.own for mark in marks):
                jobs.append(int(name))
        return running, jobs

    def files(self):
        return sorted(os.listdir(self.tmp))


def mps_daemons():
    """MPS daemons and servers of any user on this machine."""
    return [int(name) for name in os.listdir("/proc")
            if name.isdigit() and state_of(name) not in "ZX"
            and any(os.path.basename(word).startswith("nvidia-cuda-mps")
                    for word in command_of(name).split(" ")[:2])]  # of a script, the second word


class Check:
    def __init__(self, options):
        self.options = options
        self.box = Box()
        self.dir = os.path.join(options.directory, "runs")
        self.live = ["--nvml", options.nvml] if options.nvml else []
        self.rights = ["--allow-others"] if options.allow_others else []
        self.random = random.Random(options.seed)
        self.ends = time.monotonic() + options.budget
        self.daemons_before = set(mps_daemons())
        self.rows = open(os.path.join(options.directory, "kill.jsonl"), "w", encoding="utf-8")

    def corun(self, *words):
        return [self.options.corun, *words]

    def probe(self):
        answer = subprocess.run(self.corun("live", "probe", *self.live, "--format", "json"),
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=False, timeout=LIMIT_S)
        try:
            return json.loads(answer.stdout)
        except ValueError:
            return {"gpus": []}

    def gpu_processes(self):
        """Processes on the GPU, as many as the driver tells of."""
        for gpu in self.probe()["gpus"]:
            if gpu["index"] == self.gpu["index"]:
                return {p["pid"] for p in gpu["processes"] or []}
        return set()

    def choose_gpu(self):
        """Whether a GPU may be used; it is self.gpu then."""
        wanted = self.options.gpu
        for gpu in self.probe()["gpus"]:
            if wanted is not None and gpu["index"] != wanted:
                continue
            if self.options.allow_others or not gpu["refused"]["time-slicing"]:
                self.gpu = gpu
                self.on_gpu_before = self.gpu_processes()
                return True
        return False

    def tell(self, row):
        self.rows.write(json.dumps(row) + "\n")
        self.rows.flush()
        left = {key: value for key, value in row.get("left", {}).items() if value}
        words = row.get("reason") or (f"left: {json.dumps(left)}" if left else
                                      f"nothing left after {row['cleared_s']:.2f} s")
        print(f"{row['phase']}, kill {row['kill']}: {row['end']}: {words}", file=sys.stderr, flush=True)
        return row["end"] in ("clean", "skipped")

    def left(self):
        running, _ = self.box.processes()
        return {"processes": [f"{pid} {command_of(pid)[:100]}" for pid in running],
                "mps_daemons": sorted(set(mps_daemons()) - self.daemons_before),
                "files": self.box.files(),
                "gpu_processes": []}

    def kill_once(self, phase, number, command, jobs, delay):
        """One kill. `jobs`: how many are to run before; 0: the program itself uses the GPU."""
        environment = dict(os.environ, TMPDIR=self.box.tmp, CUDA_VISIBLE_DEVICES=self.gpu["uuid"])
        log = open(os.path.join(self.dir, f"{phase}-{number}.log"), "wb")
        process = subprocess.Popen(command, env=environment, cwd=self.dir, stdin=subprocess.DEVNULL,
                                   stdout=log, stderr=log)
        until = time.monotonic() + STARTS_WITHIN_S
        seen = jobs == 0
        while not seen and process.poll() is None and time.monotonic() < until:
            seen = len(self.box.processes()[1]) >= jobs
            time.sleep(0.002)
        began = time.monotonic()
        while process.poll() is None and time.monotonic() < began + delay:
            time.sleep(0.002)
        running, on_gpu = self.box.processes()
        ended = process.poll()
        if ended is None:
            process.send_signal(signal.SIGKILL)
        process.wait(timeout=LIMIT_S)
        log.close()
        killed = time.monotonic()
        row = {"phase": phase, "kill": number, "after_s": round(killed - began, 3),
               "processes": len(running), "jobs": len(on_gpu), "cleared_s": None}
        left = self.left()
        while any(left.values()) and time.monotonic() < killed + CLEARED_WITHIN_S:
            time.sleep(0.02)
            left = self.left()
        if not any(left.values()):
            row["cleared_s"] = round(time.monotonic() - killed, 3)
            left["gpu_processes"] = self.processes_left_on_gpu()
        row["left"] = left
        if any(left.values()):
            row["end"] = "left"
        elif ended == 3:
            row["end"] = "skipped"
            row["reason"] = f"no GPU may be used; see {os.path.basename(log.name)}"
        elif ended is not None or not seen:
            row["end"] = "not killed"
            row["reason"] = (f"it had ended, exit code {ended}" if ended is not None else
                             f"no {jobs} jobs within {STARTS_WITHIN_S:g} s") + f"; see {os.path.basename(log.name)}"
        else:
            row["end"] = "clean"
        for pid in self.box.processes()[0]:  # the next phase is to find nothing of this one
            os.kill(pid, signal.SIGKILL)
        for name in self.box.files():
            shutil.rmtree(os.path.join(self.box.tmp, name), ignore_errors=True)
        return row

    def processes_left_on_gpu(self):
        """Of a driver that takes a moment to clear up."""
        until = time.monotonic() + CLEARED_WITHIN_S
        left = self.gpu_processes() - self.on_gpu_before
        while left and time.monotonic() < until:
            time.sleep(0.2)
            left = self.gpu_processes() - self.on_gpu_before
        return sorted(left)

    def phase(self, name, command, jobs):
        """Kills it --kills times; a run that ends too early is killed earlier the next time."""
        good = True
        for number in range(1, self.options.kills + 1):
            delay = self.random.random()
            for _ in range(4):
                if time.monotonic() > self.ends - STARTS_WITHIN_S / 4:
                    return self.tell({"phase": name, "kill": number, "end": "not killed",
                                      "reason": "its time was over"}) and good
                row = self.kill_once(name, number, command, jobs, delay)
                if row["end"] != "not killed":
                    break
                delay /= 4
            good = self.tell(row) and good
            if row["end"] == "skipped":
                break
        return good

    def run(self):
        os.makedirs(self.dir)
        config = self.options.config
        name, command = self.first_job(config)
        settings = ["--set", f"live.gpus=[{self.gpu['index']}]", "--output"]
        self.measured = os.path.join(self.dir, "solo")

        def live(word, *more, sharing="time-slicing", output=None):
            return self.corun("live", word, config, *self.live, *self.rights, *settings,
                              output or os.path.join(self.dir, f"{word}-{sharing}"), "--force",
                              "--set", f"cluster.sharing={sharing}", *more)

        phases = []
        if name is not None:
            phases.append(("calibrate", self.corun("live", "workload", name, "--seconds", "600"), 0))
        phases += [("profile", self.corun("live", "profile", *self.live, *self.rights, "--gpu",
                                          str(self.gpu["index"]), "--", *command), 1),
                   ("solo", live("solo", "--repeats", "1000"), 1),
                   ("corun", live("corun", "--repeats", "1000"), 2)]
        good = all([self.phase(*phase) for phase in phases])
        # A queue needs solo times.
        solo = subprocess.run(live("solo", "--repeats", "1", "--warm-up", "0", "--quiet", output=self.measured),
                              env=dict(os.environ, TMPDIR=self.box.tmp), stdout=subprocess.DEVNULL, check=False,
                              timeout=LIMIT_S)
        if solo.returncode != 0:
            good = self.tell({"phase": "queue", "kill": 1, "end": "not killed",
                              "reason": f"corun live solo ended with exit code {solo.returncode}"}) and False
        else:
            good = self.phase("queue", live("run", output=self.measured), 1) and good
        if shutil.which("nvidia-cuda-mps-control") is None:
            self.tell({"phase": "mps", "kill": 1, "end": "skipped",
                       "reason": "MPS is not installed: no nvidia-cuda-mps-control on PATH"})
        else:
            good = self.phase("mps-solo", live("solo", "--repeats", "1000", sharing="mps"), 1) and good
            good = self.phase("mps-corun", live("corun", "--repeats", "1000", sharing="mps"), 2) and good
        if self.options.bench:
            good = self.phase("kernels", [self.options.bench], 0) and good
        shutil.rmtree(self.box.tmp, ignore_errors=True)
        return 0 if good else 1

    def first_job(self, config):
        """Name of the first workload if it is a built-in one, else None; and its command."""
        with open(config, encoding="utf-8") as file:
            for line in file:
                name, begin, rest = line.partition(": {command: [")
                if not begin:
                    continue
                words = [w.strip().strip("'\"") for w in rest.partition("]")[0].split(",")]
                if words[:3] == ["corun", "live", "workload"]:
                    return words[3], [self.options.corun, *words[1:]]
                return None, words
        sys.exit(f"gpu_kill_check.py: {config}: no line 'NAME: {{command: [...]}}', expected one per workload")


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("directory")
    parser.add_argument("corun")
    parser.add_argument("--config", required=True)
    parser.add_argument("--bench")
    parser.add_argument("--nvml")
    parser.add_argument("--gpu", type=int)
    parser.add_argument("--allow-others", action="store_true")
    parser.add_argument("--kills", type=int, default=3)
    parser.add_argument("--budget", type=float, default=570)
    parser.add_argument("--seed", type=int, default=1)
    check = Check(parser.parse_args())
    if not check.choose_gpu():
        print("gpu_kill_check.py: no GPU may be used; see corun live probe", file=sys.stderr)
        return 3
    return check.run()


if __name__ == "__main__":
    sys.exit(main())
