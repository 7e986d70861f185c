#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/helpers/program.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/job_csv.hpp"

namespace corun::trace_command_test {
namespace {

using Json = nlohmann::json;
using test::run_corun;

const std::string kSource = CORUN_SOURCE_DIR;
const std::string kCorpus = kSource + "/tests/fuzz/corpus/";

TEST(TraceCommand, InfoFindsTheFormatAndCountsWhatIsLeftOut) {
  const auto run =
      run_corun({"trace", "info", kCorpus + "helios/small.csv", "--format", "json", "--gpus", "4"});
  ASSERT_EQ(run.code, 0) << run.err;
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["format"], "helios");
  EXPECT_EQ(json["jobs"], 2);
  EXPECT_EQ(json["skipped"].size(), 3U);
  EXPECT_EQ(json["virtual_clusters"][0]["name"], "vcA");
  EXPECT_DOUBLE_EQ(json["offered_load"], (8 * 3600 + 30) / (60.0 * 4));
  EXPECT_NE(run.err.find("note: left out 1 job without GPUs (on line 4)"), std::string::npos);
  const auto table = run_corun({"trace", "info", kCorpus + "helios/small.csv", "--gpus", "4"});
  EXPECT_NE(table.out.find("does not fit"), std::string::npos) << table.out;
  const auto csv = run_corun({"trace", "info", kCorpus + "openb/small.csv", "--format", "csv",
                              "--node-list", kCorpus + "openb-nodes/small.csv"});
  EXPECT_NE(csv.out.find("\ncluster_gpus,14.0\n"), std::string::npos) << csv.out;
}

TEST(TraceCommand, InfoShowsJobsThatChangeAndTheirSpread) {
  const test::TemporaryDirectory directory;
  directory.write("jobs.csv",
                  "job,submit_s,solo_s,gpus,gpus_min,gpus_max,mem_used_mib,run_nodes\n"
                  "a,0,100,1,,,4000,\nb,5,100,2,2,4,4000,1\nc,6,50,9,1,16,,3\nd,7,50,4,4,4,,2\n");
  directory.write("phases.csv", "job,share,mem_used_mib\na,0.4,4000\na,0.6,6000\nb,1,4000\n");
  const std::vector<std::string> arguments{
      "trace",     "info", directory.path("jobs.csv"), "--phases", directory.path("phases.csv"),
      "--cluster", "6x4",  "--nodes-per-switch",       "2"};
  const auto table = run_corun(arguments);
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.out.find("elastic               2 jobs, on 1 to 16 GPUs\n"), std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("spread                2 jobs ran on several nodes, up to 3\n"),
            std::string::npos)
      << table.out;
  EXPECT_NE(table.out.find("phases                1 jobs change, up to 2 phases each; 1 need more "
                           "memory in a later one\n"),
            std::string::npos)
      << table.out;
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--format", "json"});
  const Json json = Json::parse(run_corun(as_json).out);
  EXPECT_EQ(json["jobs_elastic"], 2);
  EXPECT_EQ(json["elastic_least_gpus"], 1);
  EXPECT_EQ(json["elastic_most_gpus"], 16);
  EXPECT_EQ(json["jobs_spread"], 2);
  EXPECT_EQ(json["most_run_nodes"], 3);
  EXPECT_EQ(json["jobs_with_phases"], 1);
  EXPECT_EQ(json["gangs"][3]["gpus"], 9);
  EXPECT_EQ(json["gangs"][3]["least_nodes"], 3);
  EXPECT_EQ(json["gangs"][3]["least_switches"], 2);
  EXPECT_EQ(json["gangs"][2]["least_switches"], 1);
  const auto refused = run_corun({"trace", "info", directory.path("jobs.csv"), "--cluster",
                                  "1x4:T4+1x2:V100", "--nodes-per-switch", "2"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--nodes-per-switch: found no cluster whose nodes"), std::string::npos)
      << refused.err;
}

TEST(TraceCommand, NoOutputReplacesAnInputOrAnotherOutput) {
  const test::TemporaryDirectory directory;
  const std::string jobs = test::read_file(kCorpus + "csv/small.csv");
  directory.write("jobs.csv", jobs);
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"trace", "info", "jobs.csv", "-o", "jobs.csv"},
        {"trace", "convert", "jobs.csv", "jobs.csv"},
        {"trace", "convert", "jobs.csv", "copy.csv", "-o", "jobs.csv"},
        {"trace", "convert", "jobs.csv", "copy.csv", "-o", "copy.csv"},
        {"trace", "generate", "copy.csv", "-o", "copy.csv"}}) {
    const auto run = run_corun(arguments, directory.path());
    EXPECT_EQ(run.code, 2) << arguments[1];
    EXPECT_EQ(run.out, "");
    EXPECT_EQ(test::read_file(directory.path("jobs.csv")), jobs) << arguments[1];
    EXPECT_FALSE(std::filesystem::exists(directory.path("copy.csv"))) << arguments[1];
  }
}

