"""corun.plot.cdf()."""
import math

import numpy
import pandas
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from ..errors import InputError
from .statistics import t975
from .style import axes, colour, dashes, finish, inches, legend, legend_columns, shown
from .tables import need, numbers, series
from .units import axis_label, unit_of, units_in


def cdf(table, column="jct_s", by="label", *, replication="replication", interval=True, order=None, points=200,
        log=None, xlabel=None, width=1, height=None, ax=None, save=None):
    """The distribution of a column, a line per value of `by`. With a column `replication` of three replications or
    more, bands are 95 % intervals (Student's t) of the share over replications. Rows without a value are left out.

    `log`: a logarithmic axis; None: if the values are positive, but for some zeros, and spread over a factor of 10.
    On it, zeros are at the left end.

    The data of the figure are what it draws: a table with by, the column, share, lo, hi. Such a table draws the same
    figure again."""
    if {"share", "lo", "hi"} <= set(getattr(table, "columns", ())):
        need(table, [by, column], "cdf")
        data = table
    else:
        need(table, [by, column], "cdf")
        data = _distribution(table, column, by, replication if interval and replication in table.columns else None,
                             points)
    names = series(data, by, order)
    values = numbers(data, column, "cdf")
    unit = unit_of(units_in(table), column, numpy.nanmedian(values))
    positive = values[values > 0] * unit.factor
    if log is None:
        log = (values >= 0).all() and len(positive) > len(values) / 2 and positive.max() >= 10 * positive.min()
    log = log and len(positive) > 0
    columns = _columns(names, inches(width))
    rows_above = -(-len(names) // columns) if columns else 0
    with axes(ax, width, 2.1 + 0.14 * rows_above if height is None else height, save) as ax:
        lines = []
        left = positive.min() if log else -math.inf
        for i, name in enumerate(names):
            rows = data[data[by] == name]
            x = numpy.maximum(numbers(rows, column, "cdf") * unit.factor, left)
            share, lo, hi = (numbers(rows, c, "cdf") * 100 for c in ("share", "lo", "hi"))
            lines += ax.plot(x, share, drawstyle="steps-post", color=colour(i), linestyle=dashes(i))
            if numpy.isfinite(lo).any():
                ax.fill_between(x, lo, hi, step="post", color=colour(i), alpha=0.2, linewidth=0)
        if log:
            ax.set_xscale("log")
            few = positive.max() < 30 * positive.min()  # too few powers of ten to read
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_ylim(0, 101)
        ax.margins(x=0.01)
        ax.set_xlabel(axis_label(column, unit, xlabel))
        ax.set_ylabel("share [%]")
        _legend(ax, lines, names)
        return finish(ax, data, save)


def _columns(names, width):
    """Columns of a legend above; 0: there are few names, and it has room inside."""
    few = len(names) <= 3 and max(len(shown(name)) for name in names) <= 16
    return 0 if few else legend_columns(names, width)


def _legend(ax, lines, names):
    """Inside, where there are few names; else above: there it hides nothing."""
    columns = _columns(names, ax.figure.get_size_inches()[0])
    if columns == 0:
        legend(ax, lines, names, loc="best")
    else:
        legend(ax, lines, names, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=columns, columnspacing=1.2)


def _distribution(table, column, by, replication, points):
    values = numbers(table, column, "cdf")
    kept = table.assign(**{column: values})[numpy.isfinite(values)]
    if len(kept) == 0:
        raise InputError(f"cdf: found no finite value in the column '{shown(column)}'")
    if not isinstance(points, int) or points < 2:
        raise InputError("points: expected a whole number of 2 or more")
    parts = []
    for name in series(kept, by):
        rows = kept[kept[by] == name]
        x = numpy.sort(rows[column].to_numpy(float))
        if len(x) > points:  # at even shares, each end included
            x = x[numpy.unique(numpy.linspace(0, len(x) - 1, points).round().astype(int))]
        x = numpy.unique(x)
        groups = [numpy.sort(rows[column].to_numpy(float))]
        if replication is not None:
            groups = [numpy.sort(g.to_numpy(float)) for _, g in rows.groupby(replication, sort=True)[column]]
        shares = numpy.array([numpy.searchsorted(g, x, side="right") / len(g) for g in groups])
        mean = shares.mean(axis=0)
        half = numpy.full(len(x), math.nan)
        if len(groups) >= 3:
            half = t975(len(groups) - 1) * shares.std(axis=0, ddof=1) / math.sqrt(len(groups))
        parts.append(pandas.DataFrame({by: [name] * len(x), column: x, "share": mean,
                                       "lo": numpy.clip(mean - half, 0, 1), "hi": numpy.clip(mean + half, 0, 1)}))
    return pandas.concat(parts, ignore_index=True)
