#!/usr/bin/python3
"""Checks the programs of shares by another solver: scipy's HiGHS.

usage: programs_test.py PROGRAMS_DUMP [COUNT]

On COUNT random problems (300) every program's shares must be feasible, and its objective that of HiGHS, to 1e-6. Exits with 77
without scipy.
"""
import json
import subprocess
import sys

try:
    import numpy as np
    from scipy.optimize import linprog
    from scipy.sparse import coo_matrix, diags, hstack, vstack
except ImportError:
    print("SKIPPED: needs python3-scipy, whose solver checks the programs")
    sys.exit(77)

TOLERANCE = 1e-6
FEASIBLE = 1e-7
KEPT = 1e-9  # a job with a small price gains much of what the others give up


class Problem:
    def __init__(self, line):
        self.gpus, self.jobs, self.units = line["gpus"], line["jobs"], line["units"]
        types = len(self.gpus)
        self.rates = np.array(line["rates"]).reshape(len(self.units), types, 2)
        self.size = len(self.units) * types
        rows, columns, values = [], [], []
        through = ([], [], [])
        for u, (a, b) in enumerate(self.units):
            for t in range(types):
                column = u * types + t
                for row, value in {(t, self.jobs[a]["gpus"]), (types + a, 1), (types + b, 1)}:
                    rows.append(row)
                    columns.append(column)
                    values.append(value)
                for job, rate in [(a, self.rates[u, t, 0])] + ([(b, self.rates[u, t, 1])] if a != b else []):
                    through[0].append(job)
                    through[1].append(column)
                    through[2].append(rate)
        self.limits = coo_matrix((values, (rows, columns)), shape=(types + len(self.jobs), self.size)).tocsr()
        self.most = np.array(self.gpus + [1] * len(self.jobs), float)
        self.through = coo_matrix((through[2], (through[0], through[1])), shape=(len(self.jobs), self.size)).tocsr()
        total = sum(self.gpus)
        singles = self.rates[:len(self.jobs), :, 0]
        self.mean = singles @ (np.array(self.gpus) / total)
        self.by = {key: np.array([job[key] for job in self.jobs], float) for key in self.jobs[0]}
        share = np.array(self.gpus)[None, :] / len(self.jobs) / self.by["gpus"][:, None]
        share /= np.maximum(1, share.sum(1))[:, None]
        self.isolated = (singles * share).sum(1)

    def solve(self, gain, rows=None, least=None, extra=None):
        """max gain x (+ the extra variable), the limits, and rows x - extra >= least."""
        matrices, bounds = [self.limits], [self.most]
        if extra is not None:
            matrices[0] = _beside(self.limits, np.zeros(self.limits.shape[0]))
        if rows is not None:
            matrices.append(-(rows if extra is None else _beside(rows, -extra)))
            bounds.append(-least)
        costs = -np.append(gain, [1.0] if extra is not None else [])
        answer = linprog(costs, A_ub=vstack(matrices).tocsr(), b_ub=np.concatenate(bounds), bounds=(0, None),
                         method="highs-ds", options={"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9})
        return -answer.fun if answer.status == 0 else None

    def max_min(self, scale):
        unit = (scale * self.mean).min()
        rows = diags(scale / unit) @ self.through
        return unit * self.solve(np.zeros(self.size), rows, np.zeros(len(scale)), np.ones(len(scale)))


def _beside(matrix, column):
    return hstack([matrix, coo_matrix(column.reshape(-1, 1))])


def check(problem, name, program, failures):
    x = np.array(program["x"])
    if len(x) != problem.size or x.min() < 0 or (problem.limits @ x - problem.most).max() > FEASIBLE:
        failures.append(f"{name}: the shares break the limits")
        return
    objective = program["objective"]
    rates = problem.through @ x
    by = problem.by
    if name in ("max-min", "water-filling"):
        scale = by["gpus"] / (by["weight"] * problem.mean)
        best = problem.max_min(scale)
        same(failures, name, program.get("objectives", [objective])[0], best)
        same(failures, name + ", of its shares", (scale * rates).min(), best)
        if name == "water-filling":
            level = scale * rates
            for job in (0, len(level) // 2, len(level) - 1):  # none can rise while the others keep their level
                gain = problem.through[job].toarray()[0] * scale[job]
                most = problem.solve(gain / level[job], diags(scale) @ problem.through, level * (1 - KEPT))
                if most is None or most > 1 + 2e-4:
                    failures.append(f"{name}: job {job} can rise to {most} times its level")
    elif name == "makespan":
        least = 1 / problem.max_min(1 / by["left"])
        low, high, found, best = 100.0, 1e6, [], None
        while best is None:
            top = high
            while 1.05 * low < high:
                middle = (low + high) / 2
                found.append(middle >= least)
                if found[-1]:
                    high = best = middle
                else:
                    low = middle
            low, high = top, top * 10
        if found != program["found"] or (by["left"] / rates).max() > best * (1 + TOLERANCE):
            failures.append(f"{name}: found {program['found']}, HiGHS {found}")
        same(failures, name, objective, best)
    elif name == "finish-time-fairness":
        whole = by["isolated"] + by["left"] / problem.isolated
        same(failures, name + ", of its shares", ((by["age"] + by["left"] / rates) / whole).max(), objective)
        for factor, reaches in ((1 - TOLERANCE, False), (1 + TOLERANCE, True)):
            scale = (objective * factor * whole - by["age"]) / by["left"]
            level = problem.max_min(scale) if scale.min() > 0 else 0
            if (level >= 1) != reaches:
                failures.append(f"{name}: at {factor} times the objective the level is {level}")
    elif name.startswith("max-throughput"):
        price = 0.1 + 0.3 * np.arange(len(problem.gpus)) if name.endswith("price") else np.ones(len(problem.gpus))
        gain = (problem.rates.sum(2) / price[None, :]).reshape(-1)
        best = None
        if not name.endswith("price") and by["time_left"].max() > 0:
            dated = np.flatnonzero(by["time_left"])
            best = problem.solve(gain, problem.through[dated], by["left"][dated] / by["time_left"][dated])
        best = best if best is not None else problem.solve(gain)
        same(failures, name, objective, best)
        same(failures, name + ", of its shares", gain @ x, best)


def same(failures, name, found, expected):
    if abs(found - expected) > TOLERANCE * abs(expected):
        failures.append(f"{name}: {found!r}, HiGHS {expected!r}")


def main():
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 300
    lines = subprocess.run([sys.argv[1], str(count)], check=True, capture_output=True, text=True,
                           timeout=300).stdout.splitlines()
    failed = checked = 0
    for number, line in enumerate(lines):
        record = json.loads(line)
        problem = Problem(record)
        failures = []
        for name, program in record["programs"].items():
            check(problem, name, program, failures)
            checked += 1
        for failure in failures:
            print(f"problem {number}, {len(problem.jobs)} jobs, {len(problem.gpus)} types: {failure}")
        failed += bool(failures)
    print(f"{checked} programs of {len(lines)} problems, {failed} problems with a fault")
    return 1 if failed or len(lines) != count else 0


if __name__ == "__main__":
    sys.exit(main())
