"""Sizes, colours, fonts and files of all figures."""
import os
from contextlib import contextmanager
from functools import lru_cache

import matplotlib
from matplotlib import font_manager, pyplot

from ..errors import InputError
from ..text import path_of, printable
from .data_file import write_csv

# Okabe and Ito (2008), "Color Universal Design"; black last: it is the colour of the axes. The yellow is too pale for
# lines on white and comes at the end.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#F0E442")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)), (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (2, 2)),
          (0, (8, 1, 2, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
COLUMN_IN, PAGE_IN = 3.33, 7.0
FONT = "DejaVu Sans"  # comes with matplotlib: the same bytes everywhere
STYLE = {
    "font.family": "sans-serif", "font.sans-serif": [FONT], "font.size": 8, "axes.titlesize": 8,
    "axes.labelsize": 8, "xtick.labelsize": 7, "ytick.labelsize": 7, "legend.fontsize": 7,
    "axes.facecolor": "#FFFFFF", "figure.facecolor": "#FFFFFF", "savefig.facecolor": "#FFFFFF",
    "axes.edgecolor": "#000000", "axes.labelcolor": "#000000", "text.color": "#000000",
    "xtick.color": "#000000", "ytick.color": "#000000",
    "axes.linewidth": 0.6, "axes.spines.top": False, "axes.spines.right": False, "axes.axisbelow": True,
    "axes.grid": True, "grid.color": "#DDDDDD", "grid.linewidth": 0.4, "lines.linewidth": 1.2, "lines.markersize": 4,
    "xtick.major.width": 0.6, "ytick.major.width": 0.6, "xtick.major.size": 2.5, "ytick.major.size": 2.5,
    "xtick.minor.size": 1.5, "ytick.minor.size": 1.5, "legend.frameon": False, "legend.handlelength": 2.4,
    "legend.borderaxespad": 0.2, "figure.dpi": 100, "savefig.dpi": 300, "pdf.fonttype": 42, "svg.fonttype": "none",
    "svg.hashsalt": "corun", "text.usetex": False, "text.parse_math": False, "axes.unicode_minus": True,
    "axes.formatter.use_mathtext": False, "path.simplify": True,
}
_LONGEST = 32  # characters of a name in a figure
# What would differ from one writing to the next.
_METADATA = {".pdf": {"CreationDate": None, "Creator": "corun", "Producer": None},
             ".svg": {"Date": None, "Creator": "corun"}, ".png": {"Software": "corun"}}


@lru_cache(maxsize=None)
def _drawn():
    """The characters that the font has."""
    return frozenset(font_manager.get_font(font_manager.findfont(FONT)).get_charmap())


def shown(name):
    """A name as one line of printable text of bounded length; `$` and `\\` mean nothing (text.parse_math). What the font
    lacks is spelled out."""
    text = str(name)[:_LONGEST + 1]
    return printable(text, _LONGEST, also={ord(c) for c in text if ord(c) not in _drawn()}) or "(no name)"


def colour(number):
    return COLOURS[number % len(COLOURS)]


def dashes(number):
    """Differ for the second line of a colour, too."""
    return DASHES[(number + number // len(COLOURS)) % len(DASHES)]


def legend(ax, handles, names, **options):
    """A legend of the names as they are: matplotlib leaves out those that begin with an underscore."""
    made = ax.legend(handles, [f"{i}" for i in range(len(names))], **options)
    for text, name in zip(made.get_texts(), names):
        text.set_text(shown(name))
    return made


def legend_columns(names, width):
    """How many columns of names a legend may have in `width` inches, evenly filled."""
    characters = 15 * width - 4  # in a row
    most = int(max(1, min(len(names), characters // (max(len(shown(name)) for name in names) + 6))))
    rows = -(-len(names) // most)
    return -(-len(names) // rows)


def inches(width):
    """The width of a figure: 1 is a column, 2 a page, other numbers are inches."""
    if width in (1, 2):
        return COLUMN_IN if width == 1 else PAGE_IN
    if isinstance(width, bool) or not isinstance(width, (int, float)) or not 1 < width <= 40:
        raise InputError(f"width: found {printable(repr(width), 80)}, expected 1 (a column), 2 (a page) or inches up "
                         "to 40")
    return float(width)


def _height(height):
    if isinstance(height, bool) or not isinstance(height, (int, float)) or not 0.5 <= height <= 40:
        raise InputError(f"height: found {printable(repr(height), 80)}, expected inches from 0.5 to 40")
    return float(height)


def _files(save):
    if save is None:
        return []
    one = not isinstance(save, (list, tuple))
    paths = [path_of(p, "save", "names of files, one or a list") for p in ([save] if one else save)]
    for path in paths:
        if os.path.splitext(path)[1].lower() not in _METADATA:
            raise InputError(f"save: found '{printable(path, 200)}', expected a name that ends in .pdf, .svg or .png")
    return paths


def save(figure, table, names):
    """Writes a figure into .pdf, .svg or .png files, and the table of its data as CSV beside the first."""
    paths = _files(names)
    with matplotlib.rc_context(STYLE):
        for path in paths:
            figure.savefig(path, metadata=_METADATA[os.path.splitext(path)[1].lower()])
    if paths:
        write_csv(os.path.splitext(paths[0])[0] + ".csv", table)


@contextmanager
def axes(ax, width, height, files):
    """The axes to draw in: those given, or those of a new figure, which is closed once it is in files."""
    _files(files)
    with matplotlib.rc_context(STYLE):
        if ax is not None:
            yield ax
            return
        figure, ax = pyplot.subplots(figsize=(inches(width), _height(height)), layout="constrained")
        figure.get_layout_engine().set(w_pad=0.02, h_pad=0.02)
        try:
            yield ax
        except BaseException:
            pyplot.close(figure)
            raise
        if files is not None:
            pyplot.close(figure)


def finish(ax, table, files):
    if files is not None:
        save(ax.figure, table, files)
    return ax
