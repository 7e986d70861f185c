#include "models/interference/low_rank.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include <Eigen/Dense>

#include "models/interference/fits/effort.hpp"
#include "models/interference/fits/refuse.hpp"
#include "models/model_state.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

namespace {

constexpr const char* kLowRank = "low rank";
constexpr int kSweeps = 25;
/// Sweeps over the two jobs of a learnt co-run.
constexpr int kSweepsToLearn = 3;
/// Ridges, in observations: each effect and each factor counts as this many of 0.
constexpr double kEffectRidge = 0.3;
constexpr double kFactorRidge = 1;
/// Standard deviation of the factors that a start draws.
constexpr double kStartDeviation = 0.5;

}  // namespace

LowRank::LowRank(std::span<const Observation> observations, std::size_t jobs,
                 const FitOptions& options)
    : of_(jobs), beside_(jobs) {
  for (const Observation& o : observations) see(o);
  const auto n = static_cast<double>(observations_.size());
  for (const Observation& o : observations_) mean_ += o.log_slowdown / n;
  double square = 0;
  for (const Observation& o : observations_) {
    square += (o.log_slowdown - mean_) * (o.log_slowdown - mean_) / n;
  }
  deviation_ = std::max(kLeastSlownessDeviation, std::sqrt(square));
  slowed_.assign((jobs + 1) * kAll, 0);
  co_runner_.assign((jobs + 1) * kAll, 0);
  for (std::size_t job = 0; job < jobs; ++job) {
    Rng rng(options.seed, Stream::kLowRank, job);
    for (std::size_t c = 0; c < kAll; ++c) {
      if (c % kOne != 0) co_runner_[job * kAll + c] = kStartDeviation * rng.normal();
    }
  }
  const int sweeps = steps_at(options.effort, kSweeps, kSweepsToLearn);
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    for (const bool slowed : {true, false}) {
      for (std::size_t job = 0; job < jobs; ++job) {
        for (std::size_t start = 0; start < kStarts; ++start) solve(job, start, slowed);
      }
    }
  }
  average();
}

void LowRank::see(const Observation& o) {
  const auto position = static_cast<std::uint32_t>(observations_.size());
  of_[o.of].push_back(position);
  beside_[o.beside].push_back(position);
  observations_.push_back(o);
}

void LowRank::solve(std::size_t job, std::size_t start, bool slowed) {
  constexpr int kSize = kOne;
  using Vector = Eigen::Matrix<double, kSize, 1>;
  Eigen::Matrix<double, kSize, kSize> normal;
  normal.setZero();
  normal.diagonal().setConstant(kFactorRidge);
  normal(0, 0) = kEffectRidge;
  Vector right = Vector::Zero();
  const std::vector<double>& given = slowed ? co_runner_ : slowed_;
  for (const std::uint32_t at : (slowed ? of_ : beside_)[job]) {
    const Observation& o = observations_[at];
    const std::size_t other = slowed ? o.beside : o.of;
    Vector x = Eigen::Map<const Vector>(given.data() + other * kAll + start * kOne);
    const double target = (o.log_slowdown - mean_) / deviation_ - x(0);
    x(0) = 1;
    normal.noalias() += x * x.transpose();
    right += target * x;
  }
  std::vector<double>& solved = slowed ? slowed_ : co_runner_;
  Eigen::Map<Vector>(solved.data() + job * kAll + start * kOne) = normal.llt().solve(right);
}

/// Gives every job without observations, and the entry for unseen jobs, the mean over the jobs with
/// observations.
void LowRank::average() {
  const std::size_t jobs = of_.size();
  for (auto [values, seen] : {std::pair{&slowed_, &of_}, {&co_runner_, &beside_}}) {
    std::array<double, kAll> sum{};
    double count = 0;
    for (std::size_t job = 0; job < jobs; ++job) {
      if ((*seen)[job].empty()) continue;
      count += 1;
      for (std::size_t c = 0; c < kAll; ++c) sum[c] += (*values)[job * kAll + c];
    }
    for (double& c : sum) c /= count;
    for (std::size_t job = 0; job <= jobs; ++job) {
      if (job < jobs && !(*seen)[job].empty()) continue;
      std::copy(sum.begin(), sum.end(), values->begin() + static_cast<std::ptrdiff_t>(job * kAll));
    }
  }
}

