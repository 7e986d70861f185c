"""corun.plot.pareto()."""
import math

import numpy
import pandas

from ..errors import InputError
from .style import COLOURS, axes, finish, legend, shown
from .tables import need, numbers, series
from .units import axis_label, unit_of, units_in


def pareto(table, x, y, by="label", *, better_x="less", better_y="less", xlabel=None, ylabel=None, width=1, height=2.4,
           ax=None, save=None):
    """Points of two metrics, the mean of the rows of each value of `by`, and the line of those that no other point
    beats in both. better_x, better_y: less or more. Of many points only those of the line have names."""
    need(table, [x, y, by], "pareto")
    for name, given in (("better_x", better_x), ("better_y", better_y)):
        if given not in ("less", "more"):
            raise InputError(f"{name}: found '{shown(given)}', expected less or more")
    if x == y or by in (x, y):
        raise InputError("pareto: expected three different columns")
    kept = pandas.DataFrame({by: table[by].to_numpy(), x: numbers(table, x, "pareto"), y: numbers(table, y, "pareto")})
    data = kept.groupby(by, sort=False, observed=True)[[x, y]].mean().loc[series(kept, by)].reset_index()
    data = data.dropna().reset_index(drop=True)
    if len(data) == 0:
        raise InputError("pareto: found no point with both values")
    data["best"] = _best(data[x].to_numpy() * (1 if better_x == "less" else -1),
                         data[y].to_numpy() * (1 if better_y == "less" else -1))
    units = unit_of(units_in(table), x, data[x].abs().max()), unit_of(units_in(table), y, data[y].abs().max())
    with axes(ax, width, height, save) as ax:
        px, py = data[x].to_numpy() * units[0].factor, data[y].to_numpy() * units[1].factor
        best = data["best"].to_numpy(bool)
        front = numpy.lexsort((py[best], px[best]))
        ax.plot(px[best][front], py[best][front], color=COLOURS[0], linewidth=0.9, zorder=1)
        shapes = ax.plot(px[best], py[best], "o", color=COLOURS[0])
        names = ["none is better in both"]
        if not best.all():
            shapes += ax.plot(px[~best], py[~best], "x", color="#666666", markersize=3.5)
            names.append("another is better in both")
        ax.margins(0.14)
        ax.locator_params(nbins=6)
        crowded = len(data) > 4 * ax.figure.get_size_inches()[0]
        named = best if crowded else numpy.full(len(data), True)
        _name_points(ax, px, py, [shown(name) if of else None for name, of in zip(data[by], named)])
        ax.set_xlabel(axis_label(x, units[0], xlabel) + ("" if xlabel else f", {better_x} is better"))
        ax.set_ylabel(axis_label(y, units[1], ylabel) + ("" if ylabel else f", {better_y} is better"))
        legend(ax, shapes, names, loc="lower left", bbox_to_anchor=(0, 1.01), ncols=2, handletextpad=0.2,
               columnspacing=1.0, handlelength=1.0)
        return finish(ax, data, save)


def _best(a, b):
    """Whether no other point is as good in both and better in one; less is better. In order of a, a point is beaten by
    one of a smaller a and a b that is no larger, or of the same a and a smaller b."""
    best = numpy.zeros(len(a), bool)
    least = math.inf  # b of all points of a smaller a
    order = numpy.lexsort((b, a))
    for at in range(len(order)):
        i = order[at]
        if at > 0 and a[order[at - 1]] == a[i]:
            best[i] = best[order[at - 1]] and b[order[at - 1]] == b[i]
            continue
        best[i] = b[i] < least
        least = min(least, b[i])
    return best


def _name_points(ax, x, y, names):
    """Names beside points (None: no name); points at one place share a text. Each takes the place where it covers least of the points,
    of the names before it, and of what is outside."""
    at_place = {}
    for place, name in zip(zip(x.tolist(), y.tolist()), names):
        at_place.setdefault(place, []).extend([] if name is None else [name])
    width, height = ax.figure.get_size_inches() * (0.8, 0.7)  # of the axes, about
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    inches = {(px, py): ((px - left) / (right - left) * width, (py - low) / (high - low) * height) for px, py in at_place}
    taken = [(px - 0.03, py - 0.03, px + 0.03, py + 0.03) for px, py in inches.values()]
    for place, found in at_place.items():
        if not found:
            continue
        text = ", ".join(found)
        long, tall = 0.052 * len(text), 0.1
        best = None
        for sx, sy in ((1, 1), (1, -1), (-1, 1), (-1, -1), (0, 1), (0, -1), (1, 0), (-1, 0)):
            px, py = inches[place][0] + 0.05 * sx, inches[place][1] + 0.04 * sy
            box = px + long * (sx - 1) / 2, py + tall * (sy - 1) / 2, px + long * (sx + 1) / 2, py + tall * (sy + 1) / 2
            outside = max(0, -box[0], -box[1], box[2] - width, box[3] - height)
            cost = sum(_shared(box, other) for other in taken) + outside
            if best is None or cost < best[0] - 1e-9:
                best = cost, sx, sy, box
        _, sx, sy, box = best
        taken.append(box)
        ax.annotate(text, place, xytext=(3.6 * sx, 2.9 * sy), textcoords="offset points", fontsize=6.5,
                    ha=("right", "center", "left")[sx + 1], va=("top", "center", "bottom")[sy + 1])


def _shared(one, two):
    """The area that two boxes share."""
    return (max(0, min(one[2], two[2]) - max(one[0], two[0])) * max(0, min(one[3], two[3]) - max(one[1], two[1])))
