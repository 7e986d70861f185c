#include "live/validation/validation_figure.hpp"

#include <algorithm>

#include "support/charts/svg_chart.hpp"

namespace corun::live {

std::string validation_figure(const RunValidation& run) {
  LineChart chart;
  chart.title = "Individual slowdown on " + run.gpu + ": measured, and simulated";
  chart.note =
      "A mark is a job. Predicted: before the run, the policy free to decide. Replayed: with the "
      "decisions of the run.";
  for (const bool replayed : {false, true}) {
    LinePanel panel;
    panel.title = replayed ? "replayed" : "predicted";
    panel.x_axis = std::string(replayed ? "replayed" : "predicted") + " ISD [%]";
    panel.y_axis = "measured ISD [%]";
    double least = 0;
    double most = 0;
    for (const PolicyValidation& p : run.policies) {
      LineSeries series;
      series.name = p.label;
      for (const ValidatedJob& j : p.jobs) {
        if (!replayed && !j.predicted) continue;
        const double said = 100 * (replayed ? j.replayed.isd : j.predicted->isd);
        const double measured = 100 * j.measured.isd;
        series.points.push_back({said, measured});
        series.points.emplace_back();  // no line from one job to the next
        least = std::min({least, said, measured});
        most = std::max({most, said, measured});
      }
      panel.series.push_back(std::move(series));
    }
    if (most > least) panel.series.push_back({"said = measured", {{least, least}, {most, most}}});
    chart.panels.push_back(std::move(panel));
  }
  return svg_line_chart(chart);
}

}  // namespace corun::live
