"""Figures for papers: matplotlib, colours that colour-blind readers tell apart, the data beside each as CSV.

Each function takes pandas tables, `width` (1: one column of 3.33 in, 2: a page of 7 in; another number: inches),
`height` in inches, `ax` to draw into a figure of your own, and `save`: one file name or several, .pdf, .svg or
.png. The data of the figure go into a CSV of the first name. Equal data give equal bytes. They return the axes.
"""
import csv
import math
import os
import re
from contextlib import contextmanager
from typing import NamedTuple

import matplotlib

if not os.environ.get("DISPLAY") and "MPLBACKEND" not in os.environ:
    matplotlib.use("Agg")
import matplotlib.pyplot as pyplot
import numpy
import pandas
from matplotlib.collections import PolyCollection
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter

from .errors import InputError

# Okabe and Ito (2008), "Color Universal Design"; black last: it is the colour of the axes. The yellow is too pale for
# lines on white and comes at the end.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (2, 2)),
          (0, (8, 1, 2, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
COLUMN_IN, PAGE_IN = 3.33, 7.0
STYLE = {
    "font.family": "sans-serif", "font.sans-serif": ["DejaVu Sans"], "font.size": 8, "axes.titlesize": 8,
    "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
    "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.4, "lines.linewidth": 1.2, "lines.markersize": 4,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5, "ytick.minor.size": 1.5, "legend.frameon": False, "legend.handlelength": 2.4,
    "legend.borderaxespad": 0.2, "figure.dpi": 100, "savefig.dpi": 300, "pdf.fonttype": 42, "svg.fonttype": "none",
    "svg.hashsalt": "corun", "text.usetex": False, "text.parse_math": False, "axes.unicode_minus": True,
    "path.simplify": True,
}
_LONGEST = 32  # characters of a name in a figure


class Unit(NamedTuple):
    """How a column is shown: its value times `factor`."""
    factor: float
    name: str


_TIMES = (Unit(1, "s"), Unit(1 / 60, "min"), Unit(1 / 3600, "h"), Unit(1 / 86400, "d"))


def _shown(text):
    """A name as one line of printable text of bounded length; `$` and `\\` mean nothing (text.parse_math)."""
    text = "".join(c if c.isprintable() and not 0x2028 <= ord(c) <= 0x202E and not 0x2066 <= ord(c) <= 0x2069 else
                   f"\\x{ord(c):02x}" for c in str(text))
    return text if len(text) <= _LONGEST else text[:_LONGEST - 1] + "\u2026"


def _cell(value):
    """A value for CSV. A text that a spreadsheet would run as a formula gets an apostrophe in front."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, (bool, numpy.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, numpy.integer)):
        return str(int(value))
    if isinstance(value, (float, numpy.floating)):
        return repr(float(value))
    text = str(value)
    return "'" + text if text[:1] in tuple("=+-@\t\r\n") else text


def _write_csv(path, table):
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([_cell(name) for name in table.columns])
        for row in table.itertuples(index=False, name=None):
            writer.writerow([_cell(value) for value in row])


def _unit(table, column, largest):
    """The unit of a column: times in the one in which `largest` is easy to read, fractions in per cent."""
    units = table.attrs.get("units", {}) if hasattr(table, "attrs") else {}
    unit = units.get(column) or ("s" if re.search(r"_s$", column) else "")
    if unit == "s":
        for found in reversed(_TIMES):
            if largest * found.factor >= 3 or found.name == "s":
                return found
    if unit == "1" and column in ("isd", "ps", "ps_total", "gpu_util", "mem_util", "occupancy", "isd_reference"):
        return Unit(100, "%")
    return Unit(1, "" if unit == "1" else unit)


def _words(column):
    """A column as the label of an axis."""
    plain = re.sub(r"_(s|ns)$", "", column)
    known = {"jct": "JCT", "isd": "ISD", "ps": "PS", "ps_total": "PS of all", "queue": "queueing delay",
             "gpu_util": "GPU utilisation", "isd_a": "ISD"}
    match = re.fullmatch(r"(.+)_p(\d+)", plain)
    if match:
        return f"{known.get(match[1], match[1])} p{match[2]}"
    return known.get(plain, plain.replace("_", " "))


def _label(column, unit, given=None):
    if given is not None:
        return given
    return _words(column) + (f" [{unit.name}]" if unit.name else "")


def _need(table, columns, what):
    missing = [column for column in columns if column is not None and column not in table.columns]
    if missing:
        raise InputError(f"{what}: found no column '{_shown(missing[0])}', expected one of "
                         f"{', '.join(_shown(c) for c in table.columns)}")
    if len(table) == 0:
        raise InputError(f"{what}: found a table without rows, expected at least one")


def _series(table, by, order=None):
    """The values of `by` in order of first appearance, or in the order given."""
    found = list(dict.fromkeys(table[by].tolist()))
    if order is None:
        return found
    missing = [name for name in order if name not in found]
    if missing:
        raise InputError(f"order: found '{_shown(missing[0])}', expected names in the column '{by}'")
    return list(order)


def _inches(width):
    if width in (1, 2):
        return COLUMN_IN if width == 1 else PAGE_IN
    if not isinstance(width, (int, float)) or not 1 < width <= 40:
        raise InputError(f"width: found {width!r}, expected 1 (a column), 2 (a page) or inches up to 40")
    return float(width)


def _files(save):
    if save is None:
        return []
    paths = [os.fspath(p) for p in ([save] if isinstance(save, (str, os.PathLike)) else save)]
    for path in paths:
        if os.path.splitext(path)[1].lower() not in (".pdf", ".svg", ".png"):
            raise InputError(f"save: found '{_shown(path)}', expected a name that ends in .pdf, .svg or .png")
    return paths


# What would differ from one writing to the next.
_METADATA = {".pdf": {"CreationDate": None, "Creator": "corun", "Producer": None}, ".svg": {"Date": None, "Creator": "corun"},
             ".png": {"Software": "corun"}}


def save(figure, table, names):
    """Writes a figure into .pdf, .svg or .png files, and the table of its data as CSV beside the first."""
    paths = _files(names)
    with matplotlib.rc_context(STYLE):
        for path in paths:
            ending = os.path.splitext(path)[1].lower()
            figure.savefig(path, metadata=_METADATA[ending])
    if paths:
        _write_csv(os.path.splitext(paths[0])[0] + ".csv", table)


@contextmanager
def _axes(ax, width, height, files):
    """The axes to draw in: those given, or those of a new figure, which is closed once it is in files."""
    _files(files)
    with matplotlib.rc_context(STYLE):
        if ax is not None:
            yield ax
            return
        figure, ax = pyplot.subplots(figsize=(_inches(width), height), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02)
        try:
            yield ax
        except BaseException:
            pyplot.close(figure)
            raise
        if files:
            pyplot.close(figure)


def _finish(ax, table, files):
    if files is not None:
        save(ax.figure, table, files)
    return ax


def _t_half_width(values):
    """Half of the 95 % interval of the mean (Student's t), as in docs/intervals.md; NaN below three values."""
    values = numpy.asarray(values, float)
    n = len(values)
    if n < 3:
        return math.nan
    return _t975(n - 1) * values.std(ddof=1) / math.sqrt(n)


def _t975(freedom):
    """The 0.975 quantile of Student's t: bisection of its distribution function."""
    half = freedom / 2

    def beyond(t):  # P(T > t): half the regularised incomplete beta function, by Lentz's continued fraction
        x = freedom / (freedom + t * t)
        front = math.exp(math.lgamma(half + 0.5) - math.lgamma(half) - math.lgamma(0.5)
                         + half * math.log(x) + 0.5 * math.log1p(-x))
        if x < (half + 1) / (half + 2.5):
            return front * _beta_fraction(half, 0.5, x) / half / 2
        return (1 - front * _beta_fraction(0.5, half, 1 - x) / 0.5) / 2

    low, high = 1.9, 13.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if beyond(middle) > 0.025 else (low, middle)
    return (low + high) / 2


def _beta_fraction(a, b, x):
    tiny = 1e-300
    c, d = 1.0, 1 - (a + b) * x / (a + 1)
    d = 1 / (d if abs(d) > tiny else tiny)
    value = d
    for m in range(1, 300):
        for step in (m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                     -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))):
            d = 1 + step * d
            d = 1 / (d if abs(d) > tiny else tiny)
            c = 1 + step / c
            c = c if abs(c) > tiny else tiny
            value *= d * c
        if abs(d * c - 1) < 1e-14:
            break
    return value


def cdf(table, column="jct_s", by="label", *, replication="replication", interval=True, order=None, points=200,
        log=True, xlabel=None, width=1, height=2.1, ax=None, save=None):
    """The distribution of a column, a line per value of `by`. With a column `replication` of three replications or
    more, bands are 95 % intervals (Student's t) of the share over replications. Rows without a value are left out.

    The data of the figure are what it draws: a table with by, the column, share, lo, hi. Such a table draws the same
    figure again."""
    if {"share", "lo", "hi"} <= set(table.columns):
        data = table
        _need(data, [by, column, "share"], "cdf")
    else:
        _need(table, [by, column], "cdf")
        data = _distribution(table, column, by, replication if interval and replication in table.columns else None,
                             points, log)
        data.attrs = table.attrs
    names = _series(data, by, order)
    unit = _unit(data, column, data[column].median())
    with _axes(ax, width, height, save) as ax:
        for i, name in enumerate(names):
            rows = data[data[by] == name]
            x = rows[column].to_numpy(float) * unit.factor
            colour = COLOURS[i % len(COLOURS)]
            ax.plot(x, rows["share"].to_numpy(float) * 100, drawstyle="steps-post", color=colour,
                    linestyle=DASHES[i % len(DASHES)], label=_shown(name))
            lo, hi = rows["lo"].to_numpy(float) * 100, rows["hi"].to_numpy(float) * 100
            if numpy.isfinite(lo).any():
                ax.fill_between(x, lo, hi, step="post", color=colour, alpha=0.2, linewidth=0)
        if log and (data[column] > 0).any():
            ax.set_xscale("log")
            positive = data[column][data[column] > 0]
            few = positive.max() < 30 * positive.min()  # too few powers of ten to read
            ax.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5) if few else (1,), numticks=12))
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
            ax.xaxis.set_minor_formatter(NullFormatter())
        ax.set_ylim(0, 100)
        ax.margins(x=0.01)
        ax.set_xlabel(_label(column, unit, xlabel))
        ax.set_ylabel("share [%]")
        ax.legend(loc="best", ncols=1 if len(names) < 9 else 2)
        return _finish(ax, data, save)


