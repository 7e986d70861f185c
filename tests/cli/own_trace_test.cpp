#include <algorithm>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "results/hdf5_table.hpp"
#include "tests/helpers/program.hpp"

// A job trace of one's own in one command, and files given in the place of others.
namespace corun::own_trace_test {
namespace {

using Json = nlohmann::json;
using test::run_corun;

const std::string kExamples = CORUN_SOURCE_DIR "/examples/";

const std::string kForeign =
    "arrival,user,JobName,runtime,num_gpu,status\n"
    "0,alice,a1,3600,4,Pass\n"
    "30,bob,a2,120,1,Pass\n"
    "60,carol,a3,600,8,Pass\n"
    "90,dave,a4,60,1,Killed\n";
const std::string kColumns = "arrival=submit_s,runtime=solo_s,num_gpu=gpus,JobName=job";

class OwnTrace : public testing::Test {
 protected:
  OwnTrace() { directory_.write("jobs.csv", kForeign); }

  test::Outcome run(const std::vector<std::string>& arguments) const {
    return run_corun(arguments, directory_.path());
  }
  void expect_refused(const std::vector<std::string>& arguments, const std::string& begin,
                      const std::string& hint) const {
    const test::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << begin;
    EXPECT_EQ(outcome.out, "") << begin;
    EXPECT_EQ(outcome.err.substr(0, begin.size()), begin);
    EXPECT_NE(outcome.err.find(hint), std::string::npos) << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << outcome.err;
  }

