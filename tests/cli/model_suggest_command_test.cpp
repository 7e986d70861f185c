#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/effort.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"

namespace corun::model_suggest_command_test {
namespace {

const std::string kSource = CORUN_SOURCE_DIR;
const std::string kPairs = kSource + "/examples/mine.corun.csv";
const std::string kJobs = kSource + "/examples/jobs.csv";

class ModelSuggest : public testing::Test {
 protected:
  void SetUp() override {
    const auto fit = test::run_corun({"model", "fit", "--pairs", kPairs, "--model", "factors",
                                      "--effort", test::kLittleEffortText, "--out", model});
    ASSERT_EQ(fit.code, 0) << fit.err;
  }
  test::Outcome suggest(std::vector<std::string> more) const {
    std::vector<std::string> all{"model", "suggest", "--model", model, "--jobs", kJobs};
    all.insert(all.end(), more.begin(), more.end());
    return test::run_corun(all);
  }

  const test::TemporaryDirectory folder;
  const std::string model = folder.path("m.model");
};

TEST_F(ModelSuggest, NamesPairsThatWereNotMeasuredAndLowersTheRegret) {
  const std::string list = folder.path("next.csv");
  const auto run =
      suggest({"--measured", kPairs, "--budget", "4", "--format", "json", "--out", list});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json["queue"], 12);
  EXPECT_EQ(json["measured"], 6);
  EXPECT_EQ(json["measurable"], 15);  // 6 kinds with two copies each: 21 pairs
  ASSERT_EQ(json["measurements"].size(), 4U);
  double before = json["regret"];
  EXPECT_GT(before, 0);
  const std::string known = test::read_file(kPairs);
  for (const auto& m : json["measurements"]) {
    EXPECT_EQ(m["regret_before"], before);
    before = m["regret_after"];
    EXPECT_NE(known.find("," + m["job_a"].get<std::string>() + ","), std::string::npos);
  }
  EXPECT_EQ(json["regret_after"], before);
  EXPECT_LT(before, json["regret"].get<double>());
  const std::string csv = test::read_file(list);
  EXPECT_TRUE(csv.starts_with("rank,job_a,job_b,isd,sd,in_best,regret_before,regret_after\n1,"));
  EXPECT_EQ(std::ranges::count(csv, '\n'), 5);
  EXPECT_EQ(suggest({"--measured", kPairs, "--budget", "4", "--format", "csv"}).out, csv);
}

TEST_F(ModelSuggest, TheSameBytesAtAnyNumberOfThreadsAndTheJobsOfATableOfPairs) {
  const auto one = suggest({"--budget", "6", "--threads", "1"});
  const auto four = suggest({"--budget", "6", "--threads", "4"});
  ASSERT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(one.out, four.out);
  EXPECT_NE(one.err.find("name their table with --measured"), std::string::npos) << one.err;
  const auto pairs =
      test::run_corun({"model", "suggest", "--model", model, "--jobs", kPairs, "--budget", "3"});
  ASSERT_EQ(pairs.code, 0) << pairs.err;
  EXPECT_NE(pairs.out.find("6 jobs, 15 pairs to measure"), std::string::npos) << pairs.out;
}

TEST_F(ModelSuggest, BadInputsEndWithOneLine) {
  const std::string lonely =
      folder.write("lonely.csv", "job,submit_s,solo_s,gpu_util_pct\nalone,0,10,50\n");
  const std::string gavel = folder.write(
      "gavel.csv",
      "job_a,job_b,gpu,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,solo_k80_b\n"
      "x,y,v100,1,2,3,4,5,6\n");
  const std::string broken = folder.write("broken.csv", "job,submit_s,solo_s\na,0,10\nb,0,much\n");
  struct Case {
    std::vector<std::string> arguments;
    std::string message;
  };
  const std::vector<Case> cases{
      {{"--jobs", kJobs}, "--model is missing"},
      {{"--model", model}, "--jobs is missing"},
      {{"--model", model, "--jobs", kJobs, "--budget", "0"}, "--budget: found '0'"},
      {{"--model", model, "--jobs", kJobs, "--budget", "many"}, "--budget: found 'many'"},
      {{"--model", model, "--jobs", kJobs, "--budget", "99"}, "21 pairs are left to measure"},
      {{"--model", model, "--jobs", lonely}, "has one job of one GPU, expected two jobs or more"},
      {{"--model", model, "--jobs", gavel}, "has no gpu_util_pct"},
      {{"--model", model, "--jobs", broken}, "broken.csv:3:5"},
      {{"--model", kPairs, "--jobs", kJobs}, "no speed model"},
      {{"--model", model, "--jobs", model}, "is a fitted model"},
      {{"--model", model, "--jobs", folder.path("none.csv")}, "none.csv"},
      {{"--model", model, "--jobs", kJobs, "--measured", kJobs}, "is a job trace"},
      {{"--model", model, "--jobs", kJobs, "--out", folder.path("next.yaml")}, "--out"},
      {{"--model", model, "--jobs", kJobs, "--out", model}, "--out"},
  };
  for (const Case& c : cases) {
    std::vector<std::string> all{"model", "suggest"};
    all.insert(all.end(), c.arguments.begin(), c.arguments.end());
    const auto run = test::run_corun(all);
    EXPECT_EQ(run.code, 2) << c.message;
    EXPECT_NE(run.err.find(c.message), std::string::npos) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  }
}

TEST(ModelEvalMeasure, ScoresThreeRulesAlikeAtTheStart) {
  const char* file = "lucid/lucid_pairs.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const auto curve = [&](const char* threads) {
    return test::run_corun({"model", "eval", "--measure", "0,6", "--known", "40", "--queues", "3",
                            "--model", "cluster-mean", "--pairs", test::public_data(file),
                            "--format", "json", "--threads", threads});
  };
  const auto run = curve("1");
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out, curve("4").out);
  const auto json = nlohmann::json::parse(run.out);
  const auto& points = json["points"];
  ASSERT_EQ(points.size(), 6U);
  for (const std::size_t rule : {0U, 2U, 4U}) {
    EXPECT_EQ(points[rule]["regret"], points[0]["regret"]);
    EXPECT_LT(points[rule + 1]["mae"], points[rule]["mae"]);
  }
  EXPECT_LT(json["best_isd"], json["random_isd"]);
}

TEST(ModelEvalMeasure, BadInputs) {
  const auto refused = [](std::vector<std::string> more, const std::string& message) {
    std::vector<std::string> all{"model", "eval", "--pairs", kPairs};
    all.insert(all.end(), more.begin(), more.end());
    const auto run = test::run_corun(all);
    EXPECT_EQ(run.code, 2) << message;
    EXPECT_NE(run.err.find(message), std::string::npos) << run.err;
  };
  refused({"--measure", "0,5"}, "6 measured pairs of 6 jobs, expected more than 30 of 24 jobs");
  refused({"--measure", "0,5", "--split", "job"}, "goes without --split");
  refused({"--measure", "0;5"}, "--measure: found '0;5'");
  refused({"--measure", "5", "--model", "all"}, "expected one model");
  refused({"--known", "5"}, "goes with --measure only");
  refused({"--figure", "x.svg"}, "goes with --split or --measure only");
}

}  // namespace
}  // namespace corun::model_suggest_command_test
