"""The data of a figure as CSV (RFC 4180, UTF-8, lines end in a line feed)."""
import csv
import math

import numpy


def cell(value):
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


def write_csv(path, table):
    # A lone surrogate, as in names of files that are no UTF-8, is no text: it is spelled out.
    with open(path, "w", encoding="utf-8", errors="backslashreplace", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([cell(name) for name in table.columns])
        for row in table.itertuples(index=False, name=None):
            writer.writerow([cell(value) for value in row])
