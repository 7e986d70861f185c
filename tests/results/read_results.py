#!/usr/bin/python3
"""Opens a results file as a user would, with h5py and pandas only, and checks its contents.

usage: read_results.py FILE [--expect-test-values]

Exits with 0 when every table, column, unit and attribute of docs/results.md is there and the tables
agree with each other; --expect-test-values also checks the numbers that results_writer_test.cpp wrote.
"""

import json
import sys

import h5py
import numpy as np
import pandas as pd

RUN = ["policy", "label", "replication"]
COLUMNS = {
    "gpus": ["gpu", "node", "gpu_of_node", "type", "memory_mib", "virtual_cluster"],
    "policies": ["policy", "label", "name", "parameters", "granted_truth"],
    "runs": RUN + ["job_index", "job", "submit_s", "first_start_s", "last_start_s", "finish_s",
                   "work_s", "solo_s", "corun_s", "jct_s", "queue_s", "isd", "gpus", "gpu", "group",
                   "ooms", "profiling_s", "finished", "gpu_type", "reference_solo_s", "isd_reference",
                   "cluster", "preemptions", "preempted_s"],
    "episodes": RUN + ["episode", "gpu", "start_s", "end_s", "jobs", "unfinished", "solo_sum_s", "ps",
                       "together"],
    "episode_jobs": RUN + ["episode", "job_index", "job"],
    "usage": RUN + ["gpus", "busy_s", "util_s", "util_known_s", "mem_s", "mem_known_s", "measured_s",
                    "modelled_s", "extrapolated_s", "unknown_memory_jobs", "passes", "solo_reference_s", "solo_measured_s",
                    "solo_predicted_s", "solo_scaled_s", "solo_assumed_s"],
    "summary": ["policy", "label", "metric", "unit", "mean", "lo", "hi"],
    "versus": ["policy", "label", "other", "other_label", "metric", "unit", "mean", "lo", "hi"],
    "coverage": ["policy", "label", "measured", "modelled", "extrapolated"],
    "co_runs": ["policy", "replication", "co_run", "gpu", "start_s", "end_s", "jobs", "job_a", "job_b", "probe",
                "source", "speed_a", "speed_b", "isd_a", "isd_b", "ps", "predicted_isd_a", "predicted_isd_b",
                "predicted_ps", "predicted_speed_a", "predicted_speed_b"],
    "events": ["policy", "replication", "time_s", "kind", "job", "gpu", "co_runner", "residents"],
    "over_time": ["policy", "replication", "start_s", "end_s", "gpus_busy", "gpus_shared", "gpu_util", "queue",
                  "running"],
}
METRICS_TO_FIND = ["isd", "ps", "ps_total", "jct_s", "queue_s", "makespan_s", "last_end_s", "gpu_util",
                   "mem_util", "oom", "jobs", "jct_p99_s"]


def frame(file, name):
    """A table as users read it; text columns are decoded from bytes."""
    table = pd.DataFrame(file[name][:])
    for column in table.columns:
        if file[name].dtype[column].kind == "S":
            table[column] = table[column].str.decode("utf-8")
    return table


def check_layout(file):
    attributes = dict(file.attrs)
    assert attributes["kind"] == "corun results", attributes["kind"]
    assert attributes["schema_version"] == 1
    for name in ["corun_version", "commit", "config"]:
        assert isinstance(attributes[name], str), name
    assert attributes["complete"] in (0, 1)
    assert attributes["seed"] >= 0
    assert len(attributes["inputs"]) >= 0
    assert all(isinstance(note, str) for note in attributes["warnings"])
    for name in ["co_runs", "events", "over_time"]:
        assert file[name].attrs["left_out"] >= 0, name
    assert list(file["events"].attrs["kind_codes"])[3:5] == ["start", "finish"]
    assert list(file["co_runs"].attrs["source_codes"])[1:3] == ["measured", "modelled"]
    assert set(file) == set(COLUMNS) | {"metrics"}, set(file)

    columns = dict(COLUMNS, metrics=list(file["metrics"].dtype.names))
    assert columns["metrics"][:3] == RUN
    assert set(METRICS_TO_FIND) <= set(columns["metrics"])
    for name, expected in columns.items():
        table = file[name]
        assert list(table.dtype.names) == expected, (name, table.dtype.names)
        assert table.attrs["description"]
        for column in expected:
            assert table.attrs[column + "_description"], (name, column)
            kind = table.dtype[column].kind
            assert kind in "Sbif", (name, column, kind)
            assert (column + "_units" in table.attrs) == (kind in "if"), (name, column)
            if column.endswith("_s") and name != "usage":
                assert table.attrs[column + "_units"] == "s", (name, column)


