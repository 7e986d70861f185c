#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "models/interference/catalog.hpp"
#include "models/model_belief.hpp"
#include "sim/rng.hpp"

/// Beliefs for queues of thousands of jobs. Profiles are synthetic, one per job, drawn between those of 24 invented
/// workloads as PriRecT draws between measured ones. Interference is fitted on 200 pairs of a contention-like truth
/// with 5 % noise. `random`: every pair has a uniform cost of its own.
namespace corun::bench {

inline constexpr std::size_t kFeatures = 3;

/// GPU utilisation, memory allocated, memory time of a job: between two workloads' profiles. [%]
inline std::vector<double> profile_of(std::uint64_t job) {
  const auto workload = [](std::uint32_t number) {
    Rng rng(7, Stream::kTest, number);
    return std::vector<double>{5 + 95 * rng.uniform(), 100 * rng.uniform(), 70 * rng.uniform()};
  };
  Rng rng(8, Stream::kTest, job);
  const std::vector<double> a = workload(rng.below(24));
  const std::vector<double> b = workload(rng.below(24));
  const double share = rng.uniform();
  std::vector<double> out;
  for (std::size_t f = 0; f < kFeatures; ++f) out.push_back(a[f] + share * (b[f] - a[f]));
  return out;
}

inline double true_speed(const std::vector<double>& own, const std::vector<double>& other) {
  const double free = (1 - own[1] / 100) * own[0] * (1 - other[1] / 100) * other[0] / 1e4;
  return 1 / (1 + 0.8 * free + 0.7 * own[2] * other[0] / 1e4);
}

inline std::unique_ptr<ModelBelief> make_belief(const std::string& model, std::size_t jobs) {
  SpeedTable table;
  table.features = {{"gpu_util_pct"}, {"mem_alloc_pct"}, {"mem_time_pct"}};
  constexpr std::uint32_t kKnown = 60;
  std::vector<std::vector<double>> known;
  for (std::uint32_t j = 0; j < kKnown; ++j) {
    known.push_back(profile_of(1'000'000 + j));
    table.jobs.push_back(j);
    table.values.insert(table.values.end(), known.back().begin(), known.back().end());
  }
  Rng rng(9, Stream::kTest);
  for (int r = 0; r < 200; ++r) {
    const std::uint32_t a = rng.below(kKnown);
    const std::uint32_t b = rng.below(kKnown);
    table.rows.push_back({a, b, true_speed(known[a], known[b]) * std::exp(0.05 * rng.normal()),
                          true_speed(known[b], known[a]) * std::exp(0.05 * rng.normal())});
  }
  std::vector<BelievedJob> believed(jobs);
  for (std::size_t j = 0; j < jobs; ++j) believed[j].features = profile_of(j);
  const auto prior = ModelBelief::make_prior(std::move(table), *find_interference_model(model), {});
  return std::make_unique<ModelBelief>(prior, std::move(believed));
}

/// Every pair has its own cost, drawn by the pair's hash.
class RandomBelief final : public Belief {
 public:
  PairBelief pair(JobId a, JobId b) const override {
    std::uint64_t x = (static_cast<std::uint64_t>(index(std::min(a, b))) << 32U |
                       static_cast<std::uint64_t>(index(std::max(a, b)))) +
                      0x9e3779b97f4a7c15U;
    x = (x ^ (x >> 30U)) * 0xbf58476d1ce4e5b9U;
    x = (x ^ (x >> 27U)) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
    return {.isd_a = static_cast<double>(x >> 11U) * 0x1p-53, .isd_b = 0, .ps = 0};
  }
  void learn(const EpisodeOutcome&) override {}
};

inline std::unique_ptr<Belief> belief_of(const std::string& name, std::size_t jobs) {
  if (name == "random") return std::make_unique<RandomBelief>();
  return make_belief(name, jobs);
}

}  // namespace corun::bench
