"""Damaged files of every format that corun reads: it reads them or refuses them with one line.

The readers of job traces run in one process (FuzzSmoke in traces_test, tests/fuzz); the others by the command that
reads the file. Journals, model files and knowledge bases, which have checksums, get right ones again (or none, where
that is allowed) in half of the mutations, so that what is behind the checksum is tested, too.
"""
import hashlib
import os
import pathlib
import re
import subprocess

import journal
from flips import QUIET, SWEEP
from program import CRASH, TIMEOUT_S, Finding, Outcome, Result, restore, snapshot
from scenarios import EXAMPLES

HERE = pathlib.Path(__file__).resolve().parent
ROUNDS = 5000  # per reader, in all
LONGEST = 32 << 20  # bytes of a mutated file

LIVE = b"""\
live: {gpus: [0], output: out, sample_s: 0.5, disk_free_mib: 0, grace_s: 1, timeout_s: 60}
workloads:
  a: {command: [sleep, '1']}
  b: {command: [sleep, '2']}
queue: [a, b, {workload: a, submit_s: 0.05, name: late}]
policies: [{name: fcfs}]
"""
SOLO = b"job,solo_s,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib\na,0.2,50,10,20,100\nb,0.2,50,10,20,100\n"
LUCID_PAIRS = b"""\
job_a,norm_a,solo_gpu_util_a,solo_gmem_util_a,solo_gmem_mib_a,model_a,job_b,norm_b,solo_gpu_util_b,solo_gmem_util_b,\
solo_gmem_mib_b,model_b
r,0.9,80,40,4000,ResNet,s,0.8,30,10,2000,LSTM
r,0.7,80,40,4000,ResNet,t,0.75,60,30,5000,BERT
s,0.95,30,10,2000,LSTM,t,0.85,60,30,5000,BERT
s,0.99,30,10,2000,LSTM,s,0.97,30,10,2000,LSTM
"""
GAVEL_PAIRS = b"""\
gpu,job_a,solo_v100_a,solo_p100_a,solo_k80_a,norm_a,family_a,job_b,solo_v100_b,solo_p100_b,solo_k80_b,norm_b,family_b,\
failed
v100,A,10,5,2,0.6,ResNet,B,20,8,3,0.7,LSTM,0
v100,A,10,5,2,0.5,ResNet,A,10,5,2,0.5,ResNet,0
v100,B,20,8,3,0.8,LSTM,B,20,8,3,0.8,LSTM,0
v100,A,10,5,2,,ResNet,C,4,2,1,,BERT,1
"""
JOBS = [line.split(b",")[0] for line in (EXAMPLES / "jobs.csv").read_bytes().splitlines()[1:]]
OVERRIDES = b"job,cluster,uncertainty,why\nvision-1,2,10.5,by hand\ngame-1,,3,\nseries-1,1,,seen\n"
CONTAINERS = b"""\
job,image,command,args
""" + b"".join(b"""%s,registry/job:1,python3,"train.py --name ""a b"" 'c'"\n""" % job for job in JOBS)
CENTRES = b"gpu_util_pct,mem_alloc_pct,mem_time_pct\n61.4,43.2,24.4\n21.3,8.0,5.3\n88.7,56.3,51.3\n"
NUMBERS = [b"-1", b"0", b"1000000000", b"99999999999999999999", b"1e9", b"1e309", b"nan", b"inf", b"0x10", b"", b"0.5",
           b"-0", b"2147483648", b"4e9", b"1e-320", b"9223372036854775807", b"18446744073709551615", b"1_0", b"~",
           b"1", b"2", b"3", b"64", b"0.001", b"99.9", b"100000"]
TOKENS = [b'"', b",", b"\n", b"\r\n", b"\t", b"|", b"{", b"}", b"[", b"]", b":", b": ", b"- ", b"&a ", b"*a", b"!!int ",
          b"<<: ", b"%", b"@", b"#", b"'", b"\\", b"\0", b"\x1b[31m", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\xae",
          b"---\n", b"null", b"true", b".nan"]
NESTS = [b"[", b"{", b"{a: ", b"- ", b"[{a: ", b"(", b'"']


def mutated(rng, content, others):
    """One to four mutations of these bytes; `others`: samples of which pieces may be spliced in."""
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        content = MUTATIONS[rng.randrange(len(MUTATIONS))](rng, content, others)
    return content


def place(rng, content):
    return rng.randint(0, len(content))


def piece(rng, content, most=200):
    begin = place(rng, content)
    return content[begin:begin + rng.randint(1, most)]


def truncate(rng, content, _):
    return content[:place(rng, content)]


def erase(rng, content, _):
    at = place(rng, content)
    return content[:at] + content[at + rng.randint(1, 40):]


def duplicate_piece(rng, content, _):
    at = place(rng, content)
    return content[:at] + piece(rng, content) + content[at:]