  test::TemporaryDirectory directory_;
};

TEST_F(OwnTrace, StatesChooseTheJobsAndStrictRefuses) {
  const std::string log =
      "id,t,d,n,State\n1,0,100,1,COMPLETED\n2,0,200,1,FAILED\n3,0,300,1,RUNNING\n4,0,,1,"
      "COMPLETED\n";
  const std::string columns = "id=job,t=submit_s,d=solo_s,n=gpus";
  directory_.write("log.csv", log);
  const auto jobs = [&](const std::vector<std::string>& more) {
    std::vector<std::string> arguments{"trace", "info",     "log.csv", "--columns",
                                       columns, "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const test::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  };
  const Json ended = jobs({});
  EXPECT_EQ(ended["jobs"], 2);
  EXPECT_EQ(ended["left_out"][0]["reason"], "still running when the log ends");
  EXPECT_EQ(ended["left_out"][1]["reason"], "without run time");
  EXPECT_EQ(ended["states"].size(), 3U);
  EXPECT_EQ(jobs({"--states", "completed"})["jobs"], 1);
  EXPECT_EQ(jobs({"--states", "ended,running"})["jobs"], 3);
  expect_refused({"trace", "info", "log.csv", "--columns", columns, "--states", "happy"},
                 "--states: found 'happy'", "known: completed");
  expect_refused({"trace", "info", "log.csv", "--columns", columns, "--strict"},
                 "log.csv:4: job still", "--strict");
  const test::Outcome table = run({"replay", "log.csv", "--columns", columns, "--policies", "fifo",
                                   "--states", "completed", "--replications", "1"});
  EXPECT_EQ(table.code, 0) << table.err;
  EXPECT_TRUE(
      table.out.ends_with("\n  left out  first line  reason\n"
                          "         1           3  in the state failed\n"
                          "         1           4  still running when the log ends\n"
                          "         1           5  without run time\n"))
      << table.out;
}

TEST_F(OwnTrace, SamplesOfNvidiaSmiAreNamed) {
  directory_.write(
      "smi.csv",
      "timestamp, name, utilization.gpu [%], utilization.memory [%], memory.used [MiB]\n"
      "2025/05/20 09:50:00.104, Tesla V100-SXM2-16GB, 45 %, 20 %, 4321 MiB\n");
  expect_refused({"kb", "build", "--profiles", "smi.csv", "--coruns", kExamples + "mine.corun.csv",
                  "-o", "kb.yaml"},
                 "smi.csv: is a log of nvidia-smi", "the largest utilization.gpu");
}

TEST_F(OwnTrace, TheRunTimeOfAJobThatNamesAGpuTypeIsOfThisType) {
  directory_.write("typed.csv", "submit_s,solo_s,gpu_models\n0,100,T4\n0,100,T4\n0,50,V100-16GB\n");
  const test::Outcome outcome =
      run({"replay", "typed.csv", "--policies", "fifo", "--cluster", "1x1:V100-16GB+1x1:T4",
           "--replications", "1", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_DOUBLE_EQ(json["policies"][0]["metrics"]["jct_s"]["mean"], (100 + 200 + 150) / 3.0);
  const test::Outcome info =
      run({"trace", "info", "typed.csv", "--cluster", "1x1:V100-16GB+1x1:T4"});
  EXPECT_NE(
      info.out.find(
          "warning: the jobs that run on T4 only ask for up to 2 GPUs at once; it has 1, and for "
          "0.02778 hours they ask for more"),
      std::string::npos)
      << info.out;
}

TEST_F(OwnTrace, ColumnsAddToThoseOfAKnownLogInEveryWay) {
  directory_.write("log.txt",
                   "User|ElapsedRaw|JobID|JobName|State|AllocTRES|Submit\n"
                   "ann|100|7|vit|COMPLETED|cpu=8,gres/gpu=2|2025-03-01T06:01:01\n"
                   "bob|50|8|gpt2|FAILED|gres/gpu=1|2025-03-01T06:02:01\n");
  const std::vector<std::string> rest{"--policies", "fifo",     "--gpus", "2", "--replications",
                                      "1",          "--format", "csv",    "-q"};
  const auto table = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "replay");
    arguments.insert(arguments.end(), rest.begin(), rest.end());
    const test::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  const std::string named = table({"log.txt", "--columns", "JobName=workload"});
  EXPECT_NE(named, "");
  EXPECT_EQ(named, table({"--set", "workload.source=sacct", "--set", "workload.path=log.txt",
                          "--set", "workload.columns=JobName=workload"}));
  expect_refused({"replay", "log.txt", "--columns", "JobNam=workload"}, "log.txt:1:", "JobNam");
  expect_refused(
      {"trace", "info", "log.txt", "--format-name", "swf", "--columns", "JobName=workload"},
      "--columns: is for format csv and known logs", "swf");
}

/// Two GPUs. a runs from 0 to 100 on both; then b from 100 to 150 beside c from 100 to 110; d from 110 to 150.
TEST_F(OwnTrace, GroupsOfJobsInJson) {
  directory_.write(
      "log.csv",
      "job,submit_s,solo_s,gpus,user\na,0,100,2,eve\nb,0,50,1,bob\nc,0,10,1,eve\nd,0,40,1,bob\n");
  const test::Outcome outcome =
      run({"replay", "log.csv", "--policies", "fifo", "--gpus", "2", "--replications", "1", "--by",
           "user,gpus,length,worst", "--format", "json", "-q"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json by = Json::parse(outcome.out)["by"];
  ASSERT_EQ(by.size(), 4U);
  EXPECT_EQ(by[0]["by"], "user");
  const Json users = by[0]["groups"];
  ASSERT_EQ(users.size(), 2U);
  EXPECT_EQ(users[0]["group"], "eve") << "210 of 300 GPU seconds";
  EXPECT_EQ(users[0]["jobs"], 2);
  EXPECT_DOUBLE_EQ(users[0]["work_share"], 0.7);
  EXPECT_DOUBLE_EQ(users[0]["jct_s"]["fifo"], (100 + 110) / 2.0);
  EXPECT_DOUBLE_EQ(users[1]["jct_s"]["fifo"], (150 + 150) / 2.0);
  const Json gangs = by[1]["groups"];
  EXPECT_EQ(gangs[0]["group"], "1 GPU");
  EXPECT_DOUBLE_EQ(gangs[0]["jct_s"]["fifo"], (150 + 110 + 150) / 3.0);
  EXPECT_DOUBLE_EQ(gangs[1]["jct_s"]["fifo"], 100);
  const Json lengths = by[2]["groups"];
  ASSERT_EQ(lengths.size(), 4U);
  EXPECT_DOUBLE_EQ(lengths[0]["jct_s"]["fifo"], 110) << "c";
  EXPECT_DOUBLE_EQ(lengths[3]["jct_s"]["fifo"], 100) << "a";
  const Json worst = by[3]["groups"];
  EXPECT_DOUBLE_EQ(worst[0]["jct_s"]["fifo"], 150);
  EXPECT_DOUBLE_EQ(worst[1]["jct_s"]["fifo"], (100 + 110 + 150) / 3.0);
}

TEST_F(OwnTrace, RunsInOneCommand) {
  const test::Outcome outcome =
      run({"replay", "jobs.csv", "--columns", kColumns, "--policies", "fifo,sjf,min-slowdown",
           "--gpus", "16", "--replications", "4", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("exact run times are told to sjf (estimates.duration: exact)"),
            std::string::npos)
      << outcome.err;
  EXPECT_NE(
      outcome.err.find(
          "columns of jobs.csv that corun does not know, which results have in /runs: user\n"),
      std::string::npos)
      << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["replications"], 4);
  ASSERT_EQ(json["policies"].size(), 3U);
  EXPECT_EQ(json["policies"][1]["label"], "sjf");
  EXPECT_EQ(json["config"]["cluster"]["nodes"], 2);
  EXPECT_EQ(json["config"]["cluster"]["gpus_per_node"], 8);
  // fifo: 4, 1 and 8 of 16 GPUs are in use at 90 s, so nobody waits.
  EXPECT_DOUBLE_EQ(json["policies"][0]["metrics"]["jct_s"]["mean"], (3600 + 120 + 600 + 60) / 4.0);
}

TEST_F(OwnTrace, ColumnsThatCorunDoesNotUseAreInTheRuns) {
  const std::string long_text(100, 'x');
  directory_.write("log.csv",
                   "id,when,dur,User,State,group\n"
                   "1,0,60,eve,COMPLETED,red\n"
                   "2,5,60,,FAILED," +
                       long_text + "\n");
  const test::Outcome outcome =
      run({"replay", "log.csv", "--columns", "id=job,when=submit_s,dur=solo_s", "--policies",
           "fifo", "--replications", "2", "--output", "r.h5"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::lock_guard lock(hdf5::hdf5_mutex());
  const hdf5::Handle file = hdf5::open_file(directory_.path("r.h5"));
  const hdf5::TableReader runs(file, "runs");
  using Texts = std::vector<std::string>;
  EXPECT_EQ(runs.texts("User"), (Texts{"eve", "", "eve", ""}));
  EXPECT_EQ(runs.texts("State", {0, 2}), (Texts{"COMPLETED", "FAILED"}));
  EXPECT_EQ(runs.texts("log_group", {0, 2}), (Texts{"red", long_text.substr(0, 64)}))
      << "the runs have a column group of their own";
  EXPECT_EQ(runs.integers("group", {0, 2}), (std::vector<std::int64_t>{0, 1}));
  EXPECT_FALSE(runs.has_column("id"));
}

TEST_F(OwnTrace, MemoryOfMeasuredCoRunsIsTheDemand) {
  directory_.write("log.csv", "job,submit_s,solo_s,workload\n1,0,60,a\n2,0,60,b\n");
  directory_.write(
      "m.corun.csv",
      "group,gpu,sharing,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
      "corun_s\n"
      "1,V100-16GB,time-slicing,a,50,60,20,9000,60,90\n"
      "1,V100-16GB,time-slicing,b,60,60,30,9000,60,90\n");
  const auto replay = [&](const std::string& gpu) {
    return run({"replay", "log.csv", "--policies", "fcfs", "--replications", "1", "--cluster",
                "1x1:" + gpu, "--set", "world.path=m.corun.csv", "--format", "json"});
  };
  const test::Outcome here = replay("V100-16GB");
  ASSERT_EQ(here.code, 0) << here.err;
  EXPECT_NE(here.err.find("note: the memory demand of 2 jobs is that of m.corun.csv\n"),
            std::string::npos)
      << here.err;
  EXPECT_GT(Json::parse(here.out)["policies"][0]["metrics"]["oom"]["mean"], 0)
      << "18,000 MiB do not fit on 16 GiB";
  const test::Outcome elsewhere = replay("T4");
  ASSERT_EQ(elsewhere.code, 0) << elsewhere.err;
  EXPECT_EQ(elsewhere.err.find("memory demand of 2 jobs is"), std::string::npos)
      << "measured on another type: " << elsewhere.err;
}

TEST_F(OwnTrace, IsReproducedByItsDumpedConfiguration) {
  const std::vector<std::string> options{"--columns", kColumns, "--policies",     "fifo,sjf",
                                         "--cluster", "3x4",    "--replications", "3"};
  std::vector<std::string> dump{"replay", "jobs.csv", "--dump-config"};
  dump.insert(dump.end(), options.begin(), options.end());
  directory_.write("dumped.yaml", run(dump).out);
  std::vector<std::string> replay{"replay", "jobs.csv", "--quiet"};
  replay.insert(replay.end(), options.begin(), options.end());
  const test::Outcome direct = run(replay);
  ASSERT_EQ(direct.code, 0) << direct.err;
  EXPECT_EQ(direct.out, run({"replay", "dumped.yaml", "--quiet"}).out);
}

TEST_F(OwnTrace, LeavesGivenEstimatesAlone) {
  const test::Outcome outcome =
      run({"replay", "jobs.csv", "--columns", kColumns, "--policies", "sjf", "--gpus", "8",
           "--replications", "1", "--set", "estimates.duration=lognormal", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.err.find("exact run times"), std::string::npos) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["config"]["estimates"]["duration"], "lognormal");
  expect_refused({"replay", "jobs.csv", "--columns", kColumns, "--policies", "sjf", "--gpus", "8",
                  "--set", "estimates.duration=none"},
                 "--policies: ", "set it to exact or lognormal");
}

TEST_F(OwnTrace, AnswersMistakesWithTheOptionThatRepairsThem) {
  expect_refused({"replay", "jobs.csv"},
                 "jobs.csv:1:1: the header has no columns 'submit_s', 'solo_s'",
                 "--columns JobName=job,arrival=submit_s,runtime=solo_s,num_gpu=gpus");
  expect_refused({"recommend", "jobs.csv", "--columns", "arrival=submit_s,runtime=solo_s"},
                 "jobs.csv:1:1: unknown columns 'JobName', 'num_gpu'", "num_gpu=gpus");
  expect_refused({"trace", "info", "jobs.csv"}, "jobs.csv:1:1: the header has no columns",
                 "--columns");
  expect_refused({"replay", "jobs.csv", "--columns", kColumns},
                 "the default of cluster.nodes: job 'a3'", "corun replay --gpus 8");
  expect_refused({"replay", "--columns", kColumns}, "--columns: is for a CSV of jobs",
                 "corun replay");
  expect_refused({"replay", "--policies", "fifo,sjv"}, "--policies: found 'sjv'",
                 "did you mean 'sjf'?");
  expect_refused({"replay", "--policies", ""}, "--policies: found ''", "known: fcfs");
  expect_refused({"replay", "--gpus", "12"}, "--gpus: found 12", "--cluster 3x4");
  expect_refused({"replay", "--gpus", "0"}, "--gpus: found '0'", "from 1 to");
  expect_refused({"replay", "--gpus", "8", "--cluster", "2x8"},
                 "--gpus: found 8, but --cluster 2x8 has 16", "leave one of them out");
  for (const std::string bad : {"4", "4x", "x8", "4x8x2", "0x8", "4x-1", "axb"}) {
    expect_refused({"replay", "--cluster", bad}, "--cluster: found '" + bad + "'", "such as 4x8");
  }
  expect_refused({"replay", "--replications", "none"}, "--replications: found 'none'", "from 1 to");
}

TEST_F(OwnTrace, OtherCommandsReadItToo) {
  const test::Outcome info =
      run({"trace", "info", "jobs.csv", "--columns", kColumns, "--format", "json"});
  ASSERT_EQ(info.code, 0) << info.err;
  EXPECT_EQ(Json::parse(info.out)["jobs"], 4);
  const test::Outcome recommended =
      run({"recommend", "jobs.csv", "--columns", kColumns, "--format", "json"});
  ASSERT_EQ(recommended.code, 0) << recommended.err;
  const test::Outcome same =
      run({"recommend", "--queue", "jobs.csv", "--columns", kColumns, "--format", "json"});
  EXPECT_EQ(recommended.out, same.out);
}

TEST_F(OwnTrace, OptionsStandForKeysOfAFileToo) {
  directory_.write("c.yaml", "cluster: {nodes: 7}\nreplications: 9\n");
  const Json json =
      Json::parse(run({"replay", "c.yaml", "--gpus", "4", "--replications", "2", "--policies",
                       "fcfs, random", "--set", "policies[0].label=first", "--format", "json"})
                      .out);
  EXPECT_EQ(json["config"]["cluster"]["nodes"], 1);
  EXPECT_EQ(json["config"]["cluster"]["gpus_per_node"], 4);
  EXPECT_EQ(json["replications"], 2);
  EXPECT_EQ(json["policies"][0]["label"], "first") << "--set refines the options";
  EXPECT_EQ(json["policies"][1]["label"], "random");
  expect_refused({"replay", "c.yaml", "--gpus", "4", "--set", "cluster.nodes=3"},
                 "--gpus: --set cluster.nodes=3 gives cluster.nodes, too", "leave one of them out");
  expect_refused({"replay", "--cluster", "1x4", "--set", "cluster={nodes: 3}"},
                 "--cluster: --set cluster={nodes: 3} gives cluster.nodes", "leave one");
  expect_refused({"replay", "--policies", "fcfs", "--set", "policies=[random]"},
                 "--policies: --set", "leave one");
}

TEST_F(OwnTrace, NotesNameWhatTheComparisonAssumes) {
  const auto notes = [&](const std::string& policies, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"replay",         "jobs.csv", "--columns", kColumns,
                                       "--policies",     policies,   "--gpus",    "16",
                                       "--replications", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments).err;
  };
  const std::string placing = "keep gangs on as few nodes as can be";
  EXPECT_NE(notes("fifo,sjf,fcfs").find("fifo, sjf keep gangs"), std::string::npos);
  EXPECT_NE(notes("fifo,sjf,fcfs").find("; fcfs take any GPUs"), std::string::npos);
  EXPECT_EQ(notes("fifo,sjf").find(placing), std::string::npos);
  EXPECT_EQ(notes("fcfs,exclusive").find(placing), std::string::npos);
  EXPECT_EQ(notes("fifo,fcfs", {"--set", "policies[0].placement=anywhere"}).find(placing),
            std::string::npos);
  const std::string free = "preemption costs nothing under srtf, las";
  EXPECT_NE(notes("fifo,srtf,las").find(free), std::string::npos);
  EXPECT_EQ(notes("fifo,srtf,las", {"--set", "preemption.restore_s=10"}).find(free),
            std::string::npos);
  const std::string blank = "have no profile at all";
  EXPECT_NE(notes("fifo,fcfs").find(blank), std::string::npos);
  EXPECT_EQ(notes("fifo,sjf,exclusive").find(blank), std::string::npos) << "nobody shares";
}

TEST_F(OwnTrace, SaysThatNoColumnGivesGpus) {
  const std::string columns = "arrival=submit_s,runtime=solo_s,num_gpu=,JobName=job";
  const test::Outcome outcome = run(
      {"replay", "jobs.csv", "--columns", columns, "--policies", "fifo", "--replications", "1"});
  EXPECT_NE(outcome.err.find("/runs: user; every job takes one GPU"), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.out.find("jobs.csv: 4 jobs on"), std::string::npos) << outcome.out;
  EXPECT_NE(
      outcome.out.find("jobs submitted over 90 s, run time alone 18.2 min on average, offered "
                       "load 12.17"),
      std::string::npos)
      << outcome.out;
}

TEST_F(OwnTrace, ReadsOtherSeparatorsAndAnyNameWithColumns) {
  std::string text = kForeign;
  std::ranges::replace(text, ',', ';');
  directory_.write("log.txt", text);
  const std::vector<std::string> rest{"--columns", kColumns, "--policies",     "fifo",
                                      "--gpus",    "8",      "--replications", "1"};
  std::vector<std::string> semicolons{"replay", "log.txt"}, commas{"replay", "jobs.csv"};
  semicolons.insert(semicolons.end(), rest.begin(), rest.end());
  commas.insert(commas.end(), rest.begin(), rest.end());
  const std::string out = run(semicolons).out;
  ASSERT_NE(out, "");
  EXPECT_EQ(out.substr(out.find('\n')), run(commas).out.substr(run(commas).out.find('\n')));
}

TEST_F(OwnTrace, APublicFormatIsKnownByItsBeginning) {
  const std::string trace = CORUN_SOURCE_DIR "/tests/fuzz/corpus/helios/small.csv";
  const test::Outcome outcome = run({"replay", trace, "--gpus", "8", "--policies", "fifo",
                                     "--replications", "1", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(Json::parse(outcome.out)["config"]["workload"]["source"], "helios");
}

TEST_F(OwnTrace, AFileInThePlaceOfAnotherNamesTheRightCommand) {
  const std::string table = kExamples + "mine.corun.csv";
  const std::string jobs = kExamples + "jobs.csv";
  const std::string kb = kExamples + "kb.yaml";
  ASSERT_EQ(
      run({"model", "fit", "--model", "contention", "--pairs", table, "--out", "m.model"}).code, 0);
  ASSERT_EQ(run({"replay", "--replications", "1", "-o", "r.h5", "--quiet"}).code, 0);
  expect_refused({"replay", table},
                 table + ": is a table of pairs of jobs, expected a configuration",
                 "set world.path or belief.initial to it");
  expect_refused({"replay", kExamples + "sweep.yaml"}, kExamples + "sweep.yaml: is a sweep",
                 "corun sweep ");
  expect_refused({"replay", "m.model"}, "m.model: is a fitted model",
                 "corun model eval --model m.model");
  expect_refused({"replay", "r.h5"}, "r.h5: is an HDF5 file", "corun sweep --answers r.h5");
  expect_refused({"replay", kb}, kb + ": is a knowledge base", "corun kb show");
  expect_refused({"replay", "--set", "world.path=" + jobs},
                 jobs + ": is a job trace, expected a table", "corun replay " + jobs);
  expect_refused({"replay", "--set", "belief.initial=" + jobs}, jobs + ": is a job trace",
                 "corun replay");
  expect_refused({"replay", "--set", "workload={source: csv, path: m.model}"},
                 "m.model: is a fitted model, expected a job trace", "world.path");
  expect_refused({"sweep", jobs, "-o", "s.h5"}, jobs + ": is a job trace", "corun replay " + jobs);
  expect_refused({"sweep", "--answers", kExamples + "sweep.yaml"},
                 kExamples + "sweep.yaml: is a sweep", "corun sweep ");
  expect_refused({"model", "fit", "--pairs", "m.model", "--out", "n.model"},
                 std::filesystem::weakly_canonical(directory_.path("m.model")).string() +
                     ": is a fitted model, expected a table of measured",
                 "corun model eval --model");
  expect_refused({"model", "eval", "--pairs", jobs}, jobs + ": is a job trace", "corun replay");
  expect_refused({"trace", "info", table}, table + ": is a table of pairs of jobs", "world.path");
  expect_refused({"kb", "show", "m.model"}, "m.model: is a fitted model, expected a knowledge base",
                 "belief.initial");
  const std::string times = directory_.write("times.csv", "workload,gpu_type,time_s\na,T4,1\n");
  expect_refused({"replay", "--set", "world.path=" + times},
                 times + ": is a table of solo times by GPU type, expected a table of measured",
                 "workload.source=solo-table");
  expect_refused({"recommend", "--queue", kExamples + "mine.yaml"},
                 kExamples + "mine.yaml: is a configuration", "corun replay");
}

}  // namespace
}  // namespace corun::own_trace_test
