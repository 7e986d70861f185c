#pragma once

#include <cstddef>
#include <limits>
#include <string>
#include <vector>

/// The papers' kinds of charts as self-contained SVG text. The same input gives the same bytes.
/// Numbers that cannot be drawn (NaN, infinite, beyond 1e300, not positive on a logarithmic axis)
/// are left out; a chart without any says "no data". Texts that have no room end in an ellipsis.
namespace corun::inline support {

inline constexpr double kUndefined = std::numeric_limits<double>::quiet_NaN();

// Box plots: ISD or PS by pair of clusters (PriRecT figures 5 and 6).

/// A box from q1 to q3 with its median, whiskers to min and max, a diamond at the mean. A part with
/// an undefined number is not drawn.
struct BoxSummary {
  std::string label;
  std::size_t count = 0;
  double min = kUndefined;
  double q1 = kUndefined;
  double median = kUndefined;
  double q3 = kUndefined;
  double max = kUndefined;
  double mean = kUndefined;
  std::vector<double> points = {};  ///< drawn beside each other over the box
};

struct BoxPanel {
  std::string title;
  std::string axis;      ///< the quantity, with its unit
  std::string category;  ///< what the labels name
  std::vector<BoxSummary> boxes;
};

/// Panels stand side by side, each with its own axis.
struct BoxChart {
  std::string title;
  std::string note;  ///< small print below
  std::vector<BoxPanel> panels;
};

std::string svg_box_chart(const BoxChart& chart);

// Ranked bars: mean rank per attribute with its standard deviation (PriRecT figure 2).

struct RankedBar {
  std::string label;
  double value = kUndefined;
  double error = kUndefined;  ///< half the length of the error bar
  bool accent = true;         ///< stronger colour, for what was chosen
};

/// Horizontal bars from 0 in the order of `bars`, each with its number.
struct BarChart {
  std::string title;
  std::string axis;
  std::string note;
  int decimals = 1;
  std::vector<RankedBar> bars;
};

std::string svg_bar_chart(const BarChart& chart);

// Lines with markers: elbow, silhouette, quality against volume, learning curves.

struct LinePoint {
  double x = kUndefined;
  double y = kUndefined;
  double lo = kUndefined;  ///< both ends of an error bar
  double hi = kUndefined;
};

/// A point that cannot be drawn breaks the line.
struct LineSeries {
  std::string name;  ///< empty: not in the legend
  std::vector<LinePoint> points;
  bool line = true;   ///< between the points
  bool marks = true;  ///< at the points
};

struct LinePanel {
  std::string title;
  std::string x_axis;
  std::string y_axis;
  bool log_x = false;
  bool log_y = false;
  /// Eight differ in colour and mark. Later lines are dashed, and those that lie on others.
  std::vector<LineSeries> series;
  /// Names of x = 0, 1, 2 ..., which then label the axis; empty if the axis is numeric.
  std::vector<std::string> x_names = {};
};

struct LineChart {
  std::string title;
  std::string note;
  std::vector<LinePanel> panels;
  std::size_t columns = 0;  ///< panels beside each other; 0: all of them
  bool one_legend = false;  ///< the first panel's, at the top, for all panels
  double plot_wide = 350;   ///< width of a panel without its axes [px]
  double plot_high = 240;
};

std::string svg_line_chart(const LineChart& chart);

}  // namespace corun::inline support
