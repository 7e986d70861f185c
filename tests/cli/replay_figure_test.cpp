#include "runner/replay/replay_figure.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/replay/replay.hpp"
#include "runner/replay/replay_files.hpp"
#include "tests/helpers/program.hpp"

namespace corun::replay_figure_test {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Config configured(const std::vector<std::string>& settings) {
  return default_config_with(parse_overrides(settings), policy_catalog());
}

ReplayResult counted(const Experiment& experiment, unsigned threads, bool keep_records) {
  return replay(experiment, {.threads = threads, .keep_records = keep_records, .count_jct = true});
}

TEST(ReplayFigure, CountsTheJobsOfAllReplications) {
  const Experiment e(configured({"replications=6", "policies=[fcfs, exclusive]"}), "");
  const ReplayResult kept = counted(e, 1, true);
  ASSERT_EQ(kept.jct_by_policy.size(), 2U);
  double longest = 0;
  for (const Replication& r : kept.replications) {
    EXPECT_EQ(r.runs[0].jct.count(), 0U) << "memory grows with replications";
    for (const JobRecord& job : r.runs[0].record.jobs) {
      longest = std::max(longest, to_seconds(job.finish - job.submit));
    }
  }
  EXPECT_EQ(kept.jct_by_policy[0].count(), 6U * 24U);
  EXPECT_EQ(kept.jct_by_policy[0].max(), longest);
  EXPECT_EQ(replay(e, {}).jct_by_policy.size(), 0U);
  // The same bytes at any number of threads, with and without records.
  const std::string figure = replay_figure(e, kept);
  EXPECT_EQ(figure, replay_figure(e, counted(e, 3, false)));
  for (const char* text :
       {"JCT [s]", "Mean JCT [s], less is better", "Mean ISD [%]", "Mean PS [%], more is better",
        "exclusive", "jrs-queue: 24 jobs, 4 GPUs, 6 replications"}) {
    EXPECT_TRUE(has(figure, text)) << text;
  }
}

TEST(ReplayFigure, JobsOutsideTheMeasuredWindowDoNotCount) {
  const Experiment e(
      configured({"replications=2", "policies=[fifo]", "workload.source=jrs-resampled",
                  "workload.jobs=40", "workload.load=0.9", "measure={skip_first: 0.25}"}),
      "");
  const ReplayResult result = counted(e, 1, false);
  double measured = 0;
  for (const Replication& r : result.replications) measured += at(r.runs[0].metrics, Metric::kJobs);
  EXPECT_EQ(static_cast<double>(result.jct_by_policy[0].count()), measured);
  EXPECT_LT(measured, 80);
  EXPECT_FALSE(has(replay_figure(e, result), "ISD")) << "no job shares under fifo";
}

TEST(ReplayFigure, IsReplacedByTheSameExperimentAlone) {
  const test::TemporaryDirectory directory;
  const auto draw = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"replay", "-q",    "--figure",
                                       "f.svg",  "--set", "replications=2"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_corun(arguments, directory.path());
  };
  const std::string file = directory.path("f.svg");
  ASSERT_EQ(draw({}).code, 0);
  const std::string bytes = test::read_file(file);
  EXPECT_TRUE(bytes.starts_with("<svg"));
  EXPECT_EQ(draw({"--threads", "1"}).code, 0);
  EXPECT_EQ(test::read_file(file), bytes);
  const test::Outcome other = draw({"--seed", "7"});
  EXPECT_EQ(other.code, 2);
  EXPECT_EQ(other.out, "") << "refused before the run";
  EXPECT_TRUE(other.err.starts_with("--figure: 'f.svg' holds something else")) << other.err;
  EXPECT_EQ(test::read_file(file), bytes);
  EXPECT_EQ(draw({"--seed", "7", "--force"}).code, 0);
  EXPECT_NE(test::read_file(file), bytes);
}

TEST(ReplayFigure, OfAnInterruptedRunGoesBesideTheFile) {
  const test::TemporaryDirectory directory;
  const Experiment e(configured({"replications=2", "policies=[fcfs, random]"}), "");
  ReplayResult result = counted(e, 1, false);
  ReplayFiles files;
  EXPECT_EQ(write_replay_figure(e, result, files), "");
  files.figure = directory.path("f.svg");
  result.interrupted = true;
  EXPECT_EQ(write_replay_figure(e, result, files), *files.figure);  // there was no file
  EXPECT_EQ(write_replay_figure(e, result, files), directory.path("f.interrupted.svg"));
  result.interrupted = false;
  EXPECT_EQ(write_replay_figure(e, result, files), *files.figure);
}

TEST(ReplayFigure, RefusalsOfItsOptionsComeBeforeTheRun) {
  const test::TemporaryDirectory directory;
  directory.write("c.yaml", "replications: 2\n");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"--figure", "f.png"}, "--figure: 'f.png' names the format png"},
      {{"--figure", "no/f.svg"}, "--figure: "},
      {{"--figure", "c.yaml"}, "--figure: 'c.yaml'"},
      {{"--figure", "f", "--knowledge", "f"}, "--figure: 'f' is the output of --knowledge"},
      {{"--figure", "f.svg", "--worlds", "measured,contention"}, "--worlds: prints a table"},
      {{"--figure", "f.svg", "--coverage"}, "--coverage: takes no --baseline"},
      {{"--by", "gpus", "--worlds", "measured,contention"}, "--by: is for one world"},
      {{"--by", "gpus", "--coverage"}, "--coverage: takes no --baseline, --metrics, --by"},
      {{"--by", "gpus", "--format", "csv"}, "--by: is for tables and JSON"},
      {{"--by", "gpsu"}, "--by: found 'gpsu', expected gpus"},
      {{"--baseline", "fcsf"}, "--baseline: no policy 'fcsf' in this run: did you mean 'fcfs'?"},
      {{"--worlds", "measured,contention", "--baseline", "x"}, "--baseline: no policy 'x'"},
      {{"--metrics", "isd,jct"}, "--metrics: no metric 'jct': did you mean 'jct_s'?"},
      {{"--metrics", "isd,isd"}, "--metrics: found 'isd' twice"},
      {{"--metrics", "isd,,ps"}, "--metrics: no metric ''"},
      {{"--metrics", ""}, "--metrics: found no name"},
  };
  for (const auto& [options, message] : cases) {
    std::vector<std::string> arguments{"replay", "c.yaml"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const test::Outcome outcome = test::run_corun(arguments, directory.path());
    EXPECT_EQ(outcome.code, 2) << message;
    EXPECT_TRUE(outcome.err.starts_with(message)) << message << "\n" << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_FALSE(std::filesystem::exists(directory.path("f.svg")));
  }
}

}  // namespace
}  // namespace corun::replay_figure_test
