"""corun.read(): results files as pandas tables with units."""
import hashlib
import os

import h5py
import numpy
import pandas

from .errors import InputError

_KINDS = ("corun results", "corun sweep")


def _check_sum(path):
    """The last line of a file of corun is the SHA-256 of all before."""
    mark = b"\ncorun sha256:"
    length = len(mark) + 64 + 1
    with open(path, "rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - length))
        last = file.read()
        if not last.startswith(mark) or not last.endswith(b"\n"):
            raise InputError(f"{path}: found no line 'corun sha256:' at its end, expected a results file of corun; "
                             "the file is damaged, or another program wrote it")
        digest = hashlib.sha256()
        file.seek(0)
        left = size - length
        while left > 0:
            block = file.read(min(left, 1 << 20))
            digest.update(block)
            left -= len(block)
    if digest.hexdigest().encode() != last[len(mark):-1]:
        raise InputError(f"{path}: its bytes do not have the sum of its last line; the file is damaged")


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
    attributes = _attributes(dataset)
    units, descriptions, others = {}, {}, {}
    for key, value in attributes.items():
        for suffix, kept in (("_units", units), ("_description", descriptions)):
            column = key[:-len(suffix)]
            if key.endswith(suffix) and column in table.columns:
                kept[column] = value
                break
        else:
            others[key] = value
    table.attrs = {**others, "units": units, "descriptions": descriptions}
    return table


class Results:
    """The tables of a results file of a replay, a sweep or a live run; docs/results.md lists them.

    results.runs, results["runs"]   a pandas.DataFrame, read when first asked for
    results.tables                  the names of all tables
    results.units("runs")           {"jct_s": "s", ...}; also runs.attrs["units"] and runs.attrs["descriptions"]
    results.attrs                   config, seed, complete, inputs ... of the whole file

    A table inside a group has a name with a slash, and an underscore in its place as an attribute."""

    def __init__(self, path):
        self.path = os.fspath(path)
        self._kept = {}
        if not os.path.isfile(self.path):
            raise InputError(f"{self.path}: no such file, expected a results file of corun")
        _check_sum(self.path)
        names = []
        with h5py.File(self.path, "r") as file:
            self.attrs = _attributes(file)
            file.visititems(lambda name, node: names.append(name) if isinstance(node, h5py.Dataset) else None)
        if self.attrs.get("kind") not in _KINDS:
            raise InputError(f"{self.path}: found kind {self.attrs.get('kind')!r}, expected 'corun results' or "
                             "'corun sweep'")
        self.tables = tuple(sorted(names))

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
            with h5py.File(self.path, "r") as file:
                self._kept[name] = _table(file[name])
        return self._kept[name]

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
