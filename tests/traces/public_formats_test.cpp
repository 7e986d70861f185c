#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/left_out.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/temporary_directory.hpp"
#include "traces/catalog.hpp"
#include "traces/public_formats/helios.hpp"
#include "traces/public_formats/muri.hpp"
#include "traces/public_formats/openb.hpp"
#include "traces/public_formats/pai_2020.hpp"
#include "traces/public_formats/pai_simulator.hpp"
#include "traces/public_formats/philly.hpp"
#include "traces/public_formats/standard_workload.hpp"

/// The public formats of job traces, on small samples of our own (tests/fuzz/corpus) and on the public
/// files if they are available.
namespace corun::public_formats_test {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string sample(const std::string& name) {
  return CORUN_SOURCE_DIR "/tests/fuzz/corpus/" + name;
}

const JobSpec& job(const Trace& trace, const std::string& name) {
  const auto at = std::ranges::find(trace.jobs, name, &TraceJob::name);
  if (at == trace.jobs.end()) throw std::out_of_range("no job " + name);
  return at->spec;
}

template <typename Read>
std::string error_of(const Read& read, const std::string& text) {
  std::istringstream in(text);
  try {
    read(in);
  } catch (const InputError& e) {
    return e.what();
  }
  return "read";
}

// ---- Helios -------------------------------------------------------------------------------------

TEST(Helios, ReadsJobsAndCountsWhatItLeavesOut) {
  const Trace trace = read_helios(sample("helios/small.csv"));
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"j1", "j2"}));
  EXPECT_EQ(job(trace, "j2").submit, Time{0});  // the first to be submitted
  EXPECT_EQ(job(trace, "j1").submit, seconds(60));
  EXPECT_EQ(job(trace, "j1").work, seconds(3600));
  EXPECT_EQ(job(trace, "j1").gpus, 8);
  EXPECT_EQ(job(trace, "j1").request.cpu_milli, 32000);  // of one of its two nodes
  EXPECT_EQ(trace.virtual_clusters, (std::vector<std::string>{"vcA", "vcB"}));
  EXPECT_EQ(job(trace, "j2").virtual_cluster, 1U);
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"1 job without GPUs (on line 4)",
                                      "1 job without run time (on line 5)",
                                      "1 job with a repeated name (on line 6)"}));
  EXPECT_EQ(by_submit_time(trace), (std::vector<JobId>{JobId{1}, JobId{0}}));
}

TEST(Helios, NamesThePlaceOfEveryMistake) {
  const std::string header = "job_id,vc,gpu_num,submit_time,duration\n";
  const auto error = [&](const std::string& row) {
    return error_of([](std::istream& in) { read_helios(in, "t"); }, header + row);
  };
  EXPECT_EQ(
      error("a,v,1,2020-02-30 00:00:00,5\n"),
      "t:2:7: column 'submit_time' is '2020-02-30 00:00:00', expected a number of seconds or a "
      "date such as 2020-06-09 18:41:01; correct it");
  EXPECT_TRUE(error("a,v,-1,2020-02-20 00:00:00,5\n").starts_with("t:2:5: column 'gpu_num' is"));
  EXPECT_TRUE(error("a,v,1,2020-02-20 00:00:00,1000000000\n")
                  .starts_with("t:2:27: column 'duration' is '1000000000', expected"));
  EXPECT_EQ(
      error("a,v,1,2020-02-20 00:00:00,\n"),
      "t:1:1: no job is left, expected some; left out were 1 job without run time (on line 2)");
  EXPECT_EQ(error("a,v,0,2020-02-20 00:00:00,5\n"),
            "t:1:1: no job is left, expected some; left out were 1 job without GPUs (on line 2)");
  EXPECT_TRUE(error("").starts_with("t:1:1: no rows after the header"));
}

// ---- Philly -------------------------------------------------------------------------------------

