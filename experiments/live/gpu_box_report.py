#!/usr/bin/env python3
"""Python part of gpu_box.sh: chooses a GPU, and makes one JSON, one CSV and one table of the results.

    gpu_box_report.py choose PROBE_JSON SHARING GPU_OR_EMPTY ALLOW_OTHERS
    gpu_box_report.py sets CONFIG
    gpu_box_report.py split DIRECTORY
    gpu_box_report.py report DIRECTORY SECONDS CUT_SHORT

`sets` prints all pairs of the configuration's workloads, and as many groups of three and of four as there are workloads,
each workload equally often in them. `split` divides measured.groups.csv into groups_of_two.csv and larger_groups.csv.

groups_beside_models.csv has a row per member of a larger group and model: model,size,group,job,partner,isd,predicted_isd,predicted_sd.
`isd` is the measured slowdown while all members are resident, as a fraction; the model knows the pairs alone.

The CSV is tidy: kind,policy,job,partner,metric,measured,predicted,replayed. `kind` is solo, pair, policy,
job or group; `partner` has the co-runners. Prediction errors are measured minus predicted ISD over finished
jobs: the mean with its 95 % interval over jobs, as `corun live run` gives it (it holds for these jobs on this
day, not for other boxes), and the mean absolute error. `replayed` is from `corun live validate`: the
simulator with the decisions of the run; `isd_replay_error_...` is measured minus replayed.
"""

import collections
import csv
import itertools
import json
import os
import re
import sys


def choose(probe_file, sharing, wanted, allow_others):
    """Prints number, UUID and MiB of the GPU to use; returns the exit code, 3 if no GPU may be used."""
    with open(probe_file, encoding="utf-8") as file:
        gpus = json.load(file)["gpus"]
    reasons = []
    for gpu in gpus:
        if wanted and int(wanted) != gpu["index"]:
            continue
        refused = gpu["refused"][sharing]
        if refused and not int(allow_others):
            reasons.append(f"GPU {gpu['index']}: {'; '.join(refused)}")
            continue
        print(gpu["index"], gpu["uuid"], int(gpu["memory_mib"]))
        return 0
    print("gpu_box.sh: no GPU may be used: " + (" | ".join(reasons) or "none of that number"),
          file=sys.stderr)
    return 3


def sets(config_file):
    """Prints the sets to measure, as `corun live corun --pairs` takes them."""
    names = []
    with open(config_file, encoding="utf-8") as file:
        inside = False
        for line in file:
            if re.match(r"[^\s#]", line):
                inside = line.startswith("workloads:")
            found = re.match(r"  ([^\s:#][^\s:]*):", line)
            if inside and found:
                names.append(found[1])
    if len(names) < 4:
        print(f"gpu_box.sh: {config_file}: found {len(names)} workloads, indented by two spaces below "
              "'workloads:', expected four or more; add some", file=sys.stderr)
        return 2
    n = len(names)
    chosen = {frozenset(pair) for pair in itertools.combinations(range(n), 2)}
    for steps in ((0, 1, 3), (0, 1, 3, 6) if n > 6 else (0, 1, 2, 3)):
        chosen |= {frozenset((i + step) % n for step in steps) for i in range(n)}
    ordered = sorted((sorted(group) for group in chosen if len(group) > 1),
                     key=lambda group: (len(group), group))
    print(",".join("+".join(names[i] for i in group) for group in ordered))
    return 0


def split(directory):
    """Groups of two apart from larger ones. Returns 1 if one of the two files would be empty."""
    rows = read_rows(os.path.join(directory, "measured.groups.csv"))
    size = collections.Counter(row["group"] for row in rows)
    parts = {"groups_of_two.csv": [row for row in rows if size[row["group"]] == 2],
             "larger_groups.csv": [row for row in rows if size[row["group"]] > 2]}
    for name, part in parts.items():
        with open(os.path.join(directory, name), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]) if rows else ["group"], lineterminator="\n")
            writer.writeheader()
            writer.writerows(part)
    return 0 if all(parts.values()) else 1


def beside_models(directory):
    """Larger groups as measured and as each model predicts them, one object per member and model."""
    found = []
    for name in ("default", "contention", "cluster-mean"):
        rows = read_rows(os.path.join(directory, name + ".groups.csv"))
        members = {}
        for row in rows:
            members.setdefault(row["group"], []).append(row["job"])
        for row in rows:
            if not row["norm"]:
                continue
            partners = list(members[row["group"]])
            partners.remove(row["job"])
            speed = float(row["pred_norm"])
            found.append({"model": name, "size": len(partners) + 1, "group": row["group"],
                          "job": row["job"], "partner": "+".join(partners),
                          "isd": 1 / float(row["norm"]) - 1, "predicted_isd": 1 / speed - 1,
                          "predicted_sd": float(row["pred_sd"]) / speed ** 2})
    return found