double LowRank::log_slowdown(std::size_t of, std::size_t beside) const {
  const double* const slowed = slowed_.data() + of * kAll;
  const double* const co_runner = co_runner_.data() + beside * kAll;
  double sum = 0;
  for (std::size_t start = 0; start < kStarts; ++start) {
    const std::size_t c = start * kOne;
    sum += slowed[c] + co_runner[c];
    for (std::size_t k = 1; k < kOne; ++k) sum += slowed[c + k] * co_runner[c + k];
  }
  return mean_ + deviation_ * sum / static_cast<double>(kStarts);
}

LowRank LowRank::fit(const SpeedTable& table, const FitOptions& options) {
  std::vector<Observation> all = observations_of(table, kLowRank);
  const std::size_t jobs = table.jobs.size();
  const Holdout holdout(table, options.seed);
  std::vector<HeldOut> held_out;
  for (std::size_t number = 0; number < Holdout::kCount; ++number) {
    std::vector<Observation> train;
    std::vector<Observation> test;
    for (const Observation& o : all) (holdout.held(number, o) ? test : train).push_back(o);
    if (train.empty()) continue;
    const LowRank without(train, jobs, options);
    for (const Observation& o : test) {
      const auto unknown = [&](std::size_t j) {
        return without.of_[j].empty() && without.beside_[j].empty() ? 1U : 0U;
      };
      held_out.push_back({unknown(o.of) + unknown(o.beside), without.log_slowdown(o.of, o.beside),
                          o.log_slowdown});
    }
  }
  // Jobs without a measurement are not part of the model.
  constexpr std::uint32_t kNowhere = 0xffffffffU;
  std::vector<std::uint32_t> place(jobs, kNowhere);
  for (const Observation& o : all) place[o.of] = place[o.beside] = 0;
  std::vector<WorkloadKey> seen;
  for (std::size_t j = 0; j < jobs; ++j) {
    if (place[j] == kNowhere) continue;
    place[j] = static_cast<std::uint32_t>(seen.size());
    seen.push_back(table.jobs[j]);
  }
  for (Observation& o : all) o = {place[o.of], place[o.beside], 0, o.log_slowdown};
  LowRank model(all, seen.size(), options);
  model.features_ = table.features;
  model.workloads_ = std::move(seen);
  model.index_ = JobIndex(model.workloads_, kLowRank);
  model.spreads_ = Spreads(held_out);
  model.sigma_ = excess_scatter_of(held_out);
  model.set_effort(options.effort);
  return model;
}

std::unique_ptr<InterferenceModel> LowRank::clone() const {
  return std::make_unique<LowRank>(*this);
}

std::vector<SpeedPrediction> LowRank::predict(std::span<const PairJob> jobs,
                                              std::span<const PairQuery> pairs) const {
  std::vector<std::size_t> place;
  for (const PairJob& job : jobs) {
    const auto at = index_.find(job.workload);
    if (!at) check_features(job.features, features_, kLowRank);
    place.push_back(at.value_or(workloads_.size()));
  }
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    if (i >= jobs.size() || j >= jobs.size())
      refuse(kLowRank, "a pair is of a job that is not there");
    const auto unknown = [&](std::size_t p) { return p == workloads_.size() ? 1U : 0U; };
    out.push_back(
        spreads_.around(log_slowdown(place[i], place[j]), unknown(place[i]) + unknown(place[j])));
  }
  return out;
}

