#include "runner/experiment/job_views.hpp"

#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/builders.hpp"

namespace corun::job_views_test {
namespace {

Trace trace_of(const std::vector<JobSpec>& jobs) {
  Trace trace;
  for (const JobSpec& job : jobs) trace.jobs.push_back({job});
  return trace;
}

EstimatesConfig drawn() {
  EstimatesConfig config;
  config.duration = EstimateKind::kLognormal;
  config.memory = EstimateKind::kLognormal;
  config.utilisation = EstimateKind::kLognormal;
  return config;
}

const Trace kOne = trace_of({test::job(test::seconds(100)).util(60).memory(1000)});

TEST(JobViews, ExactAndNone) {
  EstimatesConfig config;
  JobView view = job_view({config, 1}, kOne, test::J(0));
  EXPECT_FALSE(view.estimate);
  EXPECT_EQ(view.profile.mem_used_mib, 1000);
  EXPECT_EQ(view.profile.gpu_util_pct, 60);
  config.duration = EstimateKind::kExact;
  config.memory = EstimateKind::kNone;
  config.utilisation = EstimateKind::kNone;
  view = job_view({config, 1}, kOne, test::J(0));
  EXPECT_EQ(view.estimate, test::seconds(100));
  EXPECT_FALSE(view.profile.mem_used_mib);
  EXPECT_FALSE(view.profile.gpu_util_pct);
}

TEST(JobViews, ErrorsAreLogNormalAndDrawnApart) {
  const EstimatesConfig config = drawn();
  double sum_memory = 0, squares_memory = 0, product = 0, squares_time = 0;
  constexpr int kSeeds = 4000;
  for (int seed = 1; seed <= kSeeds; ++seed) {
    const JobView view = job_view({config, static_cast<std::uint64_t>(seed)}, kOne, test::J(0));
    const double memory = std::log(*view.profile.mem_used_mib / 1000);
    const double time = std::log(to_seconds(*view.estimate) / 100);
    sum_memory += memory;
    squares_memory += memory * memory;
    squares_time += time * time;
    product += memory * time;
    EXPECT_LE(*view.profile.gpu_util_pct, 100);
  }
  EXPECT_NEAR(sum_memory / kSeeds, 0, 5 * config.memory_sigma / std::sqrt(kSeeds));
  EXPECT_NEAR(std::sqrt(squares_memory / kSeeds), config.memory_sigma, 0.01);
  EXPECT_NEAR(std::sqrt(squares_time / kSeeds), config.sigma, 0.05);
  EXPECT_NEAR(product / std::sqrt(squares_memory * squares_time), 0, 0.08);
  const JobView again = job_view({config, 7}, kOne, test::J(0));
  EXPECT_EQ(again.profile, job_view({config, 7}, kOne, test::J(0)).profile);
}

TEST(JobViews, WhatWasMeasuredIsExact) {
  const JobView view = job_view(with_measured_profiles({drawn(), 3}), kOne, test::J(0));
  EXPECT_EQ(view.profile.mem_used_mib, 1000);
  EXPECT_EQ(view.profile.gpu_util_pct, 60);
  EXPECT_NE(view.estimate, test::seconds(100));  // run times are not measured in a minute
}

TEST(JobViews, OneErrorOfMemoryOnAllTypes) {
  class OnTypes final : public JobsOnTypes {
   public:
    Alone alone(JobId, const GpuType&, std::optional<std::uint64_t>) const override { return {}; }
    std::optional<double> memory_mib(JobId, const GpuType& type) const override {
      return 1000.0 + 100 * type.id;
    }
  };
  const OnTypes on_types;
  std::vector<GpuType> types(2);
  types[1].id = 1;
  const JobSource source = job_source({drawn(), 5}, kOne, &on_types, types);
  const JobView view = source.job_view(test::J(0));
  ASSERT_EQ(view.on_types.size(), 2U);
  EXPECT_DOUBLE_EQ(*view.on_types[0].memory_mib, *view.profile.mem_used_mib);
  EXPECT_DOUBLE_EQ(*view.on_types[1].memory_mib, 1.1 * *view.on_types[0].memory_mib);
  EXPECT_NE(*view.on_types[0].memory_mib, 1000);
}

}  // namespace
}  // namespace corun::job_views_test
