#include "models/factor_belief.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "models/interference/overlap.hpp"

namespace corun {

namespace {

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kFewestNewRows = 8;

}  // namespace

std::vector<SpeedTable::Feature> profile_features() {
  return {{"gpu_util_pct", FeatureScale::kLinear},
          {"mem_alloc_pct", FeatureScale::kLinear},
          {"mem_time_pct", FeatureScale::kLinear}};
}

std::vector<double> feature_values(const Profile& profile) {
  if (profile.imputed) return {kUnknown, kUnknown, kUnknown};
  return {profile.gpu_util_pct.value_or(kUnknown), profile.mem_alloc_pct.value_or(kUnknown),
          profile.mem_time_pct.value_or(kUnknown)};
}

SpeedTable speed_table(std::span<const CorunMeasurement> rows) {
  SpeedTable table;
  table.features = profile_features();
  const std::size_t width = table.features.size();
  std::map<WorkloadKey, std::uint32_t> place;
  std::vector<double> counts;
  for (const CorunMeasurement& row : rows) {
    if (row.members.size() != 2) continue;
    if (row.members[0].workload == kUnknownWorkload ||
        row.members[1].workload == kUnknownWorkload) {
      continue;
    }
    std::array<std::uint32_t, 2> at{};
    for (std::size_t i = 0; i < 2; ++i) {
      const CorunMember& m = row.members[i];
      const auto [it, is_new] =
          place.emplace(m.workload, static_cast<std::uint32_t>(table.jobs.size()));
      if (is_new) {
        table.jobs.push_back(m.workload);
        table.values.resize(table.values.size() + width, 0);
        counts.resize(counts.size() + width, 0);
      }
      at[i] = it->second;
      const std::vector<double> x = feature_values(m.profile);
      for (std::size_t f = 0; f < width; ++f) {
        if (std::isnan(x[f])) continue;
        table.values[it->second * width + f] += x[f];
        counts[it->second * width + f] += 1;
      }
    }
    const std::vector<double> excess = overlap_excess(row);
    table.rows.push_back({at[0], at[1], 1 / (1 + excess[0]), 1 / (1 + excess[1])});
  }
  for (std::size_t i = 0; i < counts.size(); ++i) {
    table.values[i] = counts[i] > 0 ? table.values[i] / counts[i] : kUnknown;
  }
  return table;
}

std::shared_ptr<const FactorBelief::Prior> FactorBelief::make_prior(SpeedTable table,
                                                                    const FactorOptions& options) {
  auto prior = std::make_shared<Prior>();
  prior->options = options;
  if (!table.rows.empty()) {
    prior->model = std::make_shared<const FactorModel>(FactorModel::fit(table, options));
  }
  if (table.features.empty()) table.features = profile_features();
  prior->table = std::move(table);
  return prior;
}

FactorBelief::FactorBelief(std::shared_ptr<const Prior> prior, std::vector<BelievedJob> jobs)
    : prior_(std::move(prior)),
      model_(prior_->model),
      table_(prior_->table),
      jobs_(std::move(jobs)),
      fitted_rows_(table_.rows.size()) {
  // Keys of jobs without a workload of their own must differ from all others.
  std::set<WorkloadKey> taken(table_.jobs.begin(), table_.jobs.end());
  for (const BelievedJob& job : jobs_) taken.insert(job.workload);
  WorkloadKey next = kUnknownWorkload - 1;
  std::map<WorkloadKey, std::size_t> kinds;
  for (const BelievedJob& job : jobs_) {
    if (job.workload != kUnknownWorkload) {
      const auto at = kinds.find(job.workload);
      if (at != kinds.end()) {
        kind_.push_back(at->second);
        continue;
      }
      kinds.emplace(job.workload, row_.size());
    }
    kind_.push_back(row_.size());
    WorkloadKey key = job.workload;
    if (key == kUnknownWorkload) {
      while (taken.contains(next)) --next;
      key = next--;
    }
    const auto known = std::find(table_.jobs.begin(), table_.jobs.end(), key);
    row_.push_back(static_cast<std::uint32_t>(known - table_.jobs.begin()));
    if (known != table_.jobs.end()) continue;
    table_.jobs.push_back(key);
    const std::vector<double> x = feature_values(job.profile);
    table_.values.insert(table_.values.end(), x.begin(), x.end());
  }
}

FactorBelief::Speeds FactorBelief::speeds(std::size_t kind_a, std::size_t kind_b) const {
  const auto key = std::minmax(kind_a, kind_b);
  const auto [it, is_new] = remembered_.try_emplace({key.first, key.second});
  if (is_new) {
    const auto job = [&](std::size_t kind) {
      return PairJob{table_.jobs[row_[kind]], {table_.of(row_[kind]), table_.features.size()}};
    };
    // Nobody runs faster in company: what the model says beyond is noise.
    it->second = {std::min(1.0, model_->predict(job(key.first), job(key.second)).speed),
                  std::min(1.0, model_->predict(job(key.second), job(key.first)).speed)};
  }
  return kind_a <= kind_b ? it->second : Speeds{it->second.b, it->second.a};
}

PairBelief FactorBelief::pair(JobId a, JobId b) const {
  if (!model_) return {0, 0, 0, false};
  const Speeds s = speeds(kind_[index(a)], kind_[index(b)]);
  const auto& solo_a = jobs_[index(a)].estimate;
  const auto& solo_b = jobs_[index(b)].estimate;
  const bool known = solo_a && solo_b;
  const PairCost cost =
      pair_cost(known ? to_seconds(*solo_a) : 1, known ? to_seconds(*solo_b) : 1, s.a, s.b);
  return {cost.isd_a, cost.isd_b, cost.ps, true};
}

void FactorBelief::learn(const EpisodeOutcome& outcome) {
  if (outcome.members.size() != 2 || !outcome.together) return;
  CorunMeasurement row;
  row.source = "a finished co-run";
  for (const MemberOutcome& m : outcome.members) {
    CorunMember member;
    member.solo_s = to_seconds(m.solo);
    member.corun_s = to_seconds(m.corun);
    if (!(member.solo_s > 0) || !(member.corun_s > 0)) return;
    row.members.push_back(member);
  }
  const std::vector<double> excess = overlap_excess(row);
  table_.rows.push_back({row_[kind_[index(outcome.members[0].job)]],
                         row_[kind_[index(outcome.members[1].job)]], 1 / (1 + excess[0]),
                         1 / (1 + excess[1])});
  const std::size_t grown = table_.rows.size() - fitted_rows_;
  if (grown < std::max(kFewestNewRows, fitted_rows_ / 2)) return;
  model_ = std::make_shared<const FactorModel>(FactorModel::fit(table_, prior_->options));
  fitted_rows_ = table_.rows.size();
  ++refits_;
  remembered_.clear();
}

}  // namespace corun