def _distribution(table, column, by, replication, points, log):
    values = table[column].to_numpy(float)
    kept = table[numpy.isfinite(values)]
    if len(kept) == 0:
        raise InputError(f"cdf: found no finite value in the column '{_shown(column)}'")
    parts = []
    for name in _series(kept, by):
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
            half = _t975(len(groups) - 1) * shares.std(axis=0, ddof=1) / math.sqrt(len(groups))
        parts.append(pandas.DataFrame({by: [name] * len(x), column: x, "share": mean,
                                       "lo": numpy.clip(mean - half, 0, 1), "hi": numpy.clip(mean + half, 0, 1)}))
    return pandas.concat(parts, ignore_index=True)


def intervals(table, metric="jct_s", by="label", *, baseline=None, order=None, xlabel=None, width=1, height=None,
              ax=None, save=None):
    """Means with 95 % intervals, a line per value of `by`.

    `table` is Results.metrics (a row per replication), whose means and intervals are computed; or Results.summary or
    Results.versus, whose rows of `metric` are shown (versus: with `baseline`, the other policy)."""
    if "metric" in table.columns and "mean" in table.columns:
        rows = table[table["metric"] == metric]
        if "other_label" in table.columns:
            if baseline is None:
                raise InputError("intervals: found a table of differences and no baseline; give the label of a policy")
            rows = rows[rows["other_label"] == baseline]
        _need(rows, [by, "mean", "lo", "hi"], f"intervals of {_shown(metric)}")
        data = rows[[by, "mean", "lo", "hi"]].reset_index(drop=True)
        units = {metric: rows["unit"].iloc[0]} if "unit" in rows.columns else {}
    else:
        _need(table, [by, metric], "intervals")
        units = table.attrs.get("units", {})
        found = []
        for name in _series(table, by):
            values = table.loc[table[by] == name, metric].dropna().to_numpy(float)
            mean = values.mean() if len(values) else math.nan
            half = _t_half_width(values)
            found.append((name, mean, mean - half, mean + half))
        data = pandas.DataFrame(found, columns=[by, "mean", "lo", "hi"])
    data.attrs = {"units": units}
    names = _series(data, by, order)
    data = data.set_index(by).loc[names].reset_index()
    shown = pandas.Series([], dtype=float)
    shown.attrs = {"units": units}
    unit = _unit(shown, metric, data["mean"].abs().max())
    with _axes(ax, width, height or 0.6 + 0.2 * len(names), save) as ax:
        places = numpy.arange(len(names))
        mean = data["mean"].to_numpy(float) * unit.factor
        spread = numpy.array([mean - data["lo"].to_numpy(float) * unit.factor,
                              data["hi"].to_numpy(float) * unit.factor - mean])
        ax.errorbar(mean, places, xerr=numpy.nan_to_num(spread), fmt="o", color=COLOURS[0], ecolor=COLOURS[0],
                    elinewidth=1, capsize=2)
        if baseline is not None:
            ax.axvline(0, color="#000000", linewidth=0.6)
        ax.set_yticks(places, [_shown(name) for name in names])
        ax.set_ylim(len(names) - 0.5, -0.5)
        ax.grid(axis="y", visible=False)
        label = _label(metric, unit, xlabel)
        ax.set_xlabel(label if baseline is None or xlabel is not None else f"{label}, less {_shown(baseline)}")
        return _finish(ax, data, save)


