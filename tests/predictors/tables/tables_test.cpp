#include <array>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/tables/job_table.hpp"
#include "predictors/tables/layer_list.hpp"
#include "predictors/tables/predictor_evaluation.hpp"
#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::predictor_tables_test {
namespace {

JobTable table_of(const std::string& text, Target target) {
  const test::TemporaryDirectory directory;
  return read_job_table(directory.write("jobs.csv", text), target, GpuTypes());
}

std::string refusal_of(const std::string& text, Target target) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("jobs.csv", text);
  try {
    read_job_table(path, target, GpuTypes());
  } catch (const InputError& e) {
    return std::string(e.what()).substr(directory.path().size() + 1);
  }
  return "";
}

const std::string kTimm =
    "model,family,batch,img_px,params_m,gmacs,macts_m,mem_mib,status,graph_fwd_mib,graph_bwd_mib,"
    "graph_total_mib\n";

TEST(PredictorTables, TimmsSweep) {
  const JobTable table = table_of(kTimm +
                                      "a,x,8,224,25,4,11,5000,ok,700,900,1000\n"
                                      "a,x,64,224,25,4,11,900,oom,700,900,1000\n"
                                      "a,x,32,224,25,4,11,9000,high,700,900,1000\n",
                                  Target::kMemory);
  ASSERT_EQ(table.rows.size(), 3U);
  const JobTableRow& first = table.rows[0];
  EXPECT_EQ(first.value, 5000);
  EXPECT_EQ(first.names[0], "a");
  EXPECT_EQ(first.names[1], "x");
  EXPECT_EQ(first.job.figures.parameters, 25e6);
  EXPECT_EQ(first.job.figures.input_elements, 3 * 224 * 224);
  EXPECT_EQ(first.job.figures.peak_bytes, 900 * 1048576.0);
  EXPECT_EQ(first.job.groups.model, table.rows[1].job.groups.model);
  EXPECT_TRUE(first.counts);
  EXPECT_EQ(table.rows[1].at_least, 39'300);
  EXPECT_TRUE(std::isnan(table.rows[1].value));  // junk after a crash
  EXPECT_FALSE(table.rows[2].counts);
  EXPECT_EQ(table.measured().size(), 2U);
}

TEST(PredictorTables, TimmsTotalServesWithoutTheBackwardPass) {
  const JobTable table = table_of(
      "batch,img_px,params_m,gmacs,macts_m,graph_total_mib\n8,224,25,4,11,1024\n", Target::kMemory);
  EXPECT_NEAR(table.rows[0].job.figures.peak_bytes, 1000 * 1048576.0, 1);
}

TEST(PredictorTables, WithoutWhatWasMeasured) {
  const JobTable table =
      table_of("batch,img_px,params_m,gmacs,macts_m\n8,224,25,4,11\n", Target::kMemory);
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_FALSE(table.rows[0].counts);
  EXPECT_EQ(table.rows[0].job.groups.model, 0U);
  EXPECT_TRUE(std::isnan(table.rows[0].job.figures.peak_bytes));
}

TEST(PredictorTables, IterationTimes) {
  const JobTable table = table_of(
      "gpu_type,host,protocol,suspect,precision,phase,model,median_ms\n"
      "GTX 1080 Ti,h,new (batch 12),0,float,train,resnet50,100\n"
      "GTX 1080 Ti,h,new (batch 12),1,float,train,resnet50,100\n"
      "GTX 1080 Ti,h,\"old (15 models, 20 steps)\",0,float,train,resnet50,100\n"
      "GTX 1080 Ti,h,new (batch 12),0,half,inference,resnet50,10\n"
      "GTX 1080 Ti,h,new (batch 12),0,float,train,nosuchnet,100\n",
      Target::kTime);
  ASSERT_EQ(table.rows.size(), 5U);
  EXPECT_TRUE(table.rows[0].counts);
  EXPECT_EQ(table.rows[0].job.figures.batch, 12);
  EXPECT_EQ(table.rows[0].job.figures.parameters, 25'557'032);
  EXPECT_EQ(table.rows[0].names[1], "resnet");
  EXPECT_EQ(table.rows[0].names[2], "GTX-1080Ti");
  for (const std::size_t row : {1U, 2U, 3U}) EXPECT_FALSE(table.rows[row].counts) << row;
  EXPECT_EQ(table.rows[3].job.figures.training, 0);
  EXPECT_EQ(table.rows[4].job.graph, nullptr);
}

TEST(PredictorTables, OldTimes) {
  const JobTable table = table_of(
      "run,gpu,cudnn,use_cudnn,model,batch,h,w,total_ms\n"
      "r,Tesla K80,5110,1,resnet-18,16,224,224,120\n"
      "r,Tesla K80,none,0,resnet-18,16,224,224,300\n"
      "r,c4.4xlarge,none,0,resnet-18,16,224,224,9000\n",
      Target::kTime);
  ASSERT_EQ(table.rows.size(), 3U);
  EXPECT_TRUE(table.rows[0].counts);
  EXPECT_EQ(table.rows[0].job.figures.library_version, 5110);
  EXPECT_EQ(table.rows[0].names[0], "resnet18");
  EXPECT_FALSE(table.rows[1].counts);
  EXPECT_EQ(table.rows[2].job.graph, nullptr);
}

TEST(PredictorTables, GeneratedNetworks) {
  const std::string head =
      "Filename,Activations-Params,Batch Size,Max GPU Memory (MiB),Avg GPUTL,Status\n";
  const std::string run =
      "input_channels:3_num_classes:10_depth:2_arch:uniform_base_filters:8_batch:4_input_size:16_"
      "act:relu.out";
  const std::string layers =
      "\"[('conv2d', 2048, 224), ('ReLU', 2048, 0), ('adaptive_avg_pool2d', 8, 0), ('linear', 10, "
      "90), ('softmax', 10, 0)]\"";
  const std::string text = head + run + "," + layers + ",4,1500,40,SUCCESSFUL\n" + run + "," +
                           layers + ",4,900,-1,OOM_CRASH\n" + run + ",[],4,1500,40,SUCCESSFUL\n" +
                           run + "," + layers + ",4,800,-1,SUCCESSFUL\n";
  const JobTable memory = table_of(text, Target::kMemory);
  ASSERT_EQ(memory.rows.size(), 4U);
  EXPECT_EQ(memory.rows[0].value, 1500);
  EXPECT_EQ(memory.rows[0].names[1], "uniform");
  EXPECT_EQ(memory.rows[0].job.figures.parameters, 314);
  EXPECT_EQ(memory.rows[0].job.figures.multiply_adds, 2048 * 27 + 80);
  EXPECT_EQ(memory.rows[1].at_least, 40'300);
  EXPECT_EQ(memory.rows[2].job.graph, nullptr);
  EXPECT_FALSE(memory.rows[3].counts);
  const JobTable utilisation = table_of(text, Target::kUtilisation);
  EXPECT_EQ(utilisation.rows[0].value, 40);
  EXPECT_FALSE(utilisation.rows[1].counts);
  EXPECT_FALSE(utilisation.rows[3].counts);
}

TEST(PredictorTables, CorunsOwn) {
  const JobTable table = table_of(
      "zoo,batch,gpu_type,phase,mem_mib,step_ms,gpu_util_pct,parameters\n"
      "resnet18,16,T4,train,1800,40,70,\n,4,V100,inference,,3,,1000\n",
      Target::kTime);
  ASSERT_EQ(table.rows.size(), 2U);
  EXPECT_EQ(table.rows[0].value, 40);
  EXPECT_EQ(table.rows[0].job.figures.parameters, 11'689'512);
  EXPECT_EQ(table.rows[1].job.figures.parameters, 1000);
  EXPECT_EQ(table.rows[1].job.figures.training, 0);
  EXPECT_EQ(table.rows[1].names[2], "V100-16GB");
}

TEST(PredictorTables, MistakesHavePlaces) {
  EXPECT_EQ(
      refusal_of(kTimm + "a,x,0,224,25,4,11,5000,ok,7,9,10\n", Target::kMemory),
      "jobs.csv:2:5: column 'batch' is '0', expected a number, above 0; correct it or leave it "
      "empty");
  EXPECT_NE(refusal_of("a,b\n1,2\n", Target::kMemory).find("jobs.csv:1:1: the header is of no"),
            std::string::npos);
  EXPECT_NE(refusal_of(kTimm, Target::kTime).find("timm's memory sweep has no time of jobs"),
            std::string::npos);
  EXPECT_NE(refusal_of("batch,gpu_type\n1,V10\n", Target::kMemory).find("jobs.csv:2:3"),
            std::string::npos);
  EXPECT_NE(refusal_of("zoo,batch,gpu_type\nresnet5,1,T4\n", Target::kMemory)
                .find("expected a model of the zoo"),
            std::string::npos);
  EXPECT_EQ(
      refusal_of("zoo,batch,img_px,gpu_type\ngooglenet,1,6,T4\n", Target::kMemory).substr(0, 16),
      "jobs.csv:2:13: c");
  EXPECT_NE(refusal_of("gpu_type,precision,phase,model\nT4,float,test,resnet18\n", Target::kTime)
                .find("expected train or inference"),
            std::string::npos);
}

TEST(PredictorTables, ListsOfLayers) {
  EXPECT_EQ(parse_layer_list("[]").size(), 0U);
  const auto layers = parse_layer_list("[('conv2d', 12, 3), ('ReLU', 12, 0)]");
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].elements, 12);
  for (const char* bad :
       {"", "[", "[(", "[('a', 1)]", "[('a', 1, x)]", "[('a', 0, 1)]", "[('a', 1, 1)] x",
        "[('a', 1, 1) ('b', 1, 1)]", "[('a', 99999999999999999999, 1)]", "[('a', -1, 1)]"}) {
    EXPECT_THROW(parse_layer_list(bad), std::invalid_argument) << bad;
  }
  // A residual block: the shortcut, two convolutions of 3 x 3, and the next block's shortcut.
  const auto block = parse_layer_list(
      "[('conv2d', 1024, 16), ('conv2d', 1024, 112), ('ReLU', 1024, 0), ('conv2d', 1024, 148), "
      "('ReLU', 1024, 0), ('adaptive_avg_pool2d', 4, 0), ('linear', 2, 10)]");
  const ComputationGraph graph = image_layers(block, 3, 16);
  const GraphTotals totals = totals_of(graph);
  EXPECT_EQ(totals.count(OperationKind::kElementwise), 1);
  EXPECT_EQ(totals.parameters, 16 + 112 + 148 + 10);
  EXPECT_EQ(totals.multiply_adds, 1024.0 * 3 + 1024.0 * 27 + 1024.0 * 36 + 8);
}

