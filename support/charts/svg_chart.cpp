#include "support/charts/svg_chart.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "support/charts/svg_canvas.hpp"
#include "support/charts/svg_scale.hpp"

namespace corun::inline support {

namespace {

constexpr int kSmall = 11;
constexpr int kNormal = 12;
constexpr int kTitle = 14;
constexpr double kMargin = 16;  ///< around everything
constexpr double kGap = 28;     ///< between panels
constexpr double kLine = 16;    ///< from one line of small print to the next
constexpr double kEmptyWide = 320;
constexpr double kEmptyHigh = 90;

constexpr TextStyle kTickX{Anchor::kMiddle, svg::kGrey, kSmall};
constexpr TextStyle kTickY{Anchor::kEnd, svg::kGrey, kSmall};
constexpr TextStyle kAxisX{Anchor::kMiddle, svg::kInk, kNormal};
constexpr TextStyle kAxisY{Anchor::kMiddle, svg::kInk, kNormal, false, true};
constexpr TextStyle kPanelTitle{Anchor::kStart, svg::kInk, kNormal, true};
constexpr TextStyle kNoData{Anchor::kMiddle, svg::kGrey, kNormal};

/// Where a panel draws its data.
struct Plot {
  double left = 0;
  double top = 0;
  double right = 0;
  double bottom = 0;

