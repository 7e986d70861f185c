#include "runner/replay/job_groups.hpp"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/replay/replay.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::job_groups_test {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;

/// A log on two GPUs under fifo and sjf.
class JobGroups : public testing::Test {
 protected:
  JobGroups()
      : experiment_(default_config_with(
                        parse_overrides(std::vector<std::string>{
                            "workload.source=csv",
                            "workload.path=" + folder_.write("log.csv",
                                                             "job,submit_s,solo_s,gpus,user,queue\n"
                                                             "a,0,100,1,eve,x\n"
                                                             "b,0,50,1,bob,x\n"
                                                             "c,0,10,1,bob,y\n"
                                                             "d,0,40,2,,y\n"),
                            "cluster.nodes=1", "cluster.gpus_per_node=2", "replications=2",
                            "policies=[fifo, sjf]"}),
                        policy_catalog()),
                    ""),
        result_(replay(experiment_, {.threads = 1})) {}

  std::vector<GroupOfJobs> groups(const std::string& by) const {
    return groups_of_jobs(result_, job_grouping(experiment_, by));
  }

  test::TemporaryDirectory folder_;
  Experiment experiment_;
  ReplayResult result_;
};

std::vector<std::string> names_of(const std::vector<GroupOfJobs>& groups) {
  std::vector<std::string> names;
  for (const GroupOfJobs& group : groups) names.push_back(group.name);
  return names;
}

// fifo: a from 0 to 100 and b from 0 to 50 side by side, then c to 60, and d, which needs both GPUs, from 100 to 140.
// sjf: c from 0 to 10; d is next and blocks, from 10 to 50; then b to 100 and a to 150.

TEST_F(JobGroups, ByAColumnOfTheLogTheMostWorkFirst) {
  const std::vector<GroupOfJobs> users = groups("user");
  EXPECT_THAT(names_of(users), ElementsAre("eve", "(empty)", "bob"));
  EXPECT_EQ(users[2].jobs, 2U);
  EXPECT_NEAR(users[1].work_share, 80.0 / 240, 1e-12) << "GPU time: 2 GPUs of 40 s";
  EXPECT_THAT(users[2].jct_s, ElementsAre(55, 55)) << "b and c";
  EXPECT_THAT(users[0].jct_s, ElementsAre(100, 150));
}

TEST_F(JobGroups, ByGangAndByLength) {
  const std::vector<GroupOfJobs> gangs = groups("gpus");
  EXPECT_THAT(names_of(gangs), ElementsAre("1 GPU", "2 GPUs"));
  EXPECT_THAT(gangs[1].jct_s, ElementsAre(140, 50));
  const std::vector<GroupOfJobs> lengths = groups("length");
  EXPECT_THAT(names_of(lengths),
              ElementsAre("10 to 10 s", "40 to 40 s", "50 to 50 s", "100 to 100 s"));
  EXPECT_THAT(lengths[0].jct_s, ElementsAre(DoubleNear(60, 1e-9), DoubleNear(10, 1e-9)));
}

TEST_F(JobGroups, TheWorstAreOfEachPolicy) {
  const std::vector<GroupOfJobs> worst = groups("worst");
  EXPECT_EQ(worst[0].jobs, 1U) << "a tenth of four, at least one";
  EXPECT_THAT(worst[0].jct_s, ElementsAre(140, 150)) << "d under fifo, a under sjf";
  EXPECT_EQ(worst[1].jobs, 3U);
}

TEST_F(JobGroups, AnUnknownColumnIsRefusedWithTheKnownOnes) {
  try {
    groups("usr");
    FAIL() << "taken";
  } catch (const InputError& e) {
    EXPECT_THAT(e.what(),
                HasSubstr("did you mean 'user'? known: gpus, length, worst, user, queue"));
  }
  EXPECT_THROW(groups(""), InputError);
}

TEST_F(JobGroups, TheTableHasRatiosToTheBaseline) {
  const ReplayView view = replay_view(experiment_, "fifo", {});
  const std::string table =
      groups_table(experiment_, result_, view, job_grouping(experiment_, "gpus"));
  EXPECT_THAT(table, HasSubstr("mean JCT of jobs by gpus; ratio to fifo\n"));
  EXPECT_THAT(table, HasSubstr("fifo s  sjf s  ratio\n"));
  EXPECT_THAT(table, HasSubstr(" 140     50   0.36\n"));
  const Json json = groups_json(experiment_, result_, job_grouping(experiment_, "gpus"));
  EXPECT_EQ(json["groups"][1]["jct_s"]["sjf"], 50);
}

}  // namespace
}  // namespace corun::job_groups_test
