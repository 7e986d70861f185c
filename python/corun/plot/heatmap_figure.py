"""corun.plot.heatmap()."""
import math

import numpy

from .style import axes, finish, shown
from .tables import need
from .tables import numbers as finite
from .units import axis_label, unit_of, units_in, words


def heatmap(table, row, column, value, *, order=None, xlabel=None, ylabel=None, zlabel=None, numbers=None, width=1,
            height=None, ax=None, save=None):
    """The mean of a column for each pair of two others: slowdown by kinds of jobs, a metric over two settings of a
    sweep. A cell without rows stays white. `order`: of the names on both axes. `numbers`: write them into the cells
    (default: up to 100 cells)."""
    need(table, [row, column, value], "heatmap")
    kept = table.assign(**{value: finite(table, value, "heatmap")})
    data = kept.groupby([row, column], sort=False, observed=True)[value].mean().reset_index()
    rows, columns = _places(table, row, column, order)
    grid = numpy.full((len(rows), len(columns)), math.nan)
    at_row, at_column = {x: i for i, x in enumerate(rows)}, {x: i for i, x in enumerate(columns)}
    for r, c, v in data.itertuples(index=False, name=None):
        grid[at_row[r], at_column[c]] = v
    known = numpy.isfinite(grid)
    unit = unit_of(units_in(table), value, numpy.abs(grid[known]).max() if known.any() else 0)
    grid = grid * unit.factor
    longest = max((len(shown(x)) for x in columns), default=0)
    if height is None:
        height = min(8.0, 0.9 + 0.24 * len(rows) + (0.06 * longest if longest > 4 else 0))
    with axes(ax, width, height, save) as ax:
        mesh = ax.pcolormesh(numpy.ma.masked_invalid(grid), cmap="cividis", edgecolors="#FFFFFF", linewidth=0.5)
        ax.set_xticks(numpy.arange(len(columns)) + 0.5, [shown(x) for x in columns],
                      rotation=90 if longest > 4 else 0)
        ax.set_yticks(numpy.arange(len(rows)) + 0.5, [shown(x) for x in rows])
        ax.set_ylim(len(rows), 0)
        ax.grid(visible=False)
        ax.tick_params(length=0)
        ax.set_xlabel(words(column) if xlabel is None else xlabel)
        ax.set_ylabel(words(row) if ylabel is None else ylabel)
        bar = ax.figure.colorbar(mesh, ax=ax, pad=0.02, fraction=0.06, aspect=25)
        bar.set_label(axis_label(value, unit, zlabel))
        bar.outline.set_linewidth(0.6)
        if numbers or (numbers is None and grid.size <= 100):
            _write_numbers(ax, grid, known)
        return finish(ax, data, save)


def _places(table, row, column, order):
    """The names of both axes: numbers by size, others as in `order`, then as they appear in either column."""
    both = [x for x in [*table[row].tolist(), *table[column].tolist()] if x == x]  # without NaN
    place = {x: i for i, x in enumerate(dict.fromkeys([*(order or []), *both]))}

    def ordered(name):
        found = [x for x in dict.fromkeys(table[name].tolist()) if x == x]
        all_numbers = order is None and all(isinstance(x, (int, float)) for x in found)
        return sorted(found) if all_numbers else sorted(found, key=place.get)

    return ordered(row), ordered(column)


def _write_numbers(ax, grid, known):
    middle = (grid[known].min() + grid[known].max()) / 2 if known.any() else 0
    for (r, c), v in numpy.ndenumerate(grid):
        if known[r, c]:
            ax.text(c + 0.5, r + 0.5, f"{v:.3g}", ha="center", va="center", fontsize=6,
                    color="#000000" if v > middle else "#FFFFFF")
