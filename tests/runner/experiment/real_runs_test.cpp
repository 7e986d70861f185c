#include "runner/experiment/real_runs.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "runner/experiment/experiment_header.hpp"

namespace corun::real_runs_test {
namespace {

std::string text_of(std::vector<std::string> settings) {
  settings.push_back("estimates.duration=exact");
  const Experiment experiment(default_config_with(parse_overrides(settings), policy_catalog()), "");
  EXPECT_EQ(results_header(experiment).real_runs,
            real_runs_text(experiment.policies(), experiment.cluster()));
  return real_runs_text(experiment.policies(), experiment.cluster());
}

constexpr const char* kNone = "held against a real run: none (docs/validity.md)";

TEST(RealRuns, ThePoliciesThatWereHeldAgainstOneAndTheOthers) {
  EXPECT_EQ(text_of({"policies=[fcfs, max-min, makespan]"}),
            "held against a real run: max-min (mean JCT within 1.8 %, median job 6.5 %), makespan "
            "(mean JCT within 3.4 %, median job 3.0 %); not fcfs (docs/validity.md)");
  EXPECT_EQ(text_of({"policies=[fcfs, min-slowdown]"}), kNone);
}

TEST(RealRuns, NotOnAnotherTypeNorWithSharing) {
  EXPECT_EQ(text_of({"policies=[max-min]", "cluster.gpu_type=T4"}), kNone);
  EXPECT_EQ(text_of({"policies=[max-min]", "cluster.machines=2x1:V100-16GB+2x1:T4"}), kNone);
  EXPECT_EQ(text_of({"policies=[{name: max-min, space_sharing: pairs}]"}), kNone);
}

TEST(RealRuns, EachPolicyOnceAndInTheCatalogue) {
  std::vector<std::string> seen;
  for (const RealRun& run : real_runs()) {
    EXPECT_NE(find_policy(run.policy), nullptr) << run.policy;
    EXPECT_EQ(std::ranges::find(seen, run.policy), seen.end());
    seen.emplace_back(run.policy);
    EXPECT_FALSE(run.source.empty() || run.run.empty() || run.gpu_type.empty());
  }
}

}  // namespace
}  // namespace corun::real_runs_test