TEST(Philly, AddsUpAttempts) {
  const Trace trace = read_philly(sample("philly/small.json"));
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"application_1", "application_5"}));
  EXPECT_EQ(job(trace, "application_1").work, seconds(74 + 3600));
  EXPECT_EQ(job(trace, "application_1").gpus, 3);  // over the machines of its last attempt
  EXPECT_EQ(trace.jobs[0].run_nodes, 2);
  EXPECT_EQ(job(trace, "application_1").submit, seconds(60));
  EXPECT_EQ(job(trace, "application_5").submit, Time{0});
  EXPECT_EQ(job(trace, "application_5").work, seconds(600));  // one attempt has no start
  EXPECT_EQ(trace.virtual_clusters, (std::vector<std::string>{"vc1", "vc2"}));
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"1 job without attempts (on line 9)",
                                      "1 job still running when the log ends (on line 11)",
                                      "1 job whose attempt ends before it starts (on line 15)",
                                      "1 job without GPUs (on line 24)"}));
}

TEST(Philly, NamesThePlaceOfEveryMistake) {
  const auto error = [](const std::string& text) {
    return error_of([](std::istream& in) { read_philly(in, "t"); }, text);
  };
  EXPECT_EQ(error("{}"), "t:1:1: the job has no 'jobid', expected one in every job; add it");
  EXPECT_EQ(error("[1]"), "t:1:2: found 1, expected a job, {...}; correct it");
  EXPECT_EQ(error("[{\"jobid\": 7}]"), "t:1:12: 'jobid' is 7, expected a text; correct it");
  EXPECT_EQ(
      error("[\n {\"jobid\": \"a\",\n  \"submitted_time\": \"yesterday\"}]"),
      "t:3:21: 'submitted_time' is 'yesterday', expected a time like \"2017-10-07 01:11:39\", "
      "or null; correct it");
  EXPECT_EQ(error("[{\"attempts\": {}}]"),
            "t:1:15: 'attempts' is an object, expected an array of attempts; correct it");
  EXPECT_EQ(error("[{\"vc\": \"v\"}]"),
            "t:1:2: the job has no 'jobid', expected one in every job; add it");
  EXPECT_EQ(error("[{\"jobid\": \"a\", \"vc\":\n 17\n}]"),
            "t:2:2: 'vc' is 17, expected a text; correct it");
  EXPECT_TRUE(error("[{\"jobid\": \"a\"").starts_with("t:1:15: ")) << error("[{\"jobid\": \"a\"");
  EXPECT_TRUE(error("").starts_with("t:1:1: ")) << error("");
  EXPECT_TRUE(error("[] x").find("expected one JSON array") != std::string::npos) << error("[] x");
  EXPECT_NE(error("[{\"jobid\": \"" + std::string(2'000'000, 'a') + "\"}]").find("1 MiB"),
            std::string::npos);
}

// ---- PAI ----------------------------------------------------------------------------------------

TEST(Pai2020, JoinsTheTables) {
  const std::string folder = CORUN_SOURCE_DIR "/tests/traces/pai_2020/";
  const Trace trace = read_pai_2020(folder + "pai_job_table.csv");
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"j1", "j2"}));
  EXPECT_EQ(job(trace, "j1").submit, seconds(1000));
  EXPECT_EQ(job(trace, "j1").work, seconds(945));  // of its instances, not of its tasks
  EXPECT_EQ(job(trace, "j1").gpus, 4);
  EXPECT_EQ(trace.gpu_model_names[0], "V100");
  EXPECT_EQ(job(trace, "j1").gpu_models, 1U);
  EXPECT_EQ(job(trace, "j1").request.cpu_milli, 6000);
  EXPECT_EQ(job(trace, "j2").work, seconds(750));  // none of its instances is listed
  EXPECT_EQ(job(trace, "j2").gpus, 1);
  EXPECT_EQ(job(trace, "j2").gpu_milli, 500);
  EXPECT_EQ(job(trace, "j2").gpu_models, 0U);
  EXPECT_EQ(job(trace, "j2").request.memory_mib, 30000);
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{
                "1 job still running when the log ends (on line 3)",
                "1 job that never ran (on line 5)", "1 job with a repeated name (on line 7)",
                "1 job without GPUs (on line 4)", "1 job without tasks (on line 6)",
                "1 row of tasks and instances whose job is not in pai_job_table"}));
  EXPECT_EQ(
      trace.files_beside,
      (std::vector<std::string>{folder + "pai_job_table.header", folder + "pai_task_table.csv",
                                folder + "pai_task_table.header", folder + "pai_instance_table.csv",
                                folder + "pai_instance_table.header"}));
  EXPECT_EQ(names_of(read_pai_2020(folder + "pai_task_table.csv")), names_of(trace));
  EXPECT_EQ(recognise_trace(folder + "pai_task_table.csv").name, "pai-2020");
}

