#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"
#include "tests/helpers/left_out.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/public_formats/gavel_trace.hpp"
#include "traces/tables/gavel_throughputs.hpp"

/// Gavel's traces, and the rates that convert their steps to time.
namespace corun::gavel_test {
namespace {

const std::string kRates = R"json({
 "k80": {"('A (batch size 1)', 1)": {"null": 0}, "('B', 1)": {"null": 2e0, "('B', 1)": [1, 1]}},
 "v100_unconsolidated": {"('A (batch size 1)', 4)": {"null": 9}},
 "v100": {
  "('A (batch size 1)', 1)": {"null": 10.5,
    "('B', 1)": [5.25, 3], "('A (batch size 1)', 1)": [0, 0.0]},
  "('B', 1)": {"null": 4, "('A (batch size 1)', 1)": [3, 5.25]},
  "('B', 2)": {"null": 7}
 }
})json";

GavelThroughputs rates(const std::string& text = kRates, std::string_view gpu = "v100") {
  static WorkloadKeys keys;
  return parse_gavel_throughputs(text, "r.json", gpu, keys);
}

TEST(GavelThroughputs, RatesBecomeSpeeds) {
  const GavelThroughputs r = rates();
  const auto a = r.find("A (batch size 1)", 1);
  const auto b = r.find("B", 1);
  const auto two = r.find("B", 2);
  ASSERT_TRUE(a && b && two);
  EXPECT_EQ(r.pairs.names[*two], "B x2");
  EXPECT_EQ(r.alone[*a], 10.5);
  EXPECT_EQ(r.alone[*two], 7);
  EXPECT_FALSE(r.find("B", 4));
  EXPECT_FALSE(r.find("C", 1));
  ASSERT_EQ(r.pairs.speeds.rows.size(), 2U);  // both orders of one pair are one
  const SpeedTable::Row& row = r.pairs.speeds.rows[0];
  EXPECT_EQ(row.a, *a);
  EXPECT_EQ(row.speed_a, 0.5);
  EXPECT_EQ(row.speed_b, 0.75);
  EXPECT_TRUE(std::isnan(r.pairs.speeds.rows[1].speed_a));
  EXPECT_EQ(r.pairs.misfits, (std::vector<std::array<std::uint32_t, 2>>{{*a, *a}}));
  EXPECT_EQ(r.pairs.gpu, "v100");
  // Own GPU type first; a rate of 0 is not a value on a log scale.
  ASSERT_EQ(r.pairs.speeds.features.size(), 3U);
  EXPECT_EQ(r.pairs.speeds.features[0].name, "solo_v100");
  EXPECT_EQ(r.pairs.speeds.features[2].name, "solo_k80");
  EXPECT_EQ(r.pairs.speeds.of(*b)[2], 2);
  EXPECT_TRUE(std::isnan(r.pairs.speeds.of(*a)[2]));
}

void refused(const std::string& text, const std::string& message, std::string_view gpu = "v100") {
  try {
    rates(text, gpu);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).substr(0, message.size()), message);
    EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
  }
}

