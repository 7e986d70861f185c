#include "models/model_belief.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "models/formulas/overlap.hpp"
#include "sim/error.hpp"

namespace corun::inline models {

namespace {

constexpr std::size_t kFewestNewRows = 8;
/// With at most this many kinds of jobs, all pairs of kinds are predicted in one batch.
constexpr std::size_t kFewKinds = 128;

}  // namespace

std::shared_ptr<const ModelBelief::Prior> ModelBelief::make_prior(
    SpeedTable table, const InterferenceModelEntry& entry, const FitOptions& options,
    const ScoringOptions& scoring) {
  auto prior = std::make_shared<Prior>();
  prior->entry = &entry;
  prior->options = options;
  prior->scoring = scoring;
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
  // A job of unknown workload gets a key that no other job has.
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
    if (!table_.families.empty()) table_.families.push_back(0);  // of no known family
  }
  for (const std::uint32_t row : row_) {
    kinds_.push_back({table_.jobs[row], {table_.of(row), table_.features.size()}});
  }
}

/// One batch is far cheaper than one pair at a time. Models look at each job that they are given: of many jobs they
/// are given those of the pairs.
void ModelBelief::predict(const std::vector<KindPair>& pairs) const {
  std::vector<PairQuery> queries;
  queries.reserve(2 * pairs.size());
  const bool few = 2 * pairs.size() < kinds_.size();
  std::vector<PairJob> of_pairs;
  for (const auto& [kind_a, kind_b] : pairs) {
    PairQuery query{kind_a, kind_b};
    if (few) {
      query = {of_pairs.size(), of_pairs.size() + (kind_a == kind_b ? 0 : 1)};
      of_pairs.push_back(kinds_[kind_a]);
      of_pairs.push_back(kinds_[kind_b]);
    }
    queries.push_back(query);
    queries.push_back({query.beside, query.of});
  }
  const std::vector<SpeedPrediction> all = model_->predict(few ? of_pairs : kinds_, queries);
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    remembered_[pairs[p]] = {believed(all[2 * p], all[2 * p + 1])};
  }
}

/// A policy mostly asks for the pairs that it asked for before the model changed: those of the jobs that still
/// wait. If it asks for others, all follow.
void ModelBelief::predict_around(const KindPair& pair) const {
  if (kinds_.size() > kFewKinds) return predict({pair});
  if (remembered_.empty() && std::binary_search(asked_before_.begin(), asked_before_.end(), pair)) {
    return predict(asked_before_);
  }
  std::vector<KindPair> rest;
  for (std::size_t a = 0; a < kinds_.size(); ++a) {
    for (std::size_t b = a; b < kinds_.size(); ++b) {
      if (!remembered_.contains({a, b})) rest.emplace_back(a, b);
    }
  }
  predict(rest);
}

void ModelBelief::forget() {
  std::vector<KindPair> asked;
  for (const auto& [pair, of] : remembered_) {
    if (of.asked) asked.push_back(pair);
  }
  if (!asked.empty()) asked_before_ = std::move(asked);
  remembered_.clear();
}

ModelBelief::Speeds ModelBelief::believed(const SpeedPrediction& a, const SpeedPrediction& b) {
  return {{a.speed, a.sd, 1 / a.speed}, {b.speed, b.sd, 1 / b.speed}};
}

ModelBelief::Speeds ModelBelief::speeds(std::size_t kind_a, std::size_t kind_b) const {
  const KindPair pair = std::minmax(kind_a, kind_b);
  auto at = remembered_.find(pair);
  if (at == remembered_.end()) {
    predict_around(pair);
    at = remembered_.find(pair);
  }
  at->second.asked = true;
  const Speeds& s = at->second.speeds;
  return kind_a <= kind_b ? s : Speeds{s.b, s.a};
}

ModelBelief::Solos ModelBelief::solos(JobId a, JobId b) const {
  const auto& solo_a = jobs_[index(a)].estimate;
  const auto& solo_b = jobs_[index(b)].estimate;
  if (!solo_a || !solo_b) return {};
  return {to_seconds(*solo_a), to_seconds(*solo_b)};
}