def check_agreement(file):
    """The tables agree with each other."""
    tables = {name: frame(file, name) for name in file}
    runs, metrics, policies = tables["runs"], tables["metrics"], tables["policies"]
    assert metrics.replication.nunique() == file.attrs["replications"]
    assert len(metrics) == len(tables["usage"]) == len(policies) * file.attrs["replications"]
    for name in ["runs", "episodes", "episode_jobs", "usage", "metrics"]:
        order = tables[name][["policy", "replication"]]
        assert order.equals(order.sort_values(["policy", "replication"], kind="stable")), name
        labels = tables[name].merge(policies[["policy", "label"]], on="policy")
        assert (labels.label_x == labels.label_y).all(), name
    for text in policies.parameters:
        json.loads(text)

    done = runs[runs.finished]
    assert (done.corun_s >= (done.finish_s - done.last_start_s) * (1 - 1e-12)).all()  # earlier runs, too
    worked = done[done.solo_s > 0]
    assert np.allclose(worked.isd, (worked.corun_s - worked.solo_s) / worked.solo_s)
    assert runs[~runs.finished].corun_s.isna().all()
    assert np.allclose(done.jct_s, done.finish_s - done.submit_s)
    assert runs[~runs.finished].jct_s.isna().all()
    key = ["policy", "replication"]
    mean_isd = done.groupby(key).isd.mean()
    assert np.allclose(mean_isd, metrics.set_index(key).isd.loc[mean_isd.index])
    jobs = tables["episode_jobs"].groupby(key + ["episode"]).size()
    assert (tables["episodes"].set_index(key + ["episode"]).jobs == jobs).all()

    gpus = tables["gpus"]
    assert (gpus.gpu == range(len(gpus))).all()
    assert runs.gpu.isin(gpus.gpu).all()
    assert (runs.merge(gpus, on="gpu", how="left").type == runs.gpu_type).all()
    check_details(tables)

    if len(tables["summary"]):  # part of a sweep: none
        names = set(file["metrics"].dtype.names) - set(RUN)
        assert set(tables["summary"].metric) == names
        assert len(tables["summary"]) == len(policies) * len(names)
        assert len(tables["versus"]) == len(policies) * (len(policies) - 1) * len(names)
        wide = tables["summary"].pivot(index="policy", columns="metric", values="mean")
        assert np.allclose(wide.isd, metrics.groupby("policy").isd.mean())
        bounds = tables["summary"].dropna()
        assert ((bounds.lo <= bounds["mean"]) & (bounds["mean"] <= bounds.hi)).all()
    return tables


def check_details(tables):
    """The details are within their bounds and agree with the other tables."""
    co_runs, events, over_time = tables["co_runs"], tables["events"], tables["over_time"]
    key = ["policy", "replication"]
    for name in ["co_runs", "events", "over_time"]:
        order = tables[name][key]
        assert order.equals(order.sort_values(key, kind="stable")), name
    assert co_runs.replication.max() < 20 if len(co_runs) else True
    assert (co_runs.groupby(key).size() <= 5000).all()
    assert (co_runs.job_a < co_runs.job_b).all() and (co_runs.end_s >= co_runs.start_s).all()
    assert (events.replication == 0).all() and (events.groupby(key).size() <= 400_000).all()
    assert (events.groupby(key).time_s.diff().dropna() >= 0).all()
    assert (over_time.replication == 0).all() and (over_time.groupby(key).size() <= 256).all()
    assert (over_time.gpus_shared <= over_time.gpus_busy + 1e-9).all()


