#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/effort.hpp"
#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

namespace corun::model_command_test {
namespace {

const std::string kSource = CORUN_SOURCE_DIR;

/// A run of `corun model ...` whose fits take little effort.
test::Outcome run_little(std::vector<std::string> arguments) {
  arguments.insert(arguments.end(), {"--effort", test::kLittleEffortText});
  return test::run_corun(arguments);
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

TEST(ModelCommand, FitsPredictsAndKeepsEveryRow) {
  const test::TemporaryDirectory directory;
  const std::string pairs = kSource + "/examples/mine.corun.csv";
  const std::string model = directory.path("m.model");
  const std::string out = directory.path("out.csv");
  const auto fit = test::run_corun({"model", "fit", "--pairs", pairs, "--out", model});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NE(fit.out.find("6 measured pairs"), std::string::npos) << fit.out;
  const auto predict =
      test::run_corun({"model", "predict", "--model", model, "--pairs", pairs, "--out", out});
  ASSERT_EQ(predict.code, 0) << predict.err;
  EXPECT_EQ(lines_of(test::read_file(out)).size(), 7u);
  // The same seed gives the same bytes for any number of threads; the file contains no names.
  const std::string again = directory.path("again.model");
  ASSERT_EQ(
      test::run_corun({"model", "fit", "--pairs", pairs, "--out", again, "--threads", "3"}).code,
      0);
  EXPECT_EQ(test::read_file(model), test::read_file(again));
  EXPECT_EQ(test::read_file(model).find("resnet"), std::string::npos);
}

TEST(ModelCommand, AnEffortBelowOneIsKeptAndToldWherever) {
  const test::TemporaryDirectory directory;
  const std::string pairs = kSource + "/examples/mine.corun.csv";
  const std::string model = directory.path("little.model");
  const std::string text = "is fitted at effort 0.1: it is for trials";
  const auto fit = run_little(
      {"model", "fit", "--pairs", pairs, "--model", "gp", "--out", model, "--format", "json"});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NE(fit.err.find("note: gp " + text), std::string::npos) << fit.err;
  EXPECT_EQ(nlohmann::json::parse(fit.out).at("effort"), 0.1);
  const std::string jobs = kSource + "/examples/jobs.csv";
  const std::string belief = "belief.initial=" + model;
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"model", "predict", "--model", model, "--pairs", pairs, "--out",
            directory.path("o.csv")},
           {"model", "suggest", "--model", model, "--jobs", jobs, "--budget", "1"},
           {"model", "eval", "--split", "pairs", "--pairs", pairs, "--model", model},
           {"replay", "--set", belief, "--set", "replications=1", "--policies", "fcfs"},
           {"replay", "--set", "world.path=" + model, "--set", "replications=1", "--policies",
            "fcfs"}}) {
    const auto run = test::run_corun(arguments);
    EXPECT_EQ(run.code, 0) << run.err;
    EXPECT_NE(run.err.find("little.model " + text), std::string::npos)
        << arguments[0] << " " << arguments[1] << "\n"
        << run.err;
  }
  const auto eval = run_little(
      {"model", "eval", "--split", "pairs", "--pairs", pairs, "--model", "gp", "--queues", "1"});
  EXPECT_NE(eval.err.find("note: gp " + text), std::string::npos) << eval.err;
  // The fit of contention is no search.
  const auto none = run_little({"model", "fit", "--pairs", pairs, "--model", "contention", "--out",
                                directory.path("none.model")});
  EXPECT_EQ(none.err.find("effort"), std::string::npos) << none.err;
}

