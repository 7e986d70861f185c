"""corun.plot: what the figures say, sizes, equal bytes, hostile names."""
import csv
import io
import math
import re
import unittest
import warnings
import xml.etree.ElementTree

import numpy
import pandas
import support
from matplotlib import colors, image, pyplot

import corun

HOSTILE = ["=cmd()", "+1", "-2+3", "@SUM(A1)", "$x^2$", r"$\frac{", "<script>alert(1)</script>", 'a,"b"', "two\nlines",
           "\x1b[31mred", "\u202eright to left", "\u05d0\u05d1\u200f", "x" * 10_000, "", "_hidden", "\u4e2d\u6587",
           "\udcff.csv", "tab\there", "{0}%s", "&amp;"]
# What stands in a figure for those that are not shown as they are.
SHOWN = {"two\nlines": r"two\x0alines", "\x1b[31mred": r"\x1b[31mred", "\u202eright to left": r"\u202eright to left",
         "\u05d0\u05d1\u200f": "\u05d0\u05d1" + r"\u200f", "x" * 10_000: "x" * 31 + "\u2026", "": "(no name)",
         "\u4e2d\u6587": r"\u4e2d\u6587", "\udcff.csv": r"\udcff.csv", "tab\there": r"tab\x09here"}


def table(names=("a", "b"), replications=4, jobs=30):
    random = numpy.random.default_rng(1)
    rows = [(name, r, job, float(t)) for i, name in enumerate(names) for r in range(replications)
            for job, t in enumerate(random.gamma(2, 1000 * (i + 1), jobs))]
    found = pandas.DataFrame(rows, columns=["label", "replication", "job", "jct_s"])
    found.attrs["units"] = {"jct_s": "s"}
    return found


def figures(save):
    """One figure of each kind."""
    data = table()
    runs = pandas.DataFrame({"label": "a", "replication": 0, "job": ["j1", "j2", "j3"], "gpu": [0, 0, 1],
                             "last_start_s": [0.0, 5.0, 0.0], "finish_s": [10.0, 9.0, 3.0]})
    pairs = pandas.DataFrame({"ours": ["x", "x", "y"], "theirs": ["x", "y", "y"], "isd": [0.1, 0.2, 0.3]})
    pairs.attrs["units"] = {"isd": "1"}
    guessed = pandas.DataFrame({"predicted": [0.1, 0.2, 0.3], "measured": [0.1, 0.25, 0.2], "lo": [0.0, 0.1, 0.25],
                                "hi": [0.2, 0.3, 0.5]})
    metrics = pandas.DataFrame({"label": list("abcc"), "jct_s": [10.0, 20, 30, 40], "isd": [0.3, 0.2, 0.1, 0.5]})
    yield "cdf", lambda: corun.plot.cdf(data, save=save)
    yield "intervals", lambda: corun.plot.intervals(data, "jct_s", save=save)
    yield "gantt", lambda: corun.plot.gantt(runs, save=save)
    yield "heatmap", lambda: corun.plot.heatmap(pairs, "ours", "theirs", "isd", save=save)
    yield "calibration", lambda: corun.plot.calibration(guessed, lo="lo", hi="hi", save=save)
    yield "pareto", lambda: corun.plot.pareto(metrics, "jct_s", "isd", save=save)