def check_test_values(file, tables):
    """Checks the values of make_replication() in results_writer_test.cpp."""
    assert file.attrs["config"] == "seed: 7\n# π\n"
    assert file.attrs["seed"] == 7
    assert list(file.attrs["inputs"]) == ["sha256:00 jobs.csv", "sha256:ff pairs.corun.csv"]
    assert file.attrs["replications"] == 5
    assert file.attrs["complete"] == 1
    policies = tables["policies"]
    assert list(policies.label) == ["fcfs", "oracle (truth)"]
    assert list(policies.granted_truth) == [False, True]
    assert json.loads(policies.parameters[1]) == {"epsilon": 0.5}

    runs = tables["runs"]
    assert len(runs) == 5 * 2 * 3
    row = runs[(runs.policy == 1) & (runs.replication == 2) & (runs.job == "J1-β")].iloc[0]
    assert row.label == "oracle (truth)"
    assert row.job_index == 1
    # Replication 2, policy 1: everything starts at 2 s; job 1 has J_a 20 s and J_c 20 + 2 + 1 s.
    assert np.isclose(row.first_start_s, 2) and np.isclose(row.finish_s, 25)
    assert np.isclose(row.solo_s, 20) and np.isclose(row.corun_s, 23) and np.isclose(row.isd, 0.15)
    assert bool(row.finished) and runs.finished.dtype == bool
    lost = runs[runs.job == "lost"]
    assert not lost.finished.any() and lost.first_start_s.isna().all() and (lost.ooms == 4).all()

    episode = tables["episodes"].query("policy == 1 and replication == 2").iloc[0]
    assert episode.jobs == 2 and np.isclose(episode.solo_sum_s, 30)
    assert np.isclose(episode.ps, (30 - 23) / 30)
    members = tables["episode_jobs"].query("policy == 1 and replication == 2")
    assert list(members.job) == ["J0", "J1-β"]
    assert list(file.attrs["warnings"]) == ["one note", "another, with π"]
    assert list(tables["gpus"].virtual_cluster) == ["a", "a", "b π", "b π"]
    assert list(tables["gpus"].node) == [0, 0, 1, 1] and list(tables["gpus"].gpu_of_node) == [0, 1, 0, 1]
    assert list(runs.cluster[:3]) == [2, 0, -1]
    co_runs = tables["co_runs"]
    assert len(co_runs) == 5 * 2 * 2 and file["co_runs"].attrs["left_out"] == 5 * 2 * 7
    known, unknown = co_runs.iloc[0], co_runs.iloc[1]
    assert file["co_runs"].attrs["source_codes"][known.source] == "modelled" and unknown.source == -1
    assert (known.job_a, known.job_b, known.gpu, known.start_s, known.end_s) == (0, 1, 3, 1, 11)
    assert (known.speed_a, known.speed_b, known.isd_a, known.isd_b, known.ps) == (0.5, 0.25, 1, 3, 0.125)
    assert (known.predicted_isd_a, known.predicted_isd_b, known.predicted_ps) == (0.5, 1.5, 0.25)
    assert (known.predicted_speed_a, known.predicted_speed_b) == (0.75, 0.625)
    assert np.isnan([unknown.speed_a, unknown.isd_b, unknown.ps, unknown.predicted_isd_a]).all()
    events = tables["events"]
    assert len(events) == 2 * 2 and file["events"].attrs["left_out"] == 2 * 5
    assert tuple(events.iloc[0])[2:] == (0, 0, 2, -1, -1, 0)
    assert tuple(events.iloc[1])[2:] == (9, 9, 1, 3, 0, 1)
    assert file["events"].attrs["kind_codes"][9] == "preempt"
    over_time = tables["over_time"]
    assert len(over_time) == 2 * 2
    assert tuple(over_time.iloc[0])[2:] == (0, 4, 3, 2, 0.5, 1.5, 5) and np.isnan(over_time.gpu_util[1])
    usage = tables["usage"].iloc[0]
    assert (usage.measured_s, usage.modelled_s, usage.extrapolated_s) == (3, 1, 0)
    coverage = tables["coverage"]
    assert list(coverage.measured) == [0.75, 0.75] and list(coverage.modelled) == [0.25, 0.25]
    assert file["coverage"].attrs["all_measured"] == 0.75


def main():
    with h5py.File(sys.argv[1], "r") as file:
        check_layout(file)
        tables = check_agreement(file)
        if "--expect-test-values" in sys.argv[2:]:
            check_test_values(file, tables)
    print(f"{sys.argv[1]}: as documented, {len(tables['runs'])} rows in /runs")


if __name__ == "__main__":
    main()