TEST(ModelCommand, FitsAndPredictsGroups) {
  const test::TemporaryDirectory directory;
  const std::string groups = kSource + "/examples/groups.csv";
  const std::string model = directory.path("g.model");
  const std::string out = directory.path("out.csv");
  const auto fit = run_little({"model", "fit", "--groups", groups, "--out", model});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_NE(fit.out.find("3 measured pairs and 2 larger groups of 2 jobs"), std::string::npos)
      << fit.out;
  const auto predict =
      test::run_corun({"model", "predict", "--model", model, "--groups", groups, "--out", out});
  ASSERT_EQ(predict.code, 0) << predict.err;
  const std::vector<std::string> before = lines_of(test::read_file(groups));
  const std::vector<std::string> after = lines_of(test::read_file(out));
  ASSERT_EQ(after.size(), before.size());
  EXPECT_TRUE(after[0].ends_with(",norm,pred_norm,pred_sd"));
  for (std::size_t line = 1; line < before.size(); ++line) {
    EXPECT_TRUE(after[line].starts_with(before[line] + ",")) << after[line];
  }
  // Four are slower than three, and these slower than two.
  const auto predicted = [&](std::size_t line) {
    std::istringstream fields(after[line].substr(before[line].size() + 1));
    double value = 0;
    fields >> value;
    return value;
  };
  EXPECT_LT(predicted(10), predicted(7));
  EXPECT_LT(predicted(7), predicted(1));
  // Pairs and groups in one fit.
  const std::string pairs = kSource + "/examples/mine.corun.csv";
  const std::string joint = directory.path("b.model");
  const auto both =
      run_little({"model", "fit", "--groups", groups, "--pairs", pairs, "--out", joint});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_NE(both.out.find("9 measured pairs and 2 larger groups of"), std::string::npos)
      << both.out;
  const auto of_both = test::run_corun(
      {"model", "predict", "--model", joint, "--groups", groups, "--out", out, "--force"});
  ASSERT_EQ(of_both.code, 0) << of_both.err;
  EXPECT_NE(of_both.out.find("0 of the jobs never measured"), std::string::npos) << of_both.out;
  // --pairs takes groups, too, with the same bytes; --groups takes no pairs.
  const std::string as_pairs = directory.path("p.model");
  ASSERT_EQ(run_little({"model", "fit", "--pairs", groups, "--out", as_pairs}).code, 0);
  EXPECT_EQ(test::read_file(as_pairs), test::read_file(model));
  const std::string again = directory.path("again.csv");
  ASSERT_EQ(
      test::run_corun({"model", "predict", "--model", model, "--pairs", groups, "--out", again})
          .code,
      0);
  ASSERT_EQ(test::run_corun(
                {"model", "predict", "--model", model, "--groups", groups, "--out", out, "--force"})
                .code,
            0);
  EXPECT_EQ(test::read_file(again), test::read_file(out));
  const auto wrong =
      test::run_corun({"model", "fit", "--groups", pairs, "--out", directory.path("w.model")});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.err.find("is a table of pairs of jobs, expected a table of groups"),
            std::string::npos)
      << wrong.err;
}

/// Jobs a, b and c in Lucid's form on a GPU type in a mode; `more` columns for both jobs and their values.
std::string lucid_table(const std::string& gpu, const std::string& sharing, double speed,
                        const std::string& more = "", const std::string& value = "",
                        bool has_utilisation = true) {
  std::string text = "gpu,sharing";
  for (const std::string side : {"_a", "_b"}) {
    for (const char* const name :
         {"job", "model", "solo_gpu_util", "solo_gmem_util", "solo_gmem_mib", "norm"}) {
      text.append(",").append(name).append(side);
    }
    if (!more.empty()) text.append(",").append(more).append(side);
  }
  text += "\n";
  const std::vector<std::string> names{"a", "b", "c", "d"};
  const auto side = [&](std::size_t j) {
    const double util = 20 + 20. * static_cast<double>(j);
    std::string fields = "," + names[j] + "," + names[j] + ",";
    fields +=
        has_utilisation ? std::to_string(util) + "," + std::to_string(util / 2) + ",2000," : ",,,";
    fields += std::to_string(speed - 0.05 * static_cast<double>(j));
    return more.empty() ? fields : fields + "," + value;
  };
  for (std::size_t a = 0; a < names.size(); ++a) {
    for (std::size_t b = a; b < names.size(); ++b)
      text.append(gpu).append(",").append(sharing).append(side(a)).append(side(b)).append("\n");
  }
  return text;
}