PairBelief ModelBelief::pair(JobId a, JobId b) const {
  if (!model_) return {0, 0, 0, false};
  const Speeds s = speeds(kind_[index(a)], kind_[index(b)]);
  const Solos solo = solos(a, b);
  return believed_cost(solo_time(solo.a), solo_time(solo.b), at_most_1(s.a), at_most_1(s.b));
}

std::vector<CoRunner> ModelBelief::top_co_runners(const CoRunnerSearch& search,
                                                  const CostRule& rule) const {
  if (!model_) return Belief::top_co_runners(search, rule);
  const std::span<const JobId> jobs = search.jobs;
  // Only the kinds of these jobs.
  constexpr std::uint32_t kNone = ~std::uint32_t{0};
  std::vector<std::uint32_t> place(kinds_.size(), kNone);
  std::vector<PairJob> kinds;
  std::vector<std::uint32_t> kind_of;
  std::vector<double> solo_s;
  kind_of.reserve(jobs.size());
  solo_s.reserve(jobs.size());
  for (const JobId job : jobs) {
    std::uint32_t& at = place[kind_[index(job)]];
    if (at == kNone) {
      at = static_cast<std::uint32_t>(kinds.size());
      kinds.push_back(kinds_[kind_[index(job)]]);
    }
    kind_of.push_back(at);
    const auto& estimate = jobs_[index(job)].estimate;
    solo_s.push_back(estimate ? to_seconds(*estimate) : std::numeric_limits<double>::quiet_NaN());
  }
  return PairScorer(*model_, kinds, kind_of, solo_s, prior_->scoring)
      .top_co_runners(rule, {search.k, search.rows, search.prices});
}

PairBelief ModelBelief::sampled_pair(JobId a, JobId b, std::uint64_t draw) const {
  PairBelief out = pair(a, b);
  if (!model_) return out;
  const std::array pairs{PairQuery{kind_[index(a)], kind_[index(b)]},
                         PairQuery{kind_[index(b)], kind_[index(a)]}};
  const std::vector<double> drawn = model_->sample(kinds_, pairs, draw);
  const Solos solo = solos(a, b);
  const PairCost sampled =
      pair_cost(solo.a, solo.b, std::min(1.0, drawn[0]), std::min(1.0, drawn[1]));
  out.isd_a = sampled.isd_a;
  out.isd_b = sampled.isd_b;
  out.ps = sampled.ps;
  return out;
}

void ModelBelief::learn(const EpisodeOutcome& outcome) {
  if (!outcome.is_pair() || !outcome.together) return;
  CorunMeasurement row;
  row.source = "a finished co-run";
  for (const MemberOutcome& m : outcome.members) {
    CorunMember member;
    member.solo_s = to_seconds(m.solo);
    member.corun_s = to_seconds(m.corun);
    if (!(member.solo_s > 0) || !(member.corun_s > 0)) return;
    row.members.push_back(member);
  }
  std::vector<double> excess;
  try {
    excess = overlap_excess(row);
  } catch (const InputError&) {
    return;  // times rounded to a scheduler's tick may fit no speeds
  }
  learn_probe({outcome.members[0].job, outcome.members[1].job, 1 / (1 + excess[0]),
               1 / (1 + excess[1]), outcome.end});
}

void ModelBelief::learn_probe(const ProbeOutcome& outcome) {
  const std::size_t kind_a = kind_[index(outcome.a)];
  const std::size_t kind_b = kind_[index(outcome.b)];
  table_.rows.push_back({row_[kind_a], row_[kind_b], outcome.speed_a, outcome.speed_b});
  const std::size_t grown = table_.rows.size() - fitted_rows_;
  if (prior_->entry != nullptr && grown >= std::max(kFewestNewRows, fitted_rows_ / 2)) {
    model_ = prior_->entry->fit(table_, prior_->options);
    learning_.reset();
    fitted_rows_ = table_.rows.size();
    ++refits_;
  } else if (model_ && model_->learns()) {
    if (!learning_) model_ = learning_ = model_->clone();
    learning_->learn(kinds_[kind_a], kinds_[kind_b], outcome.speed_a, outcome.speed_b);
  } else {
    return;
  }
  forget();
}

}  // namespace corun::inline models
