"""corun.replay() and corun.read()."""
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
import unittest
import warnings

import h5py
import numpy
import support

import corun



class Replay(support.Case):
    def both(self, arguments, **given):
        """The results files of the program and of Python."""
        theirs, ours = self.folder / "program.h5", self.folder / "python.h5"
        support.run("replay", "--quiet", "--force", "--output", theirs, *arguments)
        corun.replay(out=ours, force=True, quiet=True, **given)
        return theirs.read_bytes(), ours.read_bytes()

    def test_the_bytes_are_those_of_the_program(self):
        for threads in (1, 3):
            theirs, ours = self.both(
                ["--set", "replications=5", "--set", "cluster.nodes=3", "--seed", "7",
                 "--set", "policies=[fcfs, {name: min-slowdown, epsilon: 0.2, label: curious}]"],
                replications=5, seed=7, set={"cluster.nodes": 3}, threads=threads,
                policies=["fcfs", {"name": "min-slowdown", "epsilon": 0.2, "label": "curious"}])
            self.assertEqual(theirs, ours)

    def test_a_configuration_by_path_and_as_a_dictionary(self):
        path = self.folder / "c.yaml"
        path.write_text("replications: 2\npolicies: [random, {name: las}]\ncluster: {nodes: 2}\n")
        theirs, ours = self.both([path], config=path)
        self.assertEqual(theirs, ours)
        same = {"replications": 2, "policies": ["random", {"name": "las"}], "cluster": {"nodes": 2}}
        self.assertEqual(theirs, self.both([path], config=same)[1])

    def test_a_trace(self):
        trace = support.ROOT / "examples" / "jobs.csv"
        theirs, ours = self.both([trace, "--policies", "fifo,sjf", "--gpus", 2, "--replications", 2], config=trace,
                                 policies=["fifo", "sjf"], replications=2,
                                 set={"cluster.nodes": 1, "cluster.gpus_per_node": 2})
        self.assertEqual(theirs, ours)

    def test_the_configuration_of_results_repeats_them(self):
        first = corun.replay(**support.SHORT, out=self.folder / "a.h5")
        path = self.folder / "again.yaml"
        path.write_text(first.config)
        corun.replay(path, out=self.folder / "b.h5", quiet=True)
        self.assertEqual((self.folder / "a.h5").read_bytes(), (self.folder / "b.h5").read_bytes())

    def test_any_configuration_that_runs_is_repeated_by_that_of_its_results(self):
        """Drawn from what `corun list keys` lists; CORUN_RANDOM_RUNS=5 are as many as DumpedRuns draws."""
        values = {"workload.source": ["jrs-queue", "jrs-resampled"], "cluster.gpu_type": ["v100", "T4"],
                  "belief.initial": ["jrs", "prirect", "none", "prefitted"], "world.path": ["prefitted"],
                  "cluster.machines": ["2x1:T4+1x2:V100-16GB"],
                  "policies": [["sjf", "las"], ["kube-default", "fgd"], ["proactive"], ["random", "oracle"],
                               [{"name": "min-slowdown", "epsilon": 0.5, "label": "a#b"}]]}
        for key in json.loads(support.run("list", "keys", "--format", "json")):
            name, words, usual = key["name"], key["value"], key["default"]
            if name in values or name == "replications" or name.endswith(".effort") or words.startswith("text"):
                continue
            if words.startswith("one of "):
                values[name] = words.removeprefix("one of ").removesuffix(", or null").split(", ")
            elif words == "true or false":
                values[name] = [True, False]
            else:
                number = int if words.startswith("a whole number") else float
                values[name] = [number(0 if usual == "null" else float(usual)) + k for k in (0, 1)]
        draw = random.Random(46)
        ran = 0
        for _ in range(100 * int(os.environ.get("CORUN_RANDOM_RUNS", "1"))):
            given = {"world.effort": 0.1, "belief.effort": 0.1, "replications": 1}
            for name in draw.sample(sorted(values), draw.randint(1, 4)):
                given[name] = draw.choice(values[name])
            with self.subTest(given):
                try:
                    first = corun.replay(set=given, out=self.folder / "a.h5", force=True, quiet=True, threads=1)
                except corun.InputError as error:  # keys that contradict each other
                    self.one_line(error)
                    continue
                path = self.folder / "again.yaml"
                path.write_text(first.config)
                corun.replay(path, out=self.folder / "b.h5", force=True, quiet=True, threads=1)
                self.assertEqual((self.folder / "a.h5").read_bytes(), (self.folder / "b.h5").read_bytes())
                ran += 1
        self.assertGreater(ran, 30)

    def test_mistakes_name_the_argument(self):
        for given, place in (({"set": {"cluster.nodes": "x"}}, "corun.replay(set: 'cluster.nodes'): cluster.nodes: found the quoted text 'x'"),
                             ({"replications": 0}, "corun.replay(replications): replications: found '0'"),
                             ({"config": {"cluster": {"nods": 1}}}, "config: unknown key 'nods' in 'cluster'"),
                             ({"set": {"cluster.nodes": float("inf")}}, "corun.replay(set: 'cluster.nodes'): cluster.nodes: found inf"),
                             ({"set": {"workload.path": "a\nb"}}, "corun.replay(set: 'workload.path'): found a line break"),
                             ({"set": {"workload.path": object()}}, "corun.replay(set: 'workload.path'): workload.path: found object"),
                             ({"set": {"a\nb": 1}}, "corun.replay(set: 'a\\nb'): ")):
            with self.subTest(given), self.assertRaises(corun.InputError) as caught:
                corun.replay(**{"quiet": True, **given})
            self.assertTrue(str(caught.exception).startswith(place), caught.exception)

    def test_lists_in_themselves_are_refused(self):
        endless = []
        endless.append(endless)
        with self.assertRaises(corun.InputError) as caught:
            corun.replay(set={"policies.min-slowdown.order": endless}, quiet=True)
        self.one_line(caught.exception, "lists in lists")

    def test_mistakes_are_one_line(self):
        for given, parts in (
                ({"set": {"cluster.nods": 1}}, ["cluster.nods", "nodes"]),
                ({"set": {"cluster.nodes": float("nan")}}, ["cluster.nodes: found nan"]),
                ({"set": {"cluster.nodes": "x\ny"}}, ["cluster.nodes"]),
                ({"policies": ["fcsf"]}, ["unknown policy 'fcsf'", "fcfs"]),
                ({"policies": []}, ["policies"]),
                ({"policies": [3]}, ["policies: found int"]),
                ({"config": self.folder / "none.yaml"}, ["none.yaml"]),
                ({"set": {"seed": 1}, "seed": 2}, ["seed: found in set and as an argument"]),
                ({"out": self.folder / "a.csv"}, ["a.csv"]),
                ({"device": "tpu"}, ["tpu"]),
                ({"device": 3}, ["device: found 3, expected 'auto'"]),
                ({"threads": -1}, ["threads: found -1, expected a whole number from 0 (one per core) to 4096"]),
                ({"threads": "3"}, ["threads: found '3'"]),
                ({"threads": True}, ["threads: found True"]),
                ({"threads": 10**9}, ["threads: found 1000000000"]),
                ({"force": "x"}, ["force: found 'x', expected True or False"]),
                ({"quiet": 2}, ["quiet: found 2"]),
                ({"out": 3}, ["out: found 3, expected the path"]),
                ({"data": 3}, ["data: found 3, expected the path"]),
                ({"config": 3}, ["config: found 3, expected the path of a configuration or trace, or a dictionary"]),
                ({"config": {"policies": 3}}, ["policies: found 3, expected a list"]),
                ({"set": ["cluster.nodes"]}, ["set: found ['cluster.nodes'], expected a dictionary"]),
                ({"policies": 3}, ["policies: found 3, expected a list"]),
                ({"config": self.folder / "none.csv"}, ["config: no file '", "none.csv'"]),
                ({"config": self.folder}, [str(self.folder), "directory"])):
            with self.subTest(given), self.assertRaises(corun.InputError) as caught:
                corun.replay(**{"replications": 1, "quiet": True, **given})
            self.one_line(caught.exception, *parts)
            self.assertNotIn("--set", str(caught.exception))

    def test_a_file_of_something_else_stays(self):
        path = self.folder / "r.h5"
        path.write_text("mine")
        with self.assertRaises(corun.InputError):
            corun.replay(**support.SHORT, out=path)
        self.assertEqual(path.read_text(), "mine")
        corun.replay(**support.SHORT, out=path, force=True)

    def test_notes_are_warnings(self):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            corun.replay(policies=["sjf"], replications=1)
        self.assertTrue(any("exact run times" in str(w.message) for w in caught))
        self.assertTrue(all(w.category is corun.CorunWarning and w.filename == __file__ for w in caught))

    def test_a_killed_replay_leaves_no_folder_for_ever(self):
        script = ("import corun\nclass Mine(corun.Policy):\n    def decide(self, view):\n"
                  "        print('in', flush=True)\n        while True: pass\n"
                  "corun.replay(policies=[Mine], quiet=True, threads=1)")
        environment = {**os.environ, "TMPDIR": str(self.folder)}
        with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment) as process:
            limit = threading.Timer(support.LIMIT_S, process.kill)
            limit.start()
            try:
                self.assertEqual(process.stdout.readline(), b"in\n")
                self.assertEqual(len(list(self.folder.iterdir())), 1)
                again = "import corun, os\ncorun.replay(replications=1, policies=['fcfs'], quiet=True)"
                for left in (1, 0):  # one of a running program stays
                    subprocess.run([sys.executable, "-c", again], env=environment, check=True, timeout=support.LIMIT_S)
                    self.assertEqual(len(list(self.folder.iterdir())), left)
                    process.kill()
                    process.wait(timeout=support.LIMIT_S)
            finally:
                limit.cancel()
                process.kill()

    def test_ctrl_c_stops_and_keeps_what_is_finished(self):
        path = self.folder / "r.h5"
        threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        with self.assertRaises(KeyboardInterrupt):
            corun.replay(policies=["fcfs", "random"], replications=200_000, threads=1, out=path, quiet=True)
        self.assertLess(time.monotonic() - began, 30)
        results = corun.read(path)
        self.assertEqual(results.attrs["complete"], 0)
        self.assertGreater(results.attrs["replications"], 0)