def errors_of(rows):
    """Mean error (measured minus predicted) and mean absolute error of ISD, by model and size."""
    kinds = {}
    for row in rows:
        kinds.setdefault((row["model"], row["size"]), []).append(row["isd"] - row["predicted_isd"])
    return [{"model": model, "size": size, "members": len(errors),
             "isd_error_mean": sum(errors) / len(errors),
             "isd_error_size": sum(map(abs, errors)) / len(errors)}
            for (model, size), errors in sorted(kinds.items())]


def read_json(path):
    """The object in the file; None if the file is missing or cut off."""
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def read_rows(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))
    except OSError:
        return []


def number(text):
    return float(text) if text not in ("", None) else None


def job_rows(directory, policy):
    """Name, co-runners, measured and predicted ISD (fractions) of each finished job of a policy."""
    rows = read_rows(os.path.join(directory, file_name(policy) + ".jobs.csv"))
    groups = {}
    for row in rows:
        groups.setdefault(row["group"], []).append(row["job"])
    for row in rows:
        if row["end"] != "finished":
            continue
        partners = [j for j in groups[row["group"]] if j != row["job"]]
        yield {"job": row["job"], "partner": "+".join(partners), "isd": number(row["isd"]),
               "predicted_isd": number(row["predicted_isd"])}


def validated(directory):
    """The answer of `corun live validate`, by policy."""
    answer = read_json(os.path.join(directory, "validate.json")) or {"policies": []}
    return {policy["policy"]: policy for policy in answer["policies"]}


def throughput(directory):
    """Steps per second of the runs that reported them, by set of co-runners and job."""
    rates = {}
    for row in read_rows(os.path.join(directory, "runs.csv")):
        if row["end"] == "finished" and row.get("steady_steps_per_s"):
            rates.setdefault((row["company"], row["job"]), []).append(
                float(row["steady_steps_per_s"]))
    return rates


def file_name(label):
    return "".join(c if c.isalnum() and c.isascii() or c in "-_." else "_" for c in label)


def percent(value):
    return "-" if value is None else f"{100 * value:.1f}"


def spread_of(interval, size):
    return (f"{percent(interval['mean'])} [{percent(interval['lo'])}, {percent(interval['hi'])}], "
            f"size {percent(size)}")


