// `corun live validate` after `corun live run` on a fake box, and other uses of a run's files.
#include <algorithm>
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "tests/live/run/live_program.hpp"

namespace corun::test::live_validate_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

/// Rows of a CSV file without quotes, by the column `key`; of several with the same key, the last.
using Rows = std::map<std::string, std::map<std::string, std::string>>;
Rows rows_of(const std::string& text, const std::string& key) {
  const auto fields = [](const std::string& line) {
    std::vector<std::string> all;
    std::istringstream in(line + ",");
    for (std::string field; std::getline(in, field, ',');) all.push_back(field);
    return all;
  };
  std::istringstream in(text);
  std::string line;
  std::getline(in, line);
  const std::vector<std::string> header = fields(line);
  Rows rows;
  while (std::getline(in, line)) {
    const std::vector<std::string> values = fields(line);
    std::map<std::string, std::string> row;
    for (std::size_t c = 0; c < header.size() && c < values.size(); ++c) row[header[c]] = values[c];
    rows[row[key]] = row;
  }
  return rows;
}

int count_of(const std::string& text, const std::string& part) {
  int n = 0;
  for (auto at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++n;
  return n;
}

double number(const std::map<std::string, std::string>& row, const std::string& column) {
  return std::stod(row.at(column));
}

class LiveValidate : public LiveProgram {
 protected:
  /// Solo times as if they had been measured.
  void write_solo(const std::map<std::string, double>& seconds) const {
    std::string text = "job,solo_s,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib\n";
    for (const auto& [job, s] : seconds) text += job + "," + std::to_string(s) + ",50,10,20,100\n";
    fs::create_directories(folder.path("out"));
    folder.write("out/solo.csv", text);
  }
  /// One pair as if it had been measured: solo time and co-run time of each.
  void write_pair(const std::string& a, double solo_a, double corun_a, const std::string& b,
                  double solo_b, double corun_b) const {
    std::ostringstream text;
    text << "group,gpu,sharing,job,gpu_util_pct,mem_alloc_pct,mem_time_pct,mem_used_mib,solo_s,"
            "corun_s\n"
         << "1,Fake V100,time-slicing," << a << ",50,10,20,100," << solo_a << ',' << corun_a << '\n'
         << "1,Fake V100,time-slicing," << b << ",50,10,20,100," << solo_b << ',' << corun_b
         << '\n';
    folder.write("out/measured.corun.csv", text.str());
  }
  Outcome validate(std::vector<std::string> words) const {
    words.insert(words.begin(), {"live", "validate"});
    return run_corun(words, folder.path());
  }
  Json validated(const std::string& what) const {
    const Outcome outcome = validate({what, "--format", "json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return Json::parse(outcome.out);
  }
  static const Json& of_job(const Json& policy, const std::string& job) {
    for (const Json& j : policy["jobs"]) {
      if (j["job"] == job) return j;
    }
    throw std::runtime_error("no job " + job);
  }
};

/// Times are whole nanoseconds, written in seconds as doubles.
constexpr double kRounding = 1e-7;

TEST_F(LiveValidate, WhatWasMeasuredStandsBesideBothPredictions) {
  const std::string file = config({{"a", "0.2 60 100 25 1.0"}, {"b", "0.2 40 100 65 1.0"}},
                                  "queue: [a, b, {workload: a, submit_s: 0.05, name: late}]\n"
                                  "policies: [{name: fcfs}, {name: exclusive}]\n");
  write_solo({{"a", 0.2}, {"b", 0.2}});
  write_pair("a", 0.2, 0.3, "b", 0.2, 0.36);  // ISD 0.5 and 0.8, PS 0.1
  const Outcome ran = run({"run", file});
  ASSERT_EQ(ran.code, 0) << ran.err;
  const Json json = validated(file);
  EXPECT_EQ(json["gpu"], "Fake V100");
  ASSERT_EQ(json["policies"].size(), 2U);

  // The same directory, judged as all real runs are.
  const Outcome whole = run_corun({"validate", "out", "--format", "json"}, folder.path());
  ASSERT_EQ(whole.code, 0) << whole.err;
  const Json rows_of_runs = Json::parse(whole.out)["runs"];
  EXPECT_EQ(json["runs"], rows_of_runs);
  ASSERT_EQ(rows_of_runs.size(), 4U);
  for (const Json& row : rows_of_runs) {
    const std::string label = row["policy"];
    EXPECT_EQ(row["run"], "live/" + label);
    const std::string simulated = row["given"] == "policy" ? "predicted" : "replayed";
    double real = 0;
    double found = 0;
    for (const Json& policy : json["policies"]) {
      if (policy["policy"] != label) continue;
      for (const Json& job : policy["jobs"]) {
        real += job["jct_s"]["measured"].get<double>() / 3;
        found += job["jct_s"][simulated].get<double>() / 3;
      }
    }
    EXPECT_NEAR(row["mean_jct_s"]["real"], real, kRounding) << label;
    EXPECT_NEAR(row["mean_jct_s"]["simulated"], found, kRounding) << label;
    EXPECT_NEAR(row["mean_jct_bias"], found / real - 1, kRounding) << label;
  }
  const Outcome refused = run_corun({"validate", "out", "--fit", "real/x"}, folder.path());
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.err.find("--fit: is for runs in rounds"), std::string::npos) << refused.err;

  for (const Json& policy : json["policies"]) {
    const std::string label = policy["policy"];
    const Rows rows = rows_of(result(label + ".jobs.csv"), "job");
    ASSERT_EQ(policy["jobs"].size(), 3U) << label;
    double isd_error = 0;
    double jct_error = 0;
    for (const auto& [name, row] : rows) {
      const Json& job = of_job(policy, name);
      const double solo = number(row, "solo_s");
      const double isd = (number(row, "corun_s") - solo) / solo;
      const double jct = number(row, "start_s") + number(row, "corun_s") - number(row, "submit_s");
      EXPECT_NEAR(job["isd"]["measured"], isd, kRounding) << label << name;
      EXPECT_NEAR(job["jct_s"]["measured"], jct, kRounding) << label << name;
      EXPECT_EQ(job["isd"]["predicted"], number(row, "predicted_isd"));
      EXPECT_EQ(job["jct_s"]["predicted"], number(row, "predicted_jct_s"));
      isd_error += (isd - job["isd"]["replayed"].get<double>()) / 3;
      jct_error += (jct - job["jct_s"]["predicted"].get<double>()) / 3;
    }
    const Json& error = policy["isd"]["measured_minus_replayed"];
    EXPECT_EQ(error["count"], 3);
    EXPECT_NEAR(error["mean"], isd_error, kRounding);
    EXPECT_LE(error["lo"], error["mean"]);
    EXPECT_LE(error["mean"], error["hi"]);
    EXPECT_GE(error["size"]["mean"].get<double>() + kRounding, std::abs(isd_error));
    EXPECT_NEAR(policy["jct_s"]["measured_minus_predicted"]["mean"], jct_error, kRounding);
    EXPECT_EQ(policy["left_out"], (Json{{"failed", 0}, {"not_run", 0}, {"beside", 0}}));
  }

  // Under fcfs a and b share the GPU and the third runs alone. The world is the pair written above.
  const Json& fcfs = json["policies"][0];
  const Rows rows = rows_of(result("fcfs.jobs.csv"), "job");
  EXPECT_EQ(of_job(fcfs, "a")["company"], Json{"b"});
  EXPECT_EQ(of_job(fcfs, "late")["company"], Json::array());
  EXPECT_NEAR(of_job(fcfs, "a")["isd"]["replayed"], 0.5, kRounding);
  EXPECT_NEAR(of_job(fcfs, "b")["isd"]["replayed"], 0.8, kRounding);
  EXPECT_NEAR(of_job(fcfs, "late")["isd"]["replayed"], 0.0, kRounding);
  EXPECT_EQ(of_job(fcfs, "b")["isd"]["replayed"], of_job(fcfs, "b")["isd"]["predicted"])
      << "the same decisions in the same world";
  // Group by group: eq. 2 of JRS.
  const auto& a = rows.at("a");
  const auto& b = rows.at("b");
  const auto& late = rows.at("late");
  const double pair_ps = (0.4 - std::max(number(a, "corun_s"), number(b, "corun_s"))) / 0.4;
  ASSERT_EQ(fcfs["groups"].size(), 2U);
  EXPECT_EQ(fcfs["groups"][0]["jobs"], (Json{"a", "b"}));
  EXPECT_NEAR(fcfs["groups"][0]["ps"]["measured"], pair_ps, kRounding);
  EXPECT_NEAR(fcfs["groups"][0]["ps"]["replayed"], 0.1, kRounding);
  EXPECT_NEAR(fcfs["groups"][1]["ps"]["measured"], (0.2 - number(late, "corun_s")) / 0.2,
              kRounding);
  EXPECT_NEAR(fcfs["ps"]["replayed"], 0.05, kRounding);
  EXPECT_NEAR(fcfs["ps"]["predicted"], 0.05, kRounding);
  // In the replay the third starts as long after the other two have ended as in the run.
  const auto exit = [](const auto& row) { return number(row, "start_s") + number(row, "corun_s"); };
  const double wait = number(late, "start_s") - std::max(exit(a), exit(b));
  EXPECT_NEAR(of_job(fcfs, "late")["jct_s"]["replayed"],
              std::min(number(a, "start_s"), number(b, "start_s")) + 0.36 + wait + 0.2 - 0.05,
              kRounding);

  // The other formats and the figure.
  const Outcome csv =
      validate({folder.path("out"), "--format", "csv", "--figure", folder.path("f.svg")});
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 1 + 2 * 3 * 2 + 2 + 3);
  EXPECT_NE(csv.out.find("\nfcfs,a+b,,ps,"), std::string::npos) << csv.out;
  EXPECT_NE(read_file(folder.path("f.svg")).find("measured ISD [%]"), std::string::npos);
  const Outcome table = validate({folder.path("out")});
  EXPECT_NE(table.out.find("\nexclusive, replayed "), std::string::npos) << table.out;
}

TEST_F(LiveValidate, ReplayKeepsTheGroupsOnRecord) {
  // `slow` takes much longer than its solo time of 0.1 s: jobs that were predicted to run alone wait and
  // share.
  const std::string file =
      config({{"slow", "0.7 60 100 25 0"}, {"x", "0.1 60 100 25 1.0"}, {"y", "0.1 40 100 65 1.0"}},
             "queue: [slow, {workload: x, submit_s: 0.15}, {workload: y, submit_s: 0.3}]\n"
             "policies: [{name: fcfs}]\n");
  write_solo({{"slow", 0.1}, {"x", 0.1}, {"y", 0.1}});
  write_pair("x", 0.1, 0.2, "y", 0.1, 0.2);
  ASSERT_EQ(run({"run", file}).code, 0);
  const Json fcfs = validated(folder.path("out"))["policies"][0];
  for (const auto& [job, co_runner] : std::map<std::string, std::string>{{"x", "y"}, {"y", "x"}}) {
    EXPECT_EQ(of_job(fcfs, job)["company"], Json{co_runner});
    EXPECT_NEAR(of_job(fcfs, job)["isd"]["predicted"], 0.0, kRounding) << "alone, it said";
    EXPECT_NEAR(of_job(fcfs, job)["isd"]["replayed"], 1.0, kRounding)
        << "with the co-runners it had";
  }
  ASSERT_EQ(fcfs["groups"].size(), 2U);
  EXPECT_EQ(fcfs["groups"][1]["jobs"], (Json{"x", "y"}));
  EXPECT_NEAR(fcfs["groups"][1]["ps"]["replayed"], 0.0, kRounding);
  EXPECT_GT(of_job(fcfs, "slow")["isd"]["measured"], 5.0);
}

TEST_F(LiveValidate, WhatEndedBadlyIsLeftOutAndCounted) {
  const std::string file = config({{"good", "0.5 60 100 25 0"}, {"crash", "0.2 60 100 25 0 crash"}},
                                  "queue: [good, crash, good, good]\npolicies: [{name: fcfs}]\n");
  write_solo({{"good", 0.5}, {"crash", 0.2}});
  ASSERT_EQ(run({"run", file}).code, 0);
  const Outcome outcome = validate({file, "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("note: fcfs: of 4 jobs are left out: 1 that did not finish, 0 that "
                             "were not run, 1 with a co-runner that ended badly\n"),
            std::string::npos)
      << outcome.err;
  const Json fcfs = Json::parse(outcome.out)["policies"][0];
  EXPECT_EQ(fcfs["left_out"], (Json{{"failed", 1}, {"not_run", 0}, {"beside", 1}}));
  ASSERT_EQ(fcfs["jobs"].size(), 2U);
  EXPECT_EQ(fcfs["jobs"][0]["job"], "good.2");
  ASSERT_EQ(fcfs["groups"].size(), 1U);
  EXPECT_EQ(fcfs["groups"][0]["jobs"], (Json{"good.2", "good.3"}));
}

TEST_F(LiveValidate, ARunThatWasCutShortIsValidatedAsFarAsItWent) {
  const std::string file =
      config({{"quick", "0.1 60 100 25 0"}, {"long", "3600 60 100 25 0"}},
             "queue: [quick, long, quick]\npolicies: [{name: exclusive}, {name: fcfs}]\n");
  write_solo({{"quick", 0.1}, {"long", 3600}});
  Background corun(live({"run", file}), folder.path());
  // The second job has the GPU once the first has ended.
  ASSERT_TRUE(eventually([&] {
    for (const FakeUse& use : fake_uses(box(), 0)) {
      std::ifstream words("/proc/" + std::to_string(use.pid) + "/cmdline");
      std::string line;
      std::getline(words, line);
      if (line.find("3600") != std::string::npos) return true;
    }
    return !corun.running();
  })) << corun.err();
  corun.signal(SIGINT);
  ASSERT_EQ(corun.wait(), 130) << corun.err();
  const Outcome outcome = validate({file, "--format", "json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("note: fcfs is left out: no file "), std::string::npos) << outcome.err;
  const Json json = Json::parse(outcome.out);
  ASSERT_EQ(json["policies"].size(), 1U);
  const Json& policy = json["policies"][0];
  EXPECT_EQ(policy["left_out"], (Json{{"failed", 1}, {"not_run", 1}, {"beside", 0}}));
  ASSERT_EQ(policy["jobs"].size(), 1U);
  EXPECT_EQ(policy["jobs"][0]["job"], "quick");
  EXPECT_NEAR(policy["isd"]["replayed"], 0.0, kRounding);
  EXPECT_TRUE(nothing_left());
}

TEST_F(LiveValidate, MistakesAreOneLine) {
  const std::string file =
      config({{"a", "0.05 60 100 25 0"}}, "queue: [a, a]\npolicies: [{name: fcfs}]\n");
  const auto message = [&](std::vector<std::string> words) {
    const Outcome outcome = validate(std::move(words));
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  };
  const auto says = [&](const std::vector<std::string>& words, const std::string& part) {
    const std::string found = message(words);
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  const std::string out = folder.path("out");
  says({}, "which run? Give the configuration of corun live run, or its directory");
  says({file}, "no run of a queue is there; corun live run CONFIG makes one");
  write_solo({{"a", 0.05}});
  ASSERT_EQ(run({"run", file}).code, 0);
  ASSERT_EQ(validate({file}).code, 0);

  says({out, "--output", out}, "is the directory of results already");
  says({file, "--set", "queue=[a]"},
       "is of another queue: it has 2 jobs, this one 1; run corun live");
  says({file, "--set", "queue=[a, {workload: a, submit_s: 3}]"},
       "its job 2 is 'a.2' at 0 s, here it is 'a.2' at 3 s");
  says({out, "--figure", out + "/fcfs.jobs.csv"}, "would be overwritten; choose another file");
  says({out, "--set", "world.model=magic"}, "--set world.model=magic: ");

  const auto with = [&](const std::string& name, const std::string& text, const std::string& part) {
    const std::string kept = result(name);
    folder.write("out/" + name, text);
    says({out}, part);
    folder.write("out/" + name, kept);
  };
  const std::string jobs = result("fcfs.jobs.csv");
  with("fcfs.jobs.csv", jobs.substr(0, jobs.size() - 20), "fcfs.jobs.csv:3:");
  with("fcfs.jobs.csv", jobs.substr(0, jobs.rfind("\na.2,") + 1),
       "does not have that job 'a.2' finished, which fcfs.events.csv has: it is cut off");
  with("fcfs.jobs.csv", "", "fcfs.jobs.csv");
  std::string other = jobs;
  other.replace(other.rfind("\na.2,"), 5, "\nb,");
  with("fcfs.jobs.csv", other,
       "job 'b' is not in queue.csv: the file is of another run; corun live "
       "run CONFIG makes all files of a run anew");
  const std::string log = result("fcfs.events.csv");
  with("fcfs.events.csv", log.substr(0, log.find(",start,a.2")), "fcfs.events.csv:");
  with("fcfs.events.csv", log.substr(0, log.find('\n') + 1),
       "started on GPU 0, which fcfs.jobs.csv has: it is cut off");
  with("fcfs.events.csv", log + "\x1b]0;t\x07\n", "found '\\x1b]0;t\\x07', expected 4 fields");
  with("queue.csv", result("queue.csv").substr(0, 30), "queue.csv:1:");
  with("replay.yaml", "seed: [", "replay.yaml:1:");
  std::string longer = result("queue.csv");
  longer.replace(longer.rfind("\na.2,0,0.05"), 11, "\na.2,0,0.07");
  with("queue.csv", longer,
       "solo_s of job 'a.2' is another in queue.csv: the file is of another run");

  fs::remove(out + "/fcfs.events.csv");
  says({out}, "/fcfs.events.csv'; corun live run CONFIG makes it");
  fs::remove(out + "/prediction.csv");
  says({out}, "/prediction.csv'; corun live run CONFIG makes it");
  folder.write("out/prediction.csv", "policy,metric,predicted\n");
  fs::remove(out + "/fcfs.jobs.csv");
  says({out}, "no policy came to its end there; run corun live run CONFIG again");
}

// ---- other uses of a run ------------------------------------------------------------------------

/// An HDF5 file; its tables by name, each with the names of its columns.
class Hdf5 {
 public:
  explicit Hdf5(const std::string& path)
      : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {}
  ~Hdf5() { H5Fclose(file_); }
  Hdf5(const Hdf5&) = delete;
  Hdf5& operator=(const Hdf5&) = delete;

  std::map<std::string, std::set<std::string>> layout() const {
    std::map<std::string, std::set<std::string>> tables;
    H5G_info_t info;
    H5Gget_info(file_, &info);
    for (hsize_t i = 0; i < info.nlinks; ++i) {
      char name[100] = {};
      H5Lget_name_by_idx(file_, ".", H5_INDEX_NAME, H5_ITER_INC, i, name, sizeof name, H5P_DEFAULT);
      const hid_t table = H5Dopen2(file_, name, H5P_DEFAULT);
      const hid_t type = H5Dget_type(table);
      for (int c = 0; c < H5Tget_nmembers(type); ++c) {
        char* column = H5Tget_member_name(type, static_cast<unsigned>(c));
        tables[name].insert(column);
        H5free_memory(column);
      }
      H5Tclose(type);
      H5Dclose(table);
    }
    return tables;
  }
  std::vector<double> reals(const char* table_name, const char* column) const {
    const hid_t table = H5Dopen2(file_, table_name, H5P_DEFAULT);
    const hid_t space = H5Dget_space(table);
    std::vector<double> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(double));
    H5Tinsert(type, column, 0, H5T_NATIVE_DOUBLE);
    EXPECT_GE(H5Dread(table, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), 0);
    H5Tclose(type);
    H5Sclose(space);
    H5Dclose(table);
    return values;
  }
  bool has_attribute(const char* name) const { return H5Aexists(file_, name) > 0; }

 private:
  hid_t file_;
};

TEST_F(LiveValidate, ResultsHaveTheTablesOfAReplay) {
  const std::string file = config({{"a", "0.1 60 100 25 1.0"}, {"b", "0.1 40 100 65 1.0"}},
                                  "queue: [a, b]\npolicies: [{name: fcfs}, {name: exclusive}]\n");
  write_solo({{"a", 0.1}, {"b", 0.1}});
  write_pair("a", 0.1, 0.15, "b", 0.1, 0.18);
  ASSERT_EQ(run({"run", file}).code, 0);
  // The prediction can be repeated from the results directory, even if it was moved.
  fs::rename(folder.path("out"), folder.path("moved"));
  const Outcome again = run_corun({"replay", folder.path("moved/replay.yaml"), "--format", "json",
                                   "--output", folder.path("again.h5")},
                                  "/");
  ASSERT_EQ(again.code, 0) << again.err;
  const Json json = Json::parse(again.out);
  const std::string prediction = read_file(folder.path("moved/prediction.csv"));
  for (const Json& policy : json["policies"]) {
    const auto at = prediction.find("\n" + policy["policy"].get<std::string>() + ",isd,");
    ASSERT_NE(at, std::string::npos);
    EXPECT_EQ(std::stod(prediction.substr(prediction.find(",isd,", at) + 5)),
              policy["metrics"]["isd"]["mean"]);
  }

  const Hdf5 measured(folder.path("moved/results.h5"));
  const Hdf5 simulated(folder.path("again.h5"));
  // The prediction is told apart from the measurement, in tables of its own.
  auto layout = measured.layout();
  EXPECT_EQ(layout.at("predicted"), layout.at("metrics"));
  EXPECT_EQ(layout.at("predicted_runs"), layout.at("runs"));
  layout.erase("predicted");
  layout.erase("predicted_runs");
  EXPECT_EQ(layout, simulated.layout());
  EXPECT_EQ(measured.layout().count("episode_jobs"), 1U);
  EXPECT_TRUE(measured.has_attribute("measured_on"));
  EXPECT_FALSE(simulated.has_attribute("measured_on"));
  // By policy, then in the order of the workload.
  std::vector<double> isd;
  for (const char* label : {"fcfs", "exclusive"}) {
    const Rows rows =
        rows_of(read_file(folder.path("moved/" + std::string(label) + ".jobs.csv")), "job");
    for (const char* job : {"a", "b"}) isd.push_back(number(rows.at(job), "isd"));
  }
  const std::vector<double> found = measured.reals("runs", "isd");
  ASSERT_EQ(found.size(), isd.size());
  for (std::size_t i = 0; i < isd.size(); ++i) EXPECT_NEAR(found[i], isd[i], kRounding);
  EXPECT_EQ(measured.reals("episodes", "ps").size(), 3U);
}

TEST_F(LiveValidate, KnowledgeAndModelsLearnFromWhatWasMeasured) {
  const std::string file = config(
      {{"a", "0.05 60 4096 25 1.0"}, {"b", "0.05 40 2048 65 1.0"}, {"c", "0.05 90 1024 80 0.5"}},
      "queue: [a, b]\npolicies: [{name: fcfs}]\n");
  ASSERT_EQ(run({"corun", file, "--repeats", "1", "--warm-up", "0"}).code, 0);
  ASSERT_EQ(run({"run", file}).code, 0);

  const std::string kb = folder.path("box.kb.yaml");
  ASSERT_EQ(run_corun({"kb", "build", "--output", kb}).code, 0);
  const Outcome update =
      run_corun({"kb", "update", kb, "--coruns", folder.path("out/measured.corun.csv"), "--coruns",
                 folder.path("out/fcfs.corun.csv"), "--format", "json"});
  ASSERT_EQ(update.code, 0) << update.err;
  const Json sources = Json::parse(update.out)["sources"];
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_EQ(sources[0]["pairs"], 3);
  EXPECT_EQ(sources[1]["pairs"], 1);
  EXPECT_NE(sources[1]["measured_on"].get<std::string>().find("Fake V100"), std::string::npos);
  // The next run starts with the learnt knowledge.
  const Outcome next = run({"run", file, "--set", "belief.initial=" + kb, "--set",
                            "policies=[{name: min-slowdown}]", "--format", "json", "--force"});
  ASSERT_EQ(next.code, 0) << next.err;
  EXPECT_EQ(Json::parse(next.out)["policies"][0]["metrics"]["jobs"]["measured"], 2);

  const Outcome fit = run_corun({"model", "fit", "--pairs", folder.path("out/measured.corun.csv"),
                                 "--pairs", folder.path("out/fcfs.corun.csv"), "--out",
                                 folder.path("box.model"), "--format", "json"});
  ASSERT_EQ(fit.code, 0) << fit.err;
  EXPECT_TRUE(fs::exists(folder.path("box.model")));
  EXPECT_EQ(Json::parse(fit.out)["jobs"], 3) << fit.out;
}

TEST(ListExperiments, SaysWhichAreForLiveRun) {
  const Outcome outcome = run_corun({"list", "experiments", "--format", "json"}, CORUN_SOURCE_DIR);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  std::set<std::string> live;
  for (const Json& row : Json::parse(outcome.out)) {
    const std::string description = row["description"];
    if (description.starts_with("[corun live run] ")) live.insert(row["name"]);
  }
  EXPECT_EQ(live, (std::set<std::string>{"experiments/live/pytorch/queue24.yaml",
                                         "experiments/live/queue24.yaml"}));
}

TEST_F(LiveValidate, GpusOfSeveralTypes) {
  use_box("16384 0 0 Tesla V100-SXM2-16GB\n15109 0 0 Tesla T4\n16384 0 0 Tesla V100-SXM2-16GB\n");
  folder.write("box/slowness", "1 3\n");  // the T4
  fs::create_directories(folder.path("out"));
  const auto solo = [&](const std::string& type) {
    folder.write("out/solo.csv", "job,solo_s,mem_used_mib,gpu_type\na,0.2,100," + type +
                                     "\nb,0.3,100," + type + "\n");
  };
  const std::string times =
      folder.write("times.csv", "workload,gpu_type,time_s\na,V100,1\na,T4,3\nb,V100,1\nb,T4,3\n");
  const auto file = [&](const std::string& more) {
    return config({{"a", "0.2 60 100 25 0"}, {"b", "0.3 40 100 65 0"}},
                  "queue: [a, b, a, b, a]\nestimates: {duration: exact}\n"
                  "policies: [{name: fifo, placement: fastest}]\n" +
                      more);
  };
  const std::vector<std::string> all{"--set", "live.gpus=[0, 1, 2]", "--format", "json"};
  const auto run_all = [&](const std::string& more) {
    std::vector<std::string> words{"run", file(more), "--force"};
    words.insert(words.end(), all.begin(), all.end());
    return run(words);
  };

  solo("");
  Outcome outcome = run_all("");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("solo.csv: has no column gpu_type, and the GPUs are of 2 types"),
            std::string::npos)
      << outcome.err;

  solo("Tesla V100-SXM2-16GB");
  outcome = run_all("workload: {solo_times: times.csv}\n");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = Json::parse(outcome.out);
  EXPECT_EQ(json["gpu"], "Tesla V100-SXM2-16GB, Tesla T4");
  const Json& metrics = json["policies"][0]["metrics"];
  EXPECT_EQ(metrics["jobs"]["measured"], 5);
  EXPECT_LT(metrics["isd"]["measured"], 0.7) << "a slow type is no slowdown";
  EXPECT_GT(metrics["isd_reference"]["measured"], metrics["isd"]["measured"]);
  EXPECT_EQ(json["policies"][0]["decisions_repeat"], true) << outcome.err;
  int on_t4 = 0;
  std::istringstream lines(result("fifo.jobs.csv"));
  for (std::string line; std::getline(lines, line);) {
    const bool t4 = line.ends_with(",T4");
    on_t4 += t4 ? 1 : 0;
    EXPECT_TRUE(t4 || line.ends_with(",V100-16GB") || line.ends_with("gpu_type")) << line;
    if (t4) {
      EXPECT_TRUE(line.find(",0.6") != line.npos || line.find(",0.9") != line.npos) << line;
    }
  }
  EXPECT_GE(on_t4, 1) << "the third job in the queue takes what is left";
  EXPECT_EQ(count_of(result("fifo.events.csv"), ",start,a,0"), 1) << "V100s have the first numbers";
  EXPECT_NE(result("gpu_types.yaml").find("memory_mib: 15109"), std::string::npos);
  const Outcome again = run_corun({"replay", folder.path("out/replay.yaml"), "-q"}, folder.path());
  EXPECT_EQ(again.code, 0) << again.err;
  const Outcome valid =
      run_corun({"live", "validate", folder.path("out"), "--format", "json"}, folder.path());
  ASSERT_EQ(valid.code, 0) << valid.err;
  EXPECT_EQ(Json::parse(valid.out)["gpu"], "V100-16GB, T4");

  // Without times on the T4 they are scaled by the specifications.
  outcome = run_all("");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("else scaled by bandwidth and peak of the types"), std::string::npos)
      << outcome.err;
}

}  // namespace
}  // namespace corun::test::live_validate_test