TEST(GavelThroughputs, HostileFiles) {
  refused("", "r.json:1:1: found the end of the file, expected JSON");
  refused("{", "r.json:1:2: found the end of the file, expected JSON");
  refused("[1]", "r.json:1:1: found a list, expected an object of GPU types");
  refused("7", "r.json:1:1: found 7, expected an object of GPU types");
  refused("{}", "r.json:1:1: found no rates for 'v100'");
  refused(kRates, "r.json:1:1: found no rates for 'p100'", "p100");
  refused(R"({"v100": 1})", "r.json:1:10: found 1, expected an object of types of jobs");
  refused("{\"v100\":\n {\"x\": {}}}", "r.json:2:3: found 'x', expected a type and its GPUs");
  for (const char* key : {"('x', 0)", "('x', -1)", "('x', 1.5)", "('x', 99999999999999999999)",
                          "('', 1)", "('x' 1)", "('x', 1", "', 1)"}) {
    refused("{\"v100\": {\"" + std::string(key) + "\": {}}}", "r.json:1:");
  }
  const auto of = [](const std::string& inner) {
    return "{\"v100\": {\"('x', 1)\": {" + inner + "}}}";
  };
  refused(of("\"null\": -1"), "r.json:1:32: found -1, expected a rate of 0 to 1e12 steps");
  refused(of("\"null\": 1e13"), "r.json:1:32: found 1e13, expected a rate of 0 to 1e12");
  refused(of("\"null\": 1e999"), "r.json:1:");
  refused(of("\"null\": null"), "r.json:1:32: found null, expected a rate of steps");
  refused(of("\"null\": \"1\""), "r.json:1:32: found '1', expected a rate of steps");
  refused(of("\"null\": [1]"), "r.json:1:32: found a list, expected a rate of steps");
  refused(of("\"null\": {}"), "r.json:1:32: found an object, expected a rate of steps");
  refused(of("\"null\": 1, \"('x', 1)\": 2"), "r.json:1:47: found 2, expected the rates of both");
  refused(of("\"null\": 1, \"('x', 1)\": [2]"), "r.json:1:47: found a list of 1, expected a list");
  refused(of("\"null\": 1, \"('x', 1)\": [2, 2, 2]"), "r.json:1:54: found a third rate");
  refused(of("\"null\": 1, \"('x', 1)\": [2, [2]]"), "r.json:1:51: found a list, expected a list");
  refused(of("\"null\": 1, \"('x', 1)\": [2, 0]"),
          "r.json:1:47: found one rate of 0, expected two");
  refused(of("\"('x', 1)\": [1, 1]"), "r.json:1:36: found rates of a pair with 'x', expected its");
  refused(of("\"null\": 1, \"('y', 1)\": [1, 1]"), "r.json:1:47: found rates of a pair with 'y'");
  refused(R"({"v100": {}, "v100": {}})", "r.json:1:14: found 'v100' a second time");
  refused(R"json({"v100": {"('x', 1)": {}, "('x', 1)": {}}})json",
          "r.json:1:27: found '('x', 1)' a second");
  refused(of("\"null\": 1}, \"('y', 1)\": {\"null\": 2, \"('x', 1)\": [1, 1]}, "
             "\"('x', 2)\": {\"null\": 1, \"('x', 2)\": [1, 1], \"('x', 2)\": [0.5, 0.5]"),
          "r.json:1:");
}

TEST(GavelThroughputs, EveryByteCutOffIsAnError) {
  for (std::size_t n = 0; n + 1 < kRates.size(); ++n) {
    EXPECT_THROW(rates(kRates.substr(0, n)), InputError) << n;
  }
}

