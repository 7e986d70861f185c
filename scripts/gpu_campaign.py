#!/usr/bin/env python3
"""Python part of gpu_campaign.sh: makes JSON and CSV of what a part left, and the summary of all parts.

    gpu_campaign.py part OUTPUT PART EXIT_CODE SECONDS VERSION
    gpu_campaign.py summary OUTPUT

`part` writes OUTPUT/PART/PART.json, PART.csv and end.json, prints one line, and returns 1 if the part failed or was cut
short. It works on files that are cut off. `summary` writes OUTPUT/summary.json and summary.csv, a row per part.
"""

import csv
import json
import os
import shutil
import sys

PARTS = ("kernels", "time-slicing", "mps", "tests", "groups", "kill")
SKIPPED = 77
OUT_OF_TIME = (124, 137)  # of timeout


def json_lines(path):
    """The objects of a file of JSON lines, without lines that are cut off."""
    found = []
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            for line in file:
                try:
                    row = json.loads(line)
                except ValueError:
                    continue
                if isinstance(row, dict):
                    found.append(row)
    except OSError:
        pass
    return found


def csv_rows(path):
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return [row for row in csv.DictReader(file) if None not in row.values()]
    except OSError:
        return []


def write_json(path, value):
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(value, file, indent=2)
        file.write("\n")
    os.replace(path + ".new", path)


def write_csv(path, rows):
    """The rows with all their columns, in the order in which they first appear; lists are left to the JSON."""
    columns = []
    for row in rows:
        columns += [key for key, value in row.items()
                    if key not in columns and not isinstance(value, (dict, list))]
    with open(path + ".new", "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    os.replace(path + ".new", path)


def test_counts(path):
    """Numbers of cases that passed, failed and were skipped, of a JSON report of GoogleTest."""
    try:
        with open(path, encoding="utf-8") as file:
            suites = json.load(file)["testsuites"]
    except (OSError, ValueError, KeyError):
        return {}
    cases = [case for suite in suites for case in suite["testsuite"]]
    failed = [case for case in cases if case.get("failures")]
    skipped = [case for case in cases if case.get("result") in ("SKIPPED", "SUPPRESSED")]
    return {"cases_passed": len(cases) - len(failed) - len(skipped), "cases_failed": len(failed),
            "cases_skipped": len(skipped),
            "failed": [f"{case['classname']}.{case['name']}" for case in failed]}


def rows_of(directory, part):
    """What the part measured, as rows; None if it writes PART.json and PART.csv by way of gpu_box."""
    if part in ("kernels", "kill"):
        return json_lines(os.path.join(directory, part + ".jsonl"))
    if part == "tests":
        rows = csv_rows(os.path.join(directory, "checks.csv"))
        for row in rows:
            row.update(test_counts(os.path.join(directory, row["check"] + ".json")))
        return rows
    return None


def first_line(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.readline().strip()
    except OSError:
        return ""


def last_line(path):
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            lines = [line.strip() for line in file if line.strip()]
    except OSError:
        return ""
    return lines[-1] if lines else ""


def end_of(code, directory, part, rows):
    """The end of a part in one word, and the reason."""
    log = directory + ".log"
    if code == SKIPPED:
        return "skipped", first_line(os.path.join(directory, "skipped"))
    if code in OUT_OF_TIME:
        return "cut short", "its time was over"
    if code == 0 and part in ("kernels", "tests", "kill") and not rows:
        return "failed", "it left no row"
    if code == 0:
        return "done", ""
    return "failed", f"exit code {code}: {last_line(log)}"


def part_ended(output, part, code, seconds, version):
    directory = os.path.join(output, part)
    rows = rows_of(directory, part)
    end, reason = end_of(int(code), directory, part, rows)
    if rows is None:
        for suffix in (".json", ".csv"):
            source = os.path.join(directory, "gpu_box" + suffix)
            if os.path.exists(source):
                shutil.copyfile(source, os.path.join(directory, part + suffix))
    result = {"part": part, "end": end, "reason": reason, "seconds": int(seconds)}
    if not os.path.exists(os.path.join(directory, part + ".json")):
        write_json(os.path.join(directory, part + ".json"), {**result, "rows": rows or []})
    if not os.path.exists(os.path.join(directory, part + ".csv")):
        write_csv(os.path.join(directory, part + ".csv"), rows or [])
    write_json(os.path.join(directory, "end.json"), {**result, "corun": version})
    print(line_of(result), flush=True)
    return 0 if end in ("done", "skipped") else 1


def line_of(result):
    reason = f": {result['reason']}" if result["reason"] else ""
    return f"{result['part']}: {result['end']} after {result['seconds']} s{reason}"


def summary(output):
    results = []
    for part in PARTS:
        results += json_lines_of_object(os.path.join(output, part, "end.json"))
    write_json(os.path.join(output, "summary.json"), {"parts": results})
    write_csv(os.path.join(output, "summary.csv"), results)
    ended = {}
    for result in results:
        ended.setdefault(result["end"], []).append(result["part"])
    print("; ".join(f"{len(parts)} {end} ({', '.join(parts)})" for end, parts in ended.items())
          + f": {output}/summary.json")
    return 0


def json_lines_of_object(path):
    """The object in the file in a list; an empty list if there is none."""
    try:
        with open(path, encoding="utf-8") as file:
            return [json.load(file)]
    except (OSError, ValueError):
        return []


if __name__ == "__main__":
    words = {"part": part_ended, "summary": summary}
    sys.exit(words[sys.argv[1]](*sys.argv[2:]))