void LowRank::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  if (a.workload == kUnknownWorkload || b.workload == kUnknownWorkload) return;
  for (const PairJob& job : {a, b}) {
    if (!index_.find(job.workload)) check_features(job.features, features_, kLowRank);
  }
  // observations_of() a table of these two jobs checks the speeds and gives the directions to learn.
  SpeedTable two;
  two.jobs = {a.workload};
  if (b.workload != a.workload) two.jobs.push_back(b.workload);
  two.rows = {{0, static_cast<std::uint32_t>(two.jobs.size() - 1), speed_a, speed_b}};
  if (std::isnan(speed_a) && std::isnan(speed_b)) return;
  const std::vector<Observation> seen = observations_of(two, kLowRank);
  std::vector<std::uint32_t> place;
  for (const WorkloadKey key : two.jobs) {
    auto at = index_.find(key);
    if (!at) {
      at = workloads_.size();
      index_.add(key, *at);
      workloads_.push_back(key);
      of_.emplace_back();
      beside_.emplace_back();
      for (std::vector<double>* values :
           {&slowed_, &co_runner_}) {  // starts as the mean, which is last
        const std::vector<double> mean(values->end() - static_cast<std::ptrdiff_t>(kAll),
                                       values->end());
        values->insert(values->end(), mean.begin(), mean.end());
      }
    }
    place.push_back(static_cast<std::uint32_t>(*at));
  }
  for (const Observation& o : seen) see({place[o.of], place[o.beside], 0, o.log_slowdown});
  for (int sweep = 0; sweep < kSweepsToLearn; ++sweep) {
    for (const bool slowed : {true, false}) {
      for (const std::uint32_t job : place) {
        if ((slowed ? of_ : beside_)[job].empty()) continue;
        for (std::size_t start = 0; start < kStarts; ++start) solve(job, start, slowed);
      }
    }
  }
  average();
}

nlohmann::json LowRank::save() const {
  using model_state::packed;
  std::vector<std::int32_t> of;
  std::vector<std::int32_t> beside;
  std::vector<double> log_slowdowns;
  for (const Observation& o : observations_) {
    of.push_back(static_cast<std::int32_t>(o.of));
    beside.push_back(static_cast<std::int32_t>(o.beside));
    log_slowdowns.push_back(o.log_slowdown);
  }
  return {{"of", packed(of)},
          {"beside", packed(beside)},
          {"slownesses", packed(log_slowdowns)},
          {"level", packed(std::vector{mean_, deviation_, sigma_})},
          {"own", packed(slowed_)},
          {"partner", packed(co_runner_)},
          {"spreads", spreads_.save()}};
}

LowRank LowRank::load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                      std::vector<WorkloadKey> workloads) {
  /// Far beyond what ridges allow; products of two stay finite.
  constexpr double kMostFactor = 1e6;
  model_state::map_of(state, 7, kLowRank);
  LowRank model;
  model.features_ = std::move(features);
  model.workloads_ = std::move(workloads);
  model.index_ = JobIndex(model.workloads_, kLowRank);
  const std::size_t jobs = model.workloads_.size();
  const auto of = model_state::integers(state, "of");
  const auto beside = model_state::integers(state, "beside");
  const auto log_slowdowns = model_state::finite_doubles(state, "slownesses", of.size());
  if (beside.size() != of.size() || of.empty()) refuse(kLowRank, "observations are incomplete");
  model.of_.resize(jobs);
  model.beside_.resize(jobs);
  for (std::size_t n = 0; n < of.size(); ++n) {
    const auto there = [&](std::int32_t j) { return j >= 0 && static_cast<std::size_t>(j) < jobs; };
    if (!there(of[n]) || !there(beside[n]) || std::fabs(log_slowdowns[n]) > kMostSlowness) {
      refuse(kLowRank, "an observation is not possible");
    }
    model.see({static_cast<std::uint32_t>(of[n]), static_cast<std::uint32_t>(beside[n]), 0,
               log_slowdowns[n]});
  }
  const auto level = model_state::finite_doubles(state, "level", 3);
  model.mean_ = level[0];
  model.deviation_ = level[1];
  model.sigma_ = level[2];
  if (std::fabs(model.mean_) > kMostSlowness || !(model.deviation_ >= kLeastSlownessDeviation) ||
      model.deviation_ > kMostSlowness || model.sigma_ < 0) {
    refuse(kLowRank, "a mean or a deviation is not possible");
  }
  for (auto [values, key] : {std::pair{&model.slowed_, "own"}, {&model.co_runner_, "partner"}}) {
    *values = model_state::finite_doubles(state, key, (jobs + 1) * kAll);
    for (const double x : *values) {
      if (std::fabs(x) > kMostFactor) refuse(kLowRank, "a factor is not possible");
    }
  }
  const auto spreads = state.find("spreads");
  if (spreads == state.end()) refuse(kLowRank, "there are no 'spreads'");
  model.spreads_ = Spreads::load(*spreads);
  return model;
}

}  // namespace corun::inline models