def duplicate_line(rng, content, _):
    lines = content.splitlines(keepends=True) or [b""]
    line = rng.randrange(len(lines))
    times = min(rng.choice([2, 3, 1000]), LONGEST // (len(lines[line]) + 1) + 1)
    return b"".join(lines[:line] + [lines[line]] * times + lines[line + 1:])


def splice(rng, content, others):
    at = place(rng, content)
    return content[:at] + piece(rng, rng.choice(others), 2000) + content[at + rng.randint(0, 50):]


def random_bytes(rng, content, _):
    content = bytearray(content)
    for _ in range(rng.randint(1, 8)):
        if content:
            content[rng.randrange(len(content))] = rng.randrange(256)
    return bytes(content)


def number(rng, content, _):
    found = list(re.finditer(rb"-?\d+(\.\d+)?", content))
    if not found:
        return content
    at = rng.choice(found)
    return content[:at.start()] + rng.choice(NUMBERS) + content[at.end():]


def token(rng, content, _):
    at = place(rng, content)
    return content[:at] + rng.choice(TOKENS) + content[at:]


def nest(rng, content, _):
    at = rng.choice([0, len(content), place(rng, content)])
    return content[:at] + rng.choice(NESTS) * rng.choice([10, 300, 5000, 100000]) + content[at:]


MUTATIONS = [truncate, erase, duplicate_piece, duplicate_line, splice, random_bytes, number, number, number, number,
             number, number, token, nest]


def reframed_journal(rng, content, others):
    """Payloads mutated, checksums right."""
    payloads = [payload for _, payload in journal.records(content)]
    which = rng.randrange(len(payloads))
    payloads[which] = payloads[which][:1] + mutated(rng, payloads[which][1:], others)
    return journal.MAGIC + b"".join(map(journal.framed, payloads))


def resealed_model(rng, content, others):
    """The CBOR mutated, size and SHA-256 of the first line right."""
    head, body = content.split(b"\n", 1)
    body = mutated(rng, body, others)
    digest = hashlib.sha256(body).hexdigest().encode()
    return re.sub(rb"bytes \d+, sha256 \w+", b"bytes %d, sha256 %s" % (len(body), digest), head) + b"\n" + body


def unsealed_knowledge(rng, content, others):
    """The YAML mutated, without the SHA-256 of its last line, as after an edit by hand."""
    return mutated(rng, re.sub(rb" *# sha256 \w+", b"", content), others)


class Reader:
    """The command that reads `target`."""

    def __init__(self, name, target, files, arguments, allowed=(0, 2), resealed=None):
        self.name, self.target, self.files = name, target, files
        self.arguments, self.allowed, self.resealed = arguments, allowed, resealed


class Mutations:
    name, unit, share = "mutate", "mutations", 7

    def __init__(self, setup):
        self.program = setup.program
        self.readers = self.made_readers(setup)
        self.samples = [reader.files[reader.target] for reader in self.readers]
        for reader in self.readers:  # undamaged it is read
            restore(setup.folder / "reads", reader.files)
            outcome = self.program.run(setup.folder / "reads", reader.arguments)
            if outcome.code not in set(reader.allowed) - {2}:
                raise RuntimeError(f"sample of {reader.name}: {outcome.ending()}: {outcome.err}")
        self.cases = ROUNDS * len(self.readers)

    def made_readers(self, setup):
        folder = setup.folder / "mutations"
        files = {"s.yaml": SWEEP, "live.yaml": LIVE, "out/solo.csv": SOLO,
                 "own.yaml": (EXAMPLES / "kb.yaml").read_bytes(),
                 **{path.name: path.read_bytes() for path in EXAMPLES.iterdir()
                    if path.suffix in (".yaml", ".csv", ".json")}}
        must = self.program.must
        restore(folder, files)
        must(folder, ["sweep", "s.yaml", "--output", "r.h5", *QUIET])
        must(folder, ["sweep", "s.yaml", "--shard", "1/1", "--output", "part", *QUIET])
        must(folder, ["model", "fit", "--model", "gp", "--pairs", "mine.corun.csv", "--out", "gp.model"])
        must(folder, ["model", "fit", "--model", "contention", "--pairs", "mine.corun.csv", "--out", "physical.model"])
        must(folder, ["kb", "build", "--coruns", "jrs", "--output", "built.yaml", "--quiet"])
        made = snapshot(folder)
        live = {path.name: path.read_bytes() for path in (HERE / "live_run").iterdir()}

        def reader(name, target, content, arguments, **rest):
            return Reader(name, target, {**files, target: content}, [*arguments, "--quiet"], **rest)

        live_run = ["live", "run", "live.yaml", "--nvml", "./none.so"]  # exit code 3: there is no GPU
        fit = ["model", "fit", "--model", "contention", "--out", "m.model", "--pairs"]
        predict = ["model", "predict", "--pairs", "mine.corun.csv", "--out", "p.csv", "--model"]
        return [
            reader("configuration", "c.yaml", files["mine.yaml"], ["replay", "c.yaml", "--dump-config"]),
            reader("sweep", "c.yaml", files["sweep.yaml"], ["sweep", "c.yaml", "--dump-config"]),
            reader("live configuration", "live.yaml", LIVE, live_run, allowed=(2, 3)),
            reader("live solo.csv", "out/solo.csv", SOLO, live_run, allowed=(2, 3)),
            reader("knowledge", "k.yaml", made["built.yaml"], ["kb", "show", "k.yaml", "--format", "json"],
                   resealed=unsealed_knowledge),
            reader("knowledge merged", "k.yaml", files["kb.yaml"], ["kb", "update", "own.yaml", "--merge", "k.yaml"]),
            reader("co-runs", "t.csv", files["mine.corun.csv"], ["kb", "update", "own.yaml", "--coruns", "t.csv"]),
            reader("profiles", "t.csv", files["jobs.csv"], ["kb", "assign", "jrs", "--profiles", "t.csv"]),
            reader("centres", "t.csv", CENTRES, ["kb", "build", "--profiles", "jobs.csv", "--centres", "t.csv",
                                                 "--output", "new.yaml"]),
            reader("overrides", "t.csv", OVERRIDES, ["recommend", "jobs.csv", "--overrides", "t.csv"]),
            reader("containers", "t.csv", CONTAINERS, ["recommend", "jobs.csv", "--argo", "w.yaml", "--containers",
                                                       "t.csv"]),
            reader("pairs, corun", "t.csv", files["mine.corun.csv"], [*fit, "t.csv"]),
            reader("pairs, Lucid", "t.csv", LUCID_PAIRS, [*fit, "t.csv"]),
            reader("pairs, Gavel", "t.csv", GAVEL_PAIRS, ["model", "fit", "--model", "measured", "--out", "m.model",
                                                          "--pairs", "t.csv"]),
            reader("model gp", "m.model", made["gp.model"], [*predict, "m.model"], resealed=resealed_model),
            reader("model contention", "m.model", made["physical.model"], [*predict, "m.model"],
                   resealed=resealed_model),
            reader("journal merged", "part", made["part"], ["sweep", "--merge", "part", "--output", "m.h5"],
                   resealed=reframed_journal),
            reader("journal continued", "x.h5.journal", made["part"],
                   ["sweep", "s.yaml", "--output", "x.h5", "--threads", 1], resealed=reframed_journal),
            reader("results", "r.h5", made["r.h5"], ["sweep", "--answers", "r.h5"]),
            *[Reader(f"live {name}", f"out/{name}", {f"out/{other}": content for other, content in live.items()},
                     ["live", "validate", "out", "--quiet"]) for name in sorted(live)],
        ]

    def run(self, case, rng, folder):
        reader = self.readers[case % len(self.readers)]
        content = reader.files[reader.target]
        if reader.resealed and rng.random() < 0.5:
            content = reader.resealed(rng, content, self.samples)
        else:
            content = mutated(rng, content, self.samples)
        restore(folder, {**reader.files, reader.target: content})
        outcome = self.program.run(folder, reader.arguments)
        crash = outcome.crash(reader.allowed)
        return Result(1, [Finding(CRASH, f"{reader.name}: corun {' '.join(map(str, reader.arguments))}: {crash}")]
                      if crash else [])


class TraceMutations:
    """The readers of traces_test; a case is a run of it with a seed of its own."""
    name, unit, share = "traces", "mutations", 1
    ROUNDS_OF_CASE = 100  # per sample

    def __init__(self, setup):
        self.program = setup.traces_test
        self.samples = sum(1 for path in (HERE.parent / "fuzz/corpus").rglob("*") if path.is_file())
        self.cases = ROUNDS // self.ROUNDS_OF_CASE

    def run(self, case, rng, folder):
        seed = rng.randrange(1, 1 << 31)
        command = [self.program, "--gtest_filter=FuzzSmoke.SeededMutationsAreReadOrRefused"]
        environment = {**os.environ, "CORUN_FUZZ_SEED": str(seed), "CORUN_FUZZ_ROUNDS": str(self.ROUNDS_OF_CASE)}
        try:
            done = subprocess.run(command, capture_output=True, timeout=TIMEOUT_S, env=environment)
            outcome = Outcome(done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace"))
        except subprocess.TimeoutExpired:
            outcome = Outcome(None, b"", "")
        result = Result(self.ROUNDS_OF_CASE * self.samples)
        if outcome.code != 0:
            said = outcome.out.decode(errors="backslashreplace")
            failures = re.findall(r"Failure\n(.*?)(?=\n\S+:\d+: |\n\[)", said, re.S)[:3] or [said[-300:]]
            result.findings = [Finding(CRASH, f"CORUN_FUZZ_SEED={seed} CORUN_FUZZ_ROUNDS={self.ROUNDS_OF_CASE} "
                                              f"{pathlib.Path(self.program).name}: {outcome.ending()}: "
                                              + " ".join(failure.split())[:300]) for failure in failures]
        return result
