"""corun.replay(): `corun replay --output`, with policies in Python."""
import numbers
import os
import warnings
from collections.abc import Mapping

from . import _corun, temporary
from .errors import CorunWarning, InputError
from .policy import Policy, SharePolicy, find
from .results import read
from .text import path_of, refused

_MOST_THREADS = 4096  # as --threads


class _Classes:
    """The policies in Python of one replay, by module and name."""

    def __init__(self):
        self.factories = {}

    def entries(self, policies):
        """The items of `policies` for the configuration; one alone stands for a list of it."""
        if isinstance(policies, (str, dict)) or callable(policies):
            policies = [policies]
        if not isinstance(policies, (list, tuple)):
            raise refused("policies", policies, "a list of names, dictionaries and subclasses of corun.Policy")
        return [self.entry(item) for item in policies]

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
        base, keys = Policy, ("start", "belief", "asked")
        fields = {"name": "python", "label": name.rsplit(".", 1)[-1], "class": list(words)}
        if isinstance(factory, type) and issubclass(factory, SharePolicy):
            base, keys = SharePolicy, ("space_sharing", "heterogeneity")
            fields["name"] = "python-shares"
        for key in keys:
            value = getattr(factory, key, None)
            if isinstance(value, str):
                fields[key] = value
            elif isinstance(factory, type) and hasattr(factory, key) and key not in given:
                raise refused(f"policies: {fields['label']}.{key}", value, "a word, such as "
                              f"'{getattr(base, key)}', that of corun.{base.__name__}")
        return {**fields, **given}


def replay(config=None, set=None, *, policies=None, replications=None, seed=None, out=None, force=False, threads=0,
           device="auto", data=None, quiet=False):
    """Replays a workload under several policies and returns corun.Results.

    config   a configuration (YAML) or a trace of jobs, by path; a configuration as a dictionary; None: the default
    set      overrides of keys: {"cluster.nodes": 8, "world.noise": False}
    policies names, dictionaries such as {"name": "las", "label": "mine"}, subclasses of corun.Policy, functions that
             make a policy, and {"policy": CLASS, "label": ...}; subclasses of corun.SharePolicy, too
    out      the results file; None: a temporary one, removed after reading
    force    replace a file that exists, whatever it is of
    threads  0: one per core; never changes a result
    device, data as the options of the program; quiet: no warnings

    The file has the same bytes as that of `corun replay --output`. Errors are InputError, DeviceError, and
    KeyboardInterrupt after Ctrl-C; finished replications are then in the file."""
    if isinstance(threads, bool) or not isinstance(threads, numbers.Integral) or not 0 <= threads <= _MOST_THREADS:
        raise refused("threads", threads, f"a whole number from 0 (one per core) to {_MOST_THREADS}")
    for name, value in (("force", force), ("quiet", quiet)):
        if not isinstance(value, bool):
            raise refused(name, value, "True or False")
    if not isinstance(device, str):
        raise refused("device", device, "'auto', 'cpu' or 'cuda'")
    if set is not None and not isinstance(set, Mapping):
        raise refused("set", set, "a dictionary of keys and values, such as {'cluster.nodes': 8}")
    classes = _Classes()
    given = {"replications": replications, "seed": seed, "policies": policies}
    overrides = {key: (value, key) for key, value in given.items() if value is not None}
    for key, value in (set or {}).items():
        if key in overrides:
            raise InputError(f"{key}: found in set and as an argument; leave one of them out")
        overrides[key] = (value, f"set: {str(key)!a}")
    if "policies" in overrides:
        items, argument = overrides["policies"]
        overrides["policies"] = (classes.entries(items), argument)
    path = None
    if isinstance(config, dict):
        config = dict(config)
        if config.get("policies") is not None:
            config["policies"] = classes.entries(config["policies"])
    elif config is not None:
        path, config = path_of(config, "config", "the path of a configuration or trace, or a dictionary"), None
    typed = [(str(key), value, argument) for key, (value, argument) in overrides.items()]
    data = None if data is None else path_of(data, "data", "the path of a directory")
    out = None if out is None else path_of(out, "out", "the path of the results file")
    with temporary.folder() as folder:
        target = os.path.join(folder, "results.h5") if out is None else out
        written, notes = _corun.replay(path, config, typed, classes.factories, find, target, force, int(threads), device,
                                       data)
        if not quiet:
            for note in notes:
                warnings.warn(note, CorunWarning, stacklevel=2)
        results = read(written)
        if out is None:
            results.load()
    return results
