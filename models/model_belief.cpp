#include "models/model_belief.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "models/interference/overlap.hpp"

namespace corun {

namespace {

constexpr std::size_t kFewestNewRows = 8;

}  // namespace

std::shared_ptr<const ModelBelief::Prior> ModelBelief::make_prior(
    SpeedTable table, const InterferenceModelEntry& entry, const FitOptions& options) {
  auto prior = std::make_shared<Prior>();
  prior->entry = &entry;
  prior->options = options;
  if (!table.rows.empty()) prior->model = entry.fit(table, options);
  prior->table = std::move(table);
  return prior;
}

ModelBelief::ModelBelief(std::shared_ptr<const Prior> prior, std::vector<BelievedJob> jobs)
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
    table_.values.insert(table_.values.end(), job.features.begin(), job.features.end());
  }
}

ModelBelief::Speeds ModelBelief::speeds(std::size_t kind_a, std::size_t kind_b) const {
  const auto key = std::minmax(kind_a, kind_b);
  const auto [it, is_new] = remembered_.try_emplace({key.first, key.second});
  if (is_new) {
    // Nobody runs faster in company: what the model says beyond is noise.
    it->second = {std::min(1.0, model_->predict(job(key.first), job(key.second)).speed),
                  std::min(1.0, model_->predict(job(key.second), job(key.first)).speed)};
  }
  return kind_a <= kind_b ? it->second : Speeds{it->second.b, it->second.a};
}

PairBelief ModelBelief::pair(JobId a, JobId b) const {
  if (!model_) return {0, 0, 0, false};
  const Speeds s = speeds(kind_[index(a)], kind_[index(b)]);
  const auto& solo_a = jobs_[index(a)].estimate;
  const auto& solo_b = jobs_[index(b)].estimate;
  const bool known = solo_a && solo_b;
  const PairCost cost =
      pair_cost(known ? to_seconds(*solo_a) : 1, known ? to_seconds(*solo_b) : 1, s.a, s.b);
  return {cost.isd_a, cost.isd_b, cost.ps, true};
}

void ModelBelief::learn(const EpisodeOutcome& outcome) {
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
  add(kind_[index(outcome.members[0].job)], kind_[index(outcome.members[1].job)],
      1 / (1 + excess[0]), 1 / (1 + excess[1]));
}

void ModelBelief::add(std::size_t kind_a, std::size_t kind_b, double speed_a, double speed_b) {
  table_.rows.push_back({row_[kind_a], row_[kind_b], speed_a, speed_b});
  const std::size_t grown = table_.rows.size() - fitted_rows_;
  if (grown >= std::max(kFewestNewRows, fitted_rows_ / 2)) {
    model_ = prior_->entry->fit(table_, prior_->options);
    learning_.reset();
    fitted_rows_ = table_.rows.size();
    ++refits_;
  } else if (model_ && model_->learns()) {
    if (!learning_) model_ = learning_ = model_->clone();
    learning_->learn(job(kind_a), job(kind_b), speed_a, speed_b);
  } else {
    return;
  }
  remembered_.clear();
}

}  // namespace corun
