#include "models/interference/ensemble.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <future>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "models/interference/boosted_trees.hpp"
#include "models/interference/factor_model.hpp"
#include "models/interference/gp_model.hpp"
#include "models/interference/model_state.hpp"
#include "models/interference/observations.hpp"
#include "sim/base/half_width.hpp"
#include "sim/base/math.hpp"

namespace corun {

namespace {

/// The least deviation of t that a member counts with.
constexpr double kLeastDeviation = 0.01;

}  // namespace

EnsembleModel::EnsembleModel() {
  for (auto& remembered : remembered_) remembered = std::make_shared<RememberedPredictions>();
}

EnsembleModel::EnsembleModel(const EnsembleModel& other)
    : InterferenceModel(other),
      members_(other.members_),
      remembered_(other.remembered_),
      workloads_(other.workloads_),
      places_(other.places_),
      seen_(other.seen_),
      novelty_(other.novelty_),
      sigma_(other.sigma_),
      has_learnt_(other.has_learnt_) {
  for (auto& member : members_) {
    if (member->learns()) member = member->clone();
  }
}

EnsembleModel EnsembleModel::of(
    const std::array<std::shared_ptr<InterferenceModel>, kMembers>& members,
    const SpeedTable& table) {
  EnsembleModel model;
  for (std::size_t m = 0; m < kMembers; ++m) {
    model.members_[m] = members[m]->learns() ? members[m]->clone() : members[m];
  }
  model.list_workloads();
  model.novelty_ = Novelty(table);
  model.sigma_ = excess_scatter(model, table);
  return model;
}

EnsembleModel EnsembleModel::fit(const SpeedTable& table, const FitOptions& options) {
  const std::array<std::function<std::unique_ptr<InterferenceModel>()>, kMembers> fits{
      [&] {
        FactorOptions factors;
        factors.seed = options.seed;
        factors.threads = options.threads;
        return std::make_unique<FactorModel>(FactorModel::fit(table, factors));
      },
      [&] { return std::make_unique<GpModel>(GpModel::fit(table, options)); },
      [&] { return std::make_unique<BoostedTrees>(BoostedTrees::fit(table, options)); }};
  const auto policy = options.threads > 1 ? std::launch::async : std::launch::deferred;
  std::array<std::future<std::unique_ptr<InterferenceModel>>, kMembers> running;
  for (std::size_t m = 0; m < kMembers; ++m) running[m] = std::async(policy, fits[m]);
  std::array<std::shared_ptr<InterferenceModel>, kMembers> members;
  for (std::size_t m = 0; m < kMembers; ++m) members[m] = running[m].get();
  return of(members, table);
}

void EnsembleModel::list_workloads() {
  std::unordered_map<WorkloadKey, std::int32_t> place;
  for (std::size_t i = 0; i < workloads_.size(); ++i) {
    place.emplace(workloads_[i], static_cast<std::int32_t>(i));
  }
  for (std::size_t m = 0; m < kMembers; ++m) {
    const std::vector<WorkloadKey>& theirs = members_[m]->workloads();
    for (std::size_t i = places_[m].size(); i < theirs.size(); ++i) {
      if (theirs[i] == kUnknownWorkload) {
        places_[m].push_back(-1);
        continue;
      }
      const auto [at, is_new] =
          place.emplace(theirs[i], static_cast<std::int32_t>(workloads_.size()));
      if (is_new) workloads_.push_back(theirs[i]);
      places_[m].push_back(at->second);
    }
  }
  seen_ = members_.front()->workloads();
  std::sort(seen_.begin(), seen_.end());
  while (!seen_.empty() && seen_.back() == kUnknownWorkload) seen_.pop_back();
}

std::vector<SpeedPrediction> EnsembleModel::predict(std::span<const PairJob> jobs,
                                                    std::span<const PairQuery> pairs) const {
  std::vector<const Mix*> mix_by_job;  // the later of two jobs' in the order of kBothSeen, kElse, kFar
  mix_by_job.reserve(jobs.size());
  for (const PairJob& job : jobs) {
    const bool is_seen = std::binary_search(seen_.begin(), seen_.end(), job.workload);
    mix_by_job.push_back(is_seen                                    ? &kBothSeen
                         : novelty_.is_far(job.features, features()) ? &kFar
                                                                     : &kElse);
  }
  const auto mix_of = [&](const PairQuery& pair) -> const Mix& {
    const Mix* const of = mix_by_job[pair.of];
    const Mix* const beside = mix_by_job[pair.beside];
    if (of == &kFar || beside == &kFar) return kFar;
    return of == &kBothSeen ? *beside : *of;
  };
  for (const PairQuery& pair : pairs) {
    if (pair.of >= jobs.size() || pair.beside >= jobs.size()) {
      throw std::invalid_argument("ensemble: a pair is of a job that is not there");
    }
  }
  // Each member predicts only the pairs in which it has a weight.
  std::array<std::vector<SpeedPrediction>, kMembers> said;
  for (std::size_t m = 0; m < kMembers; ++m) {
    std::vector<PairQuery> asked;
    for (const PairQuery& pair : pairs) {
      if (mix_of(pair).weight[m] > 0) asked.push_back(pair);
    }
    said[m] = has_learnt_ && members_[m]->learns()
                  ? members_[m]->predict(jobs, asked)
                  : remembered_[m]->predict(*members_[m], jobs, asked);
  }
  std::array<std::size_t, kMembers> next{};
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const PairQuery& pair : pairs) {
    const Mix& mix = mix_of(pair);
    double t = 0;
    double sureness = 0;
    double variance = 0;
    double sum = 0;
    double squares = 0;
    double asked = 0;
    for (std::size_t m = 0; m < kMembers; ++m) {
      const double weight = mix.weight[m];
      if (weight == 0) continue;
      const SpeedPrediction& p = said[m][next[m]++];
      const double log_slowdown = -math::log(p.speed);
      const double deviation = std::max(kLeastDeviation, deviation_of(p));
      const double counts = mix.by_deviation ? weight / (deviation * deviation) : weight;
      t += counts * log_slowdown;
      sureness += counts;
      variance += mix.spread[m] * deviation * deviation;
      sum += log_slowdown;
      squares += log_slowdown * log_slowdown;
      asked += 1;
    }
    t /= sureness;
    variance += mix.disagreement * std::max(0.0, squares / asked - (sum / asked) * (sum / asked));
    out.push_back(normal_around(t, std::sqrt(variance)));
  }
  return out;
}