TEST(ModelCommand, FitsTablesOfSeveralFormsGpuTypesAndModes) {
  const test::TemporaryDirectory directory;
  const std::string mps =
      directory.write("mps.csv", lucid_table("A100", "MPS", 0.95, "share", "50"));
  const std::string time =
      directory.write("time.csv", lucid_table("V100", "time-slicing", 0.6, "solo_rate", "7"));
  const std::string gavel = directory.write(
      "gavel.csv",
      "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_"
      "b,"
      "solo_k80_b,norm_a,norm_b\n"
      "v100,a,A,g,G,30,20,3,40,30,4,0.5,0.6\nv100,g,G,g,G,40,30,4,40,30,4,0.5,0.5\n");
  const std::string newer = directory.write(
      "newer.csv",
      "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_"
      "b,"
      "solo_k80_b,norm_a,norm_b\n"
      "v100,a,A,g,G,30,20,3,44,33,4.4,0.7,0.8\nv100,g,G,g,G,44,33,4.4,44,33,4.4,0.9,0.9\n");
  const std::string groups = kSource + "/examples/groups.csv";
  const std::string out = directory.path("out.csv");
  for (const std::string name : {"default", "factors", "gp", "boosted-trees", "low-rank",
                                 "contention", "cluster-mean", "measured"}) {
    SCOPED_TRACE(name);
    const std::string model = directory.path(name + ".model");
    const auto fit =
        run_little({"model", "fit", "--pairs", mps, "--pairs", time, "--pairs", gavel, "--pairs",
                    newer, "--groups", groups, "--model", name, "--out", model});
    ASSERT_EQ(fit.code, 0) << fit.err;
    EXPECT_NE(fit.out.find("27 measured pairs"), std::string::npos) << fit.out;
    EXPECT_NE(fit.err.find("1 job of newer.csv has other features than that of the same name in "
                           "mps.csv, time.csv, gavel.csv: taken as another"),
              std::string::npos)
        << fit.err;
    for (const std::string& pairs : {mps, time, gavel, newer}) {
      if (name == "contention" && (pairs == gavel || pairs == newer)) continue;
      const auto predict = test::run_corun(
          {"model", "predict", "--model", model, "--pairs", pairs, "--out", out, "--force"});
      ASSERT_EQ(predict.code, 0) << predict.err;
      EXPECT_NE(predict.err.find("lacks"), std::string::npos) << predict.err;
      if (name != "contention" && name != "cluster-mean") {
        EXPECT_NE(predict.out.find("0 of the jobs never measured"), std::string::npos)
            << predict.out;
      }
      CsvReader csv(out, {{"pred_norm_a"}, {"pred_sd_b"}, {"job_a"}, {"job_b"}},
                    {.ignore_unknown = true});
      while (csv.next()) {
        const double speed =
            csv.required_number(csv.column("pred_norm_a"), NumberRule{"a speed", 0, 2, true});
        // Each of the two jobs g is found by its rates.
        if (name == "measured" && csv.text(csv.column("job_a")) == "g") {
          EXPECT_NEAR(speed, pairs == newer ? 0.9 : 0.5, 0.01);
        }
      }
    }
  }
  // A table without any feature of the model: of jobs that it has seen, and of others.
  const std::string model = directory.path("gavel.model");
  ASSERT_EQ(run_little({"model", "fit", "--pairs", gavel, "--out", model}).code, 0);
  const auto seen = test::run_corun(
      {"model", "predict", "--model", model, "--pairs", mps, "--out", out, "--force"});
  EXPECT_EQ(seen.code, 0) << seen.err;
  EXPECT_NE(
      seen.err.find("mps.csv lacks solo_v100, solo_p100, solo_k80, which the model was fitted "
                    "on: taken as not known"),
      std::string::npos)
      << seen.err;
  EXPECT_NE(
      seen.err.find("mps.csv has gpu_util_pct, mem_time_pct, mem_used_mib, sm_share_pct, which "
                    "the model was not fitted on: not used"),
      std::string::npos)
      << seen.err;
  const auto unseen = test::run_corun(
      {"model", "predict", "--model", model, "--groups", groups, "--out", out, "--force"});
  EXPECT_EQ(unseen.code, 2);
  EXPECT_NE(unseen.err.find("groups.csv: none of its jobs was fitted on, and none has a known "
                            "solo_v100, solo_p100, solo_k80"),
            std::string::npos)
      << unseen.err;
  EXPECT_EQ(std::count(unseen.err.begin(), unseen.err.end(), '\n'), 1) << unseen.err;

  const auto eval = run_little({"model", "eval", "--split", "pairs", "--pairs", mps, "--pairs",
                                time, "--model", "gp", "--model", "measured", "--model", model,
                                "--queues", "2", "--format", "json"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_EQ(nlohmann::json::parse(eval.out)[0]["pairs"], 20);
}

// Tally's table has columns of utilisation and no value in them.
TEST(ModelCommand, FeaturesWithoutAnyValueDoNoHarm) {
  const test::TemporaryDirectory directory;
  const std::string bare =
      directory.write("bare.csv", lucid_table("", "MPS", 0.9, "solo_rate", "5", false));
  const std::string out = directory.path("out.csv");
  for (const std::string name :
       {"default", "factors", "gp", "boosted-trees", "low-rank", "cluster-mean", "measured"}) {
    SCOPED_TRACE(name);
    const std::string model = directory.path(name + ".model");
    const auto fit = run_little({"model", "fit", "--pairs", bare, "--model", name, "--out", model});
    ASSERT_EQ(fit.code, 0) << fit.err;
    const auto predict = test::run_corun(
        {"model", "predict", "--model", model, "--pairs", bare, "--out", out, "--force"});
    ASSERT_EQ(predict.code, 0) << predict.err;
    CsvReader csv(out, {{"pred_norm_a"}, {"pred_norm_b"}, {"pred_sd_a"}, {"pred_sd_b"}},
                  {.ignore_unknown = true});
    while (csv.next()) {
      EXPECT_NEAR(csv.required_number(csv.column("pred_norm_a"), {"a speed"}), 0.85, 0.2);
      EXPECT_NEAR(csv.required_number(csv.column("pred_norm_b"), {"a speed"}), 0.85, 0.2);
    }
  }
  const auto refused = test::run_corun({"model", "fit", "--pairs", bare, "--model", "contention",
                                        "--out", directory.path("c.model")});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("bare.csv: contention: no job of the pairs has a known gpu_util_pct"),
            std::string::npos)
      << refused.err;
  const auto eval = test::run_corun({"model", "eval", "--split", "pairs", "--pairs", bare,
                                     "--model", "contention", "--model", "gp"});
  ASSERT_EQ(eval.code, 0) << eval.err;
  EXPECT_NE((eval.out + eval.err).find("gpu_util_pct"), std::string::npos) << eval.out << eval.err;
}

// The C library has functions for processors with and without fused multiply-add, whose last bits differ.
TEST(ModelCommand, EveryModelHasTheSameBytesWithoutFusedMultiplyAdd) {
  std::ifstream cpu("/proc/cpuinfo");
  const std::string flags{std::istreambuf_iterator<char>(cpu), {}};
  if (flags.find(" fma ") == std::string::npos) GTEST_SKIP() << "this processor has no FMA";
  const test::TemporaryDirectory directory;
  const auto list = test::run_corun({"list", "models", "--format", "json"});
  const auto models = nlohmann::json::parse(list.out);
  EXPECT_GE(models.size(), 8U);
  for (const auto& model : models) {
    const std::string name = model.at("name");
    const auto fit = [&](const std::string& file) {
      const auto run = run_little(
          {"model", "fit", "--pairs", "papers", "--model", name, "--out", directory.path(file)});
      EXPECT_EQ(run.code, 0) << name << run.err;
      return test::read_file(directory.path(file));
    };
    const std::string with = fit(name);
    ::setenv("GLIBC_TUNABLES", "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2,-AVX2_Usable", 1);
    const std::string without = fit(name + ".plain");
    ::unsetenv("GLIBC_TUNABLES");
    EXPECT_TRUE(with == without) << name;
  }
}

TEST(ModelCommand, PredictsHeldOutPairsOfLucid) {
  const char* file = "lucid/lucid_pairs.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  // Every fifth pair is held out and loses all its measurements.
  const std::vector<std::string> lines = lines_of(test::read_file(test::public_data(file)));
  std::vector<std::string> header;
  std::istringstream names(lines[0]);
  for (std::string name; std::getline(names, name, ',');) header.push_back(name);
  const auto is_outcome = [](const std::string& name) {
    return name.starts_with("norm_") || name.starts_with("slowdown_") ||
           name.starts_with("corun_") || name.starts_with("lucid_label");
  };
  std::string train = lines[0] + "\n";
  std::string held;
  std::vector<std::array<double, 2>> truth;
  const auto stripped = [&](const std::string& line) {
    std::istringstream in(line);
    std::string text;
    std::size_t c = 0;
    for (std::string field; std::getline(in, field, ','); ++c) {
      if (!is_outcome(header[c])) text += (text.empty() ? "" : ",") + field;
    }
    return text + "\n";
  };
  held = stripped(lines[0]);
  const auto column = [&](const char* name) {
    return static_cast<std::size_t>(std::find(header.begin(), header.end(), name) - header.begin());
  };
  for (std::size_t i = 1; i < lines.size(); ++i) {
    std::vector<std::string> fields;
    std::istringstream in(lines[i]);
    for (std::string field; std::getline(in, field, ',');) fields.push_back(field);
    const bool imputed =
        lines[i].find("PPO|") != std::string::npos || lines[i].find("TD3|") != std::string::npos;
    if (i % 5 != 0 || imputed) {
      train += lines[i] + "\n";
      continue;
    }
    held += stripped(lines[i]);
    truth.push_back({std::stod(fields[column("norm_a")]), std::stod(fields[column("norm_b")])});
  }
  const test::TemporaryDirectory directory;
  const std::string train_path = directory.write("train.csv", train);
  const std::string held_path = directory.write("held.csv", held);
  const std::string model = directory.path("m.model");
  const std::string out = directory.path("out.csv");
  // The error at effort 1 is judged by EnsembleAccuracy.PairsOfLucid.
  ASSERT_EQ(run_little({"model", "fit", "--pairs", train_path, "--out", model}).code, 0);
  const auto run =
      test::run_corun({"model", "predict", "--model", model, "--pairs", held_path, "--out", out});
  ASSERT_EQ(run.code, 0) << run.err;
  CsvReader csv(out, {{"pred_norm_a"}, {"pred_norm_b"}, {"pred_sd_a"}, {"pred_sd_b"}},
                {.ignore_unknown = true});
  double error = 0;
  double covered = 0;
  std::size_t row = 0;
  for (; csv.next(); ++row) {
    const NumberRule rule{"a number", 0, 10};
    for (std::size_t side = 0; side < 2; ++side) {
      const double speed =
          csv.required_number(csv.column(side == 0 ? "pred_norm_a" : "pred_norm_b"), rule);
      const double sd =
          csv.required_number(csv.column(side == 0 ? "pred_sd_a" : "pred_sd_b"), rule);
      EXPECT_GT(sd, 0);
      error += 100 * std::abs(1 / speed - 1 / truth[row][side]);
      covered += std::abs(speed - truth[row][side]) <= 1.645 * sd ? 1 : 0;
    }
  }
  ASSERT_EQ(row, truth.size());
  const auto n = 2 * static_cast<double>(row);
  EXPECT_LT(error / n, 4.7) << "percentage points of ISD";
  EXPECT_GT(covered / n, 0.85);
  EXPECT_LT(covered / n, 0.96);
}

TEST(ModelCommand, CrossValidatesTables) {
  const char* file = "gavel/gavel_k80_pairs.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  const std::vector<std::string> arguments{
      "model", "eval",     "--pairs", test::public_data(file), "--split", "pairs", "--queues", "5",
      "-q",    "--format", "json"};
  const auto mae_of = [](const test::Outcome& run) {
    EXPECT_EQ(run.code, 0) << run.err;
    std::map<std::string, double> mae;
    const auto json = nlohmann::json::parse(run.out);
    for (const auto& p : json[0]["predictors"]) mae[p["predictor"]] = p["mae"];
    return mae;
  };
  // Without --model all models of the catalogue, with the mean and the median.
  std::map<std::string, double> mae = mae_of(run_little(arguments));
  EXPECT_GE(mae.size(), 9U);
  EXPECT_LT(mae["ensemble"], 0.075);
  EXPECT_LT(mae["factors"], 0.075);
  EXPECT_GT(mae["cluster-mean"], 0.2);
  std::vector<std::string> factors = arguments;
  factors.insert(factors.end(), {"--model", "factors"});
  mae = mae_of(test::run_corun(factors));
  EXPECT_EQ(mae.size(), 3U);
  EXPECT_LT(mae["factors"], 0.075);
}