def gantt(runs, label=None, *, replication=0, most=2000, colour="job", width=2, height=None, ax=None, save=None):
    """The last attempt of each job on its GPU, of one policy (`label`, else the first) and replication. Jobs that
    share a GPU share its lane. Of more than `most` jobs the first are shown, and the figure says so."""
    _need(runs, ["label", "job", "gpu", "last_start_s", "finish_s"], "gantt")
    label = runs["label"].iloc[0] if label is None else label
    rows = runs[(runs["label"] == label) & (runs["replication"] == replication)]
    rows = rows[numpy.isfinite(rows["last_start_s"]) & numpy.isfinite(rows["finish_s"]) & (rows["gpu"] >= 0)]
    if len(rows) == 0:
        raise InputError(f"gantt: found no job of '{_shown(label)}' in replication {replication} that ran")
    rows = rows.sort_values(["last_start_s", "gpu", "job"], kind="stable")
    left_out = max(0, len(rows) - most)
    rows = rows.head(most)
    data = rows[["job", "gpu", "last_start_s", "finish_s"]].reset_index(drop=True)
    lane = _lanes(data)
    data["lane"] = lane
    lanes = data.groupby("gpu")["lane"].max() + 1
    data.attrs = runs.attrs
    unit = _unit(data, "finish_s", data["finish_s"].max())
    gpus = sorted(data["gpu"].unique())
    depth_of = {gpu: max(2, lanes[gpu]) for gpu in gpus}  # a lane has one depth everywhere, a GPU two at least
    top_of = dict(zip(gpus, numpy.cumsum([0, *(depth_of[gpu] + 0.6 for gpu in gpus)])))
    total = sum(depth_of.values()) + 0.6 * len(gpus)
    with _axes(ax, width, height or min(8.0, 0.6 + 0.125 * total), save) as ax:
        boxes, colours = [], []
        for i, (job, gpu, start, finish, at) in enumerate(data.itertuples(index=False, name=None)):
            depth = depth_of[gpu] / lanes[gpu]
            top = top_of[gpu] + depth * at
            left, right = start * unit.factor, finish * unit.factor
            boxes.append([(left, top), (right, top), (right, top + depth), (left, top + depth)])
            colours.append(COLOURS[i % 6] if colour == "job" else COLOURS[int(at) % 6])
        ax.add_collection(PolyCollection(boxes, facecolors=colours, edgecolors="#FFFFFF", linewidths=0.4, alpha=0.9))
        longest = data["finish_s"].max() * unit.factor
        ax.set_xlim(0, longest * 1.005)
        ax.set_ylim(total, -0.6)
        inches = (ax.figure.get_size_inches() * 0.85 / (longest, total)).tolist()
        if len(data) <= 200:  # names, where they fit
            for box, name, colour_of in zip(boxes, data["job"], colours):
                text, room = _shown(name), (box[1][0] - box[0][0]) * inches[0]
                if room > 0.05 * len(text) + 0.04 and (box[2][1] - box[0][1]) * inches[1] > 0.08:
                    ax.text((box[0][0] + box[1][0]) / 2, (box[0][1] + box[2][1]) / 2, text, ha="center", va="center",
                            fontsize=5.5, color="#FFFFFF" if colour_of in COLOURS[:3] else "#000000")
        if len(gpus) <= 40:
            ax.set_yticks([top_of[gpu] + depth_of[gpu] / 2 for gpu in gpus], [f"GPU {gpu}" for gpu in gpus])
        else:
            ax.set_yticks([])
            ax.set_ylabel(f"{len(gpus)} GPUs")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(f"time [{unit.name}]")
        title = _shown(label)
        if left_out:
            title += f" (the first {most} of {most + left_out} jobs)"
        ax.set_title(title, loc="left")
        return _finish(ax, data, save)