TEST(TraceCommand, RefusesInOneLine) {
  const test::TemporaryDirectory directory;
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& begin) {
    const auto run = run_corun(arguments, directory.path());
    EXPECT_EQ(run.code, 2) << begin;
    EXPECT_TRUE(run.err.starts_with(begin)) << run.err;
    EXPECT_EQ(run.out, "");
  };
  const std::string jobs = kCorpus + "csv/small.csv";
  refused({"trace"}, "corun trace: needs a word");
  refused({"trace", "inf"}, "corun trace: no word 'inf': did you mean 'info'?");
  refused({"trace", "info"}, "corun trace info: needs FILE");
  refused({"trace", "info", "missing.csv"}, "FILE: no file 'missing.csv'");
  refused({"trace", "info", jobs, "--format-name", "helio"}, "--format-name: no format 'helio'");
  refused({"trace", "info", jobs, "--format-name", "helios"}, jobs + ":1:1: the header has no");
  refused({"trace", "convert", jobs}, "corun trace convert: needs OUT");
  refused({"trace", "convert", jobs, "out.csv.gz"}, "OUT: 'out.csv.gz' names an archive");
  refused({"trace", "convert", jobs, jobs}, "OUT");
  refused({"trace", "convert", jobs, "a", "b"}, "corun trace convert: takes IN and OUT, no more");
  refused({"trace", "generate", "o", "--jobs", "0"}, "--jobs: found '0'");
  refused({"trace", "generate", "o", "--arrivals", "burst"}, "--arrivals: no pattern 'burst'");
  refused({"trace", "generate", "o", "--per-hour", "1", "--gpus", "4"}, "--per-hour: --gpus");
  refused({"trace", "generate", "o", "--per-hour", "1e-6", "--jobs", "100000"}, "--jobs: job ");
}

TEST(TraceCommand, ConvertsToTheNativeFormatAndReplaysIt) {
  const test::TemporaryDirectory directory;
  auto run = run_corun({"trace", "convert", kCorpus + "openb/small.csv", "o.csv", "--quiet"},
                       directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  WorkloadKeys keys;
  const Trace trace = read_job_csv(directory.path("o.csv"), keys);
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"p0", "p1", "p5"}));
  EXPECT_EQ(trace.jobs[1].spec.gpu_milli, 460);
  EXPECT_EQ(trace.jobs[1].spec.gpu_models, 3U);
  run = run_corun({"trace", "convert", "o.csv", "o.swf"}, directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(test::read_file(directory.path("o.swf")).find("\n1 0 -1 1000 1 "), std::string::npos);
  run = run_corun({"trace", "info", "o.swf", "--format", "json"}, directory.path());
  EXPECT_EQ(Json::parse(run.out)["jobs"], 3);
}