TEST(ModelCommand, EvalTakesEachFormThatFitTakes) {
  const test::TemporaryDirectory directory;
  const std::string groups = directory.write(
      "groups.csv",
      "group,gpu,sharing,job,solo_gpu_util,norm\n1,A,MPS,a,40,0.9\n1,A,MPS,b,60,0.8\n"
      "2,A,MPS,a,40,0.8\n2,A,MPS,c,70,0.7\n3,A,MPS,b,60,0.7\n3,A,MPS,c,70,0.7\n"
      "4,A,MPS,a,40,0.6\n4,A,MPS,b,60,0.6\n4,A,MPS,c,70,0.5\n");
  const std::string gavel = directory.write(
      "gavel.csv",
      "gpu,job_a,family_a,job_b,family_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,"
      "solo_p100_b,solo_k80_b,norm_a,norm_b\n"
      "k80,x,X,y,Y,1,2,3,4,5,6,0.5,0.25\nk80,x,X,z,Z,1,2,3,9,8,7,0.75,0.8\n"
      "k80,y,Y,z,Z,4,5,6,9,8,7,0.6,0.7\n");
  for (const std::string& table :
       {groups, gavel, directory.write("lucid.csv", lucid_table("A", "mps", 0.9))}) {
    const std::vector<std::string> rest{"--model", "cluster-mean", "--queues",
                                        "2",       "--format",     "csv"};
    std::vector<std::string> plain{"model", "eval", "--pairs", table};
    plain.insert(plain.end(), rest.begin(), rest.end());
    std::vector<std::string> split{"model", "eval", "--split", "job", "--pairs", table};
    split.insert(split.end(), rest.begin(), rest.end());
    const test::Outcome judged = test::run_corun(plain);
    EXPECT_EQ(judged.code, 0) << judged.err;
    EXPECT_NE(judged.err.find("has no run times: judged as by --split job"), std::string::npos);
    EXPECT_EQ(judged.err.find("left out: pairs are judged") != std::string::npos, table == groups);
    EXPECT_EQ(judged.out, test::run_corun(split).out);
  }
  const test::Outcome coruns =
      test::run_corun({"model", "eval", "--pairs", kSource + "/examples/mine.corun.csv", "--model",
                       "cluster-mean", "--queues", "2"});
  EXPECT_EQ(coruns.code, 0) << coruns.err;
  EXPECT_EQ(coruns.err.find("--split"), std::string::npos) << coruns.err;
  const test::Outcome rates =
      test::run_corun({"model", "eval", "--pairs", kSource + "/examples/gavel_rates.json"});
  EXPECT_EQ(rates.code, 2);
  EXPECT_NE(rates.err.find("is Gavel's rates of pairs, expected"), std::string::npos) << rates.err;
}