def report(directory, seconds, cut_short):
    together = read_json(os.path.join(directory, "corun.json"))
    run = read_json(os.path.join(directory, "run.json"))
    calibration = [json.loads(line) for line in open_lines(directory, "calibration.jsonl")]
    result = {"complete": not int(cut_short), "seconds": int(seconds),
              "probe": read_json(os.path.join(directory, "probe.json")),
              "calibration": calibration, "measured": together, "run": run,
              "validate": read_json(os.path.join(directory, "validate.json"))}
    rows = []

    def add(kind, metric, measured, predicted=None, replayed=None, policy="", job="", partner=""):
        shown = ["" if v is None else repr(v) for v in (measured, predicted, replayed)]
        rows.append([kind, policy, job, partner, metric, *shown])

    for solo in (together or {}).get("solo", []):
        for metric in ("solo_s", "solo_sd_s", "gpu_util_pct", "mem_alloc_pct", "mem_time_pct",
                       "mem_used_mib"):
            add("solo", metric, solo[metric], job=solo["job"])
    for co_run in (together or {}).get("together", []):
        kind = "pair" if len(co_run["jobs"]) == 2 else "group"
        for i, job in enumerate(co_run["jobs"]):
            others = co_run["jobs"][:i] + co_run["jobs"][i + 1:]
            add(kind, "isd", co_run["isd"][i], job=job, partner="+".join(others))
        add(kind, "ps", co_run["ps"], job=co_run["jobs"][0], partner="+".join(co_run["jobs"][1:]))
    for (company, job), rates in throughput(directory).items():
        partner = [name for name in company.split("+") if name != job]
        kind = ("solo", "pair", "group")[min(company.count("+"), 2)]
        add(kind, "steady_steps_per_s", sum(rates) / len(rates), job=job, partner="+".join(partner))
    table = [["policy", "ISD %", "predicted", "PS %", "predicted", "makespan s", "predicted",
              "error of ISD by job, points", "of the replay"]]
    replays = validated(directory)
    for policy in (run or {}).get("policies", []):
        name = policy["policy"]
        metrics = policy["metrics"]
        replay = replays.get(name, {"jobs": [], "groups": []})
        for metric, value in metrics.items():
            both = metric in ("isd", "jct_s", "ps") and metric in replay
            add("policy", metric, value["measured"], value["predicted"],
                replay[metric]["replayed"] if both else None, policy=name)
        jobs = list(job_rows(directory, name))
        replayed = {job["job"]: job for job in replay["jobs"]}
        for job in jobs:
            again = replayed.get(job["job"])
            add("job", "isd", job["isd"], job["predicted_isd"],
                again and again["isd"]["replayed"], policy=name, job=job["job"],
                partner=job["partner"])
            if again:
                add("job", "jct_s", *(again["jct_s"][k] for k in
                                      ("measured", "predicted", "replayed")),
                    policy=name, job=job["job"], partner=job["partner"])
        for group in replay["groups"]:
            add("group", "ps", group["ps"]["measured"], None, group["ps"]["replayed"],
                policy=name, job="+".join(group["jobs"]))
        sizes = [abs(j["isd"] - j["predicted_isd"]) for j in jobs
                 if j["isd"] is not None and j["predicted_isd"] is not None]
        error = policy["measured_minus_predicted"]
        spread = "-"
        if error and sizes:
            mean = error["isd"]
            add("policy", "isd_error_mean", mean["mean"], policy=name)
            add("policy", "isd_error_lo", mean["lo"], policy=name)
            add("policy", "isd_error_hi", mean["hi"], policy=name)
            add("policy", "isd_error_size", sum(sizes) / len(sizes), policy=name)
            spread = spread_of(mean, sum(sizes) / len(sizes))
        replay_error = replay.get("isd", {}).get("measured_minus_replayed")
        replay_spread = "-"
        if replay_error:
            for end in ("mean", "lo", "hi"):
                add("policy", f"isd_replay_error_{end}", replay_error[end], policy=name)
            add("policy", "isd_replay_error_size", replay_error["size"]["mean"], policy=name)
            replay_spread = spread_of(replay_error, replay_error["size"]["mean"])
        makespan = [f"{metrics['makespan_s'][k]:.1f}" if metrics["makespan_s"][k] is not None
                    else "-" for k in ("measured", "predicted")]
        table.append([name + ("" if policy["complete"] else " (cut short)"),
                      percent(metrics["isd"]["measured"]), percent(metrics["isd"]["predicted"]),
                      percent(metrics["ps"]["measured"]), percent(metrics["ps"]["predicted"]),
                      *makespan, spread, replay_spread])
    beside = beside_models(directory)
    if beside:
        result["groups"] = errors_of(beside)
        with open(os.path.join(directory, "groups_beside_models.csv"), "w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(beside[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(beside)
    with open(os.path.join(directory, "gpu_box.json"), "w", encoding="utf-8") as file:
        json.dump(result, file, indent=2)
        file.write("\n")
    with open(os.path.join(directory, "gpu_box.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["kind", "policy", "job", "partner", "metric", "measured", "predicted",
                         "replayed"])
        writer.writerows(rows)

    if run:
        print(f"{run['gpu']}: measured, and as the simulator predicted before\n")
    if beside:
        table = [["model, fitted on pairs", "jobs together", "members", "error of ISD, points", "size"]]
        table += [[row["model"], str(row["size"]), str(row["members"]),
                   percent(row["isd_error_mean"]), percent(row["isd_error_size"])]
                  for row in result["groups"]]
    width = [max(len(row[c]) for row in table) for c in range(len(table[0]))]
    for row in table:
        print("  ".join(cell.rjust(w) if c else cell.ljust(w)
                        for c, (cell, w) in enumerate(zip(row, width))))
    print(f"\n{directory}/gpu_box.json, gpu_box.csv"
          + ("; cut short" if int(cut_short) else "") + f"; {seconds} s in all")
    return 0


def open_lines(directory, name):
    path = os.path.join(directory, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as file:
        return file.read().splitlines()


if __name__ == "__main__":
    words = {"choose": choose, "sets": sets, "split": split, "report": report}
    sys.exit(words[sys.argv[1]](*sys.argv[2:]))
