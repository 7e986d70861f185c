"""Units and words of a column in a figure."""
import re
from typing import NamedTuple

from .style import shown


class Unit(NamedTuple):
    """How a column is shown: its value times `factor`."""
    factor: float
    name: str


_TIMES = (Unit(1, "s"), Unit(1 / 60, "min"), Unit(1 / 3600, "h"), Unit(1 / 86400, "d"))
_FRACTION = re.compile(r"(predicted_)?(isd|ps)(_a|_b|_total|_max|_reference)?|gpu_util|mem_util|occupancy")
_WORDS = {"jct": "JCT", "isd": "ISD", "ps": "PS", "gpu": "GPU", "gpus": "GPUs", "oom": "OOMs", "ooms": "OOMs",
          "util": "utilisation", "mem": "memory", "label": "policy"}
_NAMES = {"queue": "queueing delay", "ps_total": "PS of all", "isd_max": "largest ISD", "co_runner": "co-runner",
          "co_runner_cluster": "cluster of co-runner"}


def unit_of(units, column, largest):
    """The unit of a column: times in the one in which `largest` is easy to read, slowdowns and shares in per cent.
    Without `units` (a table from a CSV) the name of the column tells."""
    unit = units.get(column) or ("s" if column.endswith("_s") else "1" if _FRACTION.fullmatch(column) else "")
    if unit == "s":
        for found in reversed(_TIMES):
            if largest * found.factor >= 3 or found.name == "s":
                return found
    if unit == "1":
        return Unit(100, "%") if _FRACTION.fullmatch(column) else Unit(1, "")
    return Unit(1, unit)


def units_in(table):
    return table.attrs.get("units", {})


def words(column):
    """A column as the label of an axis."""
    plain = re.sub(r"_(s|ns)$", "", shown(column))
    match = re.fullmatch(r"(.+)_p(\d+)", plain)
    if match:
        return f"{words(match[1])} p{match[2]}"
    return _NAMES.get(plain) or " ".join(_WORDS.get(word, word) for word in plain.split("_"))


def axis_label(column, unit, given=None):
    if given is not None:
        return given
    return words(column) + (f" [{unit.name}]" if unit.name else "")
