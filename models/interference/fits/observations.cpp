#include "models/interference/fits/observations.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/model_state.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

namespace {

/// Half-width of a 90 % interval of t: the least, and the one for fewer than twenty held-out predictions.
constexpr double kLeastHalfWidth = 0.01;
constexpr double kPriorHalfWidth = 0.5;

}  // namespace

void check_table(const SpeedTable& table, const char* what) {
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument(std::string(what) + ": " + why);
  };
  if (table.values.size() != table.jobs.size() * table.features.size()) {
    refuse("values are not jobs x features");
  }
  if (!table.families.empty() && table.families.size() != table.jobs.size()) {
    refuse("families are not one per job");
  }
  const JobIndex all_different(table.jobs, what);
  for (const SpeedTable::Row& row : table.rows) {
    if (row.a >= table.jobs.size() || row.b >= table.jobs.size()) {
      refuse("a row is of a job that is not there");
    }
    for (const double speed : {row.speed_a, row.speed_b}) {
      if (!std::isnan(speed) && (!(speed > 0) || !std::isfinite(speed))) {
        refuse("a speed is not above 0 and finite");
      }
    }
  }
}

std::vector<Observation> observations_of(const SpeedTable& table, const char* what) {
  check_table(table, what);
  std::vector<Observation> out;
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    const SpeedTable::Row& row = table.rows[r];
    const auto add = [&](std::uint32_t of, std::uint32_t beside, double speed) {
      if (std::isnan(speed)) return;
      out.push_back({of, beside, static_cast<std::uint32_t>(r), -math::log(speed)});
    };
    if (row.a == row.b && !std::isnan(row.speed_a) && !std::isnan(row.speed_b)) {
      add(row.a, row.b, row.speed_a / 2 + row.speed_b / 2);
    } else {
      add(row.a, row.b, row.speed_a);
      add(row.b, row.a, row.speed_b);
    }
  }
  if (out.empty()) throw std::invalid_argument(std::string(what) + ": no measured speed");
  return out;
}

double scaled_feature(double value, FeatureScale scale, const char* what) {
  constexpr double kLargest = 1e100;  // larger ones would overflow when squared
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument(std::string(what) + ": " + why);
  };
  if (std::isnan(value)) return value;
  if (std::fabs(value) > kLargest) refuse("a feature is infinite or beyond 1e100");
  if (scale == FeatureScale::kLinear) return value;
  if (!(value > 0)) refuse("a feature on a log scale is not above 0");
  return math::log(value);
}

std::vector<double> expand_features(std::span<const double> values,
                                    std::span<const SpeedTable::Feature> features,
                                    const char* what) {
  if (values.size() != features.size()) {
    throw std::invalid_argument(std::string(what) + ": a job has " + std::to_string(values.size()) +
                                " features, the model " + std::to_string(features.size()));
  }
  std::vector<double> out;
  std::vector<double> logs;
  for (std::size_t f = 0; f < values.size(); ++f) {
    out.push_back(scaled_feature(values[f], features[f].scale, what));
    if (features[f].scale == FeatureScale::kLog) logs.push_back(out.back());
  }
  for (std::size_t i = 0; i < logs.size(); ++i) {
    for (std::size_t j = i + 1; j < logs.size(); ++j) out.push_back(logs[i] - logs[j]);
  }
  return out;
}

std::size_t expanded_width(std::span<const SpeedTable::Feature> features) {
  const auto logs = static_cast<std::size_t>(
      std::ranges::count(features, FeatureScale::kLog, &SpeedTable::Feature::scale));
  return features.size() + (logs > 0 ? logs * (logs - 1) / 2 : 0);
}

void check_features(std::span<const double> values, std::span<const SpeedTable::Feature> features,
                    const char* what) {
  const auto refuse = [&](const char* why) {
    throw std::invalid_argument(std::string(what) + ": " + why);
  };
  if (values.size() != features.size()) {
    refuse("a job has another number of features than the model");
  }
  for (std::size_t f = 0; f < values.size(); ++f) {
    if (std::isinf(values[f])) refuse("a feature is infinite");
    if (features[f].scale == FeatureScale::kLog && values[f] <= 0) {
      refuse("a feature on a log scale is not above 0");
    }
  }
}

Holdout::Holdout(const SpeedTable& table, std::uint64_t seed) {
  const auto deal = [&](std::size_t count, std::uint64_t entity) {
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), 0);
    Rng rng(seed, Stream::kFolds, entity);
    rng.shuffle(std::span(order));
    std::vector<std::size_t> fold(count);
    for (std::size_t i = 0; i < count; ++i) fold[order[i]] = i % kFolds;
    return fold;
  };
  // A pair that was measured again is one pair.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> pairs;
  std::vector<std::size_t> pair_of;
  for (const SpeedTable::Row& row : table.rows) {
    pair_of.push_back(pairs.emplace(std::minmax(row.a, row.b), pairs.size()).first->second);
  }
  const std::vector<std::size_t> pair_fold = deal(pairs.size(), 1);
  for (const std::size_t pair : pair_of) row_fold_.push_back(pair_fold[pair]);
  job_fold_ = deal(table.jobs.size(), 2);
}

bool Holdout::held(std::size_t number, const Observation& o) const {
  if (number < kFolds) return row_fold_[o.row] == number;
  return unknown(number, o.of) || unknown(number, o.beside);
}

bool Holdout::unknown(std::size_t number, std::size_t job) const {
  return number >= kFolds && job_fold_[job] == number - kFolds;
}

JobIndex::JobIndex(std::span<const WorkloadKey> jobs, const char* what) {
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    if (jobs[j] != kUnknownWorkload && !position_.emplace(jobs[j], j).second) {
      throw std::invalid_argument(std::string(what) + ": a workload is listed twice");
    }
  }
}