std::vector<double> EnsembleModel::sample(std::span<const PairJob> jobs,
                                          std::span<const PairQuery> pairs,
                                          std::uint64_t draw) const {
  const std::vector<SpeedPrediction> expected = predict(jobs, pairs);
  const std::vector<SpeedPrediction> factors = members_.front()->predict(jobs, pairs);
  std::vector<double> drawn = members_.front()->sample(jobs, pairs, draw);
  for (std::size_t q = 0; q < drawn.size(); ++q) {
    drawn[q] =
        speed_of(math::log(factors[q].speed) - math::log(drawn[q]) - math::log(expected[q].speed));
  }
  return drawn;
}

void EnsembleModel::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  has_learnt_ = true;
  for (const auto& member : members_) {
    if (member->learns()) member->learn(a, b, speed_a, speed_b);
  }
  list_workloads();
}

nlohmann::json EnsembleModel::save() const {
  nlohmann::json members = nlohmann::json::object();
  for (std::size_t m = 0; m < kMembers; ++m) {
    members[std::string(kNames[m])] = {{"workloads", model_state::packed(places_[m])},
                                       {"state", members_[m]->save()}};
  }
  return {{"members", std::move(members)}, {"novelty", novelty_.save()}, {"sigma", sigma_}};
}

EnsembleModel EnsembleModel::load(const nlohmann::json& saved,
                                  std::vector<SpeedTable::Feature> features,
                                  std::vector<WorkloadKey> workloads) {
  using namespace model_state;
  map_of(saved, 3, "the model");
  EnsembleModel model;
  const nlohmann::json& members = map_of(saved.at("members"), kMembers, "the members");
  const auto part = [&](std::size_t m, auto load) {
    const nlohmann::json& node = map_of(members.at(std::string(kNames[m])), 2, "a member");
    std::vector<WorkloadKey> keys;
    model.places_[m] = integers(node, "workloads");
    for (const std::int32_t at : model.places_[m]) {
      if (at < -1 || at >= std::ssize(workloads)) {
        throw std::invalid_argument("a member's workload is not among the model's");
      }
      keys.push_back(at < 0 ? kUnknownWorkload : workloads[static_cast<std::size_t>(at)]);
    }
    model.members_[m] = load(node.at("state"), features, std::move(keys));
  };
  part(0, [](const auto& state, auto f, auto keys) {
    return std::make_unique<FactorModel>(FactorModel::load(state, f, std::move(keys)));
  });
  part(1, [](const auto& state, auto f, auto keys) {
    return std::make_unique<GpModel>(GpModel::load(state, f, std::move(keys)));
  });
  part(2, [](const auto& state, auto f, auto keys) {
    return std::make_unique<BoostedTrees>(BoostedTrees::load(state, f, std::move(keys)));
  });
  model.novelty_ = Novelty::load(saved.at("novelty"), features);
  model.sigma_ = number_of(saved.at("sigma"), "sigma");
  if (model.sigma_ < 0 || model.sigma_ > 1e3) {
    throw std::invalid_argument("the scatter around the model is not possible");
  }
  model.workloads_ = std::move(workloads);
  model.list_workloads();
  return model;
}

}  // namespace corun
