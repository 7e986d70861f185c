"""corun.read(): results files as pandas tables with units."""
import hashlib
import os
import re
from contextlib import contextmanager

import h5py
import numpy
import pandas

from .errors import InputError
from .text import path_of, printable

_KINDS = ("corun results", "corun sweep")
_OF_SIDE = ("job", "speed", "isd", "predicted_isd", "predicted_speed")  # columns _a and _b of co_runs


def _sum_of(path, shown):
    """The SHA-256 of all before the last line of a file of corun, which names it; and what tells that the file is
    still the same (_state())."""
    mark = b"\ncorun sha256:"
    length = len(mark) + 64 + 1
    try:
        with open(path, "rb") as file:
            state = _state(os.fstat(file.fileno()))
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - length))
            last = file.read()
            if not last.startswith(mark) or not last.endswith(b"\n"):
                raise InputError(f"{shown}: found no line 'corun sha256:' at its end, expected a results file of corun; "
                                 "the file is damaged, or another program wrote it")
            digest = hashlib.sha256()
            file.seek(0)
            left = size - length
            while left > 0:
                block = file.read(min(left, 1 << 20))
                digest.update(block)
                left -= len(block)
    except OSError as error:
        raise InputError(f"{shown}: {_reason(error)}, expected a results file of corun") from error
    if digest.hexdigest().encode() != last[len(mark):-1]:
        raise InputError(f"{shown}: its bytes do not have the sum of its last line; the file is damaged")
    return digest.digest(), state


def _state(stat):
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _reason(error):
    return "no such file" if isinstance(error, FileNotFoundError) else printable(error.strerror or error, 200).lower()


def _text(value):
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _attributes(node):
    found = {}
    for key, value in node.attrs.items():
        if isinstance(value, numpy.ndarray):
            value = [_text(v) for v in value.tolist()]
        elif isinstance(value, numpy.generic):
            value = value.item()
        found[key] = _text(value)
    return found


def _column(values):
    if values.dtype.kind == "S":
        return [_text(v) for v in values.tolist()]
    if values.dtype.kind == "O":
        return [_text(v) for v in values]
    return values


def _table(dataset):
    values = dataset[()]
    if values.dtype.names is None:
        data = {dataset.name.rsplit("/", 1)[-1]: _column(numpy.atleast_1d(values))} if values.ndim < 2 else values
        table = pandas.DataFrame(data)
    else:
        table = pandas.DataFrame({name: _column(values[name]) for name in values.dtype.names},
                                 columns=list(values.dtype.names))
    units, descriptions, codes, others = {}, {}, {}, {}
    for key, value in _attributes(dataset).items():
        for suffix, kept in (("_units", units), ("_description", descriptions), ("_codes", codes)):
            column = key[:-len(suffix)]
            if key.endswith(suffix) and column in table.columns:
                kept[column] = value
                break
        else:
            others[key] = value
    for column, names in codes.items():  # numbers that stand for names
        found = table[column].to_numpy()
        found = numpy.where((found >= 0) & (found < len(names)), found, -1)
        table[column] = pandas.Categorical.from_codes(found, names)
        units.pop(column, None)
    table.attrs = {**others, "units": units, "descriptions": descriptions}
    return table


# Events that put a job on a GPU, and those that take it off.
_BEGINS = ("profile", "start", "probe")
_ENDS = ("profiled", "finish", "oom", "fail", "probed", "preempt")


def _stays(events):
    """The rows of events as intervals; one row each, in the order of their starts."""
    ordered = events[events["gpu"] >= 0].copy()
    ordered["kind"] = ordered["kind"].astype(str)
    ordered["at"] = numpy.arange(len(ordered))
    ordered = ordered.sort_values(["policy", "replication", "job_index", "gpu", "at"], kind="stable")
    key = ["policy", "replication", "job_index", "gpu"]
    following = ordered[key].shift(-1)
    same = (following == ordered[key]).all(axis=1)
    ended = same & ordered["kind"].shift(-1).isin(_ENDS)
    begun = ordered["kind"].isin(_BEGINS)
    ordered["end_s"] = ordered["time_s"].shift(-1).where(ended)
    ordered["end"] = ordered["kind"].shift(-1).where(ended)
    stays = ordered[begun].sort_values("at").rename(columns={"time_s": "start_s", "kind": "begin"})
    return stays.reset_index(drop=True)


