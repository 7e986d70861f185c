#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "cli/cli.hpp"
#include "models/interference/catalog.hpp"
#include "sim/error.hpp"
#include "tests/helpers/effort.hpp"
#include "traces/paper_workloads.hpp"
#include "traces/tables/corun_csv.hpp"

/// `corun model eval` by a call, without a process.
namespace corun::model_eval_command_test {
namespace {

int run(const std::vector<std::string>& arguments, std::string* out = nullptr) {
  testing::internal::CaptureStdout();
  int code = -1;
  try {
    code = model_command(arguments);
  } catch (...) {
    testing::internal::GetCapturedStdout();
    throw;
  }
  const std::string text = testing::internal::GetCapturedStdout();
  if (out != nullptr) *out = text;
  return code;
}

/// The claims are on models whose fits have no effort.
TEST(ModelCommand, EvalIsACheck) {
  std::string text;
  // Without --model all models of the catalogue are judged.
  const std::string little = test::kLittleEffortText;
  EXPECT_EQ(run({"eval", "--queues", "20", "--effort", little}, &text), kDone);
  for (const InterferenceModelEntry& entry : interference_model_catalog()) {
    EXPECT_NE(text.find("\n" + std::string(entry.name) + " "), std::string::npos) << entry.name;
  }
  EXPECT_EQ(text.find("FAILS"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find(" \n"), std::string::npos);
  const std::string model = "cluster-mean";
  const auto in_format = [&](const std::string& format) {
    return run({"eval", "--model", model, "--queues", "20", "--effort", little, "--format", format},
               &text);
  };
  EXPECT_EQ(in_format("csv"), kDone);
  EXPECT_EQ(text.rfind("predictor,metric,session,value,error\n", 0), 0u);
  EXPECT_EQ(in_format("json"), kDone);
  EXPECT_EQ(text.front(), '{');
  EXPECT_EQ(run({"eval", "--help"}, &text), kDone);
  EXPECT_NE(text.find("Examples:"), std::string::npos);
}

TEST(ModelCommand, EvalOfAFile) {
  WorkloadKeys keys;
  CorunFile file;
  file.measurements = paper_measurements(keys, kPrirectKnowledgeBase);
  const std::string path = testing::TempDir() + "/prirect.corun.csv";
  {
    std::ofstream out(path);
    write_corun_csv(out, file, keys);
  }
  std::string text;
  EXPECT_EQ(run({"eval", "--pairs", path, "--queues", "20", "--model", "gp", "--effort",
                 test::kLittleEffortText},
                &text),
            kDone);
  EXPECT_NE(text.find("32 measured pairs of 12 jobs"), std::string::npos) << text;
  const std::string results = testing::TempDir() + "/evaluation.txt";
  std::string rest;
  EXPECT_EQ(run({"eval", "--pairs", path, "--queues", "20", "--model", "gp", "--effort",
                 test::kLittleEffortText, "-o", results},
                &rest),
            kDone);
  EXPECT_EQ(rest, "");
  std::ifstream in(results);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
  std::filesystem::remove(path);
  std::filesystem::remove(results);
}

TEST(ModelCommand, RefusesInOneLine) {
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{},
                                             {"fit"},
                                             {"predict"},
                                             {"evl"},
                                             {"eval", "--pairs", "paper"},
                                             {"eval", "--pairs", "no-such-file.csv"},
                                             {"eval", "--pairs", "lucid", "--data", "."},
                                             {"eval", "--queues", "0"},
                                             {"eval", "--seed", "-1"}}) {
    try {
      run(arguments);
      ADD_FAILURE() << "accepted";
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      EXPECT_FALSE(std::string(e.what()).empty());
    }
  }
}

}  // namespace
}  // namespace corun::model_eval_command_test