std::optional<std::size_t> JobIndex::find(WorkloadKey key) const {
  const auto at = position_.find(key);
  if (at == position_.end()) return std::nullopt;
  return at->second;
}

double speed_of(double log_slowdown) {
  constexpr double kLargestExponent = 300;
  return math::exp(-std::clamp(log_slowdown, -kLargestExponent, kLargestExponent));
}

SpeedPrediction normal_around(double log_slowdown, double deviation) {
  const double speed = std::min(speed_of(log_slowdown), kFastest);
  return {speed, std::min(speed * deviation, 1.0),
          std::min(speed_of(log_slowdown + kHalfWidth90 * deviation), speed),
          speed_of(log_slowdown - kHalfWidth90 * deviation)};
}

double deviation_of(const SpeedPrediction& prediction) {
  return (math::log(prediction.hi) - math::log(prediction.lo)) / (2 * kHalfWidth90);
}

Spreads::Spreads(std::span<const HeldOut> held_out) {
  /// A smaller group also takes in the group of pairs with one unseen job less.
  constexpr std::size_t kEnough = 40;
  constexpr std::size_t kMostKnots = 4;
  std::vector<HeldOut> group;
  for (std::size_t u = 0; u < knots_.size(); ++u) {
    std::vector<HeldOut> selected;
    for (const HeldOut& h : held_out) {
      if (h.unknown == u) selected.push_back(h);
    }
    if (selected.size() < kEnough) selected.insert(selected.end(), group.begin(), group.end());
    group = std::move(selected);
    std::stable_sort(group.begin(), group.end(),
                     [](const HeldOut& a, const HeldOut& b) { return a.predicted < b.predicted; });
    const std::size_t knots = std::clamp<std::size_t>(group.size() / kEnough, 1, kMostKnots);
    for (std::size_t k = 0; k < knots; ++k) {
      const std::size_t from = group.size() * k / knots;
      const std::size_t to = group.size() * (k + 1) / knots;
      const auto n = static_cast<double>(to - from);
      Knot knot;
      std::vector<double> off;
      for (std::size_t h = from; h < to; ++h) {
        off.push_back(group[h].measured - group[h].predicted);
        knot.at += group[h].predicted / n;
        knot.sd += off.back() * off.back() / n;
      }
      std::sort(off.begin(), off.end());
      // The k-th smallest and largest of n leave out a share of k / (n + 1) of new values.
      const auto tail = static_cast<std::size_t>(0.05 * (n + 1));
      const bool enough = tail > 0;
      knot.sd = std::max(std::sqrt(knot.sd), enough ? kLeastHalfWidth / kHalfWidth90Rounded
                                                    : kPriorHalfWidth / kHalfWidth90Rounded);
      knot.below = -(enough ? kLeastHalfWidth : kPriorHalfWidth);
      knot.above = -knot.below;
      if (!off.empty()) {
        const std::size_t skip = enough ? tail - 1 : 0;
        knot.below = std::min(knot.below, off[skip]);
        knot.above = std::max(knot.above, off[off.size() - 1 - skip]);
      }
      knots_[u].push_back(knot);
    }
  }
}

SpeedPrediction Spreads::around(double log_slowdown, std::size_t unknown) const {
  const std::vector<Knot>& knots = knots_[unknown];
  const Knot here = trees::knot_at(knots.data(), knots.size(), log_slowdown);
  const double speed = speed_of_log_slowdown(log_slowdown);
  return {speed, speed * here.sd, speed_of_log_slowdown(log_slowdown + here.above),
          speed_of_log_slowdown(log_slowdown + here.below)};
}

nlohmann::json Spreads::save() const {
  nlohmann::json out = nlohmann::json::array();
  for (const std::vector<Knot>& knots : knots_) {
    std::vector<double> flat;
    for (const Knot& k : knots) flat.insert(flat.end(), {k.at, k.below, k.above, k.sd});
    out.push_back({{"knots", model_state::packed(flat)}});
  }
  return out;
}

Spreads Spreads::load(const nlohmann::json& state) {
  const auto refuse = [](const char* why) { throw std::invalid_argument(why); };
  Spreads out;
  if (model_state::list_of(state, "spreads").size() != out.knots_.size()) {
    refuse("'spreads' are not three");
  }
  for (std::size_t u = 0; u < out.knots_.size(); ++u) {
    const std::vector<double> flat =
        model_state::doubles(model_state::map_of(state[u], 1, "spread"), "knots");
    if (flat.empty() || flat.size() % 4 != 0) refuse("'knots' are not of four numbers each");
    for (std::size_t n = 0; n < flat.size(); n += 4) {
      const Knot k{flat[n], flat[n + 1], flat[n + 2], flat[n + 3]};
      const auto possible = [](double x) { return std::fabs(x) <= kMostSlowness; };
      if (!possible(k.at) || !possible(k.below) || !possible(k.above) || !possible(k.sd) ||
          k.below > 0 || k.above < 0 || k.sd < 0 || (n > 0 && k.at < out.knots_[u].back().at)) {
        refuse("a spread is not possible");
      }
      out.knots_[u].push_back(k);
    }
  }
  return out;
}

double excess_scatter_of(std::span<const HeldOut> held_out) {
  double error = 0;
  double scale = 0;
  for (const HeldOut& h : held_out) {
    if (h.unknown > 0) continue;
    const double speed = speed_of(h.measured);
    const double weight = std::min(1.0, speed);
    const double level = weight * (1 / std::min(1.0, speed_of(h.predicted)) - 1);
    const double off = weight * (1 / speed - 1) - level;
    error += off * off;
    scale += level * level;
  }
  return scale > 0 ? std::sqrt(math::log1p(error / scale)) : 0;
}

}  // namespace corun::inline models
