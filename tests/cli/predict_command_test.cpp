#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/program.hpp"

namespace corun::predict_command_test {
namespace {

const std::string kJobs = CORUN_SOURCE_DIR "/examples/measured_jobs.csv";

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) out.push_back(line);
  return out;
}

TEST(PredictCommand, FitsAppliesAndKeepsEveryRow) {
  const test::TemporaryDirectory directory;
  for (const std::string target : {"memory", "time", "utilisation"}) {
    SCOPED_TRACE(target);
    const std::string model = directory.path(target + ".predictor");
    const std::string again = directory.path(target + "_again.predictor");
    const auto fit =
        test::run_corun({"predictor", "fit", "--target", target, "--jobs", kJobs, "--out", model});
    ASSERT_EQ(fit.code, 0) << fit.err;
    ASSERT_EQ(test::run_corun({"predictor", "fit", "--target", target, "--jobs", kJobs, "--out",
                               again, "--threads", "3"})
                  .code,
              0);
    EXPECT_EQ(test::read_file(model), test::read_file(again));
    EXPECT_EQ(test::read_file(model).find("resnet"), std::string::npos);
    const std::string out = directory.path(target + ".csv");
    const auto apply =
        test::run_corun({"predictor", "apply", "--model", model, "--jobs", kJobs, "--out", out});
    ASSERT_EQ(apply.code, 0) << apply.err;
    const auto before = lines(test::read_file(kJobs)), after = lines(test::read_file(out));
    ASSERT_EQ(after.size(), before.size());
    EXPECT_EQ(after[0], before[0] + ",pred,pred_lo,pred_hi");
    for (std::size_t r = 1; r < after.size(); ++r) {
      EXPECT_TRUE(after[r].starts_with(before[r] + ",")) << after[r];
      EXPECT_NE(after[r].back(), ',') << "no prediction: " << after[r];
    }
    const auto predict = test::run_corun({"predict", "--zoo", "resnet34", "--model", model});
    EXPECT_EQ(predict.code, 0) << predict.err;
    // Damage is seen.
    std::string bytes = test::read_file(model);
    bytes[bytes.size() / 2] ^= 1;
    const std::string bad = directory.write("bad.predictor", bytes);
    const auto refused = test::run_corun(
        {"predictor", "apply", "--model", bad, "--jobs", kJobs, "--out", directory.path("o.csv")});
    EXPECT_EQ(refused.code, 2);
    EXPECT_NE(refused.err.find("damaged"), std::string::npos) << refused.err;
  }
}

