"""Policies as classes of Python: what they see, what they may answer, and what becomes of their mistakes."""
import importlib.util
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import traceback
import unittest

import numpy
import support

import corun

QUICK = {"replications": 3, "quiet": True}


class Pairs(corun.Policy):
    """As fcfs: the two oldest jobs together."""

    def decide(self, view):
        size = min(2, view.max_jobs_per_gpu or 2)
        waiting = view.waiting.tolist()
        return [corun.Start(waiting[size * i:size * i + size], [gpu])
                for i, gpu in enumerate(view.free) if size * i < len(waiting)]


class Cheapest(corun.Policy):
    """As min-slowdown with pairing: greedy-rank and a belief about jobs."""
    belief = "configured"

    def decide(self, view):
        waiting = numpy.sort(view.oldest(256))
        groups = []
        if len(view.free) and len(waiting) > 1:
            a, b = numpy.triu_indices(len(waiting), 1)
            costs = view.belief.pairs(waiting[a], waiting[b])
            left = set(waiting.tolist())
            for i in numpy.argsort(costs["isd_a"] + costs["isd_b"], kind="stable"):
                pair = {int(waiting[a[i]]), int(waiting[b[i]])}
                if pair <= left:
                    groups.append(sorted(pair))
                    left -= pair
            waiting = numpy.array(sorted(left))
        return [corun.Start(g, [gpu]) for g, gpu in zip(groups + [[j] for j in waiting], view.free)]


class Even(corun.SharePolicy):
    """As isolated."""

    def shares(self, problem):
        parts = problem.gpus / len(problem.job) / problem.gang[:, None]
        sums = numpy.zeros(len(parts))
        for t in range(parts.shape[1]):
            sums += parts[:, t]
        shares = numpy.zeros((len(problem.units), len(problem.gpus)))
        shares[:len(parts)] = parts / numpy.maximum(1, sums)[:, None]
        return shares


TWO_TYPES = {"cluster.machines": "1x2:V100+1x2:T4", "estimates.duration": "exact"}


def replay(policy, **given):
    return corun.replay(**{"policies": [policy], **QUICK, **given})


def deciding(decide, **fields):
    """A class with this decide()."""
    return type("Mine", (corun.Policy,), {"decide": decide, **fields})


class Equals(support.Case):
    def same(self, built_in, policy, **given):
        results = corun.replay(**{**QUICK, "policies": [built_in, policy], **given})
        one, two = (results.runs[results.runs.policy == p].drop(columns=["policy", "label"]).reset_index(drop=True)
                    for p in (0, 1))
        self.assertGreater(len(one), 0)
        self.assertTrue(one.equals(two))

    def test_fcfs(self):
        self.same("fcfs", Pairs)
        self.same("fcfs", Pairs, set={"cluster.max_jobs_per_gpu": 1})

    def test_greedy_pairs(self):
        self.same({"name": "min-slowdown", "pairing": "greedy-rank"}, Cheapest, set={"belief.model": "default"})

    def test_the_external_program_of_the_examples(self):
        command = [sys.executable, support.ROOT / "examples" / "policy.py"]
        self.same({"name": "external", "command": command}, Pairs)


    def test_shares_as_isolated(self):
        self.same("isolated", Even, set=TWO_TYPES)
        command = [sys.executable, support.ROOT / "examples" / "shares.py"]
        self.same({"name": "external-shares", "command": command}, Even, set=TWO_TYPES)
        fields = {"space_sharing": "pairs", "reset_s": 60, "round_s": 30}
        self.same({"name": "external-shares", "command": command, **fields}, {"policy": Even, **fields}, set=TWO_TYPES)