TEST(Pai2020, SaysWhatIsMissing) {
  const test::TemporaryDirectory directory;
  const auto error = [](const std::string& path) -> std::string {
    try {
      read_pai_2020(path);
    } catch (const InputError& e) {
      return e.what();
    }
    return "read";
  };
  const std::string jobs = directory.write("pai_job_table.csv", "a,0\n");
  EXPECT_NE(error(jobs).find("no pai_job_table.header beside it"), std::string::npos);
  directory.write("pai_job_table.header", "job_name,start_time\n");
  EXPECT_NE(error(jobs).find("no pai_task_table.csv beside it"), std::string::npos);
  const std::string tasks = directory.write("pai_task_table.csv", "a,1,x,2,100\n");
  directory.write("pai_task_table.header", "job_name,inst_num,start_time,plan_gpu\n");
  EXPECT_NE(error(jobs).find("pai_task_table.header:1:1: the header has no column 'end_time'"),
            std::string::npos)
      << error(jobs);
  directory.write("pai_task_table.header", "job_name,inst_num,start_time,end_time,plan_gpu\n");
  EXPECT_TRUE(error(jobs).starts_with(tasks + ":1:5: column 'start_time' is 'x'")) << error(jobs);
  EXPECT_NE(error(directory.write("other.csv", "")).find("expected one of these"),
            std::string::npos);
}

TEST(PaiSimulator, TakesSharesAndInstances) {
  const Trace trace = read_pai_simulator(sample("pai-simulator/small.csv"));
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"0", "1", "2"}));
  EXPECT_EQ(job(trace, "0").gpu_milli, 500);
  EXPECT_EQ(job(trace, "0").gpu_models, 0U);  // MISC
  EXPECT_EQ(job(trace, "1").gpus, 8);
  EXPECT_EQ(job(trace, "1").work, seconds(1));  // 0 counts as 1
  EXPECT_EQ(job(trace, "2").gpus, 1);
  EXPECT_EQ(job(trace, "2").gpu_milli, 500);  // two quarters
  EXPECT_EQ(job(trace, "2").work, milliseconds(60500));
  EXPECT_EQ(trace.gpu_model_names, (std::vector<std::string>{"V100", "T4"}));
  EXPECT_EQ(job(trace, "2").gpu_models, 2U);
  // 4: the file has instances, but not its.
  EXPECT_EQ(test::texts(trace),
            (std::vector<std::string>{"2 jobs without GPUs (the first on line 5)"}));
}

// ---- openb --------------------------------------------------------------------------------------

TEST(Openb, TakesSharesAndModels) {
  const Trace trace = read_openb_pods(sample("openb/small.csv"));
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"p0", "p1", "p5"}));
  EXPECT_EQ(job(trace, "p1").gpu_milli, 460);
  EXPECT_EQ(job(trace, "p1").submit, seconds(427));
  EXPECT_EQ(job(trace, "p1").work, seconds(860));  // from its start
  EXPECT_EQ(trace.gpu_model_names, (std::vector<std::string>{"V100M16", "V100M32", "T4"}));
  EXPECT_EQ(job(trace, "p0").gpu_models, 0U);
  EXPECT_EQ(job(trace, "p1").gpu_models, 3U);
  EXPECT_EQ(job(trace, "p5").gpu_models, 4U);
  EXPECT_EQ(job(trace, "p1").request.memory_mib, 12288);
  EXPECT_EQ(test::texts(trace), (std::vector<std::string>{"1 job that never ran (on line 4)",
                                                          "1 job without GPUs (on line 5)",
                                                          "1 job without run time (on line 6)"}));
}

