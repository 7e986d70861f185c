#include "experiments/evaluation/table_prediction.hpp"

#include <stdexcept>
#include <string>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/error.hpp"

namespace corun {

namespace {

std::vector<PairJob> jobs_of(const SpeedTable& table) {
  std::vector<PairJob> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back({table.jobs[j], {table.of(j), table.features.size()}});
  }
  return jobs;
}

}  // namespace

void check_features(const InterferenceModel& model, const SpeedTable& table,
                    const std::string& source) {
  if (model.features() == table.features) return;
  std::vector<std::string> ours, theirs;
  for (const auto& f : model.features()) ours.push_back(f.name);
  for (const auto& f : table.features) theirs.push_back(f.name);
  throw InputError(source,
                   fmt::format("its features are {}, the model was fitted on {}; predict tables of "
                               "the form it was fitted on",
                               fmt::join(theirs, ", "), fmt::join(ours, ", ")));
}

std::vector<std::array<double, 4>> predict_table(const InterferenceModel& model,
                                                 const PairTable& table) {
  check_features(model, table.speeds, table.source);
  const std::vector<PairJob> jobs = jobs_of(table.speeds);
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

std::vector<std::array<double, 2>> predict_groups(const InterferenceModel& model,
                                                  const GroupTable& table) {
  check_features(model, table.speeds, table.source);
  const std::vector<PairJob> jobs = jobs_of(table.speeds);
  std::vector<std::vector<SpeedPrediction>> of_pairs;
  std::vector<std::vector<SpeedPrediction>> of_groups;
  try {
    std::vector<PairQuery> queries;
    for (const SpeedTable::Row& row : table.speeds.rows) {
      queries.push_back({row.a, row.b});
      queries.push_back({row.b, row.a});
    }
    const std::vector<SpeedPrediction> speeds = model.predict(jobs, queries);
    for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
      of_pairs.push_back({speeds[2 * r], speeds[2 * r + 1]});
    }
    for (const SpeedTable::Group& group : table.speeds.groups) {
      std::vector<PairJob> residents;
      for (const std::uint32_t job : group.jobs) residents.push_back(jobs[job]);
      const InterferenceModel::Groups& learnt = model.groups();
      const Sharing sharing =
          group.sharing == Sharing::kUnknown ? learnt.campaign.sharing : group.sharing;
      of_groups.push_back(
          model.by_rule(residents, learnt.rules[static_cast<std::size_t>(sharing)]));
    }
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  std::vector<std::array<double, 2>> predictions;
  for (const GroupTable::Line& line : table.lines) {
    const SpeedPrediction& p = (line.is_pair ? of_pairs : of_groups)[line.group][line.member];
    predictions.push_back({p.speed, p.sd});
  }
  return predictions;
}

}  // namespace corun
