#include "traces/elastic/elastic_programs.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/elastic/pollux_jobs.hpp"

/// The readers of elastic jobs and of the measurements of their programs.
namespace corun::elastic_programs_test {
namespace {

using namespace std::chrono_literals;

Trace jobs_of(const std::string& text, const std::optional<std::string>& part = {}) {
  std::istringstream in(text);
  WorkloadKeys keys;
  return read_pollux_jobs(in, "jobs.csv", part, keys);
}

std::string refusal(const std::function<void()>& read) {
  try {
    read();
  } catch (const InputError& error) {
    return error.what();
  }
  return "read";
}

TEST(PolluxJobs, OfTheSimulatorOfPollux) {
  std::istringstream in(
      "name,time,application,num_replicas,batch_size\nncf-0,791,ncf,1,32768\nbert-1,800.5,bert,12,"
      "384\n");
  WorkloadKeys keys;
  const Trace trace = read_pollux_jobs(in, "jobs.csv", {}, keys);
  ASSERT_EQ(trace.jobs.size(), 2U);
  EXPECT_EQ(trace.jobs[0].name, "ncf-0");
  EXPECT_EQ(trace.jobs[0].spec.submit, 791s);
  EXPECT_EQ(keys.text(trace.jobs[1].key), "bert");
  EXPECT_EQ(trace.jobs[1].spec.submit, 800'500ms);
  EXPECT_EQ(trace.jobs[1].spec.gpus, 12);
  EXPECT_EQ(trace.jobs[1].batch_size, 384);
}

const std::string kLists =
    "set,workload,job,arrival_s,model,tuned_gpus,tuned_batch_size\n"
    "half,1,a,5,ncf,1,256\nhalf,2,a,6,ncf,2,512\nhalf,2,b,7,bert,4,48\n";

TEST(PolluxJobs, OneListOfAFileWithSeveral) {
  EXPECT_EQ(jobs_of(kLists, "half/1").jobs.size(), 1U);
  const Trace second = jobs_of(kLists, "half/2");
  ASSERT_EQ(second.jobs.size(), 2U);
  EXPECT_EQ(second.jobs[0].spec.submit, 6s);
  EXPECT_EQ(refusal([] { jobs_of(kLists); }),
            "jobs.csv:1:1: the file has several workloads (half/1, half/2, ...), expected one; set "
            "workload.part to SET/WORKLOAD");
  EXPECT_EQ(
      refusal([] { jobs_of(kLists, "half/3"); }),
      "jobs.csv:1:1: no part 'half/3', expected one of half/1, half/2; correct workload.part");
}

TEST(PolluxJobs, Refusals) {
  const std::string head = "name,time,application,num_replicas,batch_size\n";
  const auto of = [&](const std::string& rows, const std::optional<std::string>& part = {}) {
    return refusal([&] { jobs_of(head + rows, part); });
  };
  // A file of one workload has no parts.
  EXPECT_EQ(jobs_of(head + "a,1,ncf,1,256\n", "x/1").jobs.size(), 1U);
  EXPECT_TRUE(
      of("a,1,ncf,1,256\na,2,ncf,1,256\n").starts_with("jobs.csv:3:1: column 'name' is 'a'"));
  EXPECT_TRUE(of("a,-1,ncf,1,256\n").starts_with("jobs.csv:2:3: column 'time' is '-1'"));
  EXPECT_TRUE(of("a,1,,1,256\n").starts_with("jobs.csv:2:5: column 'application' is empty"))
      << of("a,1,,1,256\n");
  EXPECT_TRUE(of("a,1,ncf,0,256\n").starts_with("jobs.csv:2:9: column 'num_replicas' is '0'"));
  EXPECT_TRUE(of("a,1,ncf,4,3\n")
                  .starts_with("jobs.csv:2:11: column 'batch_size' is '3', expected a "
                               "whole batch size, a sample for each GPU at least"));
  EXPECT_TRUE(of("").starts_with("jobs.csv:1:1: ")) << of("");
  EXPECT_EQ(
      refusal([] { jobs_of("name,time,application,num_replicas\na,1,ncf,1\n"); }),
      "jobs.csv:1:1: found neither column batch_size nor tuned_batch_size, expected one of the "
      "two; add it");
}

class ElasticPrograms : public testing::Test {
 protected:
  ElasticPrograms() {
    file(
        "applications.csv",
        "cluster,model,initial_batch_size,max_batch_size,min_local_batch_size,max_local_batch_size,"
        "epochs,sia_restart_s\naws,m,10,40,5,20,2,25\nrtx,m,10,40,5,10,2,25\n");
    file("placements.csv",
         "cluster,model,gpus_per_node,local_batch_size,step_time_s,sync_time_s\n"
         "aws,m,1-2,5,2,0.5\nrtx,m,1,5,1,0\naws,other,1,5,1,0\n");
    file("scalability.csv",
         "cluster,model,nodes,gpus,local_batch_size,step_time_s,sync_time_s\naws,m,4,8,5,3,2\n");
    file(
        "statistical_efficiency.csv",
        "model,batch_size,epoch,progress_iterations_at_initial_batch,iterations,grad_sqr,grad_var\n"
        "m,40,1,11,5,1,2\nm,40,2,21,9,1,3\nm,10,1,10,10,1,2\nm,10,2,20,20,1,4\n");
  }

  void file(const std::string& name, const std::string& text) { directory_.write(name, text); }
  auto read() const {
    const std::string at = directory_.path() + "/";
    return read_elastic_programs({at + "applications.csv", at + "placements.csv",
                                  at + "scalability.csv", at + "statistical_efficiency.csv"});
  }
  /// The refusal, without the folder.
  std::string refused() const {
    std::string text = refusal([&] { read(); });
    const std::size_t at = text.find(directory_.path() + "/");
    return at == std::string::npos ? text : text.erase(at, directory_.path().size() + 1);
  }

  test::TemporaryDirectory directory_;
};

TEST_F(ElasticPrograms, HaveTheirMeasurements) {
  const auto programs = read();
  ASSERT_EQ(programs.size(), 1U);
  const ElasticProgram& m = programs.at("m");
  EXPECT_EQ(m.initial_batch, 10);
  EXPECT_EQ(m.epochs, 2U);
  ASSERT_EQ(m.batches.size(), 2U);
  EXPECT_EQ(m.batches[0].batch, 10) << "ascending";
  EXPECT_EQ(m.batches[1].epochs[1].progress, 21);
  EXPECT_EQ(m.batches[0].epochs[1].gradient_var, 4);
  ASSERT_EQ(m.on_types.size(), 2U);
  EXPECT_EQ(m.on_types[1].gpu_type, "rtx");
  EXPECT_EQ(m.on_types[1].largest_local_batch, 10);
  const ProgramOnType& aws = m.on_types[0];
  EXPECT_EQ(aws.start_cost, 25s);
  ASSERT_EQ(aws.placements.size(), 1U);
  EXPECT_EQ(aws.placements[0].on_nodes, (std::vector<int>{1, 2}));
  EXPECT_EQ(aws.placements[0].gpus, 3);
  EXPECT_EQ(aws.placements[0].sync_s, 0.5);
  ASSERT_EQ(aws.others.size(), 1U);
  EXPECT_EQ(aws.others[0].nodes, 4);
}

TEST_F(ElasticPrograms, RefuseAPlacementThatIsNone) {
  file("placements.csv",
       "cluster,model,gpus_per_node,local_batch_size,step_time_s,sync_time_s\naws,m,1-x,5,2,1\n");
  EXPECT_TRUE(
      refused().starts_with("placements.csv:2:7: column 'gpus_per_node' is '1-x', expected "
                            "numbers of GPUs on each node, such as 1-1-2"))
      << refused();
}

TEST_F(ElasticPrograms, RefuseAnExchangeLongerThanItsStep) {
  file("scalability.csv",
       "cluster,model,nodes,gpus,local_batch_size,step_time_s,sync_time_s\naws,m,4,8,5,3,4\n");
  EXPECT_TRUE(refused().starts_with("scalability.csv:2:15: column 'sync_time_s' is '4'"))
      << refused();
}

TEST_F(ElasticPrograms, RefuseMissingEpochs) {
  file("statistical_efficiency.csv",
       "model,batch_size,epoch,progress_iterations_at_initial_batch,iterations,grad_sqr,grad_var\n"
       "m,40,1,11,5,1,2\n");
  EXPECT_EQ(
      refused(),
      "statistical_efficiency.csv:1:1: of the program 'm' some epochs are missing, expected its "
      "2 epochs for each batch size; add them");
}

TEST_F(ElasticPrograms, RefuseEpochsInDisorder) {
  file("statistical_efficiency.csv",
       "model,batch_size,epoch,progress_iterations_at_initial_batch,iterations,grad_sqr,grad_var\n"
       "m,40,2,11,5,1,2\n");
  EXPECT_TRUE(refused().starts_with("statistical_efficiency.csv:2:6: column 'epoch' is '2'"))
      << refused();
}

TEST_F(ElasticPrograms, RefuseAProgramWithoutSteps) {
  file("placements.csv", "cluster,model,gpus_per_node,local_batch_size,step_time_s,sync_time_s\n");
  EXPECT_NE(refused().find("no steps of the program 'm' on 'rtx'"), std::string::npos) << refused();
}

}  // namespace
}  // namespace corun::elastic_programs_test