TEST(ModelCommand, JudgesAFittedModelAsItIs) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(test::run_corun({"model", "fit", "--pairs", "papers", "--model", "contention", "--out",
                             directory.path("m.model")})
                .code,
            0);
  for (const bool split : {false, true}) {
    std::vector<std::string> arguments{"model", "eval",     "--model", "m.model",  "--model",
                                       "gp",    "--queues", "5",       "--format", "json"};
    arguments.insert(arguments.end(), {"--effort", test::kLittleEffortText});
    if (split) arguments.insert(arguments.end(), {"--split", "pairs"});
    const auto run = test::run_corun(arguments, directory.path());
    ASSERT_EQ(run.code, 0) << run.err;
    const auto json = nlohmann::json::parse(run.out);
    std::map<std::string, double> mae;
    for (const auto& p : (split ? json[0] : json)["predictors"]) {
      const auto& value = split ? p["mae"] : p["mae"]["value"];
      if (value.is_number()) mae[p["predictor"]] = value;
    }
    EXPECT_EQ(mae.count("gp"), 1U);
    EXPECT_GT(mae["m.model"], 0.08);
    EXPECT_LT(mae["m.model"], split ? 0.1002 : 0.0997) << "contention, fitted without the pairs";
    EXPECT_EQ(mae.count("factors"), 0U);
  }
}

