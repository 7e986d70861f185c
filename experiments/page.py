"""What the studies' pages are made of: tables between markers, and figures.

A table stands in a page between `<!-- begin NAME -->` and `<!-- end NAME -->`. Figures are SVG; lengths are pixels.
"""

import difflib
import math
import pathlib
import re
import sys

REPO = pathlib.Path(__file__).resolve().parents[1]


def num(x, digits=1):
    """The number with so many digits; a rounded -0.0 is 0.0."""
    text = f"{x:.{digits}f}"
    return text[1:] if text.startswith("-") and not text.strip("-0.") else text


def markdown(header, rows):
    rule = "|".join("---" if i == 0 else "---:" for i in range(len(header)))
    # A bar in front keeps a row that begins with "1." from becoming a list.
    bar = "| " if any(re.match(r"\d+\.", row[0]) for row in rows) else ""
    return "\n".join(bar + line for line in [" | ".join(header), rule, *(" | ".join(row) for row in rows)])


def with_table(page, name, table):
    """The page's text with this table between its markers, which is printed; ends the program where there is not one
    such place."""
    pattern = re.compile(rf"(<!-- begin {re.escape(name)} -->\n).*?(<!-- end {re.escape(name)} -->)", re.S)
    text, count = pattern.subn(lambda m: m.group(1) + "\n" + table + "\n\n" + m.group(2), page)
    if count != 1:
        sys.exit(f"expected one place for the table '{name}' in the page, found {count}")
    print(f"\n{name}\n\n{table}")
    return text


def write_or_check(wanted, check):
    """Writes files (path -> text) that differ; with check it writes none and names those. How many differ. Prints which
    files it compared."""
    print(f"\ncompared with what the experiments give: {', '.join(shown(path) for path in wanted)}")
    stale = 0
    for path, text in wanted.items():
        found = path.read_text() if path.exists() else ""
        if found == text:
            continue
        stale += 1
        name = shown(path)
        if check:
            print(f"{name} is not what the experiments give:")
            if path.suffix != ".svg":
                print("\n".join(difflib.unified_diff(found.splitlines(), text.splitlines(), "kept", "experiments",
                                                     lineterm="", n=0)))
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            print(f"wrote {name}")
    print(f"{len(wanted) - stale} of {len(wanted)} as kept")
    return stale


def shown(path):
    return str(path.relative_to(REPO) if path.is_relative_to(REPO) else path)


INK, GREY, FAINT = "#1f2933", "#6b7785", "#e3e8ee"
BLUE, ORANGE, GREEN, PURPLE = "#1f6fb2", "#d9731a", "#2f8f5b", "#8250a8"
PALETTE = ["#1f6fb2", "#d9731a", "#2f8f5b", "#c23b4b", "#8250a8", "#7a5c43", "#c86fae", "#7d8a00", "#1a9aa0"]


class Svg:
    def __init__(self, width, height, title):
        self.width, self.height = width, height
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" font-family="Helvetica, Arial, sans-serif" font-size="12" role="img">',
            f"<title>{title}</title>",
            f'<rect width="{width}" height="{height}" fill="#ffffff"/>']

    def line(self, x1, y1, x2, y2, colour=INK, width=1.0, dash=None):
        d = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
                          f'stroke="{colour}" stroke-width="{width}"{d}/>')

    def path(self, points, colour, width=2.0, dash=None):
        d = f' stroke-dasharray="{dash}"' if dash else ""
        text = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        self.parts.append(f'<polyline points="{text}" fill="none" stroke="{colour}" stroke-width="{width}" '
                          f'stroke-linejoin="round"{d}/>')

    def dot(self, x, y, colour, r=4.0):
        self.parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r}" fill="{colour}"/>')

    def diamond(self, x, y, colour=ORANGE, r=5.5):
        self.parts.append(f'<path d="M{x:.1f} {y - r:.1f}l{r} {r}l{-r} {r}l{-r} {-r}z" fill="#ffffff" '
                          f'stroke="{colour}" stroke-width="1.8"/>')

    def rect(self, x, y, w, h, colour):
        self.parts.append(f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" fill="{colour}"/>')

    def text(self, x, y, text, anchor="start", colour=INK, size=12, weight="normal", rotate=None):
        text = text.replace("&", "&amp;").replace("<", "&lt;")
        turn = f' transform="rotate({rotate} {x:.1f} {y:.1f})"' if rotate else ""
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}" '
                          f'font-size="{size}" font-weight="{weight}"{turn}>{text}</text>')

    def whisker(self, y, lo, hi, colour, cap=3.5):
        self.line(lo, y, hi, y, colour, 1.6)
        for x in (lo, hi):
            self.line(x, y - cap, x, y + cap, colour, 1.6)

    def whisker_v(self, x, lo, hi, colour, cap=3.0):
        self.line(x, lo, x, hi, colour, 1.3)
        for y in (lo, hi):
            self.line(x - cap, y, x + cap, y, colour, 1.3)

    def done(self):
        return "\n".join(self.parts + ["</svg>"]) + "\n"


def scale(lo, hi, a, b):
    return lambda v: a + (v - lo) / (hi - lo) * (b - a)


def ticks(lo, hi, step):
    first = math.ceil(lo / step - 1e-9)
    return [k * step for k in range(first, math.floor(hi / step + 1e-9) + 1)]
