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
    "policies": ["policy", "label", "name", "parameters", "granted_truth"],
    "runs": RUN + ["job_index", "job", "submit_s", "first_start_s", "last_start_s", "finish_s",
                   "work_s", "solo_s", "corun_s", "jct_s", "queue_s", "isd", "gpus", "gpu", "group",
                   "ooms", "profiling_s", "finished", "gpu_type", "reference_solo_s", "isd_reference"],
    "episodes": RUN + ["episode", "gpu", "start_s", "end_s", "jobs", "unfinished", "solo_sum_s", "ps",
                       "together"],
    "episode_jobs": RUN + ["episode", "job_index", "job"],
    "usage": RUN + ["gpus", "busy_s", "util_s", "util_known_s", "mem_s", "mem_known_s", "measured_s",
                    "modelled_s", "extrapolated_s", "unknown_memory_jobs", "passes", "solo_reference_s", "solo_measured_s",
                    "solo_predicted_s", "solo_scaled_s", "solo_assumed_s"],
    "summary": ["policy", "label", "metric", "unit", "mean", "lo", "hi"],
    "versus": ["policy", "label", "other", "other_label", "metric", "unit", "mean", "lo", "hi"],
    "coverage": ["policy", "label", "measured", "modelled", "extrapolated"],
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
