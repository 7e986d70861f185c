#include "experiments/evaluation/table_prediction.hpp"

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/error.hpp"

namespace corun {

void check_features(const InterferenceModel& model, const PairTable& table) {
  if (model.features() == table.speeds.features) return;
  std::vector<std::string> ours, theirs;
  for (const auto& f : model.features()) ours.push_back(f.name);
  for (const auto& f : table.speeds.features) theirs.push_back(f.name);
  throw InputError(table.source,
                   fmt::format("its features are {}, the model was fitted on {}; predict tables of "
                               "the form it was fitted on",
                               fmt::join(theirs, ", "), fmt::join(ours, ", ")));
}

std::vector<std::array<double, 4>> predict_table(const InterferenceModel& model,
                                                 const PairTable& table) {
  check_features(model, table);
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.speeds.jobs.size(); ++j) {
    jobs.push_back({table.speeds.jobs[j], {table.speeds.of(j), table.speeds.features.size()}});
  }
  std::vector<PairQuery> queries;
  for (const SpeedTable::Row& row : table.speeds.rows) {
    queries.push_back({row.a, row.b});
    queries.push_back({row.b, row.a});
  }
  std::vector<SpeedPrediction> speeds;
  try {
    speeds = model.predict(jobs, queries);
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  std::vector<std::array<double, 4>> predictions;
  for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
    const SpeedPrediction& a = speeds[2 * r];
    const SpeedPrediction& b = speeds[2 * r + 1];
    predictions.push_back({a.speed, b.speed, a.sd, b.sd});
  }
  return predictions;
}

}  // namespace corun