TEST(PredictorTables, ScoresByHand) {
  JobTable table;
  table.rows.resize(4);
  table.rows[0].value = 100;
  table.rows[1].value = 200;
  table.rows[2].value = 50;
  table.rows[3].at_least = 300;
  HeldOutPredictions held_out;
  held_out.rows = {0, 1, 2, 3};
  held_out.predictions = {{110, 90, 120, 130}, {150, 140, 160, 190}, {}, {290, 250, 320, 350}};
  held_out.runs_out = {{false, true, false, true}};
  const PredictionScore score = score_of(table, held_out);
  EXPECT_EQ(score.jobs, 2U);
  EXPECT_NEAR(score.mape, (10 + 25) / 2.0, 1e-12);
  EXPECT_NEAR(score.mae, 30, 1e-12);
  EXPECT_NEAR(score.coverage, 50, 1e-12);
  const OomScore oom = oom_score(table, held_out, 0, 180);
  EXPECT_EQ(oom.too_large, 2U);
  EXPECT_EQ(oom.fitting, 1U);
  EXPECT_NEAR(oom.caught, 100, 1e-12);
  EXPECT_NEAR(oom.caught_by_median, 50, 1e-12);
  EXPECT_NEAR(oom.false_alarms, 0, 1e-12);
}

// Two families on two GPU types of two architectures, twenty jobs each; the intervals hold all of one family on one type.
TEST(PredictorTables, CoverageOfGroupsByHand) {
  JobTable table;
  HeldOutPredictions held_out;
  for (std::size_t i = 0; i < 80; ++i) {
    JobTableRow& row = table.rows.emplace_back();
    row.names = {"model" + std::to_string(i / 4), i < 40 ? "a" : "b", i % 2 == 0 ? "x" : "y",
                 "host"};
    row.job.groups.architecture = 1 + i % 2;
    row.value = 100;
    row.counts = true;
    held_out.rows.push_back(i);
    const bool holds = i >= 40 || i % 2 == 0;
    held_out.predictions.push_back({100, holds ? 90.0 : 99.0, holds ? 110.0 : 99.5, 120});
  }
  const auto coverage = [&](JobSplit split) {
    PredictionScore score = score_of(table, held_out);
    score_groups(table, held_out, split, score);
    return std::array<double, 3>{static_cast<double>(score.groups), score.least_coverage,
                                 score.most_coverage};
  };
  EXPECT_EQ(coverage(JobSplit::kFamily), (std::array<double, 3>{2, 50, 100}));
  EXPECT_EQ(coverage(JobSplit::kArchitecture), (std::array<double, 3>{2, 50, 100}));
  EXPECT_EQ(coverage(JobSplit::kFamilyAndGpu), (std::array<double, 3>{4, 0, 100}));
  EXPECT_EQ(coverage(JobSplit::kModel)[0], 0) << "models of four jobs are too small to tell";
  // Which splits such a table allows.
  EXPECT_EQ(job_splits(table),
            (std::vector{JobSplit::kModel, JobSplit::kFamily, JobSplit::kGpu,
                         JobSplit::kArchitecture, JobSplit::kFamilyAndGpu, JobSplit::kRandom}));
  for (JobTableRow& row : table.rows) row.job.groups.architecture = 0;
  EXPECT_EQ(job_splits(table).size(), 5U) << "architectures are not known";
}

}  // namespace
}  // namespace corun::predictor_tables_test