TEST(Openb, NamesThePlaceOfEveryMistake) {
  const std::string header =
      "name,num_gpu,gpu_milli,gpu_spec,cpu_milli,memory_mib,creation_time,deletion_time\n";
  const auto error = [&](const std::string& row) {
    return error_of([](std::istream& in) { read_openb_pods(in, "t"); }, header + row);
  };
  EXPECT_EQ(
      error("a,2,500,,1,1,0,5\n"),
      "t:2:5: column 'gpu_milli' is '500', expected 1 to 1000 with one GPU, 1000 with several; "
      "correct it");
  EXPECT_TRUE(error("a,1,1001,,1,1,0,5\n").starts_with("t:2:5: column 'gpu_milli' is '1001'"));
  EXPECT_TRUE(error("a,1,0,,1,1,0,5\n").starts_with("t:2:5: column 'gpu_milli' is '0'"));
  EXPECT_TRUE(error("a,1,1000,A||B,1,1,0,5\n").starts_with("t:2:10: column 'gpu_spec' is 'A||B'"));
  EXPECT_TRUE(error("a,1,1000,,-1,1,0,5\n").starts_with("t:2:11: column 'cpu_milli' is '-1'"));
  std::string models = "M0";
  for (int i = 1; i < 33; ++i) models += "|M" + std::to_string(i);
  EXPECT_NE(error("a,1,1000," + models + ",1,1,0,5\n").find("32 different GPU models"),
            std::string::npos);
}

TEST(Openb, ReadsNodes) {
  const NodeList list = read_openb_nodes(sample("openb-nodes/small.csv"));
  ASSERT_EQ(list.nodes.size(), 3U);
  EXPECT_EQ(list.nodes[1].gpus, 8);
  EXPECT_EQ(list.nodes[1].gpu_model, "V100M32");
  EXPECT_EQ(list.nodes[1].cpu_milli, 96000);
  EXPECT_EQ(list.nodes[2].line, 5U);
  EXPECT_EQ(list.skipped, (std::vector<std::string>{"1 node without GPUs"}));
}

TEST(Openb, PublicFiles) {
  const std::string pods = "openb/openb_pod_list_default.csv";
  if (!test::has_public_data(pods)) GTEST_SKIP() << test::not_checked(pods);
  const Trace trace = read_openb_pods(test::public_data(pods));
  EXPECT_EQ(trace.jobs.size(), 6203U);
  EXPECT_EQ(
      std::ranges::count_if(trace.jobs, [](const TraceJob& j) { return j.spec.gpu_milli < 1000; }),
      2573);  // the pod without run time asks for a share
  EXPECT_EQ(test::texts(trace).front(), "1052 jobs without GPUs (the first on line 7)");
  EXPECT_EQ(recognise_trace(test::public_data(pods)).name, "openb");
  const NodeList list = read_openb_nodes(test::public_data("openb/openb_node_list_gpu_node.csv"));
  EXPECT_EQ(list.nodes.size(), 1213U);
}

// ---- Muri ---------------------------------------------------------------------------------------

TEST(Muri, ReadsMilliseconds) {
  WorkloadKeys keys;
  const Trace trace = read_muri(sample("muri/small.csv"), keys);
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"0", "1"}));
  EXPECT_EQ(job(trace, "1").submit, milliseconds(27069001));
  EXPECT_EQ(job(trace, "1").work, milliseconds(2683606000));
  EXPECT_EQ(job(trace, "1").steps, 5190727);
  EXPECT_EQ(job(trace, "1").priority, 1);
  EXPECT_EQ(job(trace, "0").gpus, 16);
  EXPECT_EQ(keys.text(trace.jobs[0].key), "vgg16/bs=16");
}

TEST(Muri, PublicFiles) {
  const std::string file = "peers/muri_philly_trace2.csv";
  if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  WorkloadKeys keys;
  EXPECT_EQ(recognise_trace(test::public_data(file)).name, "muri");
  EXPECT_EQ(read_muri(test::public_data(file), keys).jobs.size(), 5755U);
}