class Read(support.Case):
    @classmethod
    def setUpClass(cls):
        cls.results = corun.replay(**support.SHORT)

    def test_tables_have_the_rows_of_the_file(self):
        path = self.folder / "r.h5"
        corun.replay(**support.SHORT, out=path)
        results = corun.read(path)
        with h5py.File(path) as file:
            names = []
            file.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset) else None)
            self.assertEqual(set(names), set(results.tables))
            for name in names:
                table, rows = results[name], file[name][()]
                added = ["label"] if name in ("co_runs", "events", "over_time") else []
                self.assertEqual([c for c in table.columns if c not in added], list(rows.dtype.names))
                self.assertEqual(len(table), len(rows))
                for column in rows.dtype.names:
                    codes = file[name].attrs.get(f"{column}_codes")
                    if codes is not None:
                        self.assertEqual(table[column].cat.codes.tolist(), rows[column].tolist())
                        self.assertEqual(table[column].cat.categories.tolist(), codes.tolist())
                    elif rows[column].dtype.kind == "S":
                        self.assertEqual(table[column].tolist(), [t.decode() for t in rows[column]])
                    else:
                        numpy.testing.assert_array_equal(table[column].to_numpy(), rows[column])
        self.assertEqual(len(results.runs), 3 * 2 * 24)

    def test_units_and_descriptions(self):
        self.assertEqual(self.results.units("runs")["jct_s"], "s")
        self.assertEqual(self.results.runs.attrs["units"]["isd"], "1")
        self.assertIn("slowdown", self.results.runs.attrs["descriptions"]["isd"])
        self.assertNotIn("label", self.results.units("runs"))
        self.assertEqual(self.results.usage.attrs["units"]["busy_s"], "GPU s")
        self.assertEqual(self.results.attrs["seed"], 1)
        self.assertIn("replications: 3", self.results.config)

    def test_tables_of_details(self):
        """Labels, names of codes, and the two views that join names to them."""
        results = corun.replay(policies=["fcfs", "min-slowdown"], replications=2, quiet=True)
        self.assertEqual(set(results.events.kind), {"arrive", "start", "finish"})
        self.assertNotIn("kind", results.units("events"))
        for name in ("co_runs", "events", "over_time"):
            self.assertEqual(results[name].groupby("policy").label.unique().str[0].tolist(), ["fcfs", "min-slowdown"])
        self.assertEqual(results.co_runs.attrs["left_out"], 0)
        sides = results.co_runners()
        self.assertEqual(len(sides), 2 * len(results.co_runs))
        names = results.runs.set_index(["policy", "replication", "job_index"])
        for row in sides.sample(20, random_state=1).itertuples():
            own, other = (names.loc[(row.policy, row.replication, j)] for j in (row.job_index, row.co_runner_index))
            self.assertEqual((row.job, row.cluster), (own.job, own.cluster))
            self.assertEqual((row.co_runner, row.co_runner_cluster), (other.job, other.cluster))
            pair = results.co_runs[(results.co_runs.policy == row.policy) & (results.co_runs.co_run == row.co_run)
                                   & (results.co_runs.replication == row.replication)]
            self.assertIn((row.job_index, row.speed), [*zip(pair.job_a, pair.speed_a), *zip(pair.job_b, pair.speed_b)])
        self.assertEqual(sides.attrs["units"]["isd"], "1")
        self.assertNotIn("_a", sides.attrs["descriptions"]["speed"])

    def test_stays_are_the_intervals_of_the_events(self):
        results = corun.replay(policies=["fcfs", "srtf"], replications=2, quiet=True,
                               set={"estimates.duration": "exact", "workload.source": "jrs-resampled", "workload.jobs": 60,
                                    "workload.load": 2.0})
        stays = results.stays()
        self.assertEqual(set(stays.replication), {0})
        for policy, runs in results.runs[results.runs.replication == 0].groupby("policy"):
            own = stays[stays.policy == policy]
            last = own.groupby("job").agg(start_s=("start_s", "max"), end_s=("end_s", "max"), gpu=("gpu", "last"))
            found = runs.set_index("job").loc[last.index]
            numpy.testing.assert_array_equal(last.start_s, found.last_start_s)
            numpy.testing.assert_array_equal(last.end_s, found.finish_s)
            numpy.testing.assert_array_equal(last.gpu, found.gpu)
            usage = results.usage[(results.usage.policy == policy) & (results.usage.replication == 0)]
            busy = results.episodes[(results.episodes.policy == policy) & (results.episodes.replication == 0)]
            self.assertEqual(own.start_s.min(), busy.start_s.min())
            self.assertEqual(own.end_s.max(), busy.end_s.max())
            self.assertGreaterEqual((own.end_s - own.start_s).sum() + 1e-6, usage.busy_s.iloc[0])
        self.assertTrue((stays.end == "preempt").any())
        self.assertEqual(stays.attrs["units"]["end_s"], "s")

    def test_without_details(self):
        results = corun.replay(policies=["fcfs"], replications=1, quiet=True, set={"measure.details": False})
        self.assertEqual((len(results.events), len(results.co_runners()), len(results.stays())), (0, 0, 0))

    def test_what_is_not_there(self):
        with self.assertRaises(AttributeError) as caught:
            self.results.rnus
        self.assertIn("there are co_runs, coverage, ", str(caught.exception))
        with self.assertRaises(KeyError):
            self.results["rnus"]
        self.assertIn("runs", dir(self.results))
        self.assertIn("runs", self.results)

    def test_a_sweep(self):
        path = self.folder / "s.h5"
        config = self.folder / "s.yaml"
        config.write_text("replications: 2\npolicies: [fcfs, random]\nsweep:\n  grid:\n    cluster.nodes: [2, 4]\n")
        support.run("sweep", "--quiet", config, "--output", path)
        sweep = corun.read(path)
        self.assertEqual(sweep.attrs["kind"], "corun sweep")
        self.assertEqual(sweep.points["cluster.nodes"].tolist(), [2, 4])
        self.assertEqual(sweep.units("means")["jct_s"], "s")

    def test_groups_and_plain_datasets(self):
        path = self.folder / "g.h5"
        with h5py.File(path, "w") as file:
            file.attrs["kind"] = "corun results"
            file["inner/table"] = numpy.array([(1, b"\xff=x")], dtype=[("a", "i4"), ("b", "S3")])
            file["inner/table"].attrs["a_units"] = "s"
            file["series"] = numpy.array([1.5, 2.5])
        self.seal(path)
        results = corun.read(path)
        self.assertEqual(results.inner_table.b.tolist(), ["\ufffd=x"])
        self.assertEqual(results.units("inner/table"), {"a": "s"})
        self.assertEqual(results.series.series.tolist(), [1.5, 2.5])

    def seal(self, path):
        import hashlib
        with open(path, "ab") as file:
            file.write(b"\ncorun sha256:" + hashlib.sha256(path.read_bytes()).hexdigest().encode() + b"\n")

    def test_a_table_that_was_replaced_after_opening(self):
        path = self.folder / "r.h5"
        results = corun.replay(**support.SHORT, out=path)
        whole = path.read_bytes()
        path.write_bytes(whole[:3000])
        with self.assertRaises(corun.InputError) as caught:
            results.runs
        self.one_line(caught.exception, "r.h5", "damaged")
        path.write_bytes(whole)  # the same bytes are the same results
        self.assertEqual(len(results.runs), 3 * 2 * 24)
        path.unlink()
        with self.assertRaises(corun.InputError) as caught:
            results.metrics
        self.one_line(caught.exception, "r.h5: no such file any more, expected the results file that was opened")
        self.assertEqual(len(results.runs), 3 * 2 * 24)  # read before

    def test_tables_of_another_run_are_not_shown(self):
        path = self.folder / "r.h5"
        first = corun.replay(**support.SHORT, out=path)
        loaded = corun.read(path).load()
        other = corun.replay(**{**support.SHORT, "replications": 2}, out=path, force=True)
        for _ in range(2):
            with self.assertRaises(corun.InputError) as caught:
                first.metrics
            self.one_line(caught.exception, "r.h5: has other results than when it was opened")
        self.assertEqual(len(other.metrics), 2 * 2)
        self.assertEqual(len(loaded.metrics), 3 * 2)

    def test_damaged_and_foreign_files_are_refused(self):
        path = self.folder / "r.h5"
        corun.replay(**support.SHORT, out=path)
        whole = path.read_bytes()
        for spoilt, part in ((whole[:-1], "damaged"), (whole[:500] + b"x" + whole[501:], "damaged"), (b"", "no line"),
                             (b"a,b\n", "no line")):
            path.write_bytes(spoilt)
            with self.assertRaises(corun.InputError) as caught:
                corun.read(path)
            self.one_line(caught.exception, part)
        path.write_bytes(b"no HDF5")
        self.seal(path)
        with self.assertRaises(corun.InputError) as caught:
            corun.read(path)
        self.one_line(caught.exception, "expected a results file of corun")
        with self.assertRaises(corun.InputError) as caught:
            corun.read(self.folder / "none\n\x1b[31m.h5")
        self.one_line(caught.exception, "none\\x0a\\x1b[31m.h5: no such file")
        with self.assertRaises(corun.InputError) as caught:
            corun.read(self.folder)
        self.one_line(caught.exception, "is a directory")
        with self.assertRaises(corun.InputError) as caught:
            corun.read(3)
        self.one_line(caught.exception, "results: found 3, expected the path of a results file")
        with h5py.File(path, "w") as file:
            file.attrs["kind"] = "else"
        self.seal(path)
        with self.assertRaises(corun.InputError) as caught:
            corun.read(path)
        self.one_line(caught.exception, "found kind 'else'")
        with self.assertRaises(corun.InputError):
            corun.read(self.folder / "none.h5")


if __name__ == "__main__":
    support.main()
