#include "models/interference/lookup.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/interference/fits/refuse.hpp"
#include "models/interference/fits/residual_spread.hpp"
#include "models/model_state.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"
#include "sim/base/summary.hpp"

namespace corun::inline models {

namespace {

constexpr const char* kLookup = "lookup";
constexpr double kPriorDeviation = 0.05;
constexpr double kPriorRepeats = 4;

std::uint64_t directed(std::size_t of, std::size_t beside) {
  return static_cast<std::uint64_t>(of) << 32U | beside;
}

}  // namespace

void Lookup::add(const Observation& o) {
  observations_.push_back({o.of, o.beside, 0, o.log_slowdown});
  // Welford's update of mean and squares.
  Mean& mean = means_[directed(o.of, o.beside)];
  const double off = o.log_slowdown - mean.log_slowdown;
  mean.count += 1;
  mean.log_slowdown += off / mean.count;
  if (mean.count > 1) {
    squares_ += off * (o.log_slowdown - mean.log_slowdown);
    freedom_ += 1;
  }
  const double speed = speed_of(o.log_slowdown);
  speeds_.insert(std::upper_bound(speeds_.begin(), speeds_.end(), speed), speed);
}

double Lookup::deviation() const {
  return std::sqrt((kPriorRepeats * kPriorDeviation * kPriorDeviation + squares_) /
                   (kPriorRepeats + freedom_));
}

Lookup Lookup::fit(const SpeedTable& table, const FitOptions&) {
  Lookup model;
  model.features_ = table.features;
  model.workloads_ = table.jobs;
  model.index_ = JobIndex(model.workloads_, kLookup);
  for (const Observation& o : observations_of(table, kLookup)) model.add(o);
  return model;
}

std::unique_ptr<InterferenceModel> Lookup::clone() const { return std::make_unique<Lookup>(*this); }

std::vector<SpeedPrediction> Lookup::predict(std::span<const PairJob> jobs,
                                             std::span<const PairQuery> pairs) const {
  std::vector<std::size_t> place;
  for (const PairJob& job : jobs) {
    const auto at = index_.find(job.workload);
    if (!at) check_features(job.features, features_, kLookup);
    place.push_back(at.value_or(workloads_.size()));
  }
  // A pair without a measurement: the median, with the spread of all speeds around it.
  const double median = -math::log(quantile(speeds_, 0.5));
  std::vector<double> residuals;
  for (const Observation& o : observations_) residuals.push_back(o.log_slowdown - median);
  const SpeedPrediction any = ResidualSpread::of(residuals).around(speed_of(median));
  const double s = deviation();

  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    if (i >= jobs.size() || j >= jobs.size())
      refuse(kLookup, "a pair is of a job that is not there");
    const auto at = means_.find(directed(place[i], place[j]));
    if (at == means_.end()) {
      out.push_back(any);
      continue;
    }
    const Mean& measured = at->second;
    const double sd = s * std::sqrt(1 + 1 / measured.count);
    const double speed = speed_of(measured.log_slowdown);
    out.push_back({speed, speed * sd, speed_of(measured.log_slowdown + kHalfWidth90Rounded * sd),
                   speed_of(measured.log_slowdown - kHalfWidth90Rounded * sd)});
  }
  return out;
}

double Lookup::residual_sigma() const {
  // As excess_scatter(), for single measurements that deviate from their means by deviation().
  double error = 0;
  double scale = 0;
  for (const Observation& o : observations_) {
    const double speed = std::min(1.0, speed_of(means_.at(directed(o.of, o.beside)).log_slowdown));
    error += deviation() * deviation();
    scale += (1 - speed) * (1 - speed);
  }
  return scale > 0 ? std::sqrt(math::log1p(error / scale)) : 0;
}

void Lookup::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  if (a.workload == kUnknownWorkload || b.workload == kUnknownWorkload) return;
  for (const PairJob& job : {a, b}) {
    if (!index_.find(job.workload)) check_features(job.features, features_, kLookup);
  }
  if (std::isnan(speed_a) && std::isnan(speed_b)) return;
  // observations_of() a table of these two jobs checks the speeds and gives the directions to learn.
  SpeedTable two;
  two.jobs = {a.workload};
  if (b.workload != a.workload) two.jobs.push_back(b.workload);
  two.rows = {{0, static_cast<std::uint32_t>(two.jobs.size() - 1), speed_a, speed_b}};
  const std::vector<Observation> seen = observations_of(two, kLookup);
  std::vector<std::uint32_t> place;
  for (const WorkloadKey key : two.jobs) {
    if (!index_.find(key)) {
      index_.add(key, workloads_.size());
      workloads_.push_back(key);
    }
    place.push_back(static_cast<std::uint32_t>(*index_.find(key)));
  }
  for (const Observation& o : seen) add({place[o.of], place[o.beside], 0, o.log_slowdown});
}

nlohmann::json Lookup::save() const {
  std::vector<std::int32_t> of;
  std::vector<std::int32_t> beside;
  std::vector<double> log_slowdowns;
  for (const Observation& o : observations_) {
    of.push_back(static_cast<std::int32_t>(o.of));
    beside.push_back(static_cast<std::int32_t>(o.beside));
    log_slowdowns.push_back(o.log_slowdown);
  }
  return {{"of", model_state::packed(of)},
          {"beside", model_state::packed(beside)},
          {"slownesses", model_state::packed(log_slowdowns)}};
}

Lookup Lookup::load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                    std::vector<WorkloadKey> workloads) {
  model_state::map_of(state, 3, kLookup);
  Lookup model;
  model.features_ = std::move(features);
  model.workloads_ = std::move(workloads);
  model.index_ = JobIndex(model.workloads_, kLookup);
  const auto of = model_state::integers(state, "of");
  const auto beside = model_state::integers(state, "beside");
  const auto log_slowdowns = model_state::finite_doubles(state, "slownesses", of.size());
  if (beside.size() != of.size() || of.empty()) refuse(kLookup, "measurements are incomplete");
  const auto there = [&](std::int32_t j) {
    return j >= 0 && static_cast<std::size_t>(j) < model.workloads_.size();
  };
  for (std::size_t n = 0; n < of.size(); ++n) {
    if (!there(of[n]) || !there(beside[n]) || std::fabs(log_slowdowns[n]) > kMostSlowness) {
      refuse(kLookup, "a measurement is not possible");
    }
    model.add({static_cast<std::uint32_t>(of[n]), static_cast<std::uint32_t>(beside[n]), 0,
               log_slowdowns[n]});
  }
  return model;
}

}  // namespace corun::inline models
