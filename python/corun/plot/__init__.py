"""Figures for papers: matplotlib, colours that colour-blind readers tell apart, the data beside each as CSV.

Each function takes pandas tables, `width` (1: one column of 3.33 in, 2: a page of 7 in; another number: inches),
`height` in inches, `ax` to draw into a figure of your own, and `save`: one file name or several, .pdf, .svg or
.png. The data of the figure go into a CSV of the first name. Equal data give equal bytes. They return the axes.

Columns whose names end in _s are times in seconds; a figure shows them in the unit that reads best.
"""
from .calibration_figure import calibration
from .cdf_figure import cdf
from .gantt_figure import gantt
from .heatmap_figure import heatmap
from .intervals_figure import intervals
from .pareto_figure import pareto
from .style import COLOURS, DASHES, MARKERS, STYLE, save

__all__ = ["COLOURS", "DASHES", "MARKERS", "STYLE", "calibration", "cdf", "gantt", "heatmap", "intervals", "pareto",
           "save"]