class Shares(support.Case):
    def test_what_a_policy_is_told(self):
        seen = []

        class Mine(Even):
            space_sharing = "pairs"

            def shares(self, problem):
                seen.append(problem)
                return super().shares(problem)

        replay(Mine, replications=1, seed=4, set=TWO_TYPES)
        first = seen[0]
        self.assertEqual((first.seed, list(first.gpu_types), first.gpus.tolist()), (4, ["V100-16GB", "T4"], [2, 2]))
        jobs, units = len(first.job), len(first.units)
        self.assertEqual((jobs, units), (24, 24 + 24 * 23 // 2))
        self.assertEqual(first.units[0].tolist(), [0, -1])
        self.assertTrue((first.units[jobs:, 0] < first.units[jobs:, 1]).all())
        self.assertEqual(first.rates.shape, (units, 2, 2))
        self.assertTrue((first.rates[:jobs, 0, 0] == 1).all())  # a second of work per second on the reference type
        self.assertTrue((first.rates[:jobs, 1, 0] < 1).all())
        self.assertTrue((first.rates[jobs:].min(axis=(0, 1)) > 0).all())
        self.assertTrue((first.steps_left > 0).all() and (first.age_s == 0).all())
        later = seen[-1]
        self.assertTrue((later.age_s > 0).all() and later.isolated_s.max() > 0)

    def test_mistakes(self):
        def refused(answer, *parts):
            policy = type("Mine", (corun.SharePolicy,), {"shares": answer})
            with self.assertRaises(corun.InputError) as caught:
                replay(policy, set=TWO_TYPES)
            self.one_line(caught.exception, "Mine", *parts)

        refused(lambda _, problem: None, "found None, expected an array of 24 x 2 numbers")
        refused(lambda _, problem: [[1, 1]], "found [[1, 1]], expected an array of 24 x 2 numbers")
        refused(lambda _, problem: numpy.ones((24, 2)), "found shares of job", "that add up to 2, expected at most 1")
        refused(lambda _, problem: numpy.full((24, 2), 0.5), "found shares of 12 GPUs of type 0, expected at most 2")
        refused(lambda _, problem: numpy.full((24, 2), numpy.nan), "found the share nan of unit 0", "expected 0 to 1")
        refused(lambda _, problem: -numpy.ones((24, 2)), "found the share -1 of unit 0", "expected 0 to 1")
        refused(lambda _, problem: problem.missing, "it raised AttributeError")
        with self.assertRaises(corun.InputError) as caught:
            replay(corun.SharePolicy, set=TWO_TYPES)
        self.one_line(caught.exception, "needs a method shares(self, problem)")
        with self.assertRaises(corun.InputError) as caught:
            replay(type("Mine", (Even,), {"space_sharing": "some"}), set=TWO_TYPES)
        self.one_line(caught.exception, "some", "pairs")

    def test_same_bytes_at_any_number_of_threads(self):
        files = []
        for threads in (1, 3):
            path = self.folder / f"{threads}.h5"
            replay(Even, replications=6, threads=threads, out=path, set=TWO_TYPES)
            files.append(path.read_bytes())
        self.assertEqual(files[0], files[1])


class Threads(support.Case):
    def test_same_bytes_at_any_number_of_threads(self):
        files = []
        for threads in (1, 2, 5):
            path = self.folder / f"{threads}.h5"
            corun.replay(policies=[Pairs, Cheapest, "random"], replications=12, threads=threads, out=path, quiet=True,
                         set={"belief.model": "default"})
            files.append(path.read_bytes())
        self.assertEqual(files[0], files[1])
        self.assertEqual(files[0], files[2])

    def test_each_replication_has_its_own_object_and_seed(self):
        seen = []

        class Mine(Pairs):
            def __init__(self):
                self.passes = 0

            def decide(self, view):
                if self.passes == 0:
                    seen.append((view.seed, id(self), threading.get_ident()))
                self.passes += 1
                return super().decide(view)

        replay(Mine, replications=6, seed=10, threads=3)
        self.assertEqual(sorted(seed for seed, _, _ in seen), list(range(10, 16)))

    def test_the_configuration_names_a_class_that_can_be_imported(self):
        (self.folder / "my_policies.py").write_text(
            "import corun\nclass Out:\n    class One(corun.Policy):\n        def decide(self, view):\n"
            "            return [corun.Start([j], [g]) for j, g in zip(view.waiting, view.free)]\n")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        import my_policies
        first = replay(my_policies.Out.One, out=self.folder / "a.h5")
        self.assertIn("class: [my_policies, Out.One]", first.config)
        again = self.folder / "again.yaml"
        again.write_text(first.config)
        corun.replay(again, out=self.folder / "b.h5", quiet=True)
        self.assertEqual((self.folder / "a.h5").read_bytes(), (self.folder / "b.h5").read_bytes())
        missing = self.folder / "missing.yaml"
        missing.write_text(first.config.replace("Out.One", "Out.Two"))
        with self.assertRaises(corun.InputError) as caught:
            corun.replay(missing, quiet=True)
        self.one_line(caught.exception, "Out.Two", "AttributeError")

    def test_labels_and_functions(self):
        class Shifted(Pairs):
            def __init__(self, by):
                self.by = by

        results = corun.replay(policies=[{"policy": lambda: Shifted(1), "label": "one"}, lambda: Shifted(2), Pairs,
                                         {"policy": Pairs, "start": "join"}], **QUICK)
        self.assertEqual(results.policies.label.tolist(), ["one", "<lambda>", "Pairs#1", "Pairs#2"])


class Gangs(support.Case):
    CLUSTER = {"cluster.nodes": 3, "cluster.gpus_per_node": 4}

    def trace(self, jobs=60):
        path = self.folder / "gangs.csv"
        sizes = [1, 1, 2, 1, 4, 1, 3, 8]
        rows = [f"j{i},{7 * i},{30 + 37 * i % 200},{sizes[5 * i % len(sizes)]}" for i in range(jobs)]
        path.write_text("job,submit_s,solo_s,gpus\n" + "\n".join(rows) + "\n")
        return path

    def test_consolidated_is_the_placement_of_fifo(self):
        class Fifo(corun.Policy):
            def decide(self, view):
                job = view.waiting[0]
                place = view.consolidated(view.job(job).gpus)
                return [corun.Start([job], place)] if len(place) else []

        results = corun.replay(self.trace(), policies=["fifo", Fifo], replications=1, quiet=True, set=self.CLUSTER)
        runs = {label: rows for label, rows in results.runs.groupby("label")}
        for column in ("first_start_s", "finish_s", "gpu"):
            self.assertEqual(runs["fifo"][column].tolist(), runs["Fifo"][column].tolist(), column)

    def test_a_place_that_running_jobs_leave(self):
        found = []

        class Asks(corun.Policy):
            def decide(self, view):
                if view.now_ns == 0:
                    return [corun.Start([j], [2 * i, 2 * i + 1]) for i, j in enumerate(view.waiting)]
                if found:
                    return [corun.Start(view.waiting[:1], view.free[:1])] if len(view.free) else []
                jobs = sorted({int(j) for j in view.running[1]})
                found.append([view.consolidated(4).tolist(), view.consolidated(4, without=jobs[:2]).tolist(),
                              view.consolidated(4, jobs[1:3]).tolist(), view.consolidated(13).tolist(),
                              view.consolidated(12, jobs).tolist(), view.consolidated(0).tolist()])
                served = view.jobs(jobs)
                found.append([served["served_ns"].tolist(), served["started_ns"].tolist(), view.job(jobs[0]).served_ns,
                              view.job(jobs[0]).started_ns, view.job(view.waiting[0]).started_ns])
                return []

        rows = [f"{i},0,100,2" for i in range(6)] + ["late,10,1,1"]
        path = self.folder / "full.csv"
        path.write_text("job,submit_s,solo_s,gpus\n" + "\n".join(rows) + "\n")
        corun.replay(path, policies=[Asks], replications=1, threads=1, quiet=True, set=self.CLUSTER)
        self.assertEqual(found[0], [[], [0, 1, 2, 3], [], [], list(range(12)), []])
        self.assertEqual(found[1], [[10**10] * 6, [0] * 6, 10**10, 0, None])

    def test_consolidated_for_a_job_that_names_gpu_types(self):
        found = []

        class Asks(corun.Policy):
            def decide(self, view):
                if not found:
                    found.append([view.consolidated(2, job=j).tolist() for j in view.waiting])
                    found.append(view.consolidated(2).tolist())
                    with self.case.assertRaises(KeyError):
                        view.consolidated(2, job=99)
                place = [(j, view.consolidated(2, job=j)) for j in view.waiting]
                return [corun.Start([j], gpus) for j, gpus in place if len(gpus)][:1]

        Asks.case = self
        path = self.folder / "types.csv"
        path.write_text("job,submit_s,solo_s,gpus,gpu_models\na,0,9,2,\nb,0,9,2,P4\nc,0,9,2,T4|P4\n")
        corun.replay(path, policies=[Asks], replications=1, threads=1, quiet=True,
                     set={"cluster.machines": "1x2:T4+1x2:P4"})
        self.assertEqual(found, [[[0, 1], [2, 3], [0, 1]], [0, 1]])

    def test_the_example_decides_as_its_twin_in_cpp(self):
        """examples/sharing_las.py and policies/sharing_las.cpp: equal to the byte, where they share, preempt and place gangs."""
        spec = importlib.util.spec_from_file_location("sharing_las", support.ROOT / "examples" / "sharing_las.py")
        example = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(example)

        class SharingLas(example.SharingLas):
            quantum_ns = 20 * 10**9

        twin = {"name": "sharing-las", "quantum_s": 20}
        typed = self.folder / "types.csv"
        rows = [f"j{i},{7 * i},{30 + 37 * i % 200},{1 + i % 3},{['', 'T4', 'P4', 'T4|P4'][i % 4]}" for i in range(80)]
        typed.write_text("job,submit_s,solo_s,gpus,gpu_models\n" + "\n".join(rows) + "\n")
        slow = {"world.model": "contention", "preemption.save_s": 3, "preemption.restore_s": 4}
        preempted, shared = 0, 0
        for given, changes in [(self.trace(200), {**self.CLUSTER, **slow, "control.start": "join"}),
                               (self.trace(200), self.CLUSTER),
                               (self.trace(200), {**self.CLUSTER, "control.start": "join", "cluster.max_jobs_per_gpu": 1}),
                               (typed, {"cluster.machines": "2x4:T4+3x2:P4", "control.start": "join"}),
                               (None, {**slow, "cluster.nodes": 2, "control.start": "join"})]:
            results = corun.replay(given, policies=[twin, SharingLas], replications=3, quiet=True, set=changes)
            for table in (results.runs, results.metrics):
                one, two = (table[table.policy == p].drop(columns=["policy", "label"]) for p in (0, 1))
                self.assertGreater(len(one), 0)
                self.assertEqual(one.to_csv(index=False), two.to_csv(index=False), changes)
            mine = results.runs[results.runs.label == "SharingLas"]
            self.assertTrue(mine.finished.all())
            preempted += (mine.preemptions > 0).sum()
            shared += (mine.isd > 0).sum()
        self.assertGreater(preempted, 100)
        self.assertGreater(shared, 100)


class Sees(support.Case):
    VIEW = {"belief", "consolidated", "departures", "free", "gpu_count", "job", "jobs", "largest_gang", "max_jobs_per_gpu", "may_run_on",
            "next_wake_ns", "node", "nodes", "now_ns", "oldest", "pass_number", "profiling", "residents", "restricted",
            "running", "seed", "start", "waiting"}
    JOB = {"job", "submit_ns", "gpus", "gpus_min", "gpus_max", "gpu_milli", "gpu_models", "priority", "cpu_milli", "memory_mib", "estimate_ns",
           "speeds", "memory_on_types", "gpu_util_pct", "mem_alloc_pct", "mem_time_pct", "mem_used_mib",
           "packing_label", "imputed", "resubmissions", "preemptions", "resizes", "phase", "served_ns", "started_ns",
           "service"}
    SERVICE = {"goal_s", "share", "load_per_s", "latency_s", "within", "busy", "replicas"}
    BELIEF = {"best_co_runners", "cluster", "clusters", "pairs", "sampled_pairs", "uncertainty"}

    def test_nothing_but_what_is_listed(self):
        """Privacy by type: no model, data set, batch size, epochs or true run time."""
        for kind, names in ((corun.View, self.VIEW), (corun.Job, self.JOB), (corun.Belief, self.BELIEF)):
            self.assertEqual({n for n in dir(kind) if not n.startswith("_")}, names)
            with self.assertRaises(TypeError):
                kind()
        found = []

        def decide(mine, view):
            table = view.jobs(view.waiting)
            job = view.job(view.waiting[0])
            if view.pass_number == 1:
                found.append((table, job, [a for a in dir(job) if not a.startswith("_")], job.estimate_ns))
                with self.assertRaises(AttributeError):
                    job.__dict__
            return Pairs.decide(mine, view)

        replay(deciding(decide), replications=1)
        table, job, names, estimate = found[0]
        self.assertEqual(set(table), (self.JOB - {"speeds", "memory_on_types"}) | self.SERVICE)
        self.assertTrue((table["service"] == -1).all())
        for name in self.SERVICE:
            self.assertTrue(numpy.isnan(table[name]).all(), name)
        self.assertIsNone(estimate)
        self.assertTrue(numpy.isnan(table["estimate_ns"]).all())
        self.assertEqual(set(names), self.JOB)

    def test_services_as_their_last_minute(self):
        """Load, latency and goal of a service, in its Job and as columns; nothing before a minute is over."""
        (self.folder / "times.csv").write_text("model,batch_size,latency_ms\nm,1,10\n")
        (self.folder / "services.csv").write_text(
            "name,times,model,end_s,goal_ms,percentile,rate_per_s,replicas,gpu_util_pct\ns,times.csv,m,600,50,95,50,2,40\n")
        (self.folder / "jobs.csv").write_text("job,submit_s,solo_s\na,0,200\nb,330,100\n")
        found = []

        def decide(mine, view):
            jobs = sorted({*view.waiting.tolist(), *view.running[1].tolist()})
            found.append((view.now_ns, view.jobs(jobs), [view.job(j).service for j in jobs]))
            free = view.free.tolist()
            return [corun.Start([job], [free.pop()]) for job in view.waiting.tolist() if free]

        results = corun.replay(self.folder / "jobs.csv", policies=[deciding(decide)], replications=1, quiet=True,
                               set={"workload.services": str(self.folder / "services.csv"), "cluster.nodes": 4})
        self.assertEqual(results["services"].service.tolist(), ["s"])
        self.assertEqual(results["services"].goal_s.tolist(), [0.05])
        columns = ["load_per_s", "latency_s", "within", "busy", "replicas"]
        for now_ns, table, services in found:
            for i, service in enumerate(services):
                self.assertEqual(table["service"][i], -1 if service is None else service["service"])
                if service is None:
                    self.assertTrue(numpy.isnan(table["goal_s"][i]))
                    continue
                self.assertEqual((table["goal_s"][i], table["share"][i]), (0.05, 0.95))
                self.assertEqual(service["intervals"], min(now_ns, 600 * 10**9) // (60 * 10**9))
                for name in columns:
                    if service["intervals"] == 0:
                        self.assertTrue(numpy.isnan(table[name][i]))
                    else:
                        self.assertEqual(table[name][i], service[name])
        seen = [s for now_ns, _, services in found for s in services if now_ns == 330 * 10**9 and s is not None]
        self.assertEqual(len(seen), 2)
        self.assertAlmostEqual(seen[0]["load_per_s"], 50, delta=5)
        self.assertAlmostEqual(seen[0]["busy"], 0.25, delta=0.03)
        self.assertTrue(0.01 <= seen[0]["latency_s"] < 0.05, seen[0])

    def test_estimates_only_where_granted(self):
        found = []

        def decide(mine, view):
            found.append((view.job(view.waiting[0]).estimate_ns, view.jobs(view.waiting[:1])["estimate_ns"][0]))
            return Pairs.decide(mine, view)

        replay(deciding(decide), replications=1, set={"estimates.duration": "exact"})
        self.assertGreater(found[0][0], 0)
        self.assertEqual(found[0][0], found[0][1])

    def test_the_cluster(self):
        def decide(mine, view):
            self.assertEqual(view.gpu_count, 6)
            self.assertEqual([n["gpus"] for n in view.nodes], [2, 4])
            self.assertEqual([view.node(g) for g in range(6)], [0, 0, 1, 1, 1, 1])
            self.assertEqual({n["gpu_type"] for n in view.nodes}, {"V100-16GB", "T4"})
            gpus, jobs = view.running
            for gpu in range(6):
                self.assertEqual(view.residents(gpu), jobs[gpus == gpu].tolist())
                self.assertEqual(gpu in view.free, not view.residents(gpu))
            self.assertIsNone(view.belief)
            self.assertEqual(view.start, "group")
            for wrong in (-1, 6, 2**40):
                with self.assertRaises(KeyError):
                    view.residents(wrong)
                with self.assertRaises(KeyError):
                    view.job(wrong + 10**6)
            self.assertTrue(view.may_run_on(view.waiting[0], 0))
            return Pairs.decide(mine, view)

        replay(deciding(decide), replications=1, set={"cluster.machines": "1x2:V100-16GB+1x4:T4"})

    def test_a_view_ends_with_its_decide(self):
        kept = []

        def decide(mine, view):
            kept.extend([view, view.belief, view.waiting, view.job(view.waiting[0])])
            return Pairs.decide(mine, view)

        replay(deciding(decide, belief="configured"), replications=1)
        view, belief, waiting, job = kept[:4]
        with self.assertRaises(ValueError):
            view.waiting
        with self.assertRaises(ValueError):
            belief.pairs([0], [1])
        self.assertEqual(len(waiting), 24)  # copies stay
        self.assertEqual(job.job, waiting[0])

    def test_events(self):
        seen = []

        class Mine(Pairs):
            def arrived(self, job, now_ns):
                seen.append(("arrived", job.job, now_ns))

            def departed(self, job, how):
                seen.append((how, job))

            def corun_ended(self, co_run):
                seen.append(("co-run", co_run))

        results = replay(Mine, replications=1)
        self.assertEqual(sum(e[0] == "arrived" for e in seen), 24)
        self.assertEqual(sorted(e[1] for e in seen if e[0] == "finish"), list(range(24)))
        coruns = [e[1] for e in seen if e[0] == "co-run"]
        primary = results.episodes[results.episodes.ps.notna()]
        self.assertEqual(len(coruns), len(primary))
        numpy.testing.assert_allclose(sorted(c.ps for c in coruns), sorted(primary.ps))
        by_job = {m.job: m.isd for c in coruns for m in c.members}
        numpy.testing.assert_allclose([by_job[j] for j in range(24)], results.runs.sort_values("job_index").isd)


class OtherThreads(support.Case):
    def test_a_view_answers_the_thread_of_its_policy_alone(self):
        """A batch runs without Python's lock: on another thread it would outlast the decide() that it belongs to."""
        found = []

        def ask(view, belief, jobs):
            for question in (lambda: view.waiting, lambda: belief.pairs(jobs[:1].repeat(100_000), jobs[1:2].repeat(100_000)),
                             lambda: view.job(jobs[0])):
                try:
                    found.append(question())
                except ValueError as error:
                    found.append(str(error))

        def decide(mine, view):
            if len(view.waiting) > 1:
                thread = threading.Thread(target=ask, args=(view, view.belief, view.waiting))
                thread.start()
                if view.pass_number % 2:
                    thread.join()
            return Pairs.decide(mine, view)

        replay(deciding(decide, belief="configured"))
        self.assertGreater(len(found), 3)
        self.assertTrue(all(isinstance(f, str) and ("thread" in f or "over" in f or "not later" in f) for f in found), found)

    def test_replays_on_several_threads_and_within_a_policy(self):
        expected = replay(Pairs, out=self.folder / "0.h5")
        wrong = []

        def work(number):
            path = self.folder / f"{number}.h5"
            for _ in range(3):
                if not replay(Pairs, out=path).runs.equals(expected.runs):
                    wrong.append(number)

        threads = [threading.Thread(target=work, args=(number,)) for number in (1, 2, 3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])
        for number in (1, 2, 3):
            self.assertEqual((self.folder / f"{number}.h5").read_bytes(), (self.folder / "0.h5").read_bytes())

        def decide(mine, view):
            if view.pass_number == 1:
                self.assertTrue(replay(Pairs, threads=1).runs.equals(expected.runs))
            return Pairs.decide(mine, view)

        replay(deciding(decide), threads=2)


class Answers(support.Case):
    """Wrong answers end the replay with one line that names the policy."""

    def refused(self, decide, *parts, **given):
        with self.assertRaises(corun.InputError) as caught:
            replay(deciding(decide), replications=2, threads=2, **given)
        self.one_line(caught.exception, "policy 'Mine'" if "class Mine" not in parts else "", *parts)
        self.assertNotIn("--set", str(caught.exception))
        return caught.exception

    def test_jobs_and_gpus_that_are_none(self):
        start = corun.Start
        for answer, part in (
                (lambda v: [start([999], [0])], "job 999 is not waiting"),
                (lambda v: [start([v.waiting[0], v.waiting[0]], [0])], "is named twice"),
                (lambda v: [start([v.waiting[0]], [0, 0])], "asked for 1 GPUs and got 2"),
                (lambda v: [start([v.waiting[0]], [77])], "GPU 77 does not exist"),
                (lambda v: [start([v.waiting[0]], [0]), start([v.waiting[0]], [1])], "is not waiting"),
                (lambda v: [corun.Preempt([v.waiting[0]])], "does not run"),
                (lambda v: [corun.Wake(0)], "future timer"),
                (lambda v: [corun.Wake(v.now_ns)], "future timer"),
                (lambda v: [], "left waiting on an idle cluster"),
                (lambda v: None, "left waiting on an idle cluster")):
            self.refused(lambda mine, view, answer=answer: answer(view), part)

    def test_a_gang_on_one_gpu_twice(self):
        trace = self.folder / "gang.csv"
        trace.write_text("job,submit_s,solo_s,gpus\na,0,10,2\n")
        with self.assertRaises(corun.InputError) as caught:
            corun.replay(trace, policies=[deciding(lambda mine, view: [corun.Start([0], [1, 1])])], quiet=True,
                         set={"cluster.gpus_per_node": 2})
        self.one_line(caught.exception, "GPU 1 is named twice")

    def test_what_is_no_decision(self):
        nan = float("nan")
        for answer, part in (
                (lambda v: 3, "found 3, expected a list of corun.Start"),
                (lambda v: "ab", "found 'ab', expected a list"),
                (lambda v: corun.Start([0], [0]), "found Start(jobs=[0], gpus=[0]), expected a list"),
                (lambda v: [([0], [0])], "expected a list of corun.Start"),
                (lambda v: [None], "expected a list of corun.Start"),
                (lambda v: [corun.Start([nan], [0])], "found [Start(jobs=[nan], gpus=[0])], expected a list of whole"),
                (lambda v: [corun.Start(numpy.array([nan]), [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start([0.0], [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start([True], [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start([-1], [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start([2**32 - 1], [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start([2**80], [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start([], [0])], "at least one"),
                (lambda v: [corun.Start([0], [])], "whole numbers of GPUs"),
                (lambda v: [corun.Start("0", [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start(0, 0)], "whole numbers of jobs"),
                (lambda v: [corun.Start({0: 1}, [0])], "whole numbers of jobs"),
                (lambda v: [corun.Start(numpy.zeros((2, 2), int), [0])], "whole numbers of jobs"),
                (lambda v: [corun.Preempt(None)], "whole numbers of jobs"),
                (lambda v: [corun.Wake(nan)], "whole number of nanoseconds"),
                (lambda v: [corun.Wake(2**70)], "whole number of nanoseconds")):
            self.refused(lambda mine, view, answer=answer: answer(view), "broke the rule 'answer'", part)

    def test_too_many_wake_ups(self):
        self.refused(lambda mine, view: [corun.Wake(view.now_ns + 10**12 + i) for i in range(100_001)],
                     "broke the rule 'wake-ups'", "100000")

    def test_an_object_that_shows_itself_badly(self):
        class Odd:
            def __repr__(self):
                raise RuntimeError("no")

        class Long:
            def __repr__(self):
                return "\x1b[31m\n" + "x" * 10_000_000

        self.refused(lambda mine, view: Odd(), "an object that cannot be shown")
        error = self.refused(lambda mine, view: Long(), "\\x1b[31m\\x0a")
        self.assertLess(len(str(error)), 1000)


class Raises(support.Case):
    def test_an_exception_names_policy_and_place_and_is_the_cause(self):
        def decide(mine, view):
            raise ValueError("too\nlate \x1b[31m")

        for threads in (1, 3):
            with self.assertRaises(corun.InputError) as caught:
                replay(deciding(decide), threads=threads)
            self.one_line(caught.exception, "policy 'Mine'", "it raised ValueError: too\\x0alate \\x1b[31m",
                          "at policy_test.py:", "in decide")
            self.assertIsInstance(caught.exception.__cause__, ValueError)
            self.assertIn("decide", [f.name for f in traceback.extract_tb(caught.exception.__cause__.__traceback__)])

    def test_the_first_replication_that_fails_is_the_one_told(self):
        class Mine(Pairs):
            def decide(self, view):
                if view.seed >= 3 and view.now_ns > 0:
                    raise RuntimeError(f"seed {view.seed}")
                if view.seed < 3:
                    time.sleep(0.01)
                return super().decide(view)

        for threads in (1, 4):
            with self.assertRaises(corun.InputError) as caught:
                replay(Mine, replications=8, threads=threads)
            self.assertIn("seed 3", str(caught.exception))
            self.assertEqual(str(caught.exception.__cause__), "seed 3")

    def test_every_call_of_a_policy(self):
        def bad(*arguments):
            raise KeyError("k")

        for name in ("__init__", "arrived", "departed", "corun_ended"):
            with self.assertRaises(corun.InputError) as caught:
                replay(type("Mine", (Pairs,), {name: bad}))
            self.one_line(caught.exception, "'Mine'", "KeyError: 'k'")
        for error in (SystemExit(3), KeyboardInterrupt(), MemoryError(), RecursionError("deep")):
            def decide(mine, view, error=error):
                raise error
            with self.assertRaises(corun.InputError) as caught:
                replay(deciding(decide))
            self.one_line(caught.exception, type(error).__name__)

    def test_what_is_no_policy(self):
        for wrong, part in ((Pairs(), "found Pairs, expected"), (object, "a method decide(view)"),
                            (lambda: None, "a method decide(view)"), (corun.Policy, "needs a method decide"),
                            ({"policy": Pairs, "belief": "some"}, "belief"), ({"policy": Pairs, "more": 1}, "more")):
            with self.assertRaises(corun.InputError) as caught:
                replay(wrong)
            self.one_line(caught.exception, part)

    def test_attributes_of_a_class_of_the_wrong_type(self):
        for key, value, part in (("belief", True, "policies: Mine.belief: found True, expected a word, such as 'none'"),
                                 ("start", None, "policies: Mine.start: found None, expected a word, such as 'control'"),
                                 ("start", lambda mine: None, "policies: Mine.start: found <function"),
                                 ("belief", "configurd", "configured"), ("start", "jion", "join")):
            with self.assertRaises(corun.InputError) as caught:
                replay(type("Mine", (Pairs,), {key: value}))
            self.one_line(caught.exception, part)
        replay({"policy": type("Mine", (Pairs,), {"start": None}), "start": "join"})  # the entry says it

    def test_wrong_arguments_of_view_and_belief(self):
        for ask, part in ((lambda v: v.job("a"), "it raised TypeError: job: found str, expected a whole number"),
                          (lambda v: v.residents(0.5), "TypeError: gpu: found float, expected a whole number"),
                          (lambda v: v.may_run_on(v.waiting[0], None), "TypeError: gpu: found NoneType, expected"),
                          (lambda v: v.oldest(-1), "ValueError: most: expected a whole number from 0"),
                          (lambda v: v.oldest("a"), "TypeError: most: found str, expected a whole number"),
                          (lambda v: v.residents(), "TypeError: residents(): incompatible function arguments, at"),
                          (lambda v: v.belief.best_co_runners(v.waiting, "a"), "TypeError: most: found str"),
                          (lambda v: v.belief.best_co_runners(v.waiting, 1, 3), "ValueError: objective: expected"),
                          (lambda v: v.belief.best_co_runners(v.waiting, 1, "balance", "a"), "ValueError: risk: exp"),
                          (lambda v: v.belief.sampled_pairs([0], [1], draw=0.5), "TypeError: draw: found float")):
            with self.assertRaises(corun.InputError) as caught:
                replay(deciding(lambda mine, view, ask=ask: ask(view), belief="configured"))
            self.one_line(caught.exception, part)

    def test_ctrl_c_ends_an_endless_decide(self):
        """Of the policies that run, and of those that wait for Python's lock, in which they have not been called.

        One whose code catches the first interrupt ends, too. CTRL_C_REPEATS=500 repeats it as often.
        """
        script = textwrap.dedent("""
            import os, sys
            import corun
            class Mine(corun.Policy):
                def decide(self, view):
                    os.write(1, b"in\\n")  # at once: lines of print() from two threads may mix
                    try:
                        while True:
                            pass
                    except KeyboardInterrupt:
                        if sys.argv[2] == "once":
                            raise
                    while True:
                        pass
            try:
                corun.replay(policies=[Mine], replications=16, threads=int(sys.argv[1]), quiet=True)
            except KeyboardInterrupt:
                print("interrupted", flush=True)
            """)
        for repeat in range(int(os.environ.get("CTRL_C_REPEATS", "1"))):
            for threads, caught in (("1", "once"), ("2", "twice"), ("8", "once")):
                with self.subTest(repeat=repeat, threads=threads, caught=caught):
                    self.assertEqual(self.interrupted([sys.executable, "-c", script, threads, caught]),
                                     ("interrupted", 0))

    def interrupted(self, command):
        """Last line and exit code of a command that gets Ctrl-C when it has printed a line; it has a minute for each."""
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            limit = threading.Timer(60, process.kill)
            limit.start()
            try:
                self.assertEqual(process.stdout.readline(), "in\n")
                process.send_signal(signal.SIGINT)
                rest = process.communicate(timeout=60)[0]
            finally:
                limit.cancel()
                process.kill()
        return rest.splitlines()[-1], process.returncode


class Beliefs(support.Case):
    def in_decide(self, work, **given):
        """Runs work(view) once, in a replay."""
        done = []

        def decide(mine, view):
            if not done:
                done.append(work(view))
            return Pairs.decide(mine, view)

        corun.replay(**{"policies": [deciding(decide, belief="configured")], "replications": 1, "quiet": True, **given})
        return done[0]

    def test_a_batch_is_as_its_pairs(self):
        for model in ("cluster-mean", "default", "truth"):
            def work(view):
                jobs = view.waiting
                a, b = numpy.triu_indices(len(jobs), 1)
                batch = view.belief.pairs(jobs[a], jobs[b])
                for i in range(0, len(batch), 17):
                    self.assertEqual(batch[i], view.belief.pairs([jobs[a[i]]], [jobs[b[i]]])[0])
                mirrored = view.belief.pairs(jobs[b], jobs[a])
                # To rounding: a sum may be taken in the other order.
                numpy.testing.assert_allclose(batch["isd_a"], mirrored["isd_b"], rtol=1e-12, atol=1e-15)
                one = view.belief.pairs(jobs[0], jobs[1:].tolist())
                numpy.testing.assert_array_equal(one, batch[:len(jobs) - 1])
                best, costs = view.belief.best_co_runners(jobs, 3)
                self.assertEqual(best.shape, (24, 3))
                rows = view.belief.pairs(numpy.repeat(jobs, 3), best.ravel())
                numpy.testing.assert_allclose((rows["isd_a"] + rows["isd_b"]).reshape(24, 3), costs, rtol=1e-12)
                self.assertTrue((numpy.diff(costs, axis=1) >= 0).all())
                draws = [view.belief.sampled_pairs(jobs[a], jobs[b], draw=d) for d in (1, 1, 2)]
                numpy.testing.assert_array_equal(draws[0], draws[1])
                return batch

            batch = self.in_decide(work, set={"belief.model": model})
            self.assertEqual(len(batch), 276)
            self.assertTrue(numpy.isfinite(batch["isd_a"]).all())

    def test_clusters(self):
        def work(view):
            self.assertEqual(view.belief.clusters, 3)
            self.assertTrue(set(view.belief.cluster(view.waiting).tolist()) <= {0, 1, 2})
            self.assertTrue((view.belief.uncertainty(view.waiting) > 0).all())
            return True

        self.assertTrue(self.in_decide(work))

        def about_jobs(view):
            self.assertIsNone(view.belief.clusters)
            with self.assertRaises(ValueError):
                view.belief.cluster(view.waiting)
            return True

        self.assertTrue(self.in_decide(about_jobs, set={"belief.model": "default"}))

    def test_questions_that_make_no_sense(self):
        def work(view):
            ask = view.belief.pairs
            for a, b, error in (([0], [0], ValueError), ([0], [99], KeyError), ([-1], [1], KeyError),
                                ([2**40], [1], KeyError), ([0.0], [1], TypeError), ([float("nan")], [1], TypeError),
                                (["a"], [1], TypeError), ([True], [1], TypeError), (None, [1], TypeError),
                                ([[0, 1]], [[1, 2]], TypeError), ([0, 1], [1, 2, 3], ValueError)):
                with self.subTest((a, b)), self.assertRaises(error):
                    ask(a, b)
            self.assertEqual(len(ask([], [])), 0)
            for most, objective, risk in ((1, "speed", 0), (1, "balance", float("nan")), (1, "balance", -1)):
                with self.assertRaises(ValueError):
                    view.belief.best_co_runners(view.waiting, most, objective, risk)
            with self.assertRaises(ValueError):
                view.belief.best_co_runners([0, 0])
            self.assertEqual(view.belief.best_co_runners([0])[0].shape, (1, 0))
            return True

        self.assertTrue(self.in_decide(work))

    def test_it_learns(self):
        costs = []

        def decide(mine, view):
            waiting = view.waiting
            if len(waiting) > 1:
                costs.append(float(view.belief.pairs(waiting[:1], waiting[1:2])["co_runs"][0]))
            return Pairs.decide(mine, view)

        replay(deciding(decide, belief="configured"), replications=1)
        self.assertGreater(costs[-1], 0)
        self.assertNotEqual(costs[0], costs[-1])

    def test_a_hundred_thousand_questions_take_less_than_a_second(self):
        for model in ("cluster-mean", "default"):
            def work(view):
                random = numpy.random.default_rng(1)
                a = random.integers(0, len(view.waiting), 100_000)
                b = (a + random.integers(1, len(view.waiting), 100_000)) % len(view.waiting)
                best = min(self.timed(lambda: view.belief.pairs(view.waiting[a], view.waiting[b])) for _ in range(3))
                return best

            took = self.in_decide(work, set={"belief.model": model})
            print(f"10^5 questions to the belief {model}: {took * 1e3:.0f} ms")
            self.assertLess(took, 1)

    @staticmethod
    def timed(work):
        began = time.perf_counter()
        work()
        return time.perf_counter() - began


if __name__ == "__main__":
    support.main()
