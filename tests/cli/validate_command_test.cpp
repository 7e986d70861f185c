#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/round_study.hpp"

namespace corun::validate_command_test {
namespace {

using Json = nlohmann::json;
using test::run_corun;

/// The tiny study twice: the policy of one run is known, that of the other is not.
class ValidateCommand : public testing::Test {
 protected:
  void SetUp() override {
    auto files = test::round_study_files();
    for (const char* name : {"jobs.csv", "rounds.csv", "throughput.csv"}) {
      files[std::string("real/max-min/") + name] = files.at(std::string("real/one/") + name);
    }
    test::write_round_study(directory_, files);
  }
  test::Outcome validate(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"validate", directory_.path()});
    return run_corun(arguments);
  }
  test::TemporaryDirectory directory_;
};

TEST_F(ValidateCommand, JsonHasARowPerRunAndWhatIsGiven) {
  const auto run = validate({"--fit", "real/one", "--test", "real/max-min", "--limit",
                             "real/max-min=1.5", "--draws", "20", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  ASSERT_EQ(json["runs"].size(), 2U);
  EXPECT_EQ(json["runs"][0]["given"], "policy");
  EXPECT_EQ(json["runs"][1]["given"], "allocation");
  for (const Json& row : json["runs"]) {
    EXPECT_EQ(row["run"], "real/max-min");
    EXPECT_EQ(row["policy"], "max-min");
    EXPECT_EQ(row["limit"], 1.5);
    for (const char* key :
         {"mean_jct_error", "makespan_error", "job_error_median", "job_error_p90"}) {
      EXPECT_GE(row[key].get<double>(), 0) << key;
    }
    EXPECT_GE(row["covered"].get<double>(), 0);
    EXPECT_LE(row["covered"].get<double>(), 1);
  }
  EXPECT_TRUE(json["tau"].is_null()) << "one run has no order";
  EXPECT_TRUE(json["inverted"].empty());
  EXPECT_EQ(json["parameters"]["round_s"], 120);
  EXPECT_TRUE(json["authors"].empty());
}

TEST_F(ValidateCommand, SameSeedSameBytes) {
  const std::vector<std::string> arguments{"--fit", "real/one", "--draws",
                                           "10",    "--format", "json"};
  const auto first = validate(arguments);
  EXPECT_EQ(first.code, 0) << first.err;
  EXPECT_EQ(first.out, validate(arguments).out);
}

TEST_F(ValidateCommand, GivenLeavesOutTheOther) {
  const auto run = validate({"--given", "allocation", "--format", "csv"});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.out.find("policy"), std::string::npos);
  EXPECT_EQ(run.out.rfind("run,given,job,", 0), 0U);
  EXPECT_NE(run.out.find("real/one,allocation,2,"), std::string::npos) << run.out;
}

TEST_F(ValidateCommand, WritesAFigure) {
  const std::string figure = directory_.path("points.svg");
  const auto run = validate({"--figure", figure});
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(test::read_file(figure).find("<svg"), std::string::npos);
}

/// What was fitted is a configuration of a replay, with the values of the parameters.
TEST_F(ValidateCommand, WritesAConfigurationThatAReplayTakes) {
  const std::string config = directory_.path("real.yaml");
  const auto run = validate({"--fit", "real/one", "--write-config", config, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json fitted = Json::parse(run.out)["parameters"];
  const auto dump = run_corun({"replay", config, "--dump-config"});
  ASSERT_EQ(dump.code, 0) << dump.err;
  EXPECT_NE(dump.out.find("  round_s: 120"), std::string::npos) << dump.out;
  EXPECT_NE(dump.out.find("costs: "), std::string::npos) << dump.out;
  const auto replayed = run_corun({"replay", config, "--quiet", "--format", "json", "--set",
                                   "policies=[fcfs]", "--set", "replications=2"});
  EXPECT_EQ(replayed.code, 0) << replayed.err;
  EXPECT_GE(fitted["start_sd_s"].get<double>(), 0);
}

TEST_F(ValidateCommand, WritesAPageWithTheJobs) {
  const std::string page = directory_.path("page.html");
  const auto run = validate({"--fit", "real/one", "--report", page, "--format", "json"});
  if (run.code != 0 && run.err.find("without the page") != std::string::npos) {
    GTEST_SKIP() << run.err;
  }
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string html = test::read_file(page);
  const std::string mark = "<script type=\"application/json\" id=\"data\">";
  const std::size_t begin = html.find(mark);
  ASSERT_NE(begin, std::string::npos);
  const std::size_t end = html.find("</script>", begin);
  const Json data = Json::parse(html.substr(begin + mark.size(), end - begin - mark.size()));
  EXPECT_EQ(data["kind"], "validation");
  const Json printed = Json::parse(run.out);
  Json shown = data["validation"];
  for (Json& one : shown["runs"]) {
    ASSERT_EQ(one["jobs"].size(), 3U);
    for (const Json& job : one["jobs"]) EXPECT_EQ(job.size(), 4U);
    one.erase("jobs");
  }
  EXPECT_EQ(shown, printed);
}

TEST_F(ValidateCommand, BadArgumentsEndInOneLine) {
  const std::vector<std::vector<std::string>> wrong{
      {"--fit", "real/two"},
      {"--test", "simulated/one"},
      {"--limit", "real/one"},
      {"--limit", "real/one=0"},
      {"--limit", "real/two=1"},
      {"--limit", "real/one=1", "--limit", "real/one=2"},
      {"--given", "both"},
      {"--round", "zero"},
      {"--draws", "-1"},
      {"--report", directory_.path("page.csv")},
      {"--write-config", directory_.path("real.yaml")},
      {"--fit", "real/one", "--write-config", directory_.path("real.csv")},
      {"--fit", "real/one", "--fit", "real/max-min"},
      {"--fit", "real/one", "--test", "real/one"}};
  for (const std::vector<std::string>& arguments : wrong) {
    const auto run = validate(arguments);
    EXPECT_EQ(run.code, 2) << arguments[1];
    EXPECT_EQ(run.out, "") << arguments[1];
    EXPECT_EQ(run.err.find('\n'), run.err.size() - 1) << run.err;
  }
  EXPECT_EQ(run_corun({"validate"}).code, 2);
  EXPECT_EQ(run_corun({"validate", directory_.path("nowhere")}).code, 2);
  EXPECT_EQ(run_corun({"validate", directory_.path("real")}).code, 2);
}

}  // namespace
}  // namespace corun::validate_command_test
