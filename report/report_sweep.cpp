#include "report/report_sweep.hpp"

#include <array>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "report/report_source.hpp"
#include "runner/sweep/sweep_answers.hpp"
#include "runner/sweep/sweep_output.hpp"
#include "runner/sweep/sweep_results.hpp"

namespace corun::inline report {

namespace {

/// Configurations of a metric that a report lists.
constexpr std::size_t kConfigurations = 20;
/// Cells of the figure of slowdown against saving.
constexpr std::size_t kFrontCells = 30'000;

Json coverage_json(const hdf5::TableReader& table) {
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

/// {label, name, description, bound} of each policy, in the order of their first point.
Json policies_json(const hdf5::TableReader& table) {
  const auto labels = table.texts("label");
  const auto names = table.texts("name");
  const auto bounds = table.integers("granted_truth");
  std::set<std::string> seen;
  Json out = Json::array();
  for (std::size_t i = 0; i < table.rows(); ++i) {
    if (!seen.insert(labels[i]).second) continue;
    out.push_back({{"label", labels[i]},
                   {"name", names[i]},
                   {"description", policy_description(names[i])},
                   {"bound", bounds[i] != 0}});
  }
  return out;
}

void add_tables(const std::string& path, Json& out) {
  const std::lock_guard lock(hdf5::hdf5_mutex());
  const ReportSource source(path);
  const hdf5::TableReader metrics(source.file(), "metrics");
  out["coverage"] = coverage_json(metrics);
  out["solo"] = solo_json(metrics);
  out["policies"] = policies_json(hdf5::TableReader(source.file(), "policies"));
}

}  // namespace

void add_sweep(const std::string& path, Json& out) {
  const SweepResults results = read_sweep_results(path);
  const SweepAnswers answers = answer_sweep(
      results, {Metric::kIsd, Metric::kPs, Metric::kJctS, Metric::kQueueS, Metric::kMakespanS});
  add_tables(path, out);
  for (const SweepResults::Note& note : results.notes) {
    out["warnings"].push_back(fmt::format("{} [{}]", note.text, points_of_note(results, note)));
  }
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

}  // namespace corun::inline report
