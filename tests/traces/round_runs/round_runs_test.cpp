#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/round_study.hpp"
#include "traces/round_runs/round_run.hpp"
#include "traces/round_runs/round_workload.hpp"

namespace corun::round_runs_test {
namespace {

TEST(RoundRuns, ReadsJobsRatesSchedulesAndRounds) {
  const test::TemporaryDirectory directory;
  test::write_round_study(directory, test::round_study_files());
  const RoundWorkload workload = read_round_workload(directory.path());
  ASSERT_EQ(workload.jobs.size(), 3U);
  EXPECT_EQ(workload.jobs[1].gpus, 2);
  EXPECT_EQ(workload.jobs[1].mode, "gns");
  EXPECT_EQ(batch_at(workload.jobs[1].declared, 1), 10);
  EXPECT_EQ(batch_at(workload.jobs[1].declared, 2), 20);
  EXPECT_EQ(batch_at(workload.jobs[1].target, 100), 20);
  EXPECT_EQ(workload.rates.find("A", 20, 2), 1.5);
  EXPECT_FALSE(workload.rates.find("A", 20, 1));
  EXPECT_EQ(workload.rates.find("B", 5, 1), 2) << "rows of another worker type are not read";
  EXPECT_EQ(workload.rates.largest_batch("A"), 20);

  EXPECT_EQ(list_round_runs(directory.path(), "real"), std::vector<std::string>{"real/one"});
  EXPECT_TRUE(list_round_runs(directory.path(), "simulated").empty());
  const RoundRun run = read_round_run(directory.path(), "real/one", workload);
  EXPECT_EQ(run.policy, "one");
  EXPECT_EQ(run.rounds.size(), 3U);
  EXPECT_EQ(run.rounds_of[2], std::vector<std::size_t>{2});
  EXPECT_EQ(run.jobs[2].finish_s, 360);
  EXPECT_EQ(run.jobs[1].run_s, 200) << "GPU seconds over two GPUs";
  EXPECT_TRUE(continues(run, 1, run.rounds[1][1]));
  EXPECT_FALSE(continues(run, 2, run.rounds[2][1]));
}

struct Mistake {
  const char* file;
  const char* from;
  const char* to;
  const char* message;
};

class RoundRunMistakes : public testing::TestWithParam<Mistake> {};

TEST_P(RoundRunMistakes, EndInOneLineWithThePlace) {
  const Mistake mistake = GetParam();
  std::map<std::string, std::string> files = test::round_study_files();
  std::string& text = files.at(mistake.file);
  const std::size_t at = text.find(mistake.from);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string(mistake.from).size(), mistake.to);
  const test::TemporaryDirectory directory;
  test::write_round_study(directory, files);
  try {
    const RoundWorkload workload = read_round_workload(directory.path());
    read_round_run(directory.path(), "real/one", workload);
    FAIL() << "accepted " << mistake.to;
  } catch (const InputError& error) {
    const std::string found = error.what();
    EXPECT_NE(found.find(mistake.message), std::string::npos) << found;
    EXPECT_NE(found.find(mistake.file), std::string::npos) << found;
    EXPECT_EQ(found.find('\n'), std::string::npos) << found;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Files, RoundRunMistakes,
    testing::Values(
        Mistake{"trace.csv", "\n1,0,A", "\n2,0,A", "expected 1"},
        Mistake{"trace.csv", "\n2,50,B", "\n2,-1,B", "arrival_s"},
        Mistake{"trace.csv", "\n1,0,A", "\n1,60,A", ""},
        Mistake{"trace.csv", "3,300", "3,0", "adapted_duration_s"},
        Mistake{"trace.csv", "1000,10,2", "1000,10,0", "a number of GPUs"},
        Mistake{"trace.csv", "500,5,1", "500,7,1", "has no rate"},
        Mistake{"throughput_oracle.csv", "10,1,1\n", "10,1,nan\n", "steps_per_s"},
        Mistake{"throughput_oracle.csv", "x,A,10,2,2\n", "x,A,10,1,2\n", "stands twice"},
        Mistake{"batch_schedule_predicted.csv", "1,2,4,20", "1,3,4,20", "expected 2"},
        Mistake{"batch_schedule_predicted.csv", "1,2,4,20", "1,2,3,20", "batch sizes for 3"},
        Mistake{"batch_schedule_predicted.csv", "1,2,4,20", "1,2,4,30", "has a rate"},
        Mistake{"batch_schedule_predicted.csv", "2,0,2,5", "3,0,2,5", "a job of trace.csv"},
        Mistake{"batch_rule_simulated.csv", "1,2,20", "1,0,20", "more than"},
        Mistake{"real/one/jobs.csv", "2,310,95\n", "", "2 jobs, expected 3"},
        Mistake{"real/one/jobs.csv", "\n1,260", "\n1,-5", "jct_s"},
        Mistake{"real/one/rounds.csv", "0,1,1 2", "0,1,1", "expected 2 workers"},
        Mistake{"real/one/rounds.csv", "0,1,1 2", "0,1,0 2", "0 is not"},
        Mistake{"real/one/rounds.csv", "0,1,1 2", "0,1,1  2", "single blanks"},
        Mistake{"real/one/rounds.csv", "2,0,0\n", "4,0,0\n", "or the next"},
        Mistake{"real/one/rounds.csv", "2,2,3\n", "2,0,3\n", "once a round"},
        Mistake{"real/one/rounds.csv", "2,2,3\n", "", "never runs"},
        Mistake{"real/one/throughput.csv", "2,2,5", "1,2,5", "a round in which job 2 ran"},
        Mistake{"real/one/throughput.csv", "1,1,10", "1,1,x", "batch_size"}));

}  // namespace
}  // namespace corun::round_runs_test
