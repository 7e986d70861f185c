#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "live/jobs/job_run.hpp"
#include "live/jobs/measurement.hpp"
#include "live/run/recorded_backend.hpp"
#include "report/report.hpp"
#include "sim/error.hpp"
#include "tests/helpers/builders.hpp"
#include "tests/helpers/public_data.hpp"
#include "tests/live/run/live_program.hpp"
#include "traces/tables/corun_csv.hpp"
#include "traces/tables/measurements.hpp"
#include "traces/tables/profile_csv.hpp"

namespace corun::test::live_command_test {
namespace {

using Json = nlohmann::json;

class Live : public LiveProgram {
 protected:
  std::vector<std::string> profile(std::vector<std::string> options, const std::string& words) {
    options.insert(options.begin(), {"profile", "--interval", "0.02"});
    options.insert(options.end(), {"--", CORUN_FAKE_WORKLOAD, box()});
    std::istringstream text(words);
    for (std::string word; text >> word;) options.push_back(word);
    return options;
  }
  void write_solo(const std::string& rows) {
    std::filesystem::create_directories(folder.path("out"));
    folder.write("out/solo.csv",
                 "job,solo_s,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib\n" + rows);
  }
  /// Another user of the GPU: the process of the test.
  void others_use(int gpu) { write_fake_use(box(), {getpid(), gpu, 10, 500, 5}); }
};

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// ---- probe --------------------------------------------------------------------------------------

TEST_F(Live, ProbeTellsWhatIsThereAndWhatWouldBeRefused) {
  use_box("16384 0 0 Fake V100\n40960 1 0 Fake A100\n16384 0 3 Fake T4\n16384 0 2 Fake P4\n");
  others_use(0);
  // PATH decides whether MPS is installed, so the test sets it.
  const std::string path = std::getenv("PATH");
  std::filesystem::create_directory(folder.path("bin"));
  setenv("PATH", folder.path("bin").c_str(), 1);
  EXPECT_NE(run({"probe"}).out.find("GPU 2, mps: refused: MPS is not installed"),
            std::string::npos);
  std::filesystem::permissions(folder.write("bin/nvidia-cuda-mps-control", ""),
                               std::filesystem::perms::owner_all);
  const Outcome outcome = run({"probe", "--format", "json"});
  setenv("PATH", path.c_str(), 1);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["driver"], "550.00.fake");
  EXPECT_EQ(json["cuda"], "12.4");
  EXPECT_TRUE(json["error"].is_null());
  ASSERT_EQ(json["gpus"].size(), 4U);
  const auto refused = [&](int gpu, const char* use) {
    return json["gpus"][static_cast<std::size_t>(gpu)]["refused"][use].size();
  };
  EXPECT_EQ(json["gpus"][0]["processes"][0]["pid"], getpid());
  EXPECT_EQ(json["gpus"][0]["memory_used_mib"], 500);
  EXPECT_EQ(refused(0, "alone"), 1U);
  EXPECT_EQ(refused(1, "alone"), 1U);  // MIG
  EXPECT_EQ(refused(2, "alone"), 0U);  // one process at a time
  EXPECT_EQ(refused(2, "time-slicing"), 1U);
  EXPECT_EQ(refused(2, "mps"), 0U);
  EXPECT_EQ(refused(3, "alone"), 1U);  // prohibited
}

TEST_F(Live, WithoutDriverOrGpuTheAnswerIsThree) {
  const Outcome none = run_corun({"live", "probe", "--nvml", "/no/such/library.so"});
  EXPECT_EQ(none.code, 3);
  EXPECT_EQ(none.err,
            "no NVIDIA driver here: /no/such/library.so cannot be loaded; live mode needs a GPU, "
            "the simulator does not\n");
  std::filesystem::remove(box() + "/gpus");
  const Outcome driver = run({"probe"});
  EXPECT_EQ(driver.code, 3);
  EXPECT_EQ(driver.err, "the NVIDIA driver does not answer: Driver Not Loaded; check nvidia-smi\n");
  const Outcome other = run_corun({"live", "probe", "--nvml", "libm.so.6"});
  EXPECT_EQ(other.code, 3);
}

TEST_F(Live, ProbePrintsJsonWithoutAGpuToo) {
  const std::string file = folder.path("probe.json");
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"-o", file}}) {
    std::vector<std::string> probe{"live",     "probe", "--nvml", "/no/such/library.so",
                                   "--format", "json"};
    probe.insert(probe.end(), more.begin(), more.end());
    const Outcome none = run_corun(probe);
    EXPECT_EQ(none.code, 3);
    EXPECT_TRUE(none.err.starts_with("no NVIDIA driver here")) << none.err;
    const Json json = Json::parse(more.empty() ? none.out : test::read_file(file));
    EXPECT_EQ(json["gpus"], Json::array());
    EXPECT_EQ(json["error"].get<std::string>() + "\n", none.err);
    EXPECT_TRUE(json["driver"].is_null());
    EXPECT_TRUE(json["mps"].is_null());
  }
}

