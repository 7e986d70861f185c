#include "runner/experiment/observed_policy.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace corun::observed_policy_test {
namespace {

class Listener final : public Policy {
 public:
  void decide(const ClusterView&, std::vector<Decision>&) override {}
  void arrived(const JobView&, Time) override { heard.emplace_back("arrived"); }
  void departed(JobId, LogKind, Time) override { heard.emplace_back("departed"); }
  void changed(const JobView&, Time) override { heard.emplace_back("changed"); }
  void corun_ended(const EpisodeOutcome&) override { heard.emplace_back("corun_ended"); }
  void probe_ended(const ProbeOutcome&) override { heard.emplace_back("probe_ended"); }

  std::vector<std::string> heard;
};

// A policy of a user's program hears of phases in a replay as in the engine alone.
TEST(ObservedPolicy, ForwardsEveryEvent) {
  Listener inner;
  PolicyRun run;
  const RunObservation observation;
  ObservedPolicy policy(inner, run, observation);
  policy.arrived(JobView{}, Time{0});
  policy.departed(JobId{}, LogKind{}, Time{0});
  policy.changed(JobView{}, Time{0});
  policy.corun_ended(EpisodeOutcome{});
  policy.probe_ended(ProbeOutcome{});
  EXPECT_EQ(inner.heard,
            (std::vector<std::string>{"arrived", "departed", "changed", "corun_ended", "probe_ended"}));
}

}  // namespace
}  // namespace corun::observed_policy_test
