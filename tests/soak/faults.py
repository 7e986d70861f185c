"""A failing system call: the N-th call on the files of a command fails, for every N (fail_call.c)."""
from program import CRASH, SILENT_CHANGE, Finding, Result, snapshot
from scenarios import scenarios


class Faults:
    name, unit, share = "fault", "faults", 3

    def __init__(self, setup):
        self.program = setup.program
        self.shim = setup.shim
        # One thread: the order of calls is the same in each run.
        self.scenarios = scenarios(setup.program, setup.folder, replications=1, threads=1)
        self.todo = []
        for scenario in self.scenarios:
            report = setup.folder / "calls"
            folder = setup.folder / "counted"
            scenario.begin(folder)
            self.program.run(folder, scenario.arguments, self.environment(folder, "none", 0, report))
            calls, space_calls = map(int, report.read_text().split())
            if calls == 0:
                raise RuntimeError(f"{self.shim} saw no call of {scenario.name}")
            self.todo += [(scenario, "eio", n) for n in range(1, calls + 1)]
            self.todo += [(scenario, "full", n) for n in range(1, space_calls + 1)]
        setup.shuffle(self.todo)
        self.cases = len(self.todo)

    def environment(self, folder, kind, at, report=None):
        found = {"LD_PRELOAD": str(self.shim), "CORUN_FAULT_FOLDER": str(folder), "CORUN_FAULT_KIND": kind,
                 "CORUN_FAULT_AT": str(at)}
        return {**found, "CORUN_FAULT_REPORT": str(report)} if report else found

    def run(self, case, _, folder):
        scenario, kind, n = self.todo[case]
        scenario.begin(folder)
        finished = scenario.finished(folder)
        outcome = self.program.run(folder, scenario.arguments, self.environment(folder, kind, n))
        findings = []
        if crash := outcome.crash():
            findings.append(Finding(CRASH, crash))
        if outcome.code == 0:
            present = snapshot(folder)
            findings += [Finding(SILENT_CHANGE, f"exit code 0, but {path} is not an undisturbed run's")
                         for path in scenario.after
                         if path not in scenario.untold and present.get(path) != scenario.after[path]]
            if outcome.out != scenario.out:
                findings.append(Finding(SILENT_CHANGE, "exit code 0 with another output"))
        findings += scenario.check_between(folder, finished)
        findings += scenario.check_repeated(folder)
        for finding in findings:
            finding.text = f"{scenario.name}, {kind} at call {n}: {finding.text}"
        return Result(1, findings)
