"""Tables of bench/performance.md, each between `<!-- NAME: begin -->` and `<!-- NAME: end -->`."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "bench/performance.md"


def put(name, rows):
    """Writes these lines as the table NAME of the page; ends the program where there is not one place for it."""
    begin, end = f"<!-- {name}: begin -->", f"<!-- {name}: end -->"
    text = "\n".join([begin, *rows, end])
    page, places = re.subn(re.escape(begin) + ".*?" + re.escape(end), lambda _: text, PAGE.read_text(), flags=re.S)
    if places != 1:
        sys.exit(f"expected one place for the table '{name}' in {PAGE}, found {places}")
    PAGE.write_text(page)