/// A file that the test removes at its end.
class File {
 public:
  explicit File(const std::string& text)
      : path_(std::filesystem::temp_directory_path() /
              ("gavel_test_" + std::to_string(reinterpret_cast<std::uintptr_t>(this)) + ".trace")) {
    std::ofstream(path_, std::ios::binary) << text;
  }
  ~File() { std::filesystem::remove(path_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

const std::string kHeader = "job_id,arrival_s,job_type,scale_factor,total_steps\n";

TEST(GavelTrace, TheThreeFormsAgree) {
  const GavelThroughputs r = rates();
  const File csv(kHeader + "a,0.0,A (batch size 1),1,21\nb,7.5,B,2,14\n");
  const File ten(
      "A (batch size 1)\tpython3 a.py\tdir\t--steps\t1\t21\t1\t1.0\t-1\t0.0\n"
      "B\tpython3 b.py\tdir\t-n\t0\t14\t2\t1\t-1\t7.500000\n");
  const File seven(
      "A (batch size 1)\tcd %s && python3 a.py\t-step\t1\t21\t0.000000\t1\n"
      "B\tpython3 b.py\t-n\t1\t14\t7.500000\t2\r\n");
  for (const File* file : {&csv, &ten, &seven}) {
    const Trace t = read_gavel_trace(file->path(), &r);
    ASSERT_EQ(t.jobs.size(), 2U) << file->path();
    EXPECT_EQ(t.jobs[1].name, file == &csv ? "b" : "1");
    const JobSpec& job = t.jobs[0].spec;
    EXPECT_EQ(job.steps, 21);
    EXPECT_EQ(job.steps_per_s, 10.5);
    EXPECT_EQ(job.work, std::chrono::seconds{2});
    EXPECT_EQ(t.jobs[1].spec.gpus, 2);
    EXPECT_EQ(t.jobs[1].spec.submit, std::chrono::milliseconds{7500});
    EXPECT_EQ(t.jobs[0].key, r.pairs.speeds.jobs[*r.find("A (batch size 1)", 1)]);
    EXPECT_NE(t.jobs[0].key, t.jobs[1].key);
    EXPECT_EQ(t.jobs[1].features.size(), 3U);
    EXPECT_EQ(t.jobs[0].features.at(0), 10.5);
  }
}

void refused_trace(const std::string& text, const std::string& message,
                   std::string_view gpu = "v100") {
  const GavelThroughputs r = rates(kRates, gpu);
  const File file(text);
  try {
    read_gavel_trace(file.path(), &r);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const InputError& e) {
    const std::string said = e.what();
    EXPECT_NE(said.find(message), std::string::npos) << said;
    EXPECT_EQ(said.find('\n'), std::string::npos) << said;
  }
}

TEST(GavelTrace, HostileFiles) {
  refused_trace("", "the file is empty");
  refused_trace(kHeader, "found no jobs");
  refused_trace("job_id,arrival_s,job_type\n",
                "the header has no columns 'scale_factor', 'total_steps'");
  refused_trace(kHeader + "0,0,C,1,5\n",
                ":2:5: column 'job_type' is 'C', expected a type that has");
  refused_trace(kHeader + "0,0,b,1,5\n", "did you mean 'B'?");
  refused_trace(kHeader + "0,0,B,4,5\n", "found no job that has a rate on v100");
  refused_trace(kHeader + "0,0,A (batch size 1),1,5\n", "found no job that has a rate on k80",
                "k80");
  refused_trace(kHeader + "0,-1,B,1,5\n", ":2:3: column 'arrival_s' is '-1'");
  refused_trace(kHeader + "0,5e9,B,1,5\n", "column 'arrival_s'");
  refused_trace(kHeader + "0,0,B,0,5\n", "column 'scale_factor' is '0'");
  refused_trace(kHeader + "0,0,B,,5\n", "column 'scale_factor'");
  refused_trace(kHeader + "0,0,B,1,0\n", "column 'total_steps' is '0'");
  refused_trace(kHeader + "0,0,B,1,1.5\n", "column 'total_steps' is '1.5'");
  refused_trace(kHeader + "0,0,B,1,1000000000000\n", "steps for up to 9e7 seconds at 4 steps/s");
  refused_trace(kHeader + "0,0,B,1,5\n0,0,B,1,5\n",
                ":3:1: column 'job_id' is '0', expected numbers");
  refused_trace("B\tx\ty\t1\t5\t0\n", "expected 7");
  refused_trace("B\tx\ty\t1\t5\t0\t1\nB\tx\n", ":2:1: the row has 2 fields, expected 7");
  refused_trace("B\tx\ty\t1\t5\t0\t1\t\n", "expected");
  refused_trace(std::string(2'000'000, 'x'), "longer than 1 MiB");
}

TEST(GavelTrace, JobsWithoutARateAreLeftOutAndCounted) {
  const GavelThroughputs r = rates();
  const File file("B\tx\ty\t1\t5\t0\t4\nB\tx\ty\t1\t5\t0\t2\nB\tx\ty\t1\t5\t0\t8\n");
  const Trace t = read_gavel_trace(file.path(), &r);
  EXPECT_EQ(names_of(t), std::vector<std::string_view>{"1"});
  EXPECT_EQ(test::texts(t), std::vector<std::string>{
                                "2 jobs without a rate on v100 with as many GPUs as they ask for"});
}

TEST(GavelTrace, ARateAloneOf0SaysThatAJobDoesNotRunThere) {
  const GavelThroughputs r = rates(R"json({
 "k80": {"('A', 1)": {"null": 10}, "('B', 1)": {"null": 4}},
 "p100": {"('A', 1)": {"null": 10}, "('B', 1)": {"null": 4}},
 "v100": {"('A', 1)": {"null": 10, "('A', 1)": [5, 5], "('B', 1)": [5, 3]},
          "('B', 1)": {"null": 0, "('A', 1)": [3, 5], "('B', 1)": [2, 0]}}})json");
  EXPECT_EQ(r.pairs_left_out, 2U);
  ASSERT_EQ(r.pairs.speeds.rows.size(), 1U);
  EXPECT_EQ(r.pairs.speeds.rows[0].speed_a, 0.5);
  const File file("A\tx\ty\t1\t1000\t0\t1\nB\tx\ty\t1\t1000\t10\t1\n");
  const Trace t = read_gavel_trace(file.path(), &r);
  EXPECT_EQ(names_of(t), std::vector<std::string_view>{"0"});
  EXPECT_EQ(t.jobs[0].spec.work, std::chrono::seconds(100));
  EXPECT_EQ(t.left_out.size(), 2U);
}

TEST(GavelTrace, TwelveColumnsAreShockwaves) {
  const GavelThroughputs r = rates();
  const std::string text =
      "B\tmain.py\tjobs/a\t--steps\t1\t400\t1\tgns\t1\t-1.000000\t500\t0\n"
      "B\tmain.py\tjobs/a\t--steps\t1\t800\t1\tstatic\t1\t-1.000000\t500\t40\n";
  EXPECT_TRUE(looks_like_gavel_trace({"jobs.trace", text}));
  const Trace t = read_gavel_trace(File(text).path(), &r);
  ASSERT_EQ(t.jobs.size(), 2U);
  EXPECT_EQ(t.jobs[0].spec.work, std::chrono::seconds(100));
  EXPECT_EQ(t.jobs[1].spec.work, std::chrono::seconds(200));
  EXPECT_EQ(t.jobs[1].spec.submit, std::chrono::seconds(40));
}

TEST(GavelTrace, WithoutRates) {
  const File file(kHeader + "0,0,B,1,5\n");
  try {
    read_gavel_trace(file.path(), nullptr);
    ADD_FAILURE();
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("simulation_throughputs.json in world.path"),
              std::string::npos);
  }
}

TEST(GavelTrace, PublishedFiles) {
  const std::string rates_file = "gavel/simulation_throughputs.json";
  if (!test::has_public_data(rates_file)) GTEST_SKIP() << test::not_checked(rates_file);
  WorkloadKeys keys;
  const GavelThroughputs r = read_gavel_throughputs(test::public_data(rates_file), "v100", keys);
  EXPECT_EQ(r.pairs.names.size(), 83U);
  EXPECT_EQ(
      r.pairs.misfits.size() + static_cast<std::size_t>(std::ranges::count(r.pairs.scored, true)),
      r.pairs.speeds.rows.size());
  const Trace old = read_gavel_trace(test::public_data("gavel/seed_0_0e4a51.trace"), &r);
  const Trace csv = read_gavel_trace(test::public_data("peers/gavel/trace_0e4a51_1000.csv"), &r);
  ASSERT_EQ(old.jobs.size(), csv.jobs.size());  // the CSV leaves the same jobs out
  EXPECT_EQ(old.left_out.size(), 1U);
  for (std::size_t j = 0; j < csv.jobs.size(); ++j) {
    const JobSpec& a = old.jobs[j].spec;
    const JobSpec& b = csv.jobs[j].spec;
    ASSERT_EQ(old.jobs[j].key, csv.jobs[j].key) << j;
    ASSERT_EQ(a.submit, b.submit) << j;
    ASSERT_EQ(a.steps, b.steps) << j;
    ASSERT_EQ(a.gpus, b.gpus) << j;
  }
  const Trace peer = read_gavel_trace(test::public_data("peers/gavel/trace_small_test.csv"), &r);
  EXPECT_EQ(peer.jobs.size(), 20U);
}

}  // namespace
}  // namespace corun::gavel_test
