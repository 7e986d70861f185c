#include "support/charts/svg_chart.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <boost/property_tree/ptree.hpp>
#include <boost/property_tree/xml_parser.hpp>
#include <gtest/gtest.h>

#include "sim/rng.hpp"
#include "support/charts/svg_canvas.hpp"
#include "support/charts/svg_scale.hpp"

namespace corun::svg_chart_test {
namespace {

using Tree = boost::property_tree::ptree;

/// The <svg> element; records a failure if the text is not well-formed.
Tree parse(const std::string& text) {
  std::istringstream in(text);
  Tree tree;
  try {
    boost::property_tree::read_xml(in, tree);
    return tree.get_child("svg");
  } catch (const std::exception& e) {
    ADD_FAILURE() << e.what();
    return {};
  }
}

std::size_t count(const Tree& svg, const std::string& element) { return svg.count(element); }

std::vector<std::string> texts(const Tree& svg) {
  std::vector<std::string> all;
  for (const auto& [name, element] : svg) {
    if (name == "text") all.push_back(element.data());
  }
  return all;
}

bool has_text(const Tree& svg, const std::string& text) {
  const auto all = texts(svg);
  return std::find(all.begin(), all.end(), text) != all.end();
}

double attribute(const Tree& element, const char* name) {
  return std::stod(element.get<std::string>(std::string("<xmlattr>.") + name));
}

/// The corners of the bounding box of an element, with text_width() for text.
std::vector<SvgPoint> extent(const std::string& name, const Tree& e) {
  const auto a = [&](const char* key) { return attribute(e, key); };
  if (name == "line") return {{a("x1"), a("y1")}, {a("x2"), a("y2")}};
  if (name == "rect") {
    EXPECT_GE(a("width"), 0);
    EXPECT_GE(a("height"), 0);
    return {{a("x"), a("y")}, {a("x") + a("width"), a("y") + a("height")}};
  }
  if (name == "circle") {
    return {{a("cx") - a("r"), a("cy") - a("r")}, {a("cx") + a("r"), a("cy") + a("r")}};
  }
  if (name == "polyline" || name == "polygon") {
    std::istringstream list(e.get<std::string>("<xmlattr>.points"));
    std::vector<SvgPoint> points;
    SvgPoint p;
    for (char comma = 0; list >> p.x >> comma >> p.y;) points.push_back(p);
    EXPECT_GE(points.size(), 2U);
    EXPECT_TRUE(list.eof());
    return points;
  }
  if (name == "text") {
    const auto size = static_cast<int>(attribute(e, "font-size"));
    const bool bold = e.get<std::string>("<xmlattr>.font-weight", "") == "bold";
    const double wide = text_width(e.data(), size, bold);
    const auto anchor = e.get<std::string>("<xmlattr>.text-anchor");
    const double before = anchor == "start" ? 0 : anchor == "middle" ? wide / 2 : wide;
    const SvgPoint at{a("x"), a("y")};
    if (e.get<std::string>("<xmlattr>.transform", "").empty()) {
      return {{at.x - before, at.y - size * 0.8}, {at.x - before + wide, at.y + size * 0.25}};
    }
    return {{at.x - size * 0.8, at.y + before}, {at.x + size * 0.25, at.y + before - wide}};
  }
  EXPECT_TRUE(name == "title" || name == "<xmlattr>") << "unexpected: " << name;
  return {};
}

/// Parses the text and checks that no element leaves the canvas.
Tree checked(const std::string& text) {
  Tree svg = parse(text);
  const double width = attribute(svg, "width");
  const double height = attribute(svg, "height");
  EXPECT_EQ(svg.get<std::string>("<xmlattr>.viewBox"),
            "0 0 " + svg.get<std::string>("<xmlattr>.width") + " " +
                svg.get<std::string>("<xmlattr>.height"));
  for (const char* never : {"nan", "inf", "-0.0\""}) {
    EXPECT_EQ(text.find(std::string("\"") + never), std::string::npos) << never;
  }
  for (const auto& [name, element] : svg) {
    for (const SvgPoint& p : extent(name, element)) {
      EXPECT_TRUE(std::isfinite(p.x) && std::isfinite(p.y)) << name;
      EXPECT_TRUE(p.x >= -0.1 && p.x <= width + 0.1 && p.y >= -0.1 && p.y <= height + 0.1)
          << name << " '" << element.data() << "' at " << p.x << "," << p.y << " of " << width
          << "x" << height;
    }
  }
  return svg;
}

BoxChart boxes() {
  return {"Interference",
          "",
          {{"slowdown",
            "ISD (%)",
            "pair",
            {{"0-0", 12, 1, 2, 3, 4, 9, 3.5, {1, 5, 9}}, {"0-1", 7, -2, 0, 1, 2, 4, 1.2}}},
           {"saving", "PS (%)", "pair", {{"0-0", 0}}}}};
}

TEST(SvgChart, BoxesHaveTheirPartsAndTheirCounts) {
  const Tree svg = checked(svg_box_chart(boxes()));
  EXPECT_EQ(count(svg, "rect"), 1U + 2U);  // background, boxes
  EXPECT_EQ(count(svg, "polygon"), 2U);    // means
  EXPECT_EQ(count(svg, "circle"), 3U);     // observations
  EXPECT_TRUE(has_text(svg, "n 12"));
  EXPECT_TRUE(has_text(svg, "n 0"));
  EXPECT_TRUE(has_text(svg, "ISD (%)"));
  EXPECT_TRUE(has_text(svg, "no data"));
  EXPECT_EQ(svg.get<std::string>("title"), "Interference");
}

TEST(SvgChart, PartsOfABoxThatAreNotSaidAreNotDrawn) {
  BoxChart chart = boxes();
  chart.panels.pop_back();
  chart.panels[0].boxes = {{"a", 2, 1, kUndefined, kUndefined, kUndefined, 3, kUndefined}};
  const Tree svg = checked(svg_box_chart(chart));
  EXPECT_EQ(count(svg, "rect"), 1U);
  EXPECT_EQ(count(svg, "polygon"), 0U);
}

TEST(SvgChart, BarsCarryTheirNumbersAndErrorBars) {
  const BarChart chart{"t", "rank", "", 2, {{"a", 1.234, 0.5}, {"b", -2}, {"c", kUndefined}}};
  const Tree svg = checked(svg_bar_chart(chart));
  EXPECT_EQ(count(svg, "rect"), 1U + 2U);
  EXPECT_TRUE(has_text(svg, "1.23"));
  EXPECT_TRUE(has_text(svg, "-2.00"));
  EXPECT_TRUE(has_text(svg, "c"));
  BarChart without = chart;
  without.bars[0].error = kUndefined;
  EXPECT_NE(count(checked(svg_bar_chart(without)), "line"), count(svg, "line"));
}

TEST(SvgChart, ABarIsAsLongAsItsNumber) {
  const Tree svg = checked(svg_bar_chart({"", "", "", 1, {{"a", 10}, {"b", 5}, {"c", 0}}}));
  std::vector<double> lengths;
  for (const auto& [name, e] : svg) {
    if (name == "rect") lengths.push_back(attribute(e, "width"));
  }
  ASSERT_EQ(lengths.size(), 4U);
  EXPECT_NEAR(lengths[1], 2 * lengths[2], 0.2);
  EXPECT_EQ(lengths[3], 0);
}

TEST(SvgChart, LinesBreakWhereAPointIsMissing) {
  LineChart chart{"t", "", {{"p", "x", "y", false, false, {{"s", {}}}}}};
  auto& points = chart.panels[0].series[0].points;
  for (int i = 0; i < 6; ++i)
    points.push_back({static_cast<double>(i), i == 3 ? kUndefined : 1.0 * i});
  const Tree svg = checked(svg_line_chart(chart));
  EXPECT_EQ(count(svg, "polyline"), 2U + 1U);  // both runs, and the legend
  EXPECT_EQ(count(svg, "circle"), 5U + 1U);
}

TEST(SvgChart, LogarithmicAxesSkipWhatHasNoLogarithm) {
  LineChart chart{"", "", {{"", "x", "y", true, true, {{"", {{0, 1}, {-1, 1}, {1, 0}}}}}}};
  EXPECT_TRUE(has_text(checked(svg_line_chart(chart)), "no data"));
  chart.panels[0].series[0].points = {{1, 1e-5}, {10, 1}, {100, 1e5}};
  const Tree svg = checked(svg_line_chart(chart));
  EXPECT_EQ(count(svg, "circle"), 3U);
  std::vector<double> xs;
  for (const auto& [name, e] : svg) {
    if (name == "circle") xs.push_back(attribute(e, "cx"));
  }
  EXPECT_NEAR(xs[2] - xs[1], xs[1] - xs[0], 0.2);
}

TEST(SvgChart, PanelsStandInRowsUnderOneLegend) {
  LineChart chart{"t", "", {}, 2, true};
  for (const char* title : {"one", "two", "three"}) {
    chart.panels.push_back(
        {title, "", "", false, false, {{"a", {{0, 1}, {1, 2}}}, {"b", {{0, 2}}}}});
  }
  const Tree svg = checked(svg_line_chart(chart));
  std::map<std::string, SvgPoint> at;
  std::size_t names = 0;
  for (const auto& [name, e] : svg) {
    if (name != "text") continue;
    at[e.data()] = {attribute(e, "x"), attribute(e, "y")};
    names += e.data() == "a" ? 1 : 0;
  }
  EXPECT_EQ(names, 1U);
  EXPECT_EQ(at.at("one").y, at.at("two").y);
  EXPECT_EQ(at.at("one").x, at.at("three").x);
  EXPECT_GT(at.at("three").y, at.at("one").y + chart.plot_high);
  EXPECT_LT(at.at("a").y, at.at("one").y);
}

TEST(SvgChart, WordsMakeAnAxisAndSeriesMayLackLineOrMarks) {
  LineChart chart{"", "", {{"p", "", "", false, false, {}, {"first", "second"}}}};
  chart.panels[0].series.push_back({"", {{0, 1}, {1, 2}, {2, 3}}, false});  // x = 2 has no name
  Tree svg = checked(svg_line_chart(chart));
  EXPECT_TRUE(has_text(svg, "first") && has_text(svg, "second"));
  EXPECT_EQ(count(svg, "circle"), 2U);
  EXPECT_EQ(count(svg, "polyline"), 0U);
  chart.panels[0].series[0].line = true;
  chart.panels[0].series[0].marks = false;
  svg = checked(svg_line_chart(chart));
  EXPECT_EQ(count(svg, "circle"), 0U);
  EXPECT_EQ(count(svg, "polyline"), 1U);
  // With little room the names are staggered in several lines instead of shortened.
  chart.panels[0].x_names = {"kube-default", "min-slowdown", "max-packing", "opposites"};
  chart.plot_wide = 200;
  svg = checked(svg_line_chart(chart));
  EXPECT_TRUE(has_text(svg, "min-slowdown") && has_text(svg, "max-packing"));
}

TEST(SvgChart, SeriesAreToldApartByColourAndMark) {
  LineChart chart{"", "", {{"", "", "", false, false, {}}}};
  for (int s = 0; s < 8; ++s)
    chart.panels[0].series.push_back({"s" + std::to_string(s), {{1, 1.0 * s}}});
  std::map<std::string, int> looks;
  for (const auto& [name, e] : checked(svg_line_chart(chart))) {
    if (name != "circle" && name != "polygon") continue;
    ++looks[e.get<std::string>("<xmlattr>.stroke") + e.get<std::string>("<xmlattr>.fill")];
  }
  EXPECT_EQ(looks.size(), 8U);
}

TEST(SvgChart, LinesThatLieOnOthersAreDashed) {
  const auto dashes = [](const std::vector<std::vector<double>>& lines) {
    LinePanel panel{"", "", "", false, false, {}};
    for (const std::vector<double>& ys : lines) {
      LineSeries series{"", {}};
      for (std::size_t i = 0; i < ys.size(); ++i) {
        series.points.push_back({static_cast<double>(i), ys[i]});
      }
      panel.series.push_back(series);
    }
    LineChart chart;
    chart.panels.push_back(panel);
    const std::string svg = svg_line_chart(chart);
    std::vector<std::string> found;
    for (std::size_t at = svg.find("<polyline"); at != std::string::npos;
         at = svg.find("<polyline", at + 1)) {
      const std::string line = svg.substr(at, svg.find("/>", at) - at);
      const std::size_t dash = line.find("stroke-dasharray=\"");
      found.push_back(dash == std::string::npos ? "" : line.substr(dash + 18, 3));
    }
    return found;
  };
  using Dashes = std::vector<std::string>;
  EXPECT_EQ(dashes({{1, 2, 3}, {3, 2, 1}}), (Dashes{"", ""})) << "they cross";
  EXPECT_EQ(dashes({{1, 2, 3}, {1, 2, 3}, {1, 2, 3.001}}), (Dashes{"", "6 4", "4 8"}));
  EXPECT_EQ(dashes({{1, 2, 3}, {5, 6, 7}, {1, 2, 7}}), (Dashes{"", "", "6 4"})) << "most of it";
}

TEST(SvgChart, EmptyChartsSaySo) {
  for (const std::string& text :
       {svg_box_chart({}), svg_bar_chart({}), svg_line_chart({}), svg_box_chart({"t", "", {{}}}),
        svg_line_chart({"t", "", {{}}}), svg_bar_chart({"t", "", "", 1, {{"a"}}})}) {
    EXPECT_TRUE(has_text(checked(text), "no data"));
  }
}

TEST(SvgChart, TextsAreEscapedAndNothingElseChanges) {
  const std::string hostile = "<b>&\"'\x01\xff \xef\xbf\xbf </text>";
  const std::string drawn = "<b>&\"'\\x01\\xff \xef\xbf\xbd </text>";
  const Tree svg = checked(svg_bar_chart({hostile, hostile, "", 1, {{hostile, 1}}}));
  EXPECT_EQ(svg.get<std::string>("title"), drawn);
  const auto all = texts(svg);
  EXPECT_EQ(std::count(all.begin(), all.end(), drawn), 3);
}

TEST(SvgChart, TextsThatHaveNoRoomEndInAnEllipsis) {
  EXPECT_EQ(elided("short", 100, 12), "short");
  const std::string cut = elided("éééééééééééééééééééé", 60, 12);
  EXPECT_LE(text_width(cut, 12), 60);
  EXPECT_EQ(cut.substr(cut.size() - 5), "é…");
  EXPECT_EQ(elided("anything", 0, 12), "…");
  EXPECT_EQ(wrapped("a bb  ccc", 30, 12), (std::vector<std::string>{"a bb", "ccc"}));
  EXPECT_TRUE(wrapped("", 20, 12).empty());
}

TEST(SvgChart, TicksAreRoundNumbersInOrder) {
  const auto labels = [](const SvgScale& scale) {
    std::string all;
    for (const auto& tick : scale.ticks()) all += (all.empty() ? "" : " ") + tick.label;
    return all;
  };
  const auto linear = [&](std::vector<double> v, AxisKind kind = AxisKind::kLinear) {
    return labels(SvgScale(v, kind, 0, 100));
  };
  EXPECT_EQ(linear({0, 53}), "0 10 20 30 40 50 60");
  EXPECT_EQ(linear({100, 101}), "100.0 100.2 100.4 100.6 100.8 101.0");
  EXPECT_EQ(linear({-0.03, 0.02}), "-0.03 -0.02 -0.01 0.00 0.01 0.02");
  EXPECT_EQ(linear({7, 7}), "6.0 6.5 7.0 7.5 8.0");
  EXPECT_EQ(linear({}), "0.0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(linear({-4, 52}, AxisKind::kFromZero), "0 10 20 30 40 50");
  EXPECT_EQ(linear({1, 1e4}, AxisKind::kLog), "1 10 100 1000 10000");
  EXPECT_EQ(linear({10, 90}, AxisKind::kLog), "10 20 30 50 70");
}

TEST(SvgChart, ScalesHoldAnyNumbers) {
  const std::vector<double> odd = {0,
                                   1,
                                   -1,
                                   1e300,
                                   -1e300,
                                   1e-300,
                                   5e-324,
                                   1e15,
                                   1e15 + 1,
                                   0.1,
                                   std::numeric_limits<double>::infinity(),
                                   kUndefined,
                                   1e308};
  for (const double a : odd) {
    for (const double b : odd) {
      for (const AxisKind kind : {AxisKind::kLinear, AxisKind::kFromZero, AxisKind::kLog}) {
        const std::vector<double> both = {a, b};
        const SvgScale scale(both, kind, 300, 20);
        EXPECT_GE(scale.ticks().size(), 2U) << a << " " << b << " " << static_cast<int>(kind);
        EXPECT_LE(scale.ticks().size(), 12U);
        for (const auto& tick : scale.ticks()) {
          EXPECT_TRUE(tick.at >= 19.9 && tick.at <= 300.1) << a << " " << b << " " << tick.at;
          EXPECT_LE(tick.label.size(), 12U) << tick.label;
        }
        for (const double v : both) {
          if (!drawable(v, scale.logarithmic())) continue;
          EXPECT_TRUE(scale(v) >= 20 && scale(v) <= 300) << v;
        }
      }
    }
  }
}

// Random numbers and texts give well-formed SVG within the canvas, with the same bytes each time.
TEST(SvgChart, RandomChartsStayInside) {
  const std::vector<std::string> pieces = {"a", "Wide",  "&",      "<",  "]]>", "é",  "漢",
                                           " ", "iiiii", "@@@@@@", "\n", "\"",  "--", "\\"};
  for (std::uint64_t run = 0; run < 150 && !testing::Test::HasFailure(); ++run) {
    SCOPED_TRACE(run);
    Rng rng(run, Stream::kTest);
    const auto below = [&](std::size_t n) {
      return std::min(static_cast<std::size_t>(rng.uniform() * static_cast<double>(n)), n - 1);
    };
    const auto word = [&] {
      std::string text;
      for (std::size_t n = below(run % 5 == 0 ? 90 : 8); n > 0; --n) {
        text += pieces[below(pieces.size())];
      }
      return text;
    };
    const double scale = std::pow(10.0, static_cast<double>(below(40)) - 20.0);
    const auto value = [&] {
      if (below(12) == 0) return kUndefined;
      if (below(40) == 0) return std::numeric_limits<double>::infinity();
      return (rng.uniform() - (run % 2 == 0 ? 0.0 : 0.5)) * scale;
    };
    BoxChart box{word(), word(), {}};
    LineChart line{word(), word(), {}, below(4), below(2) == 0};
    BarChart bar{word(), word(), word(), static_cast<int>(below(4)), {}};
    for (std::size_t p = below(4); p > 0; --p) {
      BoxPanel bp{word(), word(), word(), {}};
      for (std::size_t b = below(10); b > 0; --b) {
        bp.boxes.push_back({word(), below(1000), value(), value(), value(), value(), value(),
                            value(), std::vector<double>(below(20), value())});
      }
      box.panels.push_back(bp);
      LinePanel lp{word(), word(), word(), below(2) == 0, below(2) == 0, {}};
      for (std::size_t n = below(3) == 0 ? below(12) : 0; n > 0; --n) lp.x_names.push_back(word());
      for (std::size_t s = below(12); s > 0; --s) {
        LineSeries series{word(), {}, below(3) > 0, below(3) > 0};
        for (std::size_t n = below(15); n > 0; --n) {
          series.points.push_back({value(), value(), value(), value()});
        }
        lp.series.push_back(series);
      }
      line.panels.push_back(lp);
    }
    for (std::size_t b = below(60); b > 0; --b) {
      bar.bars.push_back({word(), value(), value(), below(2) == 0});
    }
    checked(svg_box_chart(box));
    checked(svg_line_chart(line));
    checked(svg_bar_chart(bar));
    EXPECT_EQ(svg_box_chart(box), svg_box_chart(box));
    EXPECT_EQ(svg_line_chart(line), svg_line_chart(line));
    EXPECT_EQ(svg_bar_chart(bar), svg_bar_chart(bar));
  }
}

}  // namespace
}  // namespace corun::svg_chart_test