def _lanes(data):
    """The lowest lane of its GPU that is free when a job starts."""
    ends = {}
    lanes = []
    for _, gpu, start, finish in data[["job", "gpu", "last_start_s", "finish_s"]].itertuples(index=False, name=None):
        lane = ends.setdefault(gpu, [])
        at = next((i for i, end in enumerate(lane) if end <= start), len(lane))
        if at == len(lane):
            lane.append(finish)
        else:
            lane[at] = finish
        lanes.append(at)
    return lanes


def heatmap(table, row, column, value, *, order=None, zlabel=None, numbers=None, width=1, height=None, ax=None,
            save=None):
    """The mean of a column for each pair of two others: slowdown by kinds of jobs, a metric over two settings of a
    sweep. A cell without rows stays white. `numbers`: write them into the cells (default: up to 100 cells)."""
    _need(table, [row, column, value], "heatmap")
    data = table.groupby([row, column], sort=False)[value].mean().reset_index()

    both = [*table[row].tolist(), *table[column].tolist()]  # names on both axes come in one order
    place = {x: i for i, x in enumerate(dict.fromkeys([*(order or []), *both]))}

    def ordered(name):
        found = list(dict.fromkeys(table[name].tolist()))
        numbers_alone = order is None and all(isinstance(x, (int, float)) for x in found)
        return sorted(found) if numbers_alone else sorted(found, key=place.get)

    rows, columns = ordered(row), ordered(column)
    grid = numpy.full((len(rows), len(columns)), math.nan)
    at_row, at_column = {x: i for i, x in enumerate(rows)}, {x: i for i, x in enumerate(columns)}
    for r, c, v in data.itertuples(index=False, name=None):
        grid[at_row[r], at_column[c]] = v
    data.attrs = table.attrs
    unit = _unit(data, value, numpy.nanmax(numpy.abs(grid)) if numpy.isfinite(grid).any() else 0)
    grid = grid * unit.factor
    longest = max(len(_shown(x)) for x in columns)
    with _axes(ax, width, height or min(8.0, 0.9 + 0.24 * len(rows) + (0.06 * longest if longest > 4 else 0)), save) as ax:
        mesh = ax.pcolormesh(numpy.ma.masked_invalid(grid), cmap="cividis", edgecolors="#FFFFFF", linewidth=0.5)
        ax.set_xticks(numpy.arange(len(columns)) + 0.5, [_shown(x) for x in columns],
                      rotation=90 if longest > 4 else 0)
        ax.set_yticks(numpy.arange(len(rows)) + 0.5, [_shown(x) for x in rows])
        ax.set_ylim(len(rows), 0)
        ax.grid(visible=False)
        ax.set_xlabel(_words(column))
        ax.set_ylabel(_words(row))
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02)
        bar.set_label(_label(value, unit, zlabel))
        bar.outline.set_linewidth(0.6)
        if numbers or (numbers is None and grid.size <= 100):
            middle = (numpy.nanmin(grid) + numpy.nanmax(grid)) / 2 if numpy.isfinite(grid).any() else 0
            for (r, c), v in numpy.ndenumerate(grid):
                if math.isfinite(v):
                    ax.text(c + 0.5, r + 0.5, f"{v:.3g}", ha="center", va="center", fontsize=6,
                            color="#000000" if v > middle else "#FFFFFF")
        return _finish(ax, data, save)