  double middle_x() const { return (left + right) / 2; }
  double middle_y() const { return (top + bottom) / 2; }
};

double title_height(const std::string& title) { return title.empty() ? 0 : 30; }

/// A narrow chart is widened for its title, up to 640 px.
double widened(double width, const std::string& title) {
  const double wanted = text_width(title, kTitle, true) + 2 * kMargin;
  return std::max(width, std::min(wanted, 640.0));
}

void draw_title(SvgCanvas& canvas, const std::string& title, double width) {
  if (title.empty()) return;
  canvas.text({kMargin, kMargin + kTitle}, elided(title, width - 2 * kMargin, kTitle, true),
              {Anchor::kStart, svg::kInk, kTitle, true});
}

void draw_note(SvgCanvas& canvas, const std::vector<std::string>& lines, double y) {
  for (const std::string& line : lines) {
    canvas.text({kMargin, y}, line, {Anchor::kStart, svg::kGrey, kSmall});
    y += kLine;
  }
}

/// Room left of a plot for its vertical axis: the axis title and the longest number.
double room_left(const SvgScale& y) {
  double widest = 0;
  for (const SvgScale::Tick& tick : y.ticks()) {
    widest = std::max(widest, text_width(tick.label, kSmall));
  }
  return widest + 8 + 22;
}

/// Grid, numbers and title of the vertical axis, and the title of the panel.
void draw_frame(SvgCanvas& canvas, const Plot& plot, const SvgScale& y, const std::string& title,
                const std::string& axis) {
  canvas.text({plot.left, plot.top - 12}, elided(title, plot.right - plot.left, kNormal, true),
              kPanelTitle);
  for (const SvgScale::Tick& tick : y.ticks()) {
    canvas.line({plot.left, tick.at}, {plot.right, tick.at}, tick.zero ? svg::kGrey : svg::kFaint);
    canvas.text({plot.left - 8, tick.at + 4}, tick.label, kTickY);
  }
  canvas.text({plot.left - room_left(y) + 12, plot.middle_y()},
              elided(axis, plot.bottom - plot.top + 20, kNormal), kAxisY);
}

void draw_no_data(SvgCanvas& canvas, const Plot& plot) {
  canvas.text({plot.middle_x(), plot.middle_y()}, "no data", kNoData);
}

std::string nothing(const std::string& title) {
  const double width =
      std::clamp(text_width(title, kTitle, true) + 2 * kMargin, kEmptyWide, 3 * kEmptyWide);
  SvgCanvas canvas(width, kEmptyHigh, title);
  draw_title(canvas, title, width);
  draw_no_data(canvas, {0, title_height(title), width, kEmptyHigh});
  return canvas.done();
}

/// Van der Corput sequence in base 2: numbers in [0, 1) that stay evenly spread for any count.
double spread(std::size_t i) {
  double value = 0;
  for (double weight = 0.5; i != 0; i /= 2, weight /= 2) {
    if (i % 2 == 1) value += weight;
  }
  return value;
}

// Boxes ---------------------------------------------------------------------------------------

constexpr double kBoxHigh = 270;

std::vector<double> numbers_of(const BoxPanel& panel) {
  std::vector<double> all;
  for (const BoxSummary& b : panel.boxes) {
    all.insert(all.end(), {b.min, b.q1, b.median, b.q3, b.max, b.mean});
    all.insert(all.end(), b.points.begin(), b.points.end());
  }
  return all;
}

/// Width of the slot of one box: that of its label, within bounds.
double box_slot(const BoxPanel& panel) {
  double widest = 0;
  for (const BoxSummary& b : panel.boxes) {
    widest = std::max(
        {widest, text_width(b.label, kNormal), text_width(fmt::format("n {}", b.count), kSmall)});
  }
  return std::clamp(widest + 10, 46.0, 96.0);
}

double box_plot_width(const BoxPanel& panel) {
  return std::max(160.0, box_slot(panel) * static_cast<double>(panel.boxes.size()));
}

void draw_box(SvgCanvas& canvas, const BoxSummary& b, const SvgScale& y, double x, double half) {
  const auto have = [](double a, double c) { return drawable(a) && drawable(c); };
  if (have(b.min, b.q1)) canvas.whisker({x, y(b.min)}, {x, y(b.q1)}, svg::kBlue, 1.3, 0);
  if (have(b.q3, b.max)) canvas.whisker({x, y(b.q3)}, {x, y(b.max)}, svg::kBlue, 1.3, 0);
  if (have(b.min, b.max) && !have(b.q1, b.q3)) {
    canvas.line({x, y(b.min)}, {x, y(b.max)}, svg::kBlue, 1.3);
  }
  for (const double end : {b.min, b.max}) {
    if (!drawable(end)) continue;
    canvas.line({x - half * 0.45, y(end)}, {x + half * 0.45, y(end)}, svg::kBlue, 1.3);
  }
  if (have(b.q1, b.q3)) {
    canvas.rect({x - half, y(b.q1)}, {x + half, y(b.q3)}, svg::kLightBlue, svg::kBlue);
  }
  for (std::size_t i = 0; i < b.points.size(); ++i) {
    if (!drawable(b.points[i])) continue;
    canvas.dot({x + (spread(i + 1) - 0.5) * half * 1.5, y(b.points[i])}, 1.8, svg::kInk, 0.4);
  }
  if (drawable(b.median)) {
    canvas.line({x - half, y(b.median)}, {x + half, y(b.median)}, svg::kInk, 2.2);
  }
  if (drawable(b.mean)) canvas.mark(Mark::kDiamond, {x, y(b.mean)}, 4, svg::kOrange, "#ffffff");
}

void draw_box_panel(SvgCanvas& canvas, const BoxPanel& panel, const SvgScale& y, const Plot& plot) {
  draw_frame(canvas, plot, y, panel.title, panel.axis);
  if (y.empty()) draw_no_data(canvas, plot);
  const double slot =
      (plot.right - plot.left) / static_cast<double>(std::max<std::size_t>(1, panel.boxes.size()));
  const double half = std::min(slot * 0.31, 20.0);
  for (std::size_t i = 0; i < panel.boxes.size(); ++i) {
    const BoxSummary& b = panel.boxes[i];
    const double x = plot.left + (static_cast<double>(i) + 0.5) * slot;
    draw_box(canvas, b, y, x, half);
    canvas.text({x, plot.bottom + 18}, elided(b.label, slot - 6, kNormal), kAxisX);
    canvas.text({x, plot.bottom + 33}, elided(fmt::format("n {}", b.count), slot - 2, kSmall),
                kTickX);
  }
  canvas.text({plot.middle_x(), plot.bottom + 54},
              elided(panel.category, plot.right - plot.left, kNormal), kAxisX);
}

// Bars ----------------------------------------------------------------------------------------

constexpr double kBarRow = 18;
constexpr double kBarHalf = 5.5;
constexpr double kBarsWide = 470;
constexpr double kBarLabelMax = 300;
constexpr std::size_t kBarsOnAPage = 20;  ///< with more, the numbers stand at the top as well

std::vector<double> numbers_of(const BarChart& chart) {
  std::vector<double> all;
  for (const RankedBar& bar : chart.bars) {
    all.push_back(bar.value);
    if (!drawable(bar.value) || !drawable(bar.error)) continue;
    all.push_back(bar.value - bar.error);
    all.push_back(bar.value + bar.error);
  }
  return all;
}

void draw_bar(SvgCanvas& canvas, const RankedBar& bar, const SvgScale& x, double y, int decimals) {
  if (!drawable(bar.value)) return;
  const bool spans = drawable(bar.error) && drawable(bar.value - bar.error) &&
                     drawable(bar.value + bar.error) && bar.error != 0;
  const double half = spans ? std::abs(bar.error) : 0;
  canvas.rect({x(0), y - kBarHalf}, {x(bar.value), y + kBarHalf},
              bar.accent ? svg::kStrongBar : svg::kWeakBar);
  if (spans) {
    canvas.whisker({x(bar.value - half), y}, {x(bar.value + half), y}, svg::kInk, 1.2, 3);
  }
  canvas.text({std::max(x(0), x(bar.value + half)) + 6, y + 4}, chart_number(bar.value, decimals),
              {Anchor::kStart, svg::kGrey, kSmall});
}

// Lines ---------------------------------------------------------------------------------------

constexpr double kNameLine = 13;  ///< from one line of names at an axis to the next
constexpr std::size_t kColours = std::size(svg::kPalette);

const char* colour_of(std::size_t s) { return svg::kPalette[s % kColours]; }

/// The mark changes with every series. Every second cycle of the four marks is hollow.
void draw_mark(SvgCanvas& canvas, std::size_t s, SvgPoint at) {
  const bool hollow = s / kMarks % 2 == 1;
  canvas.mark(static_cast<Mark>(s % kMarks), at, 3.4, colour_of(s),
              hollow ? "#ffffff" : colour_of(s));
}

bool has_place(const LinePanel& panel, const LinePoint& p) {
  const auto names = static_cast<double>(panel.x_names.size());
  const bool across = names == 0 ? drawable(p.x, panel.log_x) : p.x > -0.5 && p.x < names - 0.5;
  return across && drawable(p.y, panel.log_y);
}

std::vector<double> xs_of(const LinePanel& panel) {
  std::vector<double> all;
  for (const LineSeries& s : panel.series) {
    for (const LinePoint& p : s.points) {
      if (has_place(panel, p)) all.push_back(p.x);
    }
  }
  return all;
}

std::vector<double> ys_of(const LinePanel& panel) {
  std::vector<double> all;
  for (const LineSeries& s : panel.series) {
    for (const LinePoint& p : s.points) {
      if (has_place(panel, p)) all.insert(all.end(), {p.y, p.lo, p.hi});
    }
  }
  return all;
}

struct LegendEntry {
  std::size_t series = 0;
  double x = 0;  ///< from the left of the plot
  double y = 0;  ///< from its first line
  std::string name;
};

/// Names of the series, as many per line as fit.
std::vector<LegendEntry> legend_of(const LinePanel& panel, double width) {
  constexpr double kKey = 34;
  std::vector<LegendEntry> legend;
  double x = 0;
  double y = 0;
  for (std::size_t s = 0; s < panel.series.size(); ++s) {
    if (panel.series[s].name.empty()) continue;
    const std::string name = elided(panel.series[s].name, width - kKey, kNormal);
    const double wide = kKey + text_width(name, kNormal) + 16;
    if (x > 0 && x + wide - 16 > width) {
      x = 0;
      y += 20;
    }
    legend.push_back({s, x, y, name});
    x += wide;
  }
  return legend;
}

/// Position of a number on the horizontal axis [px].
using Across = std::function<double(double)>;

/// Whether two lines lie on each other: most of their points are less than the width of a stroke apart.
bool overlap(const LinePanel& panel, const LineSeries& a, const LineSeries& b, const SvgScale& y) {
  constexpr double kWidth = 2.5;  // [px]
  if (!a.line || !b.line || a.points.size() < 2 || a.points.size() != b.points.size()) return false;
  std::size_t near = 0;
  for (std::size_t i = 0; i < a.points.size(); ++i) {
    const LinePoint& p = a.points[i];
    const LinePoint& q = b.points[i];
    if (p.x != q.x || has_place(panel, p) != has_place(panel, q)) return false;
    near += has_place(panel, p) && std::abs(y(p.y) - y(q.y)) < kWidth ? 1 : 0;
  }
  return near >= 2 && 2 * near > a.points.size();
}

/// The dashes of a line: with longer gaps over more lines below it, so that their colours show in the gaps.
std::string_view dashes_of(const LinePanel& panel, std::size_t s, const SvgScale& y) {
  constexpr std::array<std::string_view, 4> kDashes{"", "6 4", "4 8", "3 12"};
  std::size_t below = s >= kColours ? 1 : 0;
  for (std::size_t other = 0; other < s; ++other) {
    below += overlap(panel, panel.series[s], panel.series[other], y) ? 1 : 0;
  }
  return kDashes[std::min(below, kDashes.size() - 1)];
}

void draw_series(SvgCanvas& canvas, const LinePanel& panel, std::size_t s, const Across& x,
                 const SvgScale& y) {
  const LineSeries& series = panel.series[s];
  const std::string_view dashes = dashes_of(panel, s, y);
  std::vector<SvgPoint> run;
  const auto end_run = [&] {
    if (run.size() > 1) canvas.polyline(run, colour_of(s), 2, dashes);
    run.clear();
  };
  for (const LinePoint& p : series.points) {
    if (!series.line) break;
    if (has_place(panel, p)) {
      run.push_back({x(p.x), y(p.y)});
    } else {
      end_run();
    }
  }
  end_run();
  for (const LinePoint& p : series.points) {
    if (!has_place(panel, p)) continue;
    if (drawable(p.lo, panel.log_y) && drawable(p.hi, panel.log_y)) {
      canvas.whisker({x(p.x), y(p.lo)}, {x(p.x), y(p.hi)}, colour_of(s), 1.2, 3);
    }
    if (series.marks) draw_mark(canvas, s, {x(p.x), y(p.y)});
  }
}

void draw_legend(SvgCanvas& canvas, const LinePanel& panel, const std::vector<LegendEntry>& legend,
                 SvgPoint from) {
  for (const LegendEntry& entry : legend) {
    const LineSeries& series = panel.series[entry.series];
    const SvgPoint at{from.x + entry.x, from.y + entry.y};
    const SvgPoint key[] = {{at.x, at.y}, {at.x + 26, at.y}};
    if (series.line)
      canvas.polyline(key, colour_of(entry.series), 2, entry.series >= kColours ? "6 4" : "");
    if (series.marks) draw_mark(canvas, entry.series, {at.x + 13, at.y});
    canvas.text({at.x + 34, at.y + 4}, entry.name);
  }
}

/// Number of lines into which the names of an axis are staggered, so that each has room.
std::size_t name_lines(const LinePanel& panel, double width) {
  double widest = 0;
  for (const std::string& name : panel.x_names) {
    widest = std::max(widest, text_width(name, kSmall));
  }
  const double slots = (widest + 8) * static_cast<double>(panel.x_names.size()) / width;
  return std::clamp<std::size_t>(static_cast<std::size_t>(std::ceil(slots)), 1, 3);
}

/// Height of the names below the plot beyond their first line [px].
double names_height(const LinePanel& panel, double width) {
  return kNameLine * static_cast<double>(name_lines(panel, width) - 1);
}

Across draw_names(SvgCanvas& canvas, const LinePanel& panel, const Plot& plot) {
  const double width = plot.right - plot.left;
  const double slot = width / static_cast<double>(panel.x_names.size());
  const std::size_t lines = name_lines(panel, width);
  Across x = [left = plot.left, slot](double i) { return left + (i + 0.5) * slot; };
  for (std::size_t i = 0; i < panel.x_names.size(); ++i) {
    const double at = x(static_cast<double>(i));
    const double to_edge = std::min(at - plot.left, plot.right - at) + kMargin;
    const double room = std::min(slot * static_cast<double>(lines) - 6, 2 * to_edge);
    canvas.line({at, plot.bottom}, {at, plot.bottom + 4}, svg::kGrey);
    canvas.text({at, plot.bottom + 18 + kNameLine * static_cast<double>(i % lines)},
                elided(panel.x_names[i], room, kSmall), kTickX);
  }
  return x;
}

Across draw_numbers(SvgCanvas& canvas, const LinePanel& panel, const Plot& plot) {
  const SvgScale x(xs_of(panel), panel.log_x ? AxisKind::kLog : AxisKind::kLinear, plot.left,
                   plot.right);
  double free_from = plot.left - 20;
  for (const SvgScale::Tick& tick : x.ticks()) {
    canvas.line({tick.at, plot.bottom}, {tick.at, plot.bottom + 4}, svg::kGrey);
    const double half = text_width(tick.label, kSmall) / 2;
    if (tick.at - half < free_from) continue;
    canvas.text({tick.at, plot.bottom + 18}, tick.label, kTickX);
    free_from = tick.at + half + 4;
  }
  return x;
}

void draw_line_panel(SvgCanvas& canvas, const LinePanel& panel, const SvgScale& y,
                     const Plot& plot) {
  draw_frame(canvas, plot, y, panel.title, panel.y_axis);
  const Across x =
      panel.x_names.empty() ? draw_numbers(canvas, panel, plot) : draw_names(canvas, panel, plot);
  canvas.line({plot.left, plot.bottom}, {plot.right, plot.bottom}, svg::kGrey);
  const double width = plot.right - plot.left;
  if (!panel.x_axis.empty()) {
    const double names = panel.x_names.empty() ? 0 : names_height(panel, width);
    canvas.text({plot.middle_x(), plot.bottom + 38 + names}, elided(panel.x_axis, width, kNormal),
                kAxisX);
  }
  if (xs_of(panel).empty()) draw_no_data(canvas, plot);
  for (std::size_t s = 0; s < panel.series.size(); ++s) draw_series(canvas, panel, s, x, y);
}

}  // namespace

std::string svg_box_chart(const BoxChart& chart) {
  if (chart.panels.empty()) return nothing(chart.title);
  const double top = kMargin + title_height(chart.title) + 24;
  const double bottom = top + kBoxHigh;
  std::vector<SvgScale> scales;
  std::vector<Plot> plots;
  double x = kMargin;
  bool spreads = false;
  bool points = false;
  for (const BoxPanel& panel : chart.panels) {
    scales.emplace_back(numbers_of(panel), AxisKind::kLinear, bottom, top);
    const double left = x + room_left(scales.back());
    x = left + box_plot_width(panel);
    plots.push_back({left, top, x, bottom});
    x += kGap;
    for (const BoxSummary& b : panel.boxes) {
      spreads = spreads || drawable(b.median);
      points = points || !b.points.empty();
    }
  }
  const double width = widened(x - kGap + kMargin, chart.title);
  std::string small = spreads ? "Box: quartiles and median; whiskers: least and greatest; diamond: "
                                "mean; n: observations."
                              : "";
  if (spreads && points) small += " Dots: single observations.";
  if (!chart.note.empty()) small += (small.empty() ? "" : " ") + chart.note;
  const auto note = wrapped(small, width - 2 * kMargin, kSmall);
  const double note_top = bottom + 82;
  SvgCanvas canvas(width, note_top + kLine * static_cast<double>(note.size()), chart.title);
  draw_title(canvas, chart.title, width);
  for (std::size_t p = 0; p < plots.size(); ++p) {
    draw_box_panel(canvas, chart.panels[p], scales[p], plots[p]);
  }
  draw_note(canvas, note, note_top);
  return canvas.done();
}

std::string svg_bar_chart(const BarChart& chart) {
  if (chart.bars.empty()) return nothing(chart.title);
  const bool tall = chart.bars.size() > kBarsOnAPage;
  double labels = 0;
  double numbers = 0;
  for (const RankedBar& bar : chart.bars) {
    labels = std::max(labels, text_width(bar.label, kNormal));
    if (!drawable(bar.value)) continue;
    numbers = std::max(numbers, text_width(chart_number(bar.value, chart.decimals), kSmall));
  }
  labels = std::min(labels, kBarLabelMax);
  Plot plot;
  plot.left = kMargin + labels + 14;
  plot.right = plot.left + kBarsWide;
  plot.top = kMargin + title_height(chart.title) + (tall ? 22 : 6);
  plot.bottom = plot.top + kBarRow * static_cast<double>(chart.bars.size()) + 8;
  const double width = plot.right + 6 + std::max(numbers, 16.0) + kMargin;
  const auto note = wrapped(chart.note, width - 2 * kMargin, kSmall);
  const double note_top = plot.bottom + 64;
  const double height =
      note_top - (note.empty() ? 10 : 0) + kLine * static_cast<double>(note.size());
  SvgCanvas canvas(width, height, chart.title);
  draw_title(canvas, chart.title, width);
  const SvgScale x(numbers_of(chart), AxisKind::kFromZero, plot.left, plot.right);
  for (const SvgScale::Tick& tick : x.ticks()) {
    canvas.line({tick.at, plot.top}, {tick.at, plot.bottom}, svg::kFaint);
    if (tall) canvas.text({tick.at, plot.top - 7}, tick.label, kTickX);
    canvas.text({tick.at, plot.bottom + 16}, tick.label, kTickX);
  }
  for (std::size_t i = 0; i < chart.bars.size(); ++i) {
    const double y = plot.top + 4 + kBarRow * (static_cast<double>(i) + 0.5);
    canvas.text({plot.left - 8, y + 4}, elided(chart.bars[i].label, labels, kNormal),
                {Anchor::kEnd, svg::kInk, kNormal});
    draw_bar(canvas, chart.bars[i], x, y, chart.decimals);
  }
  if (x.empty()) {
    draw_no_data(canvas, plot);
  } else {
    canvas.line({x(0), plot.top}, {x(0), plot.bottom}, svg::kGrey);
  }
  canvas.text({plot.middle_x(), plot.bottom + 36}, elided(chart.axis, kBarsWide, kNormal), kAxisX);
  draw_note(canvas, note, note_top);
  return canvas.done();
}

std::string svg_line_chart(const LineChart& chart) {
  if (chart.panels.empty()) return nothing(chart.title);
  const std::size_t columns =
      chart.columns == 0 ? chart.panels.size() : std::min(chart.columns, chart.panels.size());
  const auto y_scale = [&](const LinePanel& panel, double bottom, double top) {
    return SvgScale(ys_of(panel), panel.log_y ? AxisKind::kLog : AxisKind::kLinear, bottom, top);
  };
  std::vector<double> lefts(columns, 0);  // of the plots; panels below each other are aligned
  double x = kMargin;
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t p = c; p < chart.panels.size(); p += columns) {
      lefts[c] = std::max(lefts[c], x + room_left(y_scale(chart.panels[p], chart.plot_high, 0)));
    }
    x = lefts[c] + chart.plot_wide + kGap;
  }
  const double width = widened(x - kGap + kMargin + 8, chart.title);

  const double legend_top = kMargin + title_height(chart.title) + 8;
  std::vector<LegendEntry> legend;  // of all
  if (chart.one_legend) legend = legend_of(chart.panels.front(), width - 2 * kMargin);
  double top = kMargin + title_height(chart.title) + 24;
  if (!legend.empty()) top += legend.back().y + 24;
  std::vector<SvgScale> scales;
  std::vector<Plot> plots;
  double below = 0;  // the last row
  for (std::size_t first = 0; first < chart.panels.size(); first += columns) {
    if (first > 0) top = below + 24;
    const double bottom = top + chart.plot_high;
    double legends = 0;
    for (std::size_t c = 0; c < columns && first + c < chart.panels.size(); ++c) {
      const LinePanel& panel = chart.panels[first + c];
      scales.push_back(y_scale(panel, bottom, top));
      plots.push_back({lefts[c], top, lefts[c] + chart.plot_wide, bottom});
      double here = panel.x_names.empty() ? 0 : names_height(panel, chart.plot_wide);
      const auto own = legend_of(panel, chart.plot_wide);
      if (!chart.one_legend && !own.empty()) here += own.back().y + 24;
      legends = std::max(legends, here);
    }
    const bool titled = std::ranges::any_of(
        chart.panels, [](const LinePanel& panel) { return !panel.x_axis.empty(); });
    below = bottom + (titled || !chart.one_legend ? 64 : 44) + legends;
  }
  const auto note = wrapped(chart.note, width - 2 * kMargin, kSmall);
  SvgCanvas canvas(width, below - 4 + kLine * static_cast<double>(note.size()), chart.title);
  draw_title(canvas, chart.title, width);
  draw_legend(canvas, chart.panels.front(), legend, {kMargin, legend_top});
  for (std::size_t p = 0; p < plots.size(); ++p) {
    const LinePanel& panel = chart.panels[p];
    draw_line_panel(canvas, panel, scales[p], plots[p]);
    if (chart.one_legend) continue;
    const double names = panel.x_names.empty() ? 0 : names_height(panel, chart.plot_wide);
    draw_legend(canvas, panel, legend_of(panel, chart.plot_wide),
                {plots[p].left, plots[p].bottom + 64 + names});
  }
  draw_note(canvas, note, below);
  return canvas.done();
}

}  // namespace corun::inline support