TEST(TraceCommand, CutsTheSamePartForTheSameSeed) {
  const test::TemporaryDirectory directory;
  ASSERT_EQ(run_corun({"trace", "generate", "all.csv", "--jobs", "200"}, directory.path()).code, 0);
  const std::vector<std::string> cut{
      "trace", "cut", "all.csv",  "part.csv", "--from", "600", "--sample",     "0.5", "--gpus", "4",
      "--to",  "1e6", "--format", "json",     "--seed", "3",   "--scale-load", "2"};
  const auto run = run_corun(cut, directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("note: left out "), std::string::npos) << run.err;
  const std::string part = test::read_file(directory.path("part.csv"));
  EXPECT_EQ(run_corun(cut, directory.path()).code, 0);  // the same bytes replace the file
  WorkloadKeys keys;
  const Trace trace = read_job_csv(directory.path("part.csv"), keys);
  EXPECT_EQ(Json::parse(run.out)["jobs"], trace.jobs.size());
  EXPECT_LT(trace.jobs.size(), 150U);
  for (const JobSpec& job : test::specs_of(trace)) EXPECT_LE(job.gpus, 4);

  const auto refused = [&](std::vector<std::string> more, const std::string& begin) {
    more.insert(more.begin(), {"trace", "cut", "all.csv"});
    const auto outcome = run_corun(more, directory.path());
    EXPECT_EQ(outcome.code, 2) << begin;
    EXPECT_TRUE(outcome.err.starts_with(begin)) << outcome.err;
  };
  refused({}, "corun trace cut: needs OUT");
  refused({"o.csv", "--from", "9", "--to", "9"}, "--to: found 9");
  refused({"o.csv", "--sample", "0"}, "--sample: found '0'");
  refused({"o.csv", "--sample", "50"}, "--sample: found '50'");
  refused({"o.csv", "--scale-load", "-1"}, "--scale-load: found '-1'");
  refused({"o.csv", "--gpus", "0"}, "--gpus: found '0'");
  refused({"o.csv", "--from", "4e9"}, "corun trace cut: no job is left");
  refused({"o.swf"}, "OUT: 'o.swf' names the format swf");
  refused({"all.csv"}, "OUT: 'all.csv' is what IN reads");
  EXPECT_FALSE(std::filesystem::exists(directory.path("o.csv")));
}

