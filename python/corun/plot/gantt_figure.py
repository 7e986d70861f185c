"""corun.plot.gantt()."""
import numpy
from matplotlib.collections import PolyCollection

from ..errors import InputError
from .style import COLOURS, axes, finish, shown
from .tables import need, numbers, series
from .units import unit_of, units_in

_DARK = ("#0072B2", "#D55E00", "#009E73")  # white letters are read on these


def gantt(table, label=None, *, replication=0, most=2000, from_s=None, to_s=None, colour="job", width=2, height=None,
          ax=None, save=None):
    """Jobs on GPUs over time, of one policy (`label`, else the first) and replication. Jobs that share a GPU share its
    lane.

    `table` is Results.stays(), which has every stay of a job on a GPU; or Results.runs, which has the last attempt
    of each job on its first GPU. `from_s`, `to_s`: only this time. Of more than `most` bars the first are shown, and
    the figure says so. `colour`: job, or lane for the place beside the others."""
    start, end = ("start_s", "end_s") if "begin" in getattr(table, "columns", ()) else ("last_start_s", "finish_s")
    need(table, ["label", "replication", "job", "gpu", start, end], "gantt")
    if colour not in ("job", "lane"):
        raise InputError(f"colour: found '{shown(colour)}', expected job or lane")
    label = series(table, "label")[0] if label is None else label
    if label not in series(table, "label"):
        raise InputError(f"gantt: found '{shown(label)}', expected one of "
                         f"{', '.join(shown(name) for name in series(table, 'label'))}")
    data = _bars(table[(table["label"] == label) & (table["replication"] == replication)], start, end, from_s, to_s)
    if len(data) == 0:
        raise InputError(f"gantt: found no job of '{shown(label)}' in replication {replication} that ran")
    left_out = max(0, len(data) - most)
    data = data.head(most).reset_index(drop=True)
    data["lane"] = _lanes(data)
    first = data["start_s"].min() if from_s is None else from_s
    last = data["end_s"].max() if to_s is None else to_s
    unit = unit_of(units_in(table), end, last)
    lanes = data.groupby("gpu")["lane"].max() + 1
    gpus = sorted(data["gpu"].unique())
    depth_of = {gpu: max(2, lanes[gpu]) for gpu in gpus}  # a lane has one depth everywhere, a GPU two at least
    top_of = dict(zip(gpus, numpy.cumsum([0, *(depth_of[gpu] + 0.6 for gpu in gpus)])))
    total = sum(depth_of.values()) + 0.6 * len(gpus)
    with axes(ax, width, min(8.0, 0.6 + 0.125 * total) if height is None else height, save) as ax:
        boxes, colours = [], []
        tints = {job: i for i, job in enumerate(dict.fromkeys(data["job"]))}
        for job, gpu, left, right, at in data[["job", "gpu", "start_s", "end_s", "lane"]].itertuples(index=False):
            depth = depth_of[gpu] / lanes[gpu]
            top = top_of[gpu] + depth * at
            left, right = left * unit.factor, right * unit.factor
            boxes.append([(left, top), (right, top), (right, top + depth), (left, top + depth)])
            colours.append(COLOURS[(tints[job] if colour == "job" else int(at)) % 6])
        thin = 0.4 if len(data) <= 400 else 0.1
        ax.add_collection(PolyCollection(boxes, facecolors=colours, edgecolors="#FFFFFF", linewidths=thin))
        room = (last - first) * unit.factor or 1.0
        ax.set_xlim(first * unit.factor, first * unit.factor + room * 1.005)
        ax.set_ylim(total, -0.6)
        if len(data) <= 400:
            _name_bars(ax, boxes, data["job"], colours, room, total)
        if len(gpus) <= 40:
            ax.set_yticks([top_of[gpu] + depth_of[gpu] / 2 for gpu in gpus], [f"GPU {gpu}" for gpu in gpus])
        else:
            ax.set_yticks([])
            ax.set_ylabel(f"{len(gpus)} GPUs")
        ax.grid(axis="y", visible=False)
        ax.set_xlabel(f"time [{unit.name}]")
        title = shown(label)
        if left_out:
            title += f" (the first {most} of {most + left_out} bars)"
        ax.set_title(title, loc="left")
        return finish(ax, data, save)


def _bars(rows, start, end, from_s, to_s):
    """The rows as job, gpu, start_s, end_s, cut to the time that is asked for, in order of start."""
    rows = rows[["job", "gpu"]].assign(start_s=numbers(rows, start, "gantt"), end_s=numbers(rows, end, "gantt"))
    rows = rows[rows["start_s"].notna() & rows["end_s"].notna() & (rows["gpu"] >= 0)]
    if from_s is not None:
        rows = rows[rows["end_s"] > from_s].assign(start_s=lambda r: r["start_s"].clip(lower=from_s))
    if to_s is not None:
        rows = rows[rows["start_s"] < to_s].assign(end_s=lambda r: r["end_s"].clip(upper=to_s))
    return rows.sort_values(["start_s", "gpu", "job"], kind="stable").reset_index(drop=True)


def _lanes(data):
    """The lowest lane of its GPU that is free when a job starts."""
    ends = {}
    lanes = []
    for gpu, start, end in data[["gpu", "start_s", "end_s"]].itertuples(index=False, name=None):
        lane = ends.setdefault(gpu, [])
        at = next((i for i, until in enumerate(lane) if until <= start), len(lane))
        if at == len(lane):
            lane.append(end)
        else:
            lane[at] = end
        lanes.append(at)
    return lanes


def _name_bars(ax, boxes, jobs, colours, room, total):
    """Names, in the bars that have room for them."""
    across, down = ax.figure.get_size_inches() * 0.85 / (room, total)
    for box, job, behind in zip(boxes, jobs, colours):
        text = shown(job)
        fits = (box[1][0] - box[0][0]) * across > 0.05 * len(text) + 0.04
        if fits and (box[2][1] - box[0][1]) * down > 0.08:
            ax.text((box[0][0] + box[1][0]) / 2, (box[0][1] + box[2][1]) / 2, text, ha="center", va="center_baseline",
                    fontsize=5.5, color="#FFFFFF" if behind in _DARK else "#000000", clip_on=True)