def calibration(table, predicted="predicted", measured="measured", by=None, *, lo=None, hi=None, xlabel=None,
                ylabel=None, width=1, height=2.8, ax=None, save=None):
    """Measured against predicted; on the diagonal they are equal. `lo`, `hi`: columns of the predicted interval, of
    which the figure then says how many hold what was measured."""
    _need(table, [predicted, measured, by, lo, hi], "calibration")
    columns = [c for c in (by, predicted, measured, lo, hi) if c is not None]
    data = table[columns].dropna(subset=[predicted, measured]).reset_index(drop=True)
    if len(data) == 0:
        raise InputError("calibration: found no row with both a predicted and a measured value")
    data.attrs = table.attrs
    unit = _unit(data, predicted, data[[predicted, measured]].max().max())
    with _axes(ax, width, height, save) as ax:
        ends = [data[[predicted, measured]].min().min() * unit.factor, data[[predicted, measured]].max().max() * unit.factor]
        room = 0.04 * (ends[1] - ends[0] or 1)
        ends = [ends[0] - room, ends[1] + room]
        ax.plot(ends, ends, color="#000000", linewidth=0.6, zorder=1)
        names = [None] if by is None else _series(data, by)
        for i, name in enumerate(names):
            rows = data if by is None else data[data[by] == name]
            x, y = rows[predicted].to_numpy(float) * unit.factor, rows[measured].to_numpy(float) * unit.factor
            if lo is not None and hi is not None:
                spread = [x - rows[lo].to_numpy(float) * unit.factor, rows[hi].to_numpy(float) * unit.factor - x]
                ax.errorbar(x, y, xerr=numpy.clip(numpy.nan_to_num(spread), 0, None), fmt="none",
                            ecolor=COLOURS[i % len(COLOURS)], elinewidth=0.5, alpha=0.5)
            ax.plot(x, y, MARKERS[i % len(MARKERS)], color=COLOURS[i % len(COLOURS)], markersize=3.5, alpha=0.8,
                    markeredgewidth=0, label=None if name is None else _shown(name))
        error = numpy.abs(data[predicted] - data[measured]).mean() * unit.factor
        text = f"mean error {error:.3g} {unit.name}".rstrip()
        if lo is not None and hi is not None:
            known = data.dropna(subset=[lo, hi])
            held = ((known[lo] <= known[measured]) & (known[measured] <= known[hi])).mean()
            text += f"\n{100 * held:.0f} % in their intervals"
        ax.text(0.03, 0.97, text, transform=ax.transAxes, va="top", fontsize=7)
        ax.set_xlim(ends)
        ax.set_ylim(ends)
        ax.set_aspect("equal", adjustable="box")
        ax.set_xlabel(_label(predicted, unit, xlabel))
        ax.set_ylabel(_label(measured, unit, ylabel))
        if by is not None:
            ax.legend(loc="lower right")
        return _finish(ax, data, save)


