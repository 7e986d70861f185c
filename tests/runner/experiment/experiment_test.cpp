#include "runner/experiment/experiment.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::experiment_test {
namespace {

Config with(const std::vector<std::string>& overrides) {
  return default_config_with(parse_overrides(overrides), policy_catalog());
}

/// The error texts of check_runs() and run(0); empty: no error.
template <typename Call>
std::string error_of(const Call& call) {
  try {
    call();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Experiment, ChecksSayWhatARunWouldSay) {
  for (const std::vector<std::string>& overrides : std::vector<std::vector<std::string>>{
           {},
           {"control={mode: rounds, round_s: 60}", "policies=[{name: fcfs}]"},
           {"control={mode: rounds, round_s: 60}", "policies=[{name: fcfs}, {name: kube-default}]"},
       }) {
    const Experiment experiment(with(overrides), "");
    const std::string checked = error_of([&] { experiment.check_runs(); });
    EXPECT_EQ(checked, error_of([&] { experiment.run(0); }));
    EXPECT_EQ(checked.empty(),
              overrides.size() < 2 || overrides[1].find("kube") == overrides[1].npos)
        << checked;
  }
}

TEST(Experiment, ChecksRunNothing) {
  const test::TemporaryDirectory directory;
  const std::string mark = directory.path("asked");
  const Experiment experiment(
      with({"policies=[{name: external, command: ['/bin/sh', '-c', 'echo > " + mark + "']}]"}), "");
  experiment.check_runs();
  EXPECT_FALSE(std::filesystem::exists(mark)) << "the policy's program was started";
}

/// A share of known pairs is fitted once per replication and is the same for all of its policies.
TEST(Experiment, APolicyAloneIsThePolicyAmongOthers) {
  const std::vector<std::string> settings{
      "belief={model: contention, initial: jrs, known: 0.5}",
      "policies=[{name: min-slowdown}, {name: balance}, {name: fcfs}]"};
  const Experiment experiment(with(settings), "");
  for (std::size_t number : {std::size_t{0}, std::size_t{3}}) {
    const Replication all = experiment.run(number);
    ASSERT_EQ(all.runs.size(), 3U);
    for (std::size_t p = 0; p < all.runs.size(); ++p) {
      const PolicyRun alone =
          experiment.run_policy(*all.trace, number, experiment.policies()[p], {});
      for (std::size_t j = 0; j < all.trace->jobs.size(); ++j) {
        EXPECT_EQ(alone.record.jobs[j].finish, all.runs[p].record.jobs[j].finish);
      }
    }
  }
}

TEST(Experiment, ReplicationsOfAFileShareItsJobsInOrdersOfTheirOwn) {
  const test::TemporaryDirectory directory;
  std::string jobs = "submit_s,solo_s\n";
  for (int j = 0; j < 24; ++j) jobs += j < 12 ? "7,1\n" : "3,1\n";
  const std::string path = directory.write("jobs.csv", jobs);
  const auto settings = [&](const std::string& order) {
    return with({"workload.source=csv", "workload.path=" + path, "workload.order=" + order,
                 "policies=[{name: fcfs}]"});
  };
  const Experiment shuffled(settings("shuffled"), "");
  const std::shared_ptr<const Trace> trace = shuffled.make_trace(0);
  EXPECT_EQ(trace, shuffled.make_trace(1)) << "one object";
  EXPECT_EQ(trace, shuffled.run(2).trace);
  const std::vector<JobId> order = shuffled.arrivals(*trace, 0);
  EXPECT_EQ(order, shuffled.arrivals(*trace, 0));
  EXPECT_NE(order, shuffled.arrivals(*trace, 1));
  const auto submit = [&](JobId j) { return trace->jobs[index(j)].spec.submit; };
  EXPECT_TRUE(std::ranges::is_sorted(order, {}, submit));
  std::vector<JobId> all = order;
  sort_by_submit_time(*trace, all);
  EXPECT_EQ(all, order) << "jobs of one instant keep their order";
  std::ranges::sort(all);
  for (std::size_t j = 0; j < 24; ++j) EXPECT_EQ(index(all.at(j)), j);
  const Experiment in_order(settings("trace"), "");
  EXPECT_EQ(in_order.arrivals(*trace, 1), by_submit_time(*trace));
}

}  // namespace
}  // namespace corun::experiment_test