class Results:
    """The tables of a results file of a replay, a sweep or a live run; docs/results.md lists them.

    results.runs, results["runs"]   a pandas.DataFrame, read when first asked for
    results.tables                  the names of all tables
    results.units("runs")           {"jct_s": "s", ...}; also runs.attrs["units"] and runs.attrs["descriptions"]
    results.attrs                   config, seed, complete, inputs, warnings ... of the whole file
    results.co_runners()            co-runs from the side of each job, with names and clusters
    results.stays()                 when which job was on which GPU

    Columns of codes have their names as categories, and tables with `policy` have the column `label`. A table inside a
    group has a name with a slash, and an underscore in its place as an attribute. A table is refused if the file has
    other bytes than when it was opened: load() reads all tables at once."""

    def __init__(self, path):
        self.path = path_of(path, "results", "the path of a results file")
        self._kept = {}
        shown = printable(self.path)
        if os.path.isdir(self.path):
            raise InputError(f"{shown}: is a directory, expected a results file of corun")
        if not os.path.isfile(self.path):
            raise InputError(f"{shown}: no such file, expected a results file of corun")
        self._sum, self._state = _sum_of(self.path, shown)
        names = []
        with self._open() as file:
            self.attrs = _attributes(file)
            file.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset) else None)
        if self.attrs.get("kind") not in _KINDS:
            raise InputError(f"{shown}: found kind {printable(repr(self.attrs.get('kind')), 80)}, expected "
                             "'corun results' or 'corun sweep'")
        self.tables = tuple(sorted(names))

    @contextmanager
    def _open(self):
        self._check_same()
        try:
            with h5py.File(self.path, "r") as file:
                yield file
            self._check_same()  # it may have been replaced before h5py opened it
        except (OSError, RuntimeError) as error:  # of h5py
            raise InputError(f"{printable(self.path)}: {printable(error, 200)}; expected a results file of corun: it "
                             "is damaged, or another program wrote it") from error

    def _check_same(self):
        """Refuses a file that another one has replaced; it is read again only where it may have changed."""
        shown = printable(self.path)
        try:
            if _state(os.stat(self.path)) == self._state:
                return
        except OSError as error:
            raise InputError(f"{shown}: {_reason(error)} any more, expected the results file that was opened; "
                             "load() reads all tables before a file goes") from error
        found, state = _sum_of(self.path, shown)
        if found != self._sum:
            raise InputError(f"{shown}: has other results than when it was opened, expected the same file for all "
                             "tables; open it again, or load() all tables at once")
        self._state = state

    @property
    def config(self):
        """The effective configuration, YAML."""
        return self.attrs["config"]

    def units(self, table):
        return self[table].attrs["units"]

    def load(self):
        """Reads all tables; the file may then go."""
        for name in self.tables:
            self[name]
        return self

    def __contains__(self, name):
        return name in self.tables

    def __getitem__(self, name):
        name = name.lstrip("/")
        if name not in self._kept:
            if name not in self.tables:
                raise KeyError(f"no table '{name}' in {self.path}; there are {', '.join(self.tables)}")
            with self._open() as file:
                table = _table(file[name])
            if "policy" in table.columns and "label" not in table.columns and "policies" in self.tables:
                at, labels = table["policy"].to_numpy(), self["policies"]["label"].to_numpy()
                table.insert(table.columns.get_loc("policy") + 1, "label", labels[at])
            self._kept[name] = table
        return self._kept[name]

    def co_runners(self):
        """The rows of co_runs from the side of each of their two jobs: job beside co_runner, which slows it by isd. Names
        and clusters are those of runs."""
        co_runs = self["co_runs"]
        sides = []
        for own, other in (("a", "b"), ("b", "a")):
            side = co_runs.rename(columns={f"{name}_{own}": name for name in _OF_SIDE})
            side = side.rename(columns={"job": "job_index", f"job_{other}": "co_runner_index"})
            sides.append(side.drop(columns=[f"{name}_{other}" for name in _OF_SIDE if name != "job"]))
        both = pandas.concat(sides).sort_index(kind="stable")
        both = self._with_jobs(both, "job_index", "")
        both = self._with_jobs(both, "co_runner_index", "co_runner").reset_index(drop=True)
        return self._told(both, "co_runs", {name: f"{name}_a" for name in _OF_SIDE if name != "job"})

    def stays(self):
        """The time of each job on each of its GPUs in replication 0: start_s, end_s (NaN: not in the table of events), and
        the events that begin and end it. Names are those of runs."""
        events = self["events"].rename(columns={"job": "job_index"})
        stays = self._with_jobs(_stays(events), "job_index", "")
        columns = ["policy", "label", "replication", "job_index", "job", "gpu", "start_s", "end_s", "begin", "end"]
        return self._told(stays[columns], "events", {"start_s": "time_s", "end_s": "time_s"})

    def _with_jobs(self, table, index, prefix):
        """The table with names, and clusters if there are any, of the jobs that `index` means."""
        runs = self["runs"]
        key = ["policy", "replication", "job_index"]
        wanted = [name for name in ("job", "cluster") if name in runs.columns]
        names = {"job": prefix or "job", "cluster": f"{prefix}_cluster".lstrip("_")}
        jobs = runs[[*key, *wanted]].rename(columns={"job_index": index, **names})
        order = list(table.columns)
        order[order.index(index) + 1:order.index(index) + 1] = [names[name] for name in wanted]
        merged = table.merge(jobs, on=["policy", "replication", index], how="left", validate="many_to_one")
        return merged[order]

    def _told(self, table, source, of):
        """Units and descriptions as in the table `source`; `of`: names there that differ."""
        told = self[source].attrs
        table.attrs = {key: value for key, value in told.items() if key not in ("units", "descriptions", "description")}
        for kind in ("units", "descriptions"):
            found = {name: told[kind].get(of.get(name, name)) for name in table.columns}
            table.attrs[kind] = {name: re.sub(r"\b(job|isd|speed)_a\b", r"\1", text) for name, text in found.items()
                                 if text is not None}
        return table

    def __getattr__(self, name):
        if name.startswith("_") or name == "tables":
            raise AttributeError(name)
        for table in self.tables:
            if table.replace("/", "_") == name:
                return self[table]
        raise AttributeError(f"no table '{name}' in {self.path}; there are {', '.join(self.tables)}")

    def __dir__(self):
        return [*super().__dir__(), *(table.replace("/", "_") for table in self.tables)]

    def __repr__(self):
        return f"<corun.Results of {self.path}: {', '.join(self.tables)}>"


def read(results):
    """Reads a results file of `corun replay`, `corun sweep` or `corun live run`: see Results."""
    return Results(results)
