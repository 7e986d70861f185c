#pragma once

#include <cstdint>
#include <optional>

#include "policies/shares/share_problem.hpp"
#include "sim/rng.hpp"

/// Random problems for the programs of shares.
namespace corun::test {

struct ProblemLimits {
  std::uint32_t jobs = 60;  ///< at most, and at least 2
  std::uint32_t types = 4;  ///< at most
  bool exact_jobs = false;  ///< as many jobs and types as that
  bool packed = false;
  bool every_pair = false;  ///< of equal gangs; else three quarters of them
};

/// Jobs of 1, 2 or 4 GPUs with weights, deadlines and ages; some run on some types only.
inline ShareProblem random_problem(std::uint64_t seed, ProblemLimits limits) {
  Rng rng(seed, Stream::kArrivals, 0);
  const auto real = [&](double low, double high) { return low + (high - low) * rng.uniform(); };
  ShareProblem p;
  const std::uint32_t types = limits.exact_jobs ? limits.types : 1 + rng.below(limits.types);
  const std::uint32_t jobs = limits.exact_jobs ? limits.jobs : 2 + rng.below(limits.jobs - 1);
  for (std::uint32_t t = 0; t < types; ++t) p.gpus.push_back(static_cast<int>(4 + rng.below(12)));
  for (std::uint32_t j = 0; j < jobs; ++j) {
    ShareJob job;
    job.id = j;
    job.gpus = 1 << (rng.below(4) == 0 ? rng.below(3) : 0);
    job.weight = 1 + rng.below(5);
    job.steps_left = real(100, 100000);
    job.age_s = real(0, 20000);
    job.isolated_s = job.age_s * real(0.1, 1);
    if (rng.below(3) == 0) job.time_left_s = real(50000, 1000000);
    p.jobs.push_back(job);
    p.units.push_back({j, std::nullopt});
    const double rate = real(0.5, 50);
    for (std::uint32_t t = 0; t < types; ++t) {
      const bool runs = t == 0 || rng.below(10) > 0;
      p.rates.push_back({runs ? rate * real(0.1, 1) : 0.0, 0.0});
    }
  }
  for (std::uint32_t b = 0; limits.packed && b < jobs; ++b) {
    for (std::uint32_t a = 0; a < b; ++a) {
      if (p.jobs[a].gpus != p.jobs[b].gpus) continue;
      if (!limits.every_pair && rng.below(4) == 0) continue;
      p.units.push_back({a, b});
      for (std::uint32_t t = 0; t < types; ++t) {
        const UnitRates alone{p.rate(a, t).a, p.rate(b, t).a};
        const bool fits = alone.a > 0 && alone.b > 0 && rng.below(8) > 0;
        p.rates.push_back({fits ? alone.a * real(0.3, 1) : 0, fits ? alone.b * real(0.3, 1) : 0});
      }
    }
  }
  return p;
}

}  // namespace corun::test
