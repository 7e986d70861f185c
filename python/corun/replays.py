"""corun.replay(): `corun replay --output`, with policies in Python."""
import math
import numbers
import os
import tempfile
import warnings

from . import _corun
from .errors import CorunWarning, InputError
from .policy import find
from .results import read


def _yaml(value, key):
    """A value of Python as YAML on one line."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, numbers.Integral):
        return str(int(value))
    if isinstance(value, numbers.Real):
        if not math.isfinite(value):
            raise InputError(f"{key}: found {float(value)}, expected a finite number")
        return repr(float(value))
    if isinstance(value, (str, os.PathLike)):
        return _corun.yaml_word(os.fspath(value))
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_corun.yaml_word(str(k))}: {_yaml(v, key)}" for k, v in value.items()) + "}"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(_yaml(v, key) for v in value) + "]"
    if hasattr(value, "tolist"):  # numpy
        return _yaml(value.tolist(), key)
    raise InputError(f"{key}: found {type(value).__name__}, expected text, a number, a list or a dictionary")


class _Classes:
    """The policies in Python of one replay, by module and name."""

    def __init__(self):
        self.factories = {}

    def entry(self, item):
        """An item of `policies` for the configuration."""
        given = dict(item) if isinstance(item, dict) else {"policy": item}
        if "policy" not in given:
            return item
        factory = given.pop("policy")
        if isinstance(factory, str):
            return item if not given else {"name": factory, **given}
        if not callable(factory):
            raise InputError(f"policies: found {type(factory).__name__}, expected the name of a policy, a subclass of "
                             "corun.Policy or a function that makes one: each replication has its own")
        name = getattr(factory, "__qualname__", type(factory).__name__)
        words = (getattr(factory, "__module__", "?") or "?", name)
        number = 2
        while self.factories.get(words, factory) is not factory:
            words = (words[0], f"{name}#{number}")
            number += 1
        self.factories[words] = factory
        fields = {"name": "python", "label": name.rsplit(".", 1)[-1], "class": list(words)}
        for key in ("start", "belief"):
            if isinstance(getattr(factory, key, None), str):
                fields[key] = getattr(factory, key)
        return {**fields, **given}


def replay(config=None, set=None, *, policies=None, replications=None, seed=None, out=None, force=False, threads=0,
           device="auto", data=None, quiet=False):
    """Replays a workload under several policies and returns corun.Results.

    config   a configuration (YAML) or a trace of jobs, by path; a configuration as a dictionary; None: the default
    set      overrides of keys: {"cluster.nodes": 8, "world.noise": False}
    policies names, dictionaries such as {"name": "las", "label": "mine"}, subclasses of corun.Policy, functions that
             make a policy, and {"policy": CLASS, "label": ...}
    out      the results file; None: a temporary one, removed after reading
    force    replace a file that exists, whatever it is of
    threads  0: one per core; never changes a result
    device, data as the options of the program; quiet: no warnings

    The file has the same bytes as that of `corun replay --output`. Errors are InputError, DeviceError, and
    KeyboardInterrupt after Ctrl-C; finished replications are then in the file."""
    classes = _Classes()
    overrides = {}
    if replications is not None:
        overrides["replications"] = replications
    if seed is not None:
        overrides["seed"] = seed
    if policies is not None:
        if isinstance(policies, (str, dict)) or callable(policies):
            policies = [policies]
        overrides["policies"] = policies
    for key, value in (set or {}).items():
        if key in overrides:
            raise InputError(f"{key}: found in set and as an argument; leave one of them out")
        overrides[key] = value
    if "policies" in overrides:
        overrides["policies"] = [classes.entry(item) for item in overrides["policies"]]
    path = text = None
    if isinstance(config, dict):
        config = dict(config)
        if isinstance(config.get("policies"), (list, tuple)):
            config["policies"] = [classes.entry(item) for item in config["policies"]]
        text = "\n".join(f"{key}: {_yaml(value, key)}" for key, value in config.items()) or "{}"
    elif config is not None:
        path = os.fspath(config)
    pairs = [(str(key), _yaml(value, key)) for key, value in overrides.items()]
    with tempfile.TemporaryDirectory(prefix="corun-") as folder:
        target = os.path.join(folder, "results.h5") if out is None else os.fspath(out)
        written, notes = _corun.replay(path, text, pairs, classes.factories, find, target, force, threads, device,
                                       None if data is None else os.fspath(data))
        if not quiet:
            for note in notes:
                warnings.warn(note, CorunWarning, stacklevel=2)
        results = read(written)
        if out is None:
            results.load()
    return results