def pareto(table, x, y, by="label", *, better_x="less", better_y="less", xlabel=None, ylabel=None, width=1, height=2.4,
           ax=None, save=None):
    """Points of two metrics, the mean of the rows of each value of `by`, and the line of those that no other point
    beats in both. better_x, better_y: less or more."""
    _need(table, [x, y, by], "pareto")
    for name, given in (("better_x", better_x), ("better_y", better_y)):
        if given not in ("less", "more"):
            raise InputError(f"{name}: found '{_shown(given)}', expected less or more")
    names = _series(table, by)
    data = table.groupby(by, sort=False)[[x, y]].mean().loc[names].reset_index()
    data = data.dropna().reset_index(drop=True)
    if len(data) == 0:
        raise InputError("pareto: found no point with both values")
    a = data[x].to_numpy(float) * (1 if better_x == "less" else -1)
    b = data[y].to_numpy(float) * (1 if better_y == "less" else -1)
    data["best"] = [not any((a[j] <= a[i] and b[j] <= b[i] and (a[j] < a[i] or b[j] < b[i])) for j in range(len(a)))
                    for i in range(len(a))]
    data.attrs = table.attrs
    units = _unit(data, x, data[x].abs().max()), _unit(data, y, data[y].abs().max())
    with _axes(ax, width, height, save) as ax:
        px, py = data[x].to_numpy(float) * units[0].factor, data[y].to_numpy(float) * units[1].factor
        best = data["best"].to_numpy(bool)
        front = numpy.argsort(px[best], kind="stable")
        ax.plot(px[best][front], py[best][front], color=COLOURS[0], linewidth=0.9, zorder=1)
        ax.plot(px[best], py[best], "o", color=COLOURS[0], label="best in one or both")
        ax.plot(px[~best], py[~best], "x", color="#777777", markersize=3.5, label="another is better in both")
        if len(data) <= 30:
            _name_points(ax, px, py, [_shown(name) for name in data[by]])
        ax.margins(0.14)
        ax.set_xlabel(_label(x, units[0], xlabel) + f", {better_x} is better")
        ax.set_ylabel(_label(y, units[1], ylabel) + f", {better_y} is better")
        return _finish(ax, data, save)


def _name_points(ax, x, y, names):
    """Names beside points, each on the side with the most room."""
    width, height = numpy.ptp(x) or 1, numpy.ptp(y) or 1
    for i, name in enumerate(names):
        others = [((x[j] - x[i]) / width, (y[j] - y[i]) / height) for j in range(len(names)) if j != i]
        free = {}
        for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            near = [math.hypot(dx, dy) for dx, dy in others if dx * sx >= 0 and dy * sy >= 0]
            edge = (x[i] - x.min()) / width if sx < 0 else (x.max() - x[i]) / width
            free[sx, sy] = min(near, default=2) + (0.3 if edge > 0.3 else 0)
        sx, sy = max(free, key=free.get)
        ax.annotate(name, (x[i], y[i]), xytext=(4 * sx, 3 * sy), textcoords="offset points", fontsize=6.5,
                    ha="left" if sx > 0 else "right", va="bottom" if sy > 0 else "top")
