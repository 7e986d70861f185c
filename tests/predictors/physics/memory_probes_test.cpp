#include "predictors/physics/memory_probes.hpp"

#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "predictors/physics/memory_predictor.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::memory_probes_test {
namespace {

/// Errors of 2 % where the model is seen, 5 % where only the family is, 10 % else.
MemoryErrors errors() {
  Rng rng(3, Stream::kTest);
  std::vector<HeldOutError> held_out;
  for (int i = 0; i < 3000; ++i) {
    HeldOutError error;
    error.level = static_cast<Familiarity>(i % 3);
    error.error = (i % 3 == 0 ? 0.02 : i % 3 == 1 ? 0.05 : 0.1) * rng.normal();
    held_out.push_back(error);
  }
  return {ErrorSpread(held_out), 50};
}

ProbedJob job(std::uint64_t model, double variable, Familiarity level = Familiarity::kFamily) {
  return {{.model = model, .family = 77}, level, {1500, variable, 1}};
}

double moved(const MemoryPosterior& posterior, const ProbedJob& job) {
  return posterior.at(job).log_mib - std::log(job.parts.mib());
}

TEST(MemoryProbes, NothingIsLearntFromNothing) {
  const MemoryPosterior posterior;
  EXPECT_DOUBLE_EQ(moved(posterior, job(1, 5000)), 0);
  EXPECT_DOUBLE_EQ(posterior.at(job(1, 5000)).scale, job(1, 5000).parts.scale());
}

TEST(MemoryProbes, VariancesAreThoseOfTheLevels) {
  const MemoryErrors e = errors();
  EXPECT_NEAR(std::sqrt(e.job), 0.02, 0.003);
  EXPECT_NEAR(std::sqrt(e.job + e.model), 0.05, 0.005);
  EXPECT_NEAR(std::sqrt(e.job + e.model + e.family), 0.1, 0.01);
  const MemoryErrors untold(ErrorSpread(-0.2, 0.2, 0.3), 0);
  EXPECT_DOUBLE_EQ(untold.job, untold.model);
  EXPECT_DOUBLE_EQ(untold.family, 0);
}

// A model that misses as models do says nothing of others, however small its batch.
TEST(MemoryProbes, OneModelsErrorStaysWithIt) {
  for (const double variable : {800.0, 3000.0, 20000.0}) {
    const ProbedJob seen = job(1, variable);
    const MemoryPosterior posterior(
        std::vector<MemoryProbe>{{seen, seen.parts.mib() * std::exp(0.05 * seen.parts.scale())}},
        errors());
    const ProbedJob same = job(1, 10000), other = job(2, 10000);
    EXPECT_GT(moved(posterior, same), 0.015) << variable;
    EXPECT_LT(std::abs(moved(posterior, other)), 0.012) << variable;
    // A small job has the least to say.
    if (variable > 1000) EXPECT_LT(posterior.at(same).scale, 0.9 * same.parts.scale());
    EXPECT_GE(posterior.at(other).scale, 0.999 * other.parts.scale());
  }
}

TEST(MemoryProbes, AnotherStackMovesTheContextOfAll) {
  std::vector<MemoryProbe> probes;
  for (const std::uint64_t model : {1, 2}) {
    const ProbedJob seen = job(model, 2000.0 + 500.0 * static_cast<double>(model));
    probes.push_back({seen, seen.parts.mib() - 900});
  }
  const MemoryPosterior posterior(probes, errors());
  const ProbedJob small = job(3, 1500), large = job(3, 30000);
  EXPECT_NEAR(std::exp(posterior.at(small).log_mib), small.parts.mib() - 900, 250);
  EXPECT_LT(std::abs(moved(posterior, large)), 0.09);
  EXPECT_GT(posterior.at(small).scale, small.parts.scale());
}

TEST(MemoryProbes, AFamilysErrorGoesToItsModels) {
  std::vector<MemoryProbe> probes;
  for (const std::uint64_t model : {1, 2, 3}) {
    const ProbedJob seen = job(model, 9000, Familiarity::kNeither);
    probes.push_back({seen, 1.12 * seen.parts.mib()});
  }
  const MemoryPosterior posterior(probes, errors());
  ProbedJob other = job(4, 9000, Familiarity::kNeither);
  EXPECT_GT(moved(posterior, other), 0.06);
  EXPECT_LT(posterior.at(other).scale, other.parts.scale());
}

TEST(MemoryProbes, OneStrangeProbeCountsForLittle) {
  std::vector<MemoryProbe> probes;
  for (std::uint64_t model = 1; model <= 12; ++model) {
    const ProbedJob seen = job(model, 3000);
    probes.push_back({seen, seen.parts.mib() * (model == 5 ? 4 : 1)});
  }
  const MemoryPosterior posterior(probes, errors());
  EXPECT_LT(std::abs(moved(posterior, job(20, 10000))), 0.01);
  EXPECT_LT(std::abs(moved(posterior, job(5, 10000))), 0.1);
}

TEST(MemoryProbes, AreSavedAndLoaded) {
  const std::vector<MemoryProbe> probes{{job(1, 2000), 3000}, {job(2, 4000), 5000}};
  const auto again = load_probes(save_probes(probes));
  const MemoryPosterior a(probes, errors()), b(again, errors());
  EXPECT_EQ(a.at(job(1, 700)).log_mib, b.at(job(1, 700)).log_mib);
  EXPECT_EQ(a.at(job(1, 700)).scale, b.at(job(1, 700)).scale);
  for (const double bad : {-1.0, kNaN, 1e300}) {
    EXPECT_THROW(load_probes(save_probes(std::vector<MemoryProbe>{{job(1, 2000), bad}})),
                 std::invalid_argument);
  }
}

}  // namespace
}  // namespace corun::memory_probes_test
