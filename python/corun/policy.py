"""A policy as a class of Python. It sees what a policy in C++ sees (corun.View), and returns decisions that the same
rules check. docs/python.md describes it."""
from importlib import import_module
from typing import Any, NamedTuple, Sequence


class Start(NamedTuple):
    """Start these jobs, all on all of these GPUs."""
    jobs: Sequence[int]
    gpus: Sequence[int]


class Preempt(NamedTuple):
    """Take these running jobs off their GPUs; they go to the end of the queue."""
    jobs: Sequence[int]


class Resize(NamedTuple):
    """Let this running job go on on all of these GPUs, at the cost of a preemption. An elastic job may have from
    gpus_min to gpus_max of them."""
    job: int
    gpus: Sequence[int]


class Wake(NamedTuple):
    """Call decide() at this time, if jobs wait then."""
    time_ns: int


class Member(NamedTuple):
    """A job of a co-run that has ended. solo_ns: J_a; corun_ns: J_c; isd: a fraction."""
    job: int
    solo_ns: int
    corun_ns: int
    isd: float


class CoRun(NamedTuple):
    """An ended episode of a GPU. ps: a fraction; together: all members started at once; unfinished: residents that
    are no members, because they were preempted or ran out of memory."""
    members: Sequence[Member]
    length_ns: int
    ps: float
    together: bool
    end_ns: int
    unfinished: int


class Probe(NamedTuple):
    """An ended probe of two jobs, with their speeds relative to running alone."""
    a: int
    b: int
    speed_a: float
    speed_b: float
    end_ns: int


class Policy:
    """Base of policies; corun makes an object for each replication. Subclasses write decide(), and may write

        arrived(job, now_ns)   a corun.Job has joined the queue: it is new, or back
        departed(job, how)     its number; how: finish, fail, oom, preempt, resize, profiled, probed
        changed(job, now_ns)   a corun.Job is in another phase, with another profile
        corun_ended(co_run)    a corun.CoRun
        probe_ended(probe)     a corun.Probe

    `belief`: "configured" gives it the belief of the configuration, which learns. `start`: "join" lets it place jobs
    beside running ones whatever control.start says. `asked`: "running" calls decide() while jobs run and none waits,
    too, so that it can resize or preempt. Randomness must come from view.seed alone, or a replay is not
    repeatable."""
    belief = "none"
    start = "control"
    asked = "waiting"

    def decide(self, view):
        """A list of Start, Preempt, Resize and Wake, or None. Called in every pass, and again as long as the last call
        started or preempted a job and a job waits."""
        raise NotImplementedError(f"{type(self).__name__} needs a method decide(self, view)")


class Problem(NamedTuple):
    """What a SharePolicy is asked. Arrays of numpy; a job is a position in `job`, a GPU type one in `gpus`.

        seed, gpu_types     of the replication; the names
        gpus                GPUs by type
        job, gang, weight   of each job: its number, the GPUs that it needs, its weight
        steps_left, age_s   of each job: infinite where not known; since its submission
        isolated_s          of each job: the time that its steps so far would have taken on an equal share
        units               two columns, the jobs of each unit; the second is -1 for a job by itself
        rates               units x types x 2 [steps/s]: of both jobs; 0: it does not run there"""
    seed: int
    gpu_types: Sequence[str]
    gpus: Any
    job: Any
    gang: Any
    weight: Any
    steps_left: Any
    age_s: Any
    isolated_s: Any
    units: Any
    rates: Any


class SharePolicy:
    """Base of policies that say which share of its time each unit (a job, or two jobs on the same GPUs) spends on each
    GPU type. corun's rounds turn shares into decisions (docs/policies.md). Subclasses write shares(). corun makes an
    object for each replication.

    `space_sharing`: "pairs" adds units of two jobs. `heterogeneity`: "agnostic" hides the rates' dependence on the type.
    Other parameters of the rounds are given beside the class: {"policy": CLASS, "reset_s": 600}."""
    space_sharing = "none"
    heterogeneity = "aware"

    def shares(self, problem):
        """An array of units x types: numbers of 0 to 1, the sum over a job's units and the types at most 1, and the sum
        over the units of gang x share at most the GPUs of each type."""
        raise NotImplementedError(f"{type(self).__name__} needs a method shares(self, problem)")


def find(module, name):
    """The class that a configuration names: {name: python, class: [module, name]}."""
    found = import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found