TEST(ModelCommand, BadInputIsOneClearLine) {
  const test::TemporaryDirectory directory;
  const std::string pairs = kSource + "/examples/mine.corun.csv";
  const std::string model = directory.path("m.model");
  ASSERT_EQ(run_little({"model", "fit", "--pairs", pairs, "--out", model}).code, 0);
  const std::string other = directory.write(
      "gavel.csv",
      "gpu,job_a,job_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_b,solo_p100_b,solo_k80_b\n"
      "v100,a,b,1,2,3,4,5,6\n");
  const std::string modes = directory.write("modes.csv", lucid_table("A", "by luck", 0.9));
  const std::string out = directory.path("out");
  struct Case {
    std::vector<std::string> arguments;
    std::string expected;
  };
  for (const Case& c : std::vector<Case>{
           {{"model"}, "needs a word: one of fit, predict, suggest, eval"},
           {{"model", "fti"}, "did you mean 'fit'?"},
           {{"model", "fit", "--out", out}, "give --pairs FILE"},
           {{"model", "fit", "--pairs", pairs}, "give --out MODEL"},
           {{"model", "fit", "--pairs", pairs, "--pairs", pairs, "--out", out}, "given twice"},
           {{"model", "fit", "--pairs", pairs, "--out", out, "--effort", "0"},
            "--effort: found '0', expected a share of the work from 0.001 to 1"},
           {{"model", "eval", "--effort", "1.5"}, "--effort: found '1.5'"},
           {{"model", "fit", "--pairs", "nowhere.csv", "--out", out}, "no file 'nowhere.csv'"},
           {{"model", "fit", "--pairs", pairs, "--out", pairs}, "would be overwritten"},
           {{"model", "fit", "--pairs", pairs, "--model", "best", "--out", out},
            "--model: found 'best'"},
           {{"model", "fit", "--pairs", other, "--out", out}, "no measured speed"},
           {{"model", "predict", "--pairs", pairs, "--out", out}, "--model is missing"},
           {{"model", "predict", "--model", pairs, "--pairs", pairs, "--out", out},
            "mine.corun.csv"},
           {{"model", "predict", "--model", model, "--pairs", other, "--out", out},
            "which the model was fitted on; predict a table with one of these features"},
           {{"model", "fit", "--groups", kSource + "/examples/groups.csv", "--groups",
             kSource + "/examples/groups.csv", "--out", out},
            "--groups: '"},
           {{"model", "fit", "--groups", pairs, "--out", out}, "mine.corun.csv"},
           {{"model", "fit", "--pairs", modes, "--out", out},
            "modes.csv:2:3: column 'sharing' is 'by luck', expected a sharing mode"},
           {{"model", "eval", "--split", "job", "--pairs", pairs, "--figure", pairs},
            "would be overwritten"},
           {{"model", "eval", "--split", "job", "--pairs", pairs, "--output", pairs},
            "would be overwritten"},
           {{"model", "eval", "--pairs", pairs, "--output", pairs}, "would be overwritten"},
           {{"model", "fit", "--pairs", pairs, "--out", out, "--output", model},
            "another name of --output"},
           {{"model", "eval", "--rows", "10"}, "--rows: goes with --split"},
           {{"model", "eval", "--split", "pairs", "--rows", "10,x"}, "--rows: found '10,x'"},
           {{"model", "eval", "--split", "pairs", "--rows", ""}, "--rows: found ''"},
           {{"model", "eval", "--split", "pairs", "--probes", "3"}, "--probes: goes with"},
           {{"model", "eval", "--split", "pairs", "--model", "best"}, "--model: found 'best'"},
           {{"model", "eval", "--model", "best"}, "--model: found 'best', no model and no file"},
           {{"model", "eval", "--model", "best.model"}, "best.model"},
           {{"model", "eval", "--model", pairs}, "no speed model"},
           {{"model", "eval", "--model", model, "--output", model}, "would be overwritten"},
           {{"model", "eval", "--split", "jobs", "--pairs", pairs}, "--split: found 'jobs'"},
           {{"model", "eval", "--pairs", "papers-published"},
            "papers-published goes with --split only"},
           {{"model", "fit", "--pairs", "papers-published", "--out", out},
            "what is fitted on is 'papers'"},
           {{"model", "eval", "--split", "pairs", "--pairs", "papers", "--pairs",
             "papers-published"},
            "given twice"},
           {{"model", "eval", "--split", "family", "--pairs", pairs}, "names no families"}}) {
    const auto run = test::run_corun(c.arguments, directory.path());
    std::string shown;
    for (const std::string& a : c.arguments) shown += a + " ";
    EXPECT_EQ(run.code, 2) << shown << run.err;
    EXPECT_NE(run.err.find(c.expected), std::string::npos) << shown << "\n" << run.err;
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

}  // namespace
}  // namespace corun::model_command_test
