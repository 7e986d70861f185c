#include "evaluation/table_prediction.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "knowledge/model_origin.hpp"
#include "models/interference/contention.hpp"
#include "models/interference/groups/campaigns.hpp"
#include "sim/error.hpp"
#include "traces/tables/group_table.hpp"

namespace corun::inline evaluation {

namespace {

/// Position of a feature in the table; its number of features if it is not there.
std::size_t position_in(const SpeedTable& table, const SpeedTable::Feature& feature) {
  return static_cast<std::size_t>(std::ranges::find(table.features, feature) -
                                  table.features.begin());
}

bool is_known_of_some_job(const SpeedTable& table, std::size_t feature) {
  if (feature >= table.features.size()) return false;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    if (!std::isnan(table.of(j)[feature])) return true;
  }
  return false;
}

std::vector<SpeedPrediction> predict_group(const std::shared_ptr<const InterferenceModel>& model,
                                           std::span<const PairJob> jobs, const SpeedTable& table,
                                           const SpeedTable::Group& group) {
  std::vector<PairJob> residents;
  for (const std::uint32_t job : group.jobs) residents.push_back(jobs[job]);
  const auto here = on_campaign(model, table.campaigns.at(group.campaign), table.jobs);
  const InterferenceModel::Groups& learnt = here->groups();
  const Sharing sharing =
      group.sharing == Sharing::kUnknown ? learnt.campaign.sharing : group.sharing;
  return here->by_rule(residents, learnt.rules[static_cast<std::size_t>(sharing)]);
}

std::vector<std::size_t> all_rows(const SpeedTable& table) {
  std::vector<std::size_t> rows(table.rows.size());
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

JobsForModel::JobsForModel(const InterferenceModel& model, const SpeedTable& table) {
  const std::vector<SpeedTable::Feature>& features = model.features();
  values_.assign(table.jobs.size() * features.size(), std::numeric_limits<double>::quiet_NaN());
  for (std::size_t f = 0; f < features.size(); ++f) {
    const std::size_t at = position_in(table, features[f]);
    if (at == table.features.size()) continue;
    for (std::size_t j = 0; j < table.jobs.size(); ++j) {
      values_[j * features.size() + f] = table.of(j)[at];
    }
  }
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs_.push_back({table.jobs[j],
                     {values_.data() + j * features.size(), features.size()},
                     table.family_of(j)});
  }
}

std::vector<std::string> check_features(const InterferenceModel& model, const SpeedTable& table,
                                        const std::string& source) {
  std::vector<std::string> wanted;
  std::vector<std::string> lacking;
  std::vector<std::string> unused;
  bool shares = false;
  for (const SpeedTable::Feature& feature : model.features()) {
    wanted.push_back(feature.name);
    shares |= is_known_of_some_job(table, position_in(table, feature));
  }
  for (const SpeedTable::Feature& feature :
       features_used(model, JobsForModel(model, table).jobs())) {
    if (position_in(table, feature) == table.features.size()) lacking.push_back(feature.name);
  }
  for (std::size_t f = 0; f < table.features.size(); ++f) {
    const bool is_used =
        std::ranges::find(model.features(), table.features[f]) != model.features().end();
    if (table.features[f].name == kMpsFeature) continue;  // a campaign has the mode as well
    if (!is_used && is_known_of_some_job(table, f)) unused.push_back(table.features[f].name);
  }
  const std::set<WorkloadKey> seen(model.workloads().begin(), model.workloads().end());
  const bool knows_a_job = std::ranges::any_of(
      table.jobs, [&](WorkloadKey job) { return job != kUnknownWorkload && seen.contains(job); });
  if (!wanted.empty() && !shares && !knows_a_job) {
    throw InputError(
        source, fmt::format("none of its jobs was fitted on, and none has a known {}, which the "
                            "model was fitted on; predict a table with one of these features",
                            fmt::join(wanted, ", ")));
  }
  if (dynamic_cast<const ContentionModel*>(&model) != nullptr &&
      !is_known_of_some_job(table, position_in(table, {std::string(ContentionModel::kNeeded),
                                                       FeatureScale::kLinear}))) {
    throw InputError(source, fmt::format("none of its jobs has a known {}, which the model "
                                         "contention goes by; fill it in, or take another model",
                                         ContentionModel::kNeeded));
  }
  std::vector<std::string> notes;
  if (!lacking.empty()) {
    notes.push_back(fmt::format("{} lacks {}, which the model was fitted on: taken as not known",
                                source, fmt::join(lacking, ", ")));
  }
  if (!unused.empty()) {
    notes.push_back(fmt::format("{} has {}, which the model was not fitted on: not used", source,
                                fmt::join(unused, ", ")));
  }
  return notes;
}

std::vector<SpeedPrediction> predict_pairs(const std::shared_ptr<const InterferenceModel>& model,
                                           std::span<const PairJob> jobs, const SpeedTable& table,
                                           std::span<const std::size_t> rows) {
  std::vector<SpeedPrediction> out(2 * rows.size());
  for (std::uint32_t c = 0; c < table.campaigns.size(); ++c) {
    std::vector<PairQuery> queries;
    std::vector<std::size_t> places;
    for (std::size_t r = 0; r < rows.size(); ++r) {
      const SpeedTable::Row& row = table.rows[rows[r]];
      if (row.campaign != c) continue;
      queries.push_back({row.a, row.b});
      queries.push_back({row.b, row.a});
      places.push_back(2 * r);
    }
    if (queries.empty()) continue;
    const std::vector<SpeedPrediction> speeds =
        on_campaign(model, table.campaigns[c], table.jobs)->predict(jobs, queries);
    for (std::size_t p = 0; p < places.size(); ++p) {
      out[places[p]] = speeds[2 * p];
      out[places[p] + 1] = speeds[2 * p + 1];
    }
  }
  return out;
}

std::vector<std::vector<double>> predict_table(
    const std::shared_ptr<const InterferenceModel>& model, const Measurements& table) {
  check_features(*model, table.speeds, table.source);
  const JobsForModel jobs(*model, table.speeds);
  std::vector<SpeedPrediction> of_pairs;
  std::vector<std::vector<SpeedPrediction>> of_groups;
  try {
    of_pairs = predict_pairs(model, jobs.jobs(), table.speeds, all_rows(table.speeds));
    for (const SpeedTable::Group& group : table.speeds.groups) {
      of_groups.push_back(predict_group(model, jobs.jobs(), table.speeds, group));
    }
  } catch (const std::invalid_argument& e) {
    throw InputError(table.source, e.what());
  }
  std::vector<std::vector<double>> predictions;
  for (const Measurements::Line& line : table.lines) {
    const SpeedPrediction& p =
        line.is_pair ? of_pairs[2 * line.group + line.member] : of_groups[line.group][line.member];
    predictions.push_back({p.speed, p.sd});
  }
  if (!table.lines.empty()) return predictions;
  for (std::size_t r = 0; r < table.speeds.rows.size(); ++r) {
    const SpeedPrediction& a = of_pairs[2 * r];
    const SpeedPrediction& b = of_pairs[2 * r + 1];
    predictions.push_back({a.speed, b.speed, a.sd, b.sd});
  }
  return predictions;
}

}  // namespace corun::inline evaluation
