"""corun.plot.intervals()."""
import math

import numpy
import pandas

from ..errors import InputError
from .statistics import half_width
from .style import COLOURS, axes, finish, shown
from .tables import need, numbers, series
from .units import axis_label, unit_of, units_in


def intervals(table, metric="jct_s", by="label", *, baseline=None, order=None, xlabel=None, width=1, height=None,
              ax=None, save=None):
    """Means with 95 % intervals, a line per value of `by`.

    `table` is Results.metrics (a row per replication), whose means and intervals are computed; or Results.summary or
    Results.versus, whose rows of `metric` are shown (versus: with `baseline`, the other policy: an interval without 0
    is a difference)."""
    if {"metric", "mean"} <= set(getattr(table, "columns", ())):
        data, units = _computed(table, metric, by, baseline)
    else:
        if baseline is not None:
            raise InputError("intervals: found a baseline and no table of differences; give Results.versus")
        data, units = _means(table, metric, by)
    names = series(data, by, order)
    data = data.set_index(by).loc[names].reset_index()
    unit = unit_of(units, metric, data["mean"].abs().max())
    with axes(ax, width, 0.6 + 0.2 * len(names) if height is None else height, save) as ax:
        places = numpy.arange(len(names))
        mean, lo, hi = (data[c].to_numpy(float) * unit.factor for c in ("mean", "lo", "hi"))
        spread = numpy.clip(numpy.nan_to_num([mean - lo, hi - mean]), 0, None)
        ax.errorbar(mean, places, xerr=spread, fmt="o", color=COLOURS[0], ecolor=COLOURS[0], elinewidth=1,
                    capsize=2.5, markersize=2.8)
        if baseline is not None:
            ax.axvline(0, color="#000000", linewidth=0.6)
        ax.set_yticks(places, [shown(name) for name in names])
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        ax.locator_params(axis="x", nbins=6)
        label = axis_label(metric, unit, xlabel)
        ax.set_xlabel(label if baseline is None or xlabel is not None else f"{label}, less {shown(baseline)}")
        return finish(ax, data, save)


def _computed(table, metric, by, baseline):
    """The rows of summary or versus."""
    rows = table[table["metric"] == metric]
    if "other_label" in table.columns:
        others = ", ".join(shown(name) for name in series(table, "other_label"))
        if baseline is None:
            raise InputError(f"intervals: found a table of differences and no baseline; give one of {others}")
        rows = rows[rows["other_label"] == baseline]
        if len(rows) == 0 and metric in set(table["metric"]):
            raise InputError(f"baseline: found '{shown(baseline)}', expected one of {others}")
    elif baseline is not None:
        raise InputError("intervals: found a baseline and no table of differences; give Results.versus")
    need(rows, [by, "mean", "lo", "hi"], f"intervals of '{shown(metric)}'")
    units = {metric: rows["unit"].iloc[0]} if "unit" in rows.columns else {}
    return rows[[by, "mean", "lo", "hi"]].reset_index(drop=True), units


def _means(table, metric, by):
    need(table, [by, metric], "intervals")
    values, found = numbers(table, metric, "intervals"), []
    for name in series(table, by):
        own = values[(table[by] == name).to_numpy() & numpy.isfinite(values)]
        mean, half = own.mean() if len(own) else math.nan, half_width(own)
        found.append((name, mean, mean - half, mean + half))
    return pandas.DataFrame(found, columns=[by, "mean", "lo", "hi"]), units_in(table)
