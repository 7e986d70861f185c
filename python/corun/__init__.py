"""corun from Python: read results, replay, decide, draw. docs/python.md shows how.

    import corun

    results = corun.replay(policies=["fcfs", "min-slowdown"])   # or corun.read("results.h5")
    results.metrics.groupby("label").jct_s.mean()
    corun.plot.cdf(results.runs, "jct_s", save="jct.pdf")
"""
from importlib import import_module as _import_module

from ._corun import Belief, Job, View
from ._corun import commit as __commit__
from ._corun import version as __version__
from .errors import CorunWarning, DeviceError, InputError
from .policy import CoRun, Member, Policy, Preempt, Probe, Problem, Resize, SharePolicy, Start, Wake
from .replays import replay
from .results import Results, read

__all__ = ["Belief", "CoRun", "CorunWarning", "DeviceError", "InputError", "Job", "Member", "Policy", "Preempt",
           "Probe", "Problem", "Resize", "Results", "SharePolicy", "Start", "View", "Wake", "plot", "read", "replay",
           "__commit__", "__version__"]


def __getattr__(name):
    if name == "plot":  # matplotlib takes half a second to load
        return _import_module("corun.plot")
    raise AttributeError(f"module 'corun' has no attribute {name!r}")