class Plot(support.Case):
    def tearDown(self):
        pyplot.close("all")

    def rows(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.reader(file))

    def test_equal_data_give_equal_bytes(self):
        for first, second in zip(figures([self.folder / f"one.{e}" for e in ("pdf", "svg", "png")]),
                                 figures([self.folder / f"two.{e}" for e in ("pdf", "svg", "png")])):
            first[1]()
            second[1]()
            for ending in ("pdf", "svg", "png", "csv"):
                one, two = ((self.folder / f"{n}.{ending}").read_bytes() for n in ("one", "two"))
                self.assertEqual(one, two, f"{first[0]}.{ending}")
                self.assertNotIn(b"CreationDate", one)
                self.assertIsNone(re.search(rb"20\d\d-\d\d-\d\d", one), f"{first[0]}.{ending}")
                (self.folder / f"one.{ending}").unlink()

    def test_sizes_are_those_of_a_column_and_a_page(self):
        for width, inches in ((1, 3.33), (2, 7.0), (5, 5.0)):
            corun.plot.cdf(table(), width=width, height=2, save=[self.folder / "f.png", self.folder / "f.svg"])
            pixels = image.imread(self.folder / "f.png").shape
            self.assertEqual((pixels[1], pixels[0]), (int(inches * 300), 600))
            svg = xml.etree.ElementTree.parse(self.folder / "f.svg").getroot()
            self.assertAlmostEqual(float(svg.get("width")[:-2]) / 72, inches, places=2)

    def test_the_csv_draws_the_same_figure(self):
        corun.plot.cdf(table(), save=self.folder / "a.svg")
        again = pandas.read_csv(self.folder / "a.csv", float_precision="round_trip")
        corun.plot.cdf(again, save=self.folder / "b.svg")
        self.assertEqual((self.folder / "a.svg").read_bytes(), (self.folder / "b.svg").read_bytes())
        self.assertEqual((self.folder / "a.csv").read_bytes(), (self.folder / "b.csv").read_bytes())

    def test_cdf_by_hand(self):
        data = pandas.DataFrame({"label": "a", "replication": [0, 0, 1, 1, 2, 2], "jct_s": [1.0, 3, 1, 1, 3, 3]})
        corun.plot.cdf(data, save=self.folder / "a.svg")
        rows = self.rows("a.csv")
        self.assertEqual(rows[0], ["label", "jct_s", "share", "lo", "hi"])
        # shares at 1: 0.5, 1, 0; mean 0.5, deviation 0.5, t(2) = 4.3027: the interval leaves 0 to 1 and is cut
        self.assertEqual([float(v) for v in rows[1][1:]], [1, 0.5, 0, 1])
        self.assertEqual([float(v) for v in rows[2][1:]], [3, 1, 1, 1])

    def test_intervals_are_students_t(self):
        values = [1.0, 2.0, 3.0, 4.0]
        data = pandas.DataFrame({"label": "a", "jct_s": values})
        corun.plot.intervals(data, save=self.folder / "a.svg")
        row = [float(v) for v in self.rows("a.csv")[1][1:]]
        half = 3.182446305284263 * numpy.std(values, ddof=1) / 2
        numpy.testing.assert_allclose(row, [2.5, 2.5 - half, 2.5 + half], rtol=1e-9)
        for freedom, quantile in ((2, 4.302652729911275), (9, 2.2621571628540993), (199, 1.971956544249395),
                                  (100000, 1.9599877)):
            self.assertAlmostEqual(corun.plot.statistics.t975(freedom), quantile, places=6)

    def test_intervals_of_results_are_those_of_the_program(self):
        results = corun.replay(replications=5, policies=["fcfs", "random"], quiet=True)
        corun.plot.intervals(results.metrics, "jct_s", save=self.folder / "a.svg")
        corun.plot.intervals(results.summary, "jct_s", save=self.folder / "b.svg")
        for one, two in zip(self.rows("a.csv")[1:], self.rows("b.csv")[1:]):
            numpy.testing.assert_allclose([float(v) for v in one[1:]], [float(v) for v in two[1:]], rtol=1e-9)
        ax = corun.plot.intervals(results.versus, "jct_s", baseline="random")
        self.assertIn("less random", ax.get_xlabel())
        with self.assertRaises(corun.InputError):
            corun.plot.intervals(results.versus, "jct_s")

    def test_gantt_gives_jobs_at_once_lanes_of_their_own(self):
        dict(figures(self.folder / "g.svg"))["gantt"]()
        rows = self.rows("g.csv")
        at = {row[0]: row[rows[0].index("lane")] for row in rows[1:]}
        self.assertEqual(at, {"j1": "0", "j3": "0", "j2": "1"})

    def test_gantt_says_what_it_leaves_out(self):
        runs = pandas.DataFrame({"label": "a", "replication": 0, "job": [f"j{i}" for i in range(30)], "gpu": 0,
                                 "last_start_s": numpy.arange(30.0), "finish_s": numpy.arange(30.0) + 1})
        ax = corun.plot.gantt(runs, most=20)
        self.assertEqual(ax.get_title(loc="left"), "a (the first 20 of 30 bars)")

    def test_pareto_by_hand(self):
        dict(figures(self.folder / "p.svg"))["pareto"]()
        # c: the mean (35, 0.3), which b = (20, 0.2) beats in both
        self.assertEqual([row[3] for row in self.rows("p.csv")[1:]], ["true", "true", "false"])

    def test_pareto_of_many_points_names_the_best(self):
        data = pandas.DataFrame({"label": [f"p{i}" for i in range(40)], "jct_s": numpy.arange(40.0),
                                 "isd": numpy.where(numpy.arange(40) == 30, 0.1, 0.5)})
        ax = corun.plot.pareto(data, "jct_s", "isd")
        self.assertEqual({text.get_text() for text in ax.texts}, {"p0", "p30"})
        self.assertEqual(len(corun.plot.pareto(data[:20], "jct_s", "isd", width=2).texts), 20)

    def test_calibration_counts_what_its_intervals_hold(self):
        ax = dict(figures(None))["calibration"]()
        self.assertEqual(ax.get_legend().get_title().get_text(),
                         "mean absolute error 0.05, n = 3\n67 % in their intervals")

    def test_heatmap_leaves_cells_without_rows_white(self):
        ax = dict(figures(None))["heatmap"]()
        grid = ax.collections[0].get_array().reshape(2, 2)
        self.assertEqual(numpy.ma.getmaskarray(grid).tolist(), [[False, False], [True, False]])
        numpy.testing.assert_allclose(grid.compressed(), [10, 20, 30])

    def test_hostile_names_are_text(self):
        data = table(HOSTILE, replications=3, jobs=5)
        runs = pandas.DataFrame({"label": HOSTILE[6], "replication": 0, "job": HOSTILE, "gpu": range(len(HOSTILE)),
                                 "last_start_s": 0.0, "finish_s": 9.0})
        means = data.assign(isd=data.jct_s)
        for name, draw in (("cdf", lambda save: corun.plot.cdf(data, save=save)),
                           ("intervals", lambda save: corun.plot.intervals(data, save=save)),
                           ("gantt", lambda save: corun.plot.gantt(runs, save=save)),
                           ("heatmap", lambda save: corun.plot.heatmap(data, "label", "replication", "jct_s", save=save)),
                           ("calibration", lambda save: corun.plot.calibration(means, "jct_s", "isd", "label", save=save)),
                           ("pareto", lambda save: corun.plot.pareto(means, "jct_s", "isd", save=save, width=2))):
            with self.subTest(name), warnings.catch_warnings():
                warnings.simplefilter("error")
                draw([self.folder / f"h.{e}" for e in ("svg", "pdf", "png")])
                svg = (self.folder / "h.svg").read_text(encoding="utf-8")
                self.assertNotIn("<script", svg)
                self.assertNotIn("\x1b", svg)
                self.assertNotIn("\u202e", svg)
                found = [t.text or "" for t in xml.etree.ElementTree.fromstring(svg).iter("{http://www.w3.org/2000/svg}text")]
                if name != "gantt":  # where there is no room for each
                    for wanted in HOSTILE:
                        self.assertIn(SHOWN.get(wanted, wanted), found)
                else:
                    self.assertIn("$x^2$", found)
                text = (self.folder / "h.csv").read_text(encoding="utf-8")
                for row in list(csv.reader(io.StringIO(text, newline="")))[1:]:
                    for cell in row:
                        try:
                            float(cell)
                        except ValueError:
                            self.assertNotIn(cell[:1], tuple("=+-@\t\r"), cell)

    def test_a_figure_drawn_later_shows_names_as_text_too(self):
        ax = corun.plot.cdf(table(HOSTILE, replications=3, jobs=5))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            ax.figure.savefig(io.BytesIO())

    def test_hostile_columns_and_titles(self):
        data = table().rename(columns={"jct_s": "$\\frac{\n<b>", "label": "=by"})
        ax = corun.plot.cdf(data, "$\\frac{\n<b>", "=by", save=self.folder / "c.svg")
        self.assertEqual(ax.get_xlabel(), r"$\frac{\x0a<b>")
        self.assertTrue((self.folder / "c.csv").read_text().startswith("'=by,"))

    def test_figures_for_axes_of_the_user(self):
        figure, axes = pyplot.subplots(1, 2)
        self.assertIs(corun.plot.cdf(table(), ax=axes[0]), axes[0])
        corun.plot.pareto(table(), "jct_s", "job", ax=axes[1], save=self.folder / "both.pdf")
        self.assertTrue(pyplot.fignum_exists(figure.number))

    def test_values_that_are_no_numbers(self):
        data = table()
        odd = data.assign(jct_s=numpy.where(data.job == 3, math.inf, numpy.where(data.job == 4, math.nan, data.jct_s)))
        corun.plot.cdf(odd, save=self.folder / "a.svg")
        corun.plot.cdf(data[~data.job.isin([3, 4])], save=self.folder / "b.svg")
        self.assertEqual((self.folder / "a.svg").read_bytes(), (self.folder / "b.svg").read_bytes())
        for draw in (corun.plot.intervals, lambda t: corun.plot.heatmap(t, "label", "replication", "jct_s"),
                     lambda t: corun.plot.pareto(t, "jct_s", "job"), lambda t: corun.plot.calibration(t, "jct_s", "job")):
            draw(odd)
            with self.assertRaises(corun.InputError) as caught:
                draw(data.assign(jct_s="text"))
            self.one_line(caught.exception, "found text in the column 'jct_s', expected numbers")

    def test_zeros_are_at_the_left_end_of_a_logarithmic_axis(self):
        data = pandas.DataFrame({"label": "a", "queue_s": [0.0, 0.0, 1.0, 10.0, 100.0]})
        ax = corun.plot.cdf(data, "queue_s")
        self.assertEqual(ax.get_xscale(), "log")
        numpy.testing.assert_allclose(ax.lines[0].get_xdata(), [1, 1, 10, 100])
        numpy.testing.assert_allclose(ax.lines[0].get_ydata(), [40, 60, 80, 100])
        self.assertEqual(corun.plot.cdf(data.assign(queue_s=data.queue_s - 1), "queue_s").get_xscale(), "linear")

    def test_gantt_of_stays(self):
        results = corun.replay(policies=["fcfs"], replications=1, quiet=True)
        corun.plot.gantt(results.stays(), save=self.folder / "s.svg")
        corun.plot.gantt(results.runs, save=self.folder / "r.svg")
        self.assertEqual((self.folder / "s.svg").read_bytes(), (self.folder / "r.svg").read_bytes())
        ax = corun.plot.gantt(results.stays(), from_s=100, to_s=200, save=self.folder / "p.svg")
        rows = self.rows("p.csv")
        starts, ends = ([float(row[rows[0].index(c)]) for row in rows[1:]] for c in ("start_s", "end_s"))
        self.assertEqual((min(starts), max(ends)), (100, 200))
        self.assertAlmostEqual(ax.get_xlim()[0], 100 / 60)  # in minutes

    def test_colours_are_told_apart(self):
        """The colours of Okabe and Ito; none is used twice before all are."""
        self.assertEqual(set(corun.plot.COLOURS), {"#000000", "#E69F00", "#56B4E9", "#009E73", "#F0E442", "#0072B2",
                                                   "#D55E00", "#CC79A7"})
        ax = corun.plot.cdf(table([f"p{i}" for i in range(6)]))
        self.assertEqual(len({(colors.to_hex(line.get_color()), str(line.get_linestyle()), ) for line in ax.lines}), 6)

    def test_mistakes_are_one_line(self):
        data = table()
        for draw, part in ((lambda: corun.plot.cdf(data, "jtc_s"), "no column 'jtc_s'"),
                           (lambda: corun.plot.cdf(data[:0]), "without rows"),
                           (lambda: corun.plot.cdf(data, order=["c"]), "found 'c'"),
                           (lambda: corun.plot.cdf(data, save="a.doc"), "ends in .pdf, .svg or .png"),
                           (lambda: corun.plot.cdf(data, width=0), "width"),
                           (lambda: corun.plot.cdf(data.assign(jct_s=math.nan)), "no finite value"),
                           (lambda: corun.plot.gantt(pandas.DataFrame({"a": [1]})), "no column 'label'"),
                           (lambda: corun.plot.pareto(data, "jct_s", "job", better_x="big"), "less or more")):
            with self.assertRaises(corun.InputError) as caught:
                draw()
            self.one_line(caught.exception, part)
        self.assertEqual(pyplot.get_fignums(), [])


if __name__ == "__main__":
    support.main()
