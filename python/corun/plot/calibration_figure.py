"""corun.plot.calibration()."""
import numpy

from ..errors import InputError
from .style import COLOURS, MARKERS, axes, colour, finish, inches, legend, legend_columns
from .tables import need, numbers, series
from .units import axis_label, unit_of, units_in


def calibration(table, predicted="predicted", measured="measured", by=None, *, lo=None, hi=None, order=None,
                xlabel=None, ylabel=None, width=1, height=None, ax=None, save=None):
    """Measured (or true) against predicted; on the diagonal they are equal. The figure says the mean of the absolute
    difference. `lo`, `hi`: columns of the predicted interval, of which the figure then says how many hold what was
    measured."""
    need(table, [predicted, measured, by, lo, hi], "calibration")
    if (lo is None) != (hi is None):
        raise InputError("calibration: found one of lo and hi, expected both or none")
    columns = list(dict.fromkeys(c for c in (by, predicted, measured, lo, hi) if c is not None))
    data = table[columns].assign(**{c: numbers(table, c, "calibration") for c in columns if c != by})
    data = data.dropna(subset=[predicted, measured, *([] if by is None else [by])]).reset_index(drop=True)
    if len(data) == 0:
        raise InputError("calibration: found no row with both a predicted and a measured value")
    both = data[[predicted, measured]]
    unit = unit_of(units_in(table), predicted, both.abs().max().max())
    names = [] if by is None else series(data, by, order)
    columns = legend_columns(names, 0.8 * inches(width)) if names else 1
    with axes(ax, width, 2.8 + 0.14 * -(-len(names) // columns) if height is None else height, save) as ax:
        ends = both.min().min() * unit.factor, both.max().max() * unit.factor
        room = 0.04 * (ends[1] - ends[0] or 1)
        ends = ends[0] - room, ends[1] + room
        ax.plot(ends, ends, color="#000000", linewidth=0.6, zorder=1)
        points = []
        size = 3.5 if len(data) <= 300 else 2.2
        for i, name in enumerate(names or [None]):
            rows = data if by is None else data[data[by] == name]
            x, y = rows[predicted].to_numpy() * unit.factor, rows[measured].to_numpy() * unit.factor
            if lo is not None:
                spread = [x - rows[lo].to_numpy() * unit.factor, rows[hi].to_numpy() * unit.factor - x]
                ax.errorbar(x, y, xerr=numpy.clip(numpy.nan_to_num(spread), 0, None), fmt="none", ecolor=colour(i),
                            elinewidth=0.5, alpha=0.5)
            points += ax.plot(x, y, MARKERS[i % len(MARKERS)], color=colour(i), markersize=size,
                              alpha=0.8 if len(data) <= 300 else 0.5, markeredgewidth=0)
        error = (data[predicted] - data[measured]).abs().mean() * unit.factor
        text = f"mean absolute error {error:.3g} {unit.name}".rstrip() + f", n = {len(data)}"
        if lo is not None:
            known = data.dropna(subset=[lo, hi])
            held = ((known[lo] <= known[measured]) & (known[measured] <= known[hi])).mean()
            text += f"\n{100 * held:.0f} % in their intervals" if len(known) else "\nno intervals"
        above = legend(ax, points if names else [], names, loc="lower left",
                       bbox_to_anchor=(0, 1.01), title=text, title_fontsize=7, alignment="left",
                       ncols=columns, handletextpad=0.2, columnspacing=1.0, handlelength=1.0)
        for handle in above.legend_handles if hasattr(above, "legend_handles") else above.legendHandles:
            handle.set_alpha(1)
        ax.set_xlim(ends)
        ax.set_ylim(ends)
        ax.set_aspect("equal", adjustable="box")
        ax.locator_params(nbins=6)
        ax.set_xlabel(axis_label(predicted, unit, xlabel))
        ax.set_ylabel(axis_label(measured, unit, ylabel))
        return finish(ax, data, save)