TEST(PredictCommand, EvalTakesOtherConstantsAndMediansOnly) {
  const auto eval = [](std::vector<std::string> more) {
    std::vector<std::string> arguments{"predictor", "eval",    "--target", "memory",   "--jobs",
                                       kJobs,       "--split", "family",   "--format", "csv"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto run = test::run_corun(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    return lines(run.out);
  };
  const auto value = [](const std::vector<std::string>& rows, const std::string& figure) {
    for (const std::string& row : rows) {
      const std::size_t at = row.find("," + figure + ",");
      if (at != std::string::npos) return row.substr(at + figure.size() + 2);
    }
    return std::string("none");
  };
  const auto whole = eval({}), medians = eval({"--medians"});
  EXPECT_EQ(value(medians, "mape_pct"), value(whole, "mape_pct"));
  EXPECT_NE(value(whole, "coverage_pct"), "");
  EXPECT_EQ(value(medians, "coverage_pct"), "");
  EXPECT_EQ(value(medians, "caught_pct"), "none");
  EXPECT_NE(value(eval({"--medians", "--constants", "depth=1,process_share=0"}), "mape_pct"),
            value(medians, "mape_pct"));
}

TEST(PredictCommand, ApplyTellsWhichJobsRunOut) {
  const test::TemporaryDirectory directory;
  const std::string model = directory.path("m.predictor"), out = directory.path("o.csv");
  ASSERT_EQ(
      test::run_corun({"predictor", "fit", "--target", "memory", "--jobs", kJobs, "--out", model})
          .code,
      0);
  const auto apply = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"predictor", "apply", "--model", model,    "--jobs",
                                       kJobs,       "--out", out,       "--force"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return test::run_corun(arguments);
  };
  std::size_t last = 0;
  for (const std::string capacity : {"100000", "3000", "1"}) {
    const auto run = apply({"--capacity", capacity});
    ASSERT_EQ(run.code, 0) << run.err;
    const auto rows = lines(test::read_file(out));
    EXPECT_TRUE(rows[0].ends_with(",pred,pred_lo,pred_hi,oom"));
    std::size_t alarms = 0;
    for (std::size_t r = 1; r < rows.size(); ++r) alarms += rows[r].ends_with(",1") ? 1 : 0;
    if (capacity == "100000") EXPECT_EQ(alarms, 0U);
    if (capacity == "1") EXPECT_EQ(alarms, rows.size() - 1);
    EXPECT_GE(alarms, last);
    last = alarms;
  }
  EXPECT_EQ(apply({"--capacity", "V100-16GB"}).code, 0);
  EXPECT_NE(apply({"--capacity", "V100-17GB"}).err.find("--capacity: found 'V100-17GB'"),
            std::string::npos);
  // A second time, the columns are there.
  const auto twice = test::run_corun(
      {"predictor", "apply", "--model", model, "--jobs", out, "--out", directory.path("p.csv")});
  EXPECT_EQ(twice.code, 2);
  EXPECT_NE(twice.err.find("has a column 'pred' already"), std::string::npos) << twice.err;
  const auto dash =
      test::run_corun({"predictor", "apply", "--model", model, "--jobs", kJobs, "--out", "-"});
  EXPECT_EQ(dash.code, 2);
  EXPECT_NE(dash.err.find("--out: found '-'"), std::string::npos) << dash.err;
}

// Rows of another precision, or without cuDNN, are not predicted as if they were of float with it.
TEST(PredictCommand, ApplyLeavesUnlikeRowsEmpty) {
  const test::TemporaryDirectory directory;
  const std::string model = directory.path("t.predictor"), out = directory.path("o.csv");
  ASSERT_EQ(
      test::run_corun({"predictor", "fit", "--target", "time", "--jobs", kJobs, "--out", model})
          .code,
      0);
  const std::string precisions = directory.write("iterations.csv",
                                                 "gpu_type,precision,phase,model\n"
                                                 "T4,float,train,resnet18\n"
                                                 "T4,half,train,resnet18\n"
                                                 "T4,bfloat16,train,resnet18\n"
                                                 "T4,float,train,resnet50\n");
  auto run =
      test::run_corun({"predictor", "apply", "--model", model, "--jobs", precisions, "--out", out});
  ASSERT_EQ(run.code, 0) << run.err;
  auto rows = lines(test::read_file(out));
  ASSERT_EQ(rows.size(), 5U);
  EXPECT_EQ(rows[2], "T4,half,train,resnet18,,,");
  EXPECT_EQ(rows[3], "T4,bfloat16,train,resnet18,,,");
  EXPECT_NE(rows[1].back(), ',');
  EXPECT_NE(rows[4].back(), ',');
  EXPECT_NE(run.err.find("2 of 4 rows are left empty: 2 of another precision than float"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("no prediction"), std::string::npos) << run.err;
  EXPECT_NE(run.out.find("2 jobs"), std::string::npos) << run.out;
  const std::string cudnn = directory.write("times.csv",
                                            "gpu,use_cudnn,model,batch,h\n"
                                            "V100-16GB,0,resnet-18,16,224\n"
                                            "V100-16GB,1,resnet-18,16,224\n");
  run = test::run_corun(
      {"predictor", "apply", "--model", model, "--jobs", cudnn, "--out", out, "--force"});
  ASSERT_EQ(run.code, 0) << run.err;
  rows = lines(test::read_file(out));
  EXPECT_TRUE(rows[1].ends_with(",,,")) << rows[1];
  EXPECT_FALSE(rows[2].ends_with(",")) << rows[2];
  EXPECT_NE(run.err.find("1 of 2 rows are left empty: 1 without cuDNN"), std::string::npos)
      << run.err;
}

TEST(PredictCommand, ApplyNamesMissingColumns) {
  const test::TemporaryDirectory directory;
  std::string with = "batch,img_px,params_m,gmacs,macts_m,mem_mib,graph_fwd_mib,graph_bwd_mib\n";
  for (int i = 1; i <= 30; ++i) {
    with += std::to_string(8 * i) + ",224,25,4,11," + std::to_string(1500 + 400 * i) + "," +
            std::to_string(170 * i) + "," + std::to_string(180 * i) + "\n";
  }
  const std::string jobs = directory.write("with.csv", with);
  const std::string model = directory.path("m.predictor");
  const auto fit =
      test::run_corun({"predictor", "fit", "--target", "memory", "--jobs", jobs, "--out", model});
  ASSERT_EQ(fit.code, 0) << fit.err;
  const std::string without =
      directory.write("without.csv", "batch,img_px,params_m,gmacs,macts_m\n8,224,25,4,11\n");
  const auto run = test::run_corun({"predictor", "apply", "--model", model, "--jobs", without,
                                    "--out", directory.path("o.csv")});
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("missing: graph_bwd_mib or graph_total_mib, graph_fwd_mib"),
            std::string::npos)
      << run.err;
}

TEST(PredictCommand, HelpOfTheGroupIsWhole) {
  const auto help = test::run_corun({"predictor", "--help"});
  EXPECT_NE(help.out.find("describes each; `corun predict` predicts one model on GPU types.\n"),
            std::string::npos)
      << help.out;
  EXPECT_EQ(help.out.find("\n.\n"), std::string::npos);
}

TEST(PredictCommand, AQueueIsRankedForOneGpuAndNotInCsv) {
  const std::string queue = CORUN_SOURCE_DIR "/examples/jobs.csv";
  const auto two =
      test::run_corun({"predict", "--zoo", "resnet18", "--gpu", "T4,V100-16GB", "--queue", queue});
  EXPECT_EQ(two.code, 0) << two.err;
  EXPECT_NE(two.err.find("--queue: the ranking is for T4, the first of --gpu"), std::string::npos);
  const auto csv = test::run_corun(
      {"predict", "--zoo", "resnet18", "--gpu", "T4", "--queue", queue, "--format", "csv"});
  EXPECT_EQ(csv.code, 2);
  EXPECT_NE(csv.err.find("--queue: has no place in a table of GPU types"), std::string::npos)
      << csv.err;
}

TEST(PredictCommand, EvaluatesEverySplit) {
  const auto eval = test::run_corun({"predictor", "eval", "--target", "time", "--jobs", kJobs,
                                     "--known", "0,2", "--format", "json"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  const auto json = nlohmann::json::parse(eval.out);
  EXPECT_EQ(json.at("evaluations").size(),
            11U);  // five splits by groups with 0 and 2 known; random
  for (const auto& e : json.at("evaluations")) EXPECT_LT(e.at("mape_pct"), 40) << e;
  // Without a family and a GPU type twenty jobs are left to most fits, not to all: the others' jobs are not scored.
  const auto& both = json.at("evaluations")[8];
  EXPECT_EQ(both.at("held_out"), "family+gpu");
  EXPECT_GT(both.at("jobs"), 20);
  EXPECT_LT(both.at("jobs"), json.at("evaluations")[0].at("jobs"));
}

TEST(PredictCommand, TellsEveryGpuAndTheLargestBatch) {
  const auto run = test::run_corun(
      {"predict", "--zoo", "resnet50", "--gpu", "T4,V100", "--batch", "64", "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto json = nlohmann::json::parse(run.out);
  EXPECT_EQ(json.at("parameters"), 25'557'032);
  ASSERT_EQ(json.at("gpu_types").size(), 2U);
  const auto& type = json.at("gpu_types")[0];
  const std::string largest = std::to_string(type.at("largest_batch").get<int>());
  const std::string more = std::to_string(type.at("largest_batch").get<int>() + 1);
  for (const auto& [batch, fits] : {std::pair{largest, true}, {more, false}}) {
    const auto one = test::run_corun(
        {"predict", "--zoo", "resnet50", "--gpu", "T4", "--batch", batch, "--format", "json"});
    EXPECT_EQ(nlohmann::json::parse(one.out).at("gpu_types")[0].at("fits"), fits) << batch;
  }
}

TEST(PredictCommand, SaysWithWhomToShare) {
  const std::string queue = CORUN_SOURCE_DIR "/examples/jobs.csv";
  const auto run = test::run_corun(
      {"predict", "--zoo", "resnet18", "--gpu", "V100", "--queue", queue, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  const auto sharing = nlohmann::json::parse(run.out).at("sharing");
  ASSERT_GT(sharing.size(), 5U);
  double last = -1;
  for (const auto& job : sharing) {
    if (!job.at("fits").get<bool>()) break;
    const double cost = job.at("isd_of_model").get<double>() + job.at("isd_of_job").get<double>();
    EXPECT_GE(cost, last);
    last = cost;
  }
}

TEST(PredictCommand, TracesMayNameModels) {
  const test::TemporaryDirectory directory;
  const std::string head = "job,submit_s,solo_s,zoo,batch,mem_used_mib\n";
  const std::string good =
      directory.write("good.csv", head + "a,0,100,resnet50,64,\nb,0,100,resnet18,8,\nc,0,50,,,\n");
  const auto replay = test::run_corun({"replay", good, "--gpus", "1", "--policies", "min-slowdown",
                                       "--replications", "1", "--format", "json"});
  ASSERT_EQ(replay.code, 0) << replay.err;
  EXPECT_NE(replay.out.find("the profiles of 2 jobs that name a model of the zoo are predicted"),
            std::string::npos);
  // Jobs too large for the GPU run out of memory beside others: their demand is predicted.
  const std::string again = directory.path("again.csv");
  const auto convert = test::run_corun({"trace", "convert", good, "--out", again});
  if (convert.code == 0) {
    EXPECT_NE(test::read_file(again).find("resnet50,64"), std::string::npos);
  }
  const std::string bad = directory.write("bad.csv", head + "a,0,100,resnet5,64,\n");
  const auto refused = test::run_corun({"replay", bad, "--gpus", "1"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("bad.csv:2:9: column 'zoo' is 'resnet5'"), std::string::npos)
      << refused.err;
}

TEST(PredictCommand, OneClearLineForEveryMistake) {
  const test::TemporaryDirectory directory;
  const std::string text = directory.write("text.onnx", "not an ONNX file at all");
  const std::string empty = directory.write("empty.onnx", "");
  const std::string out = directory.path("o.predictor");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases{
      {{"predict"}, "needs a model"},
      {{"predict", "--zoo", "resnet18", "--onnx", text}, "not both"},
      {{"predict", "--zoo", "resnt18"}, "did you mean 'resnet18'?"},
      {{"predict", "--zoo", "resnet18", "--batch", "0"}, "--batch"},
      {{"predict", "--zoo", "resnet18", "--batch", "x"}, "--batch"},
      {{"predict", "--zoo", "resnet18", "--gpu", "V10"}, "--gpu: found 'V10'"},
      {{"predict", "--zoo", "resnet18", "--tokens", "8"}, "reads images"},
      {{"predict", "--zoo", "bert_base", "--pixels", "8"}, "reads texts"},
      {{"predict", "--zoo", "vgg11", "--pixels", "1"},
       "--pixels: 1 does not suit vgg11: a window of 2"},
      {{"predict", "--zoo", "resnet18", "--phase", "both"}, "--phase"},
      {{"predict", "--zoo", "resnet18", "--model", kJobs}, "no predictor"},
      {{"predict", "--zoo", "resnet18", "--queue", "nosuch.csv"}, "--queue"},
      {{"predict", "--onnx", text}, "text.onnx"},
      {{"predict", "--onnx", empty}, "empty.onnx"},
      {{"predict", "--onnx", text, "--size", "n"}, "NAME=N"},
      {{"predictor"}, "one of fit, apply, eval"},
      {{"predictor", "fit"}, "--target"},
      {{"predictor", "fit", "--target", "power"}, "--target"},
      {{"predictor", "fit", "--target", "time"}, "--jobs"},
      {{"predictor", "fit", "--target", "time", "--jobs", kJobs}, "--out"},
      {{"predictor", "fit", "--target", "time", "--jobs", text, "--out", out}, "text.onnx:1:1"},
      {{"predictor", "fit", "--target", "time", "--jobs", kJobs, "--out", out, "--kind", "best"},
       "--kind"},
      {{"predictor", "apply", "--jobs", kJobs}, "--model"},
      {{"predictor", "eval", "--target", "time", "--jobs", kJobs, "--split", "rows"}, "--split"},
      {{"predictor", "eval", "--target", "time", "--jobs", kJobs, "--capacity", "8"}, "--capacity"},
      {{"predictor", "eval", "--target", "memory", "--jobs", kJobs, "--capacity", "x"},
       "--capacity"},
      {{"predictor", "eval", "--target", "memory", "--jobs", kJobs, "--constants", "depth=99"},
       "--constants: found 'depth=99', expected a number from 1 to 12"},
      {{"predictor", "eval", "--target", "memory", "--jobs", kJobs, "--constants", "dept=3"},
       "did you mean 'depth'"},
      {{"predictor", "eval", "--target", "memory", "--jobs", kJobs, "--constants", "depth"},
       "expected NAME=NUMBER"},
      {{"predictor", "eval", "--target", "time", "--jobs", kJobs, "--constants", "depth=3"},
       "depth has no effect here"},
      {{"predictor", "eval", "--target", "memory", "--jobs", kJobs, "--medians", "--constants",
        "missed_share=0.1"},
       "missed_share has no effect here"},
      {{"predictor", "eval", "--target", "memory", "--jobs", kJobs, "--known", "1", "--split",
        "family", "--constants", "odd_probability=0.9"},
       "add up to 1 or more"},
  };
  for (const auto& [arguments, expected] : cases) {
    const auto run = test::run_corun(arguments, directory.path());
    const std::string shown = arguments.back() + ": " + run.err;
    EXPECT_EQ(run.code, 2) << shown;
    EXPECT_NE(run.err.find(expected), std::string::npos) << shown;
    EXPECT_EQ(lines(run.err).size(), 1U) << shown;
  }
}

}  // namespace
}  // namespace corun::predict_command_test
