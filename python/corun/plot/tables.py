"""What figures need of the tables that they get."""
from collections.abc import Iterable

import numpy
import pandas

from ..errors import InputError
from ..text import refused
from .style import shown


def need(table, columns, what):
    """Refuses a table without one of these columns, or without rows."""
    if not isinstance(table, pandas.DataFrame):
        raise InputError(f"{what}: found {type(table).__name__}, expected a pandas.DataFrame, such as results.runs")
    missing = [column for column in columns if column is not None and column not in table.columns]
    if missing:
        raise InputError(f"{what}: found no column '{shown(missing[0])}', expected one of "
                         f"{', '.join(shown(c) for c in table.columns[:60])}")
    if len(table) == 0:
        raise InputError(f"{what}: found a table without rows, expected at least one")


def numbers(table, column, what):
    """A column as real numbers; what is not finite becomes NaN."""
    try:
        values = table[column].to_numpy(dtype=float, na_value=numpy.nan)
    except (TypeError, ValueError):
        raise InputError(f"{what}: found text in the column '{shown(column)}', expected numbers") from None
    return numpy.where(numpy.isfinite(values), values, numpy.nan)


def series(table, by, order=None):
    """The values of `by` in order of first appearance, or in the order given."""
    found = [name for name in dict.fromkeys(table[by].tolist()) if not pandas.isna(name)]
    if order is None:
        return found
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise refused("order", order, f"a list of names in the column '{shown(by)}'")
    missing = [name for name in order if name not in found]
    if missing:
        raise InputError(f"order: found '{shown(missing[0])}', expected names in the column '{shown(by)}'")
    return list(dict.fromkeys(order))
