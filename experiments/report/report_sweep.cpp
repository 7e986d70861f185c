#include "experiments/report/report_sweep.hpp"

#include <array>
#include <mutex>
#include <set>
#include <vector>

#include <fmt/format.h>

#include "experiments/report/report_source.hpp"
#include "experiments/sweep/sweep_answers.hpp"
#include "experiments/sweep/sweep_output.hpp"
#include "experiments/sweep/sweep_results.hpp"

namespace corun {

namespace {

/// Configurations of a metric that a report lists.
constexpr std::size_t kConfigurations = 20;
/// Cells of the figure of slowdown against saving.
constexpr std::size_t kFrontCells = 30'000;

Json coverage_json(const std::string& path) {
  const std::lock_guard lock(hdf5::hdf5_mutex());
  const ReportSource source(path);
  const hdf5::TableReader table(source.file(), "metrics");
  std::array<double, 3> sums{};
  double all = 0;
  constexpr std::array<const char*, 3> kNames{"measured", "modelled", "extrapolated"};
  for (std::size_t k = 0; k < kNames.size(); ++k) {
    for (const double x : table.reals(fmt::format("{}_s", kNames[k]))) sums[k] += x;
    all += sums[k];
  }
  Json out;
  for (std::size_t k = 0; k < kNames.size(); ++k) {
    out[kNames[k]] = short_json(all > 0 ? sums[k] / all : 0);
  }
  return out;
}

}  // namespace

void add_sweep(const std::string& path, Json& out) {
  const SweepResults results = read_sweep_results(path);
  const SweepAnswers answers = answer_sweep(
      results, {Metric::kIsd, Metric::kPs, Metric::kJctS, Metric::kQueueS, Metric::kMakespanS});
  out["coverage"] = coverage_json(path);
  out["policies"] = Json::array();
  out["reductions"] = Json::array();
  Json sweep = answers_json(results, answers);
  for (Json& item : sweep["configurations"]) {
    Json& ranked = item["ranked"];
    if (ranked.size() > kConfigurations)
      ranked.erase(ranked.begin() + kConfigurations, ranked.end());
  }

  const std::size_t step = (answers.cells.size() + kFrontCells - 1) / kFrontCells;
  std::set<std::size_t> points;
  sweep["cells"] = Json::array();
  for (std::size_t i = 0; i < answers.cells.size(); i += step) {
    const FrontAnswer& cell = answers.cells[i];
    sweep["cells"].push_back(
        Json::array({cell.point, cell.policy, short_json(cell.isd), short_json(cell.ps)}));
    points.insert(cell.point);
  }
  for (const FrontAnswer& cell : answers.front) points.insert(cell.point);
  if (step > 1) {
    out["reductions"].push_back(
        fmt::format("Slowdown against saving shows every {}th of {} configurations.", step,
                    answers.cells.size()));
  }
  sweep["numbers"] = Json::array();
  sweep["settings"] = Json::array();
  for (const std::size_t point : points) {
    Json row = Json::array();
    for (std::size_t k = 0; k < results.plan.keys().size(); ++k) {
      row.push_back(short_name(results.plan.text(point, k)));
    }
    sweep["numbers"].push_back(point);
    sweep["settings"].push_back(std::move(row));
  }
  out["sweep"] = std::move(sweep);
}

}  // namespace corun