TEST(TraceCommand, RatesMakeGavelsStepsTime) {
  const std::string jobs = kSource + "/examples/gavel.csv";
  const std::string rates = kSource + "/examples/gavel_rates.json";
  const test::TemporaryDirectory directory;
  auto run = run_corun({"trace", "info", jobs, "--rates", rates, "--format", "json"});
  ASSERT_EQ(run.code, 0) << run.err;
  Json json = Json::parse(run.out);
  EXPECT_EQ(json["format"], "gavel");  // recognised by the beginning of the file
  EXPECT_EQ(json["jobs"], 6);
  EXPECT_EQ(json["solo_s"]["min"], 400);   // 12000 steps at 30 a second
  EXPECT_EQ(json["solo_s"]["max"], 2400);  // 21600 at 9: rate for two GPUs
  EXPECT_EQ(json["gangs"][1]["jobs"], 2);

  run =
      run_corun({"trace", "info", jobs, "--rates", rates, "--format", "json", "--gpu-type", "k80"});
  ASSERT_EQ(run.code, 0) << run.err;
  json = Json::parse(run.out);
  EXPECT_EQ(json["jobs"], 4);
  EXPECT_EQ(json["solo_s"]["max"], 9000);
  EXPECT_NE(run.err.find("left out 2 jobs without a rate on k80"), std::string::npos) << run.err;

  run = run_corun({"trace", "convert", jobs, "jobs.csv", "--rates", rates}, directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  WorkloadKeys keys;
  const Trace trace = read_job_csv(directory.path("jobs.csv"), keys);
  EXPECT_EQ(names_of(trace), (std::vector<std::string_view>{"0", "1", "2", "3", "4", "5"}));
  EXPECT_EQ(trace.jobs[2].spec.work, std::chrono::seconds{2000});
  EXPECT_EQ(trace.jobs[2].spec.steps, 54000);
  EXPECT_EQ(keys.text(trace.jobs[2].key), "ResNet-18 (batch size 16) x2");
  run =
      run_corun({"trace", "generate", "more.csv", "--like", jobs, "--rates", rates, "--gpus", "4"},
                directory.path());
  EXPECT_EQ(run.code, 0) << run.err;

  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& begin) {
    const auto outcome = run_corun(arguments, directory.path());
    EXPECT_EQ(outcome.code, 2) << begin;
    EXPECT_TRUE(outcome.err.starts_with(begin)) << outcome.err;
    EXPECT_EQ(outcome.out, "");
  };
  refused({"trace", "info", jobs}, jobs + ": a trace of format 'gavel' counts steps, expected the");
  refused({"trace", "info", jobs, "--rates", "none.json"}, "--rates: no file 'none.json'");
  refused({"trace", "info", jobs, "--rates", jobs}, jobs + ":1:1: ");
  refused({"trace", "info", jobs, "--rates", rates, "--gpu-type", "T4"}, "--gpu-type: found 'T4'");
  refused({"trace", "info", jobs, "--rates", rates, "--gpu-type", "p100"},
          rates + ":1:1: found no");
  refused({"trace", "info", kCorpus + "csv/small.csv", "--rates", rates}, "--rates: is for traces");
  refused({"trace", "info", kCorpus + "csv/small.csv", "--gpu-type", "K80"}, "--gpu-type: is for");
  refused({"trace", "generate", "o.csv", "--rates", rates}, "--rates: is for the steps of --like");
  directory.write("r.json", test::read_file(rates));
  refused({"trace", "info", jobs, "--rates", "r.json", "-o", "r.json"}, "--output");
  EXPECT_EQ(test::read_file(directory.path("r.json")), test::read_file(rates));
}

TEST(TraceCommand, GeneratesTheSameBytesForTheSameSeed) {
  const test::TemporaryDirectory directory;
  for (const char* name : {"a.csv", "b.csv"}) {
    const auto run = run_corun({"trace", "generate", name, "--jobs", "200", "--arrivals", "diurnal",
                                "--like", kCorpus + "helios/small.csv", "--gpus", "16", "--quiet"},
                               directory.path());
    ASSERT_EQ(run.code, 0) << run.err;
  }
  EXPECT_EQ(test::read_file(directory.path("a.csv")), test::read_file(directory.path("b.csv")));
  const auto run = run_corun({"trace", "info", "a.csv", "--format", "json"}, directory.path());
  const Json json = Json::parse(run.out);
  EXPECT_EQ(json["jobs"], 200);
  EXPECT_EQ(json["virtual_clusters"].size(), 2U);
}

TEST(TraceCommand, HelpTeaches) {
  for (const char* word : {"info", "convert", "generate"}) {
    const auto run = run_corun({"trace", word, "--help"});
    EXPECT_EQ(run.code, 0);
    EXPECT_NE(run.out.find("Examples:\n  corun trace " + std::string(word)), std::string::npos);
  }
}

