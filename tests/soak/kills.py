"""kill -9 at random instants of commands that write files."""
import subprocess
import time

from program import TIMEOUT_S, Result
from scenarios import scenarios


class Kills:
    name, unit, share = "kill", "kills", 3
    KILLS_MAX = 4  # in one case, one after another

    def __init__(self, setup):
        self.program = setup.program
        self.scenarios = scenarios(setup.program, setup.folder, replications=20, threads=2)
        self.life = {}  # seconds that an undisturbed run takes
        for scenario in self.scenarios:
            scenario.begin(setup.folder / "life")
            began = time.monotonic()
            self.program.must(setup.folder / "life", scenario.arguments)
            self.life[scenario.name] = time.monotonic() - began
        self.cases = 150 * len(self.scenarios)

    def run(self, case, rng, folder):
        scenario = self.scenarios[case % len(self.scenarios)]
        result = Result()
        scenario.begin(folder)
        for _ in range(rng.randint(1, self.KILLS_MAX)):
            finished = scenario.finished(folder)
            result.disturbances += self.killed(folder, scenario, rng.uniform(0, self.life[scenario.name]))
            result.findings += scenario.check_between(folder, finished)
            if result.findings:
                break
        result.findings += scenario.check_repeated(folder)
        for finding in result.findings:
            finding.text = f"{scenario.name}: {finding.text}"
        return result

    def killed(self, folder, scenario, seconds):
        """Whether the command still ran after this time, and was killed."""
        process = self.program.start(folder, scenario.arguments)
        try:
            process.wait(timeout=seconds)
            return False
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait(timeout=TIMEOUT_S)
            return True