// ---- profile ------------------------------------------------------------------------------------

TEST_F(Live, ProfileSeesWhatTheJobDoes) {
  const Outcome outcome = run(profile(
      {"--format", "json", "--profile", folder.path("p.csv"), "--samples", folder.path("s.csv")},
      "0.4 60 4096 25 0"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["end"], "finished");
  EXPECT_GE(json["length_s"], 0.4);
  EXPECT_EQ(json["profile"]["gpu_util_pct"], 60);
  EXPECT_EQ(json["profile"]["mem_time_pct"], 25);
  EXPECT_EQ(json["profile"]["mem_used_mib"], 4096);
  EXPECT_EQ(json["profile"]["mem_alloc_pct"], 25);
  EXPECT_TRUE(json["memory_by_process"]);
  EXPECT_EQ(json["attributes"].size(), 66U);
  EXPECT_EQ(json["attributes"]["MGUP"], 60);
  EXPECT_EQ(json["attributes"]["MaGTSAMP"], 25);
  EXPECT_EQ(json["attributes"]["MGMAP"], 25);
  EXPECT_EQ(json["attributes"]["Max_GPU_Temp"], 59);
  EXPECT_GT(json["attributes"]["SMU_total"], 0);
  EXPECT_GE(json["attributes"]["CPU_Thds"], 1);

  const ProfileTable table = read_profile_csv(folder.path("p.csv"));
  EXPECT_EQ(table.jobs, (std::vector<std::string>{"fake_workload-1"}));
  EXPECT_EQ(table.profiles[0].gpu_util_pct, 60);
  const std::string samples = read_file(folder.path("s.csv"));
  EXPECT_EQ(count(samples, "\n"), json["samples"].get<std::size_t>() + 1);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Live, TheRowOfAttributesReadsAsTheDataSetDoes) {
  const std::string file = folder.path("row.csv");
  const Outcome outcome = run(profile({"--format", "csv", "-o", file, "--model", "DCGAN",
                                       "--dataset", "none", "--batch-size", "256"},
                                      "0.2 60 4096 25 0"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const ProfileTable table = read_profile_csv(file);
  EXPECT_EQ(table.jobs, (std::vector<std::string>{"DCGAN-256"}));
  EXPECT_EQ(table.profiles[0].gpu_util_pct, 60);
  EXPECT_EQ(table.profiles[0].mem_alloc_pct, 25);
  EXPECT_EQ(table.profiles[0].mem_time_pct, 25);
  EXPECT_EQ(table.attributes.size(), 60U);

  const std::string data = "alnair/alnair_dataset.csv";
  if (!has_public_data(data)) GTEST_SKIP() << not_checked(data);
  std::ifstream ours(file);
  std::ifstream theirs(public_data(data));
  std::string our_header;
  std::string their_header;
  std::getline(ours, our_header);
  std::getline(theirs, their_header);
  if (their_header.ends_with('\r')) their_header.pop_back();
  EXPECT_EQ(our_header, their_header);
}

TEST_F(Live, ProfileStopsAfterASetTime) {
  const Outcome outcome = run(profile({"--for", "0.3", "--format", "json"}, "3600 60 4096 25 0"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["end"], "timeout");
  EXPECT_GE(json["length_s"], 0.3);
  EXPECT_LT(json["length_s"], 60);
}

TEST_F(Live, AJobThatFailsHasNoProfile) {
  const Outcome outcome = run(profile({"--profile", folder.path("p.csv")}, "0.1 60 100 25 0 oom"));
  EXPECT_EQ(outcome.code, 1);
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(outcome.err,
            "corun live profile: fake_workload: exit code 1, out of device memory\n"
            "  | RuntimeError: CUDA out of memory. Tried to allocate 2.00 GiB\n");
  EXPECT_FALSE(std::filesystem::exists(folder.path("p.csv")));
}

TEST_F(Live, MistakesOfTheCommandLineAreOneLine) {
  const auto line = [&](const std::vector<std::string>& words) {
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    return outcome.err;
  };
  EXPECT_EQ(line({"profile"}),
            "corun live profile: no command; put it behind `--`: corun live profile -- python3 "
            "train.py\n");
  EXPECT_EQ(line({"profile", "--interval", "fast", "--", "true"}),
            "--interval: found 'fast', expected a number of seconds from 0.01 to 1000000000\n");
  EXPECT_EQ(line({"profile", "--gpu", "7", "--", "true"}),
            "--gpu: no GPU 7, expected 0 to 1; see corun live probe\n");
  EXPECT_NE(line({"profile", "--", "no-such-program"}).find("no program 'no-such-program'"),
            std::string::npos);
  const std::string word = run_corun({"live", "porbe"}).err;
  EXPECT_EQ(word.find("corun live: no word 'porbe': did you mean 'probe'? known: probe, profile, "),
            0U);
}

TEST_F(Live, AGpuThatOthersUseIsRefusedUnlessToldTo) {
  others_use(0);
  const Outcome refused = run(profile({"--gpu", "0"}, "0.1 60 100 25 0"));
  EXPECT_EQ(refused.code, 3);
  EXPECT_EQ(refused.err.find("GPU 0 is not used: others use it (process " +
                             std::to_string(getpid()) + ")"),
            0U)
      << refused.err;
  // Without --gpu, the free GPU is taken.
  EXPECT_NE(run(profile({}, "0.1 60 100 25 0")).out.find("on GPU 1"), std::string::npos);
  EXPECT_EQ(run(profile({"--gpu", "0", "--allow-others"}, "0.1 60 100 25 0")).code, 0);
}

TEST_F(Live, AJobSeesItsGpuAndTheListedEnvironmentAlone) {
  setenv("CORUN_TEST_SECRET", "1", 1);
  const Outcome outcome = run(
      profile({"--gpu", "1", "--job-output", folder.path("job")}, "0.05 60 100 25 0 environment"));
  unsetenv("CORUN_TEST_SECRET");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string seen = read_file(folder.path("job.out"));
  EXPECT_NE(seen.find("CUDA_VISIBLE_DEVICES=GPU-fake-1\n"), std::string::npos);
  EXPECT_NE(seen.find("TMPDIR=" + folder.path("tmp") + "/corun-live-"), std::string::npos);
  EXPECT_NE(seen.find("CUDA_MPS_PIPE_DIRECTORY="), std::string::npos);
  EXPECT_EQ(seen.find("CORUN_TEST_SECRET"), std::string::npos);
  EXPECT_EQ(seen.find("FAKE_GPU_BOX"), std::string::npos);
}

// ---- solo and corun -----------------------------------------------------------------------------

TEST_F(Live, CorunMeasuresPairsAsTheSimulatorReadsThem) {
  const std::string file =
      config({{"a", "0.3 60 4096 25 1.0"}, {"b", "0.3 40 2048 65 1.0"}, {"c", "0.5 20 14000 5 0"}});
  const Outcome outcome = run({"corun", file, "--repeats", "2", "--warm-up", "0", "--pairs",
                               "a+b,a+c", "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["solo"].size(), 3U);
  EXPECT_EQ(json["solo"][0]["runs"], 2);
  EXPECT_GE(json["solo"][0]["solo_s"], 0.3);
  EXPECT_EQ(json["solo"][1]["mem_time_pct"], 65);
  // Each halves the other's speed, so both take about twice as long. A busy machine changes both times; only
  // that there is a slowdown is tested.
  ASSERT_EQ(json["together"].size(), 1U) << json.dump();  // a and c do not fit together
  EXPECT_EQ(json["together"][0]["jobs"], (Json{"a", "b"}));
  EXPECT_FALSE(has_result("measured.groups.csv"));
  EXPECT_GT(json["together"][0]["isd"][0], 0.3);
  EXPECT_GT(json["together"][0]["isd"][1], 0.3);

  WorkloadKeys keys;
  const CorunFile measured = read_corun_csv(folder.path("out/measured.corun.csv"), keys);
  ASSERT_EQ(measured.measurements.size(), 2U);
  EXPECT_EQ(measured.measurements[0].gpu_type, "Fake V100");
  EXPECT_EQ(measured.measurements[0].sharing, "time-slicing");
  EXPECT_EQ(measured.measurements[0].members.size(), 2U);
  EXPECT_EQ(measured.measurements[0].members[0].profile.mem_used_mib, 4096);
  EXPECT_EQ(read_profile_csv(folder.path("out/solo.csv")).jobs,
            (std::vector<std::string>{"a", "b", "c"}));
  // a+c: refused if c's demand was known by then, else out of memory.
  EXPECT_EQ(count(result("runs.csv"), ",refused,\"they need 18096 MiB together") +
                count(result("runs.csv"), "out-of-memory"),
            2U)
      << result("runs.csv");
}

TEST_F(Live, CorunMeasuresGroupsAsModelFitReadsThem) {
  const std::string file = config(
      {{"a", "0.2 30 1000 25 0.5"}, {"b", "0.2 30 1000 25 0.5"}, {"c", "0.2 30 1000 25 0.5"}});
  const Outcome outcome = run(
      {"corun", file, "--repeats", "2", "--warm-up", "0", "--pairs", "a+b,a+c,b+c,a+b+c,a+b+c+c"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  WorkloadKeys keys;
  const Measurements table = read_measurements(folder.path("out/measured.groups.csv"), keys);
  EXPECT_EQ(table.speeds.rows.size(), 6U);
  ASSERT_EQ(table.speeds.groups.size(), 4U);
  EXPECT_EQ(table.gpu, "Fake V100");
  std::vector<double> speeds;
  for (const SpeedTable::Group& group : table.speeds.groups) {
    EXPECT_EQ(group.sharing, Sharing::kTimeSlicing);
    speeds.insert(speeds.end(), group.speeds.begin(), group.speeds.end());
  }
  // A job takes half as long again per other: 1 / 2 and 1 / 2.5. A machine that stops for a moment changes some of the times,
  // which are fractions of a second: the median is tested.
  ASSERT_GE(speeds.size(), 12U);
  std::ranges::sort(speeds);
  EXPECT_GT(speeds.front(), 0);
  EXPECT_GT(speeds[speeds.size() / 2], 0.2);
  EXPECT_LT(speeds[speeds.size() / 2], 0.8);
  const std::string model = folder.path("box.model");
  const Outcome fitted = run_corun(
      {"model", "fit", "--groups", folder.path("out/measured.groups.csv"), "--out", model});
  ASSERT_EQ(fitted.code, 0) << fitted.err;
  EXPECT_NE(fitted.out.find("6 measured pairs and 4 larger groups of 3 jobs"), std::string::npos)
      << fitted.out;
  const Outcome of_pairs =
      run_corun({"model", "fit", "--pairs", folder.path("out/measured.corun.csv"), "--out", model,
                 "--force"});
  EXPECT_EQ(of_pairs.code, 0) << of_pairs.err;
}

TEST_F(Live, CorunMeasuresTheListOfModelSuggest) {
  const std::string file =
      config({{"a", "0.05 60 100 25 0"}, {"b", "0.05 60 100 25 0"}, {"c", "0.05 60 100 25 0"}});
  const std::string list = folder.path("next.csv");
  const auto measured = [&](const std::string& rows) {
    std::ofstream(list) << "rank,job_a,job_b,isd\n" << rows;
    return run(
        {"corun", file, "--repeats", "1", "--warm-up", "0", "--pairs", list, "--format", "json"});
  };
  const Outcome outcome = measured("1,c,a,0.5\n2,b,b,0.4\n");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  std::set<Json> together;
  for (const Json& pair : json["together"]) together.insert(pair["jobs"]);
  EXPECT_EQ(together, (std::set<Json>{Json{"c", "a"}, Json{"b", "b"}})) << json.dump();

  const auto refused = [&](const std::string& rows, const std::string& message) {
    const Outcome bad = measured(rows);
    EXPECT_EQ(bad.code, 2) << message;
    EXPECT_NE(bad.err.find(message), std::string::npos) << bad.err;
  };
  refused("1,a,bert,0.5\n", "next.csv:2:5: no workload 'bert' in the configuration");
  refused("1,a,b,0.5\n2,b,a,0.5\n", "next.csv:3:3: the pair b+a is listed twice");
  refused("1,a,,0.5\n", "next.csv:2:5");
  refused("", "next.csv: lists no pair");
  const Outcome missing = run({"corun", file, "--pairs", folder.path("none.csv")});
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("--pairs"), std::string::npos) << missing.err;
}

TEST_F(Live, AJobMayTellItsRateInItsLastLine) {
  const std::string file =
      config({{"a", "0.05 60 100 25 0 rate"}, {"b", "0.05 60 100 25 0 chatty"}});
  ASSERT_EQ(run({"solo", file, "--repeats", "1", "--warm-up", "0"}).code, 0);
  const std::string runs = result("runs.csv");
  EXPECT_EQ(count(runs, ",24.5\n"), 1U) << runs;  // the other reports no rate
  EXPECT_EQ(count(runs, ",\n"), 1U) << runs;
}

TEST_F(Live, SoloTellsWhichRunsDidNotEndWell) {
  const std::string file =
      config({{"good", "0.05 60 100 25 0"}, {"bad", "0.05 60 100 25 0 crash"}});
  const Outcome outcome = run({"solo", file, "--repeats", "2"});
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.err.find("bad: failed (exit code 3)"), std::string::npos) << outcome.err;
  const auto rows = live::read_solo_csv(folder.path("out/solo.csv"));
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].job, "good");
  EXPECT_EQ(rows[0].runs, 2);
}

TEST_F(Live, MeasurementsOfOtherCommandsAndRunsOfOtherExperimentsStay) {
  const std::vector<std::string> once{"--repeats", "1", "--warm-up", "0"};
  const auto measured = [&](const char* word, const std::string& file, bool force = false) {
    std::vector<std::string> words{word, file};
    words.insert(words.end(), once.begin(), once.end());
    if (force) words.emplace_back("--force");
    return run(words);
  };
  const std::string file =
      config({{"a", "0.05 60 100 25 0"}, {"b", "0.05 60 100 25 0"}}, "queue: [a, b]\n");
  ASSERT_EQ(measured("solo", file).code, 0);
  ASSERT_EQ(measured("corun", file).code, 0);  // the same commands
  const std::vector<std::string> fcfs{"run", file, "--set", "policies=[fcfs]"};
  ASSERT_EQ(run(fcfs).code, 0);
  ASSERT_EQ(run(fcfs).code, 0);  // the same experiment
  const std::string results = result("results.h5");
  const std::string jobs = result("fcfs.jobs.csv");
  const Outcome other = run({"run", file, "--set", "policies=[fcfs]", "--seed", "9"});
  EXPECT_EQ(other.code, 2);
  EXPECT_NE(other.err.find("results.h5' holds results of another configuration"), std::string::npos)
      << other.err;
  EXPECT_EQ(result("results.h5"), results);
  EXPECT_EQ(result("fcfs.jobs.csv"), jobs);

  const std::string solo = result("solo.csv");
  const std::string changed = config({{"a", "0.06 60 100 25 0"}, {"b", "0.05 60 100 25 0"}});
  const Outcome refused = measured("solo", changed);
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("workloads.json"), std::string::npos) << refused.err;
  EXPECT_EQ(result("solo.csv"), solo);
  EXPECT_EQ(measured("solo", changed, true).code, 0);
  EXPECT_NE(result("solo.csv"), solo);
}

TEST(LiveOrder, ForwardsAndBackwardsInTurn) {
  const auto order = live::balanced_order({{0}, {1}, {0, 1}, {2}}, 4, 7);
  ASSERT_EQ(order.size(), 16U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(order[i], order[7 - i]);
    EXPECT_EQ(order[i], order[8 + i]);
  }
  EXPECT_EQ(live::all_pairs(8).size(), 28U);
}

// ---- run ----------------------------------------------------------------------------------------

TEST_F(Live, AQueueRunsUnderEachPolicyBesideItsPrediction) {
  const std::string file =
      config({{"a", "0.3 60 4096 25 1.0"}, {"b", "0.3 40 2048 65 1.0"}},
             "queue: [a, b, {workload: a, submit_s: 0.2, name: late}]\n"
             "policies: [{name: exclusive}, {name: fcfs}, {name: min-slowdown}]\n");
  ASSERT_EQ(run({"corun", file, "--repeats", "1", "--warm-up", "0"}).code, 0);
  const Outcome outcome = run({"run", file, "--format", "json", "--set", "live.gpus=[0, 1]"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["gpus"], 2);
  ASSERT_EQ(json["policies"].size(), 3U);
  for (const Json& policy : json["policies"]) {
    EXPECT_EQ(policy["metrics"]["jobs"]["measured"], 3) << policy["policy"];
    EXPECT_TRUE(policy["complete"]);
    EXPECT_EQ(policy["decisions_repeat"], true) << policy["policy"] << outcome.err;
  }
  const Json& fcfs = json["policies"][1]["metrics"];
  EXPECT_GT(fcfs["isd"]["measured"], 0.1);
  EXPECT_GT(fcfs["isd"]["predicted"], 0.1);
  EXPECT_EQ(json["policies"][1]["measured_minus_predicted"]["jobs"], 3);
  EXPECT_NE(result("prediction.csv").find("\nfcfs,isd,0."), std::string::npos);
  // The log has the simulator's format and the policy's decision: the two oldest jobs together.
  const std::string log = result("fcfs.events.csv");
  EXPECT_EQ(count(log, ",start,"), 3U) << log;
  EXPECT_EQ(count(log, ",finish,"), 3U);
  EXPECT_LT(log.find(",start,a,0"), log.find(",start,b,0"));
  WorkloadKeys keys;
  EXPECT_GE(read_corun_csv(folder.path("out/fcfs.corun.csv"), keys).measurements.size(), 1U);
  EXPECT_FALSE(has_result("exclusive.corun.csv"));
  // corun report has measured and predicted beside each other.
  const ::corun::Json report = report_json(folder.path("out/results.h5"));
  EXPECT_EQ(report["kind"], "live");
  EXPECT_NE(report["source"]["measured_on"].get<std::string>().find("V100"), std::string::npos);
  ASSERT_EQ(report["live"]["predicted"].size(), 3U);
  const ::corun::Json& isd = report["live"]["jobs"][1]["isd"];
  ASSERT_EQ(isd.size(), 3U);
  for (const ::corun::Json& job : isd) {
    EXPECT_TRUE(job[0].is_number() && job[1].is_number()) << "[measured, predicted]: " << job;
  }
  EXPECT_EQ(report["timeline"]["policies"][1]["mode"], "bars");
  EXPECT_TRUE(nothing_left());
}

TEST_F(Live, OutOfMemoryIsRetriedAndOtherFailuresAreNot) {
  const std::string file =
      config({{"good", "0.1 60 100 25 0"},
              {"oom", "0.1 60 100 25 0 oom"},
              {"full", "0.1 60 100 25 0 silent-oom"},
              {"crash", "0.1 60 100 25 0 crash"},
              {"hang", "0.1 60 100 25 0 hang"}},
             "queue: [good, oom, full, crash, hang]\npolicies: [{name: exclusive}]\n"
             "cluster: {oom: {retries: 2}}\n");
  write_solo(
      "good,0.1,60,1,25,\noom,0.1,60,1,25,\nfull,0.1,60,1,25,\ncrash,0.1,60,1,25,\n"
      "hang,0.1,60,1,25,\n");
  const Outcome outcome =
      run({"run", file, "--format", "json", "--set", "workloads.hang.timeout_s=0.3"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json metrics = Json::parse(outcome.out)["policies"][0]["metrics"];
  EXPECT_EQ(metrics["jobs"]["measured"], 1);
  EXPECT_EQ(metrics["failed"]["measured"], 4);
  const std::string jobs = result("exclusive.jobs.csv");
  EXPECT_EQ(count(jobs, "\noom,oom,0,"), 3U) << jobs;  // once and two retries
  EXPECT_EQ(count(jobs, "\nfull,full,0,"), 3U);
  EXPECT_EQ(count(jobs, "out-of-memory"), 6U);
  EXPECT_EQ(count(jobs, ",failed,exit code 3,"), 1U);
  EXPECT_EQ(count(jobs, ",timeout,stopped at its time-out,"), 1U);
  const std::string log = result("exclusive.events.csv");
  EXPECT_EQ(count(log, ",oom,oom,") + count(log, ",oom,full,"), 4U) << log;
  EXPECT_EQ(count(log, ",fail,"), 4U);
  EXPECT_TRUE(nothing_left());
}

TEST_F(Live, WhoDoesNotFitWaitsUntilThereIsRoom) {
  const std::string file =
      config({{"big", "0.2 60 10000 25 0"}}, "queue: [big, big]\npolicies: [{name: fcfs}]\n");
  write_solo("big,0.2,60,61,25,10000\n");
  const Outcome outcome = run({"run", file, "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json metrics = Json::parse(outcome.out)["policies"][0]["metrics"];
  EXPECT_EQ(metrics["jobs"]["measured"], 2);
  EXPECT_EQ(metrics["oom"]["measured"], 0);
  // In the simulator the job fails and is retried; the default ramp costs it about as much as such a wait.
  EXPECT_EQ(metrics["jobs"]["predicted"], 2);
  EXPECT_LT(metrics["makespan_s"]["predicted"], 1);
  const std::string jobs = result("fcfs.jobs.csv");
  EXPECT_NE(jobs.find("\nbig,big,0,0,0,finished,"), std::string::npos) << jobs;
  EXPECT_NE(jobs.find("\nbig.2,big,0,0,1,finished,"), std::string::npos) << jobs;
  EXPECT_FALSE(has_result("fcfs.corun.csv"));  // they did not run together
}

TEST_F(Live, AGpuThatDisappearsEndsTheRunInOrder) {
  const std::string file =
      config({{"quick", "0.05 60 100 25 0"}, {"long", "3600 60 100 25 0 daemon"}},
             "queue: [quick, long]\npolicies: [{name: exclusive}]\n");
  write_solo("quick,0.05,60,1,25,\nlong,1,60,1,25,\n");
  Background corun(live({"run", file}), folder.path());
  ASSERT_TRUE(eventually([&] { return on_gpu() == 2 || !corun.running(); })) << corun.err();
  folder.write("box/lost", "");
  EXPECT_EQ(corun.wait(), 3);
  EXPECT_NE(corun.err().find("GPU 0 (Fake V100) does not answer any more: GPU is lost"),
            std::string::npos)
      << corun.err();
  EXPECT_TRUE(nothing_left());
  EXPECT_NE(result("exclusive.jobs.csv").find("\nquick,quick,0,0,0,finished,"), std::string::npos);
}

TEST_F(Live, WhatALiveQueueCannotDoIsRefusedBefore) {
  const std::string file = config({{"a", "0.1 60 100 25 0"}}, "queue: [a]\n");
  const auto message = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{"run", file};
    words.insert(words.end(), more.begin(), more.end());
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    return outcome.err;
  };
  EXPECT_NE(message({}).find("measure them: corun live solo CONFIG"), std::string::npos);
  write_solo("b,0.1,60,1,25,100\n");
  EXPECT_NE(message({}).find("no solo time of 'a'"), std::string::npos);
  write_solo("a,0.1,60,1,25,100\n");
  EXPECT_NE(message({"--set", "policies=[{name: oracle}]"}).find("knows true costs"),
            std::string::npos);
  EXPECT_NE(message({"--set", "profiling.mode=minute"}).find("run corun live solo before"),
            std::string::npos);
  EXPECT_NE(message({"--set", "cluster.nodes=2"}).find("leave it out"), std::string::npos);
  EXPECT_NE(message({"--set", "workload.services=s.csv"}).find("a live queue has no services"),
            std::string::npos);
  EXPECT_NE(message({"--set", "live.gpu=[0]"}).find("did you mean 'gpus'?"), std::string::npos);
  EXPECT_NE(message({"--set", "queue=[c]"}).find("no workload 'c'"), std::string::npos);
}

TEST_F(Live, APolicyThatMovesRunningJobsIsRefused) {
  const std::string file = config({{"a", "0.2 60 100 25 0"}},
                                  "queue: [a, {workload: a, submit_s: 0.1}]\n"
                                  "policies: [{name: las, thresholds_s: [0.05]}]\n");
  write_solo("a,60,60,1,25,100\n");
  const Outcome outcome = run({"run", file});
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("policy 'las' moves running jobs, and a command cannot be taken up "
                             "again; leave it out"),
            std::string::npos)
      << outcome.err;
  EXPECT_TRUE(nothing_left());
}

TEST_F(Live, MistakesInAConfigurationHaveTheirPlace) {
  const auto message = [&](const std::string& text) {
    const Outcome outcome = run({"solo", folder.write("bad.yaml", text)});
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(count(outcome.err, "\n"), 1U) << outcome.err;
    const auto at = outcome.err.find("bad.yaml:");
    return at == std::string::npos ? outcome.err : outcome.err.substr(at);
  };
  EXPECT_EQ(message("seed: 1\n").find("bad.yaml: no key 'workloads'"), 0U);
  EXPECT_EQ(
      message("workloads: {a: {comand: [x]}}\n"),
      "bad.yaml:1:17: unknown key 'comand': did you mean 'command'? known: command, directory, "
      "environment, service, timeout_s, grace_s, processes, stdout_mib, file_mib, disk_free_mib\n");
  EXPECT_EQ(
      message("workloads: {a: {command: sleep 5}}\n"),
      "bad.yaml:1:26: found 'sleep 5', expected a list of words, [PROGRAM, ARGUMENT, ...]; no "
      "shell reads them\n");
  EXPECT_EQ(message("workloads: {../a: {command: [sleep, 5]}}\n"),
            "bad.yaml:1:13: found '../a', expected a name of letters, digits, '-', '_' and '.'\n");
  EXPECT_EQ(message("workloads: {a: {command: [no-such-program]}}\n")
                .find("bad.yaml:1:26: no program 'no-such-program' in PATH"),
            0U);
  EXPECT_EQ(message("live: {sample_s: 0}\nworkloads: {a: {command: [sleep, 5]}}\n")
                .find("bad.yaml:1:18: found '0', expected a number of seconds"),
            0U);
}

// ---- played back --------------------------------------------------------------------------------

/// Two jobs ran together from 1 s on, one until 4 s, the other until 6 s. Then the third ran alone.
struct Record {
  OwnedWorkload work = workload({job(seconds{2}), job(seconds{3}), job(seconds{1}).at(seconds{5})});
  ClusterSpec box = cluster(1, 1);
  EventLog log{
      {seconds{0}, LogKind::kArrive, J(0), {}},    {seconds{0}, LogKind::kArrive, J(1), {}},
      {seconds{0}, LogKind::kStart, J(0), {G(0)}}, {seconds{0}, LogKind::kStart, J(1), {G(0)}},
      {seconds{4}, LogKind::kFinish, J(0), {}},    {seconds{5}, LogKind::kArrive, J(2), {}},
      {seconds{6}, LogKind::kFinish, J(1), {}},    {seconds{6}, LogKind::kStart, J(2), {G(0)}},
      {seconds{7}, LogKind::kFinish, J(2), {}}};
  std::vector<live::LiveRun> runs{{J(0), G(0), 0, false, seconds{1}, seconds{4}, {}},
                                  {J(1), G(0), 0, false, seconds{1}, seconds{6}, {}},
                                  {J(2), G(0), 1, false, seconds{6}, seconds{7}, {}}};
};

TEST(LiveRecord, TheSamePolicyDecidesTheSameAgain) {
  const Record r;
  ScriptedPolicy policy = steps({{{J(0), J(1)}, {G(0)}}, {{J(2)}, {G(0)}, seconds{6}}});
  live::RecordedBackend backend(r.box, r.work, nullptr, r.log, r.runs);
  EventLog log;
  ControlLoop(backend, {policy, "scripted"}, job_views(r.work), {}).run(&log);
  EXPECT_EQ(log, r.log);
  // The policy was shown the measured J_c: from start to exit, not from the decision on.
  ASSERT_EQ(policy.seen.size(), 2U);
  EXPECT_TRUE(policy.seen[0].together);
  EXPECT_EQ(policy.seen[0].length, seconds{5});
  EXPECT_EQ(policy.seen[0].members[0].corun, seconds{3});
  EXPECT_DOUBLE_EQ(policy.seen[0].members[0].isd, 0.5);
  EXPECT_DOUBLE_EQ(policy.seen[0].members[1].isd, 2.0 / 3);
  EXPECT_DOUBLE_EQ(policy.seen[0].ps, 0.0);
}

TEST(LiveRecord, AnotherDecisionIsFound) {
  const Record r;
  ScriptedPolicy policy = steps({{{J(0)}, {G(0)}}, {{J(1)}, {G(0)}}, {{J(2)}, {G(0)}}});
  live::RecordedBackend backend(r.box, r.work, nullptr, r.log, r.runs);
  ControlLoop loop(backend, {policy, "scripted"}, job_views(r.work), join().control);
  // It starts both jobs one by one in the same instant, which gives the same log. But the third job then
  // joins at 5 s; in the record it waits.
  EXPECT_THROW(loop.run(), live::DecisionDiffers);
}

// ---- how an end is judged -----------------------------------------------------------------------

TEST(LiveEnd, OutOfMemoryIsKnownByWordsOrByAFullGpu) {
  using live::looks_out_of_memory;
  EXPECT_TRUE(looks_out_of_memory("torch.cuda.OutOfMemoryError: CUDA out of memory.", 10, 100));
  EXPECT_TRUE(looks_out_of_memory("CUDA_ERROR_OUT_OF_MEMORY", 10, 100));
  EXPECT_TRUE(looks_out_of_memory("RESOURCE_EXHAUSTED: Out of memory", 10, 100));
  EXPECT_TRUE(looks_out_of_memory("", 99, 100));
  EXPECT_FALSE(looks_out_of_memory("Segmentation fault", 50, 100));
  EXPECT_FALSE(looks_out_of_memory("out of memory of the past", 50, 100));
}

}  // namespace
}  // namespace corun::test::live_command_test