TEST(PublicTraceReplay, SaysWhatWasLeftOutAndNamesEveryFileThatWasRead) {
  const test::TemporaryDirectory directory;
  const auto run = run_corun(
      {"replay", "--format", "json", "--output", "r.h5", "--set", "workload.source=pai-2020",
       "--set", "workload.path=" + kSource + "/tests/traces/pai_2020/pai_job_table.csv", "--set",
       "cluster.gpus_per_node=4", "--set", "replications=1", "--set",
       "policies=[{name: exclusive}]"},
      directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  const std::string warnings = Json::parse(run.out)["warnings"].dump();
  EXPECT_NE(warnings.find("left out 1 job without GPUs (on line 4) of pai_job_table.csv"),
            std::string::npos)
      << warnings;
  const std::string results = test::read_file(directory.path("r.h5"));
  for (const char* file : {"pai_job_table.csv", "pai_task_table.csv", "pai_instance_table.csv"}) {
    EXPECT_NE(results.find(file), std::string::npos) << file;
  }
}

// ---- node lists and imputed profiles in a replay ------------------------------------------------

TEST(NodeListReplay, RunsOnTheListedNodes) {
  const test::TemporaryDirectory directory;
  directory.write("nodes.csv",
                  "sn,cpu_milli,memory_mib,gpu,model\nn0,1000,1000,2,T4\n"
                  "n1,1000,1000,1,V100M32\n");
  directory.write("jobs.csv", "job,submit_s,solo_s,gpus,gpu_models\na,0,10,1,T4\nb,0,10,3,\n");
  directory.write("c.yaml",
                  "workload: {source: csv, path: jobs.csv}\ncluster: {path: nodes.csv}\n"
                  "policies: [{name: exclusive}]\nreplications: 1\n");
  auto run = run_corun({"replay", "c.yaml", "--format", "json"}, directory.path());
  ASSERT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("co-run costs on T4, V100M32 are extrapolated"), std::string::npos)
      << run.err;
  directory.write("jobs.csv", "job,submit_s,solo_s,gpus,gpu_models\na,0,10,4,\n");
  run = run_corun({"replay", "c.yaml"}, directory.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("c.yaml:2:17: job 'a' needs 4 GPUs at once, the cluster has 3"),
            std::string::npos)
      << run.err;
  directory.write("jobs.csv", "job,submit_s,solo_s,gpus,gpu_models\na,0,10,1,G2|A10\n");
  run = run_corun({"replay", "c.yaml"}, directory.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("job 'a' runs on G2 or A10 only, the cluster has T4, V100M32"),
            std::string::npos)
      << run.err;
  run = run_corun({"replay", "c.yaml", "--set", "cluster.path=null"}, directory.path());
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_NE(run.err.find("1 of 1 jobs name GPU models; the cluster is of one type"),
            std::string::npos)
      << run.err;
  directory.write("nodes.csv", "sn,cpu_milli,memory_mib,gpu,model\nn0,1000,1000,2,T5\n");
  run = run_corun({"replay", "c.yaml"}, directory.path());
  EXPECT_EQ(run.code, 2);
  EXPECT_NE(run.err.find("nodes.csv:2:1: unknown GPU type 'T5': did you mean 'T4'?"),
            std::string::npos)
      << run.err;
}

TEST(ImputedProfiles, AreDrawnWhereTheConfigurationAsksForThem) {
  const test::TemporaryDirectory directory;
  directory.write("jobs.csv", "job,submit_s,solo_s,gpu_util_pct\na,0,10,\nb,0,10,\nc,0,10,50\n");
  directory.write("c.yaml",
                  "workload: {source: csv, path: jobs.csv}\nreplications: 2\n"
                  "policies: [{name: fcfs}, {name: balance}]\n");
  const auto without = run_corun({"replay", "c.yaml", "--format", "json"}, directory.path());
  EXPECT_NE(without.err.find("2 of 3 jobs have no profile at all"), std::string::npos)
      << without.err;
  const auto with = run_corun(
      {"replay", "c.yaml", "--format", "json", "--set", "workload.profiles=jrs"}, directory.path());
  EXPECT_EQ(with.code, 0) << with.err;
  EXPECT_NE(with.err.find("2 of 3 jobs have no profile of their own (imputed)"), std::string::npos)
      << with.err;
  EXPECT_EQ(with.err.find("no profile at all"), std::string::npos);
  const auto again = run_corun(
      {"replay", "c.yaml", "--format", "json", "--set", "workload.profiles=jrs", "--threads", "1"},
      directory.path());
  EXPECT_EQ(with.out, again.out);
  EXPECT_NE(with.out, without.out);
}

}  // namespace
}  // namespace corun::trace_command_test