// ---- Standard Workload Format -------------------------------------------------------------------

TEST(StandardWorkload, ReadsJobs) {
  const Trace trace = read_standard_workload(sample("swf/small.swf"));
  ASSERT_EQ(names_of(trace), (std::vector<std::string_view>{"1", "2", "4"}));
  EXPECT_EQ(job(trace, "1").gpus, 8);
  EXPECT_EQ(job(trace, "2").gpus, 2);
  EXPECT_EQ(job(trace, "4").gpus, 4);
  EXPECT_EQ(job(trace, "1").work, seconds(3600));
  EXPECT_EQ(job(trace, "2").submit, seconds(30));
  EXPECT_EQ(trace.virtual_clusters, (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(test::texts(trace), (std::vector<std::string>{"1 job without run time (on line 6)"}));
}

TEST(StandardWorkload, NamesThePlaceOfEveryMistake) {
  const auto error = [](const std::string& text) {
    return error_of([](std::istream& in) { read_standard_workload(in, "t"); }, text);
  };
  EXPECT_EQ(error("; x\n1 2 3\n"),
            "t:2:1: the line has 3 fields, expected 18, -1 where one is not known; add what is "
            "missing");
  EXPECT_EQ(error("1 0 0 x 1 0 0 1 0 0 0 0 0 0 0 0 0 0\n"),
            "t:1:7: the run time is 'x', expected a number, -1 if it is not known; correct it");
  EXPECT_EQ(error("1 0 0 1e9 1 0 0 1 0 0 0 0 0 0 0 0 0 0\n"),
            "t:1:7: the run time is '1e9', expected -1 to 90000000; correct it");
  EXPECT_TRUE(error("1 0 0 1 1 0 0 1.5 0 0 0 0 0 0 0 0 0 0\n").starts_with("t:1:15: "));
  EXPECT_TRUE(
      error("1 0 0 1 1 0 0 1 0 0 0 0 0 0 0 0 0 0 9\n").starts_with("t:1:37: the line goes"));
  EXPECT_TRUE(error("; only\n").starts_with("t:1:1: "));
}

// ---- all of them --------------------------------------------------------------------------------

TEST(TraceCatalog, RecognisesEveryFormatByHowItBegins) {
  for (const auto& [file, format] : std::vector<std::pair<std::string, std::string>>{
           {"csv/small.csv", "csv"},
           {"helios/small.csv", "helios"},
           {"philly/small.json", "philly"},
           {"pai-simulator/small.csv", "pai-simulator"},
           {"openb/small.csv", "openb"},
           {"gavel/small.csv", "gavel"},
           {"gavel/seven.tsv", "gavel"},
           {"gavel/ten.tsv", "gavel"},
           {"muri/small.csv", "muri"},
           {"swf/small.swf", "swf"}}) {
    EXPECT_EQ(recognise_trace(sample(file)).name, format) << file;
  }
  const test::TemporaryDirectory directory;
  const auto error = [](const std::string& path) -> std::string {
    try {
      recognise_trace(path);
    } catch (const InputError& e) {
      return e.what();
    }
    return "recognised";
  };
  EXPECT_NE(error(directory.write("t", "what,is,this\n")).find("begins with 'what,is,this', expec"),
            std::string::npos);
  EXPECT_NE(error(directory.write("e", "")).find(":1:1: the file is empty"), std::string::npos);
  EXPECT_NE(error("/dev/null").find("can be read only once"), std::string::npos);
}

TEST(TraceBuilder, FindsNamesAmongMany) {
  std::vector<std::string> names;
  NameIndex index;
  for (int i = 0; i < 100'000; ++i) {
    const std::string name = std::to_string(i * 7);
    ASSERT_FALSE(index.find(name, names));
    names.push_back(name);
    index.add(name);
  }
  for (int i = 0; i < 100'000; i += 999) {
    ASSERT_EQ(index.find(std::to_string(i * 7), names), static_cast<std::uint32_t>(i));
  }
  EXPECT_FALSE(index.find("1", names));
}

}  // namespace
}  // namespace corun::public_formats_test
