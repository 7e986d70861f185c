#include "runner/experiment/real_runs.hpp"

#include <algorithm>
#include <map>
#include <string>

#include <gtest/gtest.h>

#include "evaluation/validation/validation.hpp"
#include "tests/helpers/public_data.hpp"

namespace corun::real_runs_accuracy_test {
namespace {

/// The table of the code says what `corun validate` finds, whichever other run the parameters are fitted on.
TEST(RealRunsAccuracy, TheTableHasTheLargestErrorOfEachRun) {
  constexpr const char* kStudy = "realruns/shockwave";
  if (!test::has_public_data(std::string(kStudy) + "/trace.csv")) {
    GTEST_SKIP() << test::not_checked(kStudy);
  }
  std::map<std::string, Errors> largest;
  for (const RealRun& fitted : real_runs()) {
    ValidationRequest request;
    request.directory = test::public_data(kStudy);
    request.fit = {std::string(fitted.run)};
    for (const RealRun& tested : real_runs()) {
      if (tested.run != fitted.run) request.test.emplace_back(tested.run);
    }
    request.limits = {{"real/max-min", 1.5}};
    request.allocation = false;
    request.parts = false;
    for (const ValidatedRun& run : validate_runs(request).runs) {
      Errors& errors = largest[run.run];
      errors.mean_jct = std::max(errors.mean_jct, run.errors.mean_jct);
      errors.makespan = std::max(errors.makespan, run.errors.makespan);
      errors.job_median = std::max(errors.job_median, run.errors.job_median);
      errors.job_p90 = std::max(errors.job_p90, run.errors.job_p90);
    }
  }
  constexpr double kRounding = 0.00051;  // tenths of a per cent
  for (const RealRun& run : real_runs()) {
    const Errors& errors = largest.at(std::string(run.run));
    EXPECT_NEAR(run.mean_jct_error, errors.mean_jct, kRounding) << run.policy;
    EXPECT_NEAR(run.makespan_error, errors.makespan, kRounding) << run.policy;
    EXPECT_NEAR(run.job_error_median, errors.job_median, kRounding) << run.policy;
    EXPECT_NEAR(run.job_error_p90, errors.job_p90, kRounding) << run.policy;
  }
}

}  // namespace
}  // namespace corun::real_runs_accuracy_test
