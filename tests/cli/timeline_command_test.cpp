#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "results/hdf5_table.hpp"
#include "support/atomic_file.hpp"
#include "tests/helpers/program.hpp"
#include "tests/results/timeline/trace_rules.hpp"

namespace corun::timeline_command_test {
namespace {

using Arguments = std::vector<std::string>;
using trace_rules::TraceFile;
using trace_rules::TraceReader;

class TimelineCommand : public testing::Test {
 protected:
  test::Outcome run(const Arguments& arguments) const {
    return test::run_corun(arguments, directory_.path());
  }

  /// Runs corun replay with these arguments and the results file r.h5.
  void replay(Arguments arguments) const {
    arguments.insert(arguments.begin(), {"replay", "--quiet"});
    for (const char* word : {"--replications", "1", "--output", "r.h5"})
      arguments.emplace_back(word);
    const test::Outcome outcome = run(arguments);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
  }

  TraceFile trace(Arguments arguments) const {
    arguments.insert(arguments.begin(), "timeline");
    const test::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    TraceFile trace = TraceReader::read(outcome.out);
    EXPECT_EQ(trace.problems, Arguments());
    return trace;
  }

  /// The one line of an error; the exit code is 2 and stdout empty.
  std::string error(Arguments arguments) const {
    arguments.insert(arguments.begin(), "timeline");
    const test::Outcome outcome = run(arguments);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
    return outcome.err;
  }

  std::string read(const std::string& name) const { return test::read_file(directory_.path(name)); }

  test::TemporaryDirectory directory_;
};

/// Seconds in which each GPU has a slice, summed over GPUs.
double busy_s(const TraceFile& trace) {
  std::map<std::string, std::vector<std::pair<double, double>>> stays;
  for (const auto& slice : trace.slices) {
    const std::string thread = trace.threads.at(slice.track);
    stays[thread.substr(0, thread.find(", lane"))].emplace_back(slice.start_us, slice.end_us);
  }
  double busy = 0;
  for (auto& [gpu, list] : stays) {
    std::sort(list.begin(), list.end());
    double until = 0;
    for (const auto& [start, end] : list) {
      busy += std::max(0.0, end - std::max(start, until));
      until = std::max(until, end);
    }
  }
  return busy * 1e-6;
}

TEST_F(TimelineCommand, HasTheTimeThatTheResultsHave) {
  replay({"--policies", "fcfs,min-slowdown,max-packing"});
  std::vector<double> busy;
  {
    const hdf5::Handle file = hdf5::open_file(directory_.path("r.h5"));
    busy = hdf5::TableReader(file, "usage").reals("busy_s");
  }
  const std::array<const char*, 3> policies{"fcfs", "min-slowdown", "max-packing"};
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const TraceFile trace = this->trace({"r.h5", "--policy", policies[p], "--quiet"});
    EXPECT_NEAR(busy_s(trace), busy[p], 1e-6) << policies[p];
    EXPECT_EQ(trace.slices.size(), 24U);
    EXPECT_EQ(trace.processes.at(1), std::string("cluster: ") + policies[p]);
    EXPECT_EQ(trace.other["policy"], policies[p]);
    EXPECT_EQ(trace.counters.at("jobs waiting").back().value, 0);
    EXPECT_EQ(trace.counters.at("GPUs busy").front().value, 4);
    EXPECT_GT(trace.counters.at("GPU utilisation %").size(), 100U);
  }
}

TEST_F(TimelineCommand, IsTheSameFromResultsAndFromTheLogButForWhatALogLacks) {
  const Arguments options{"--policies", "min-slowdown,las", "--set", "probing.probes=1"};
  replay(options);
  Arguments log{"replay", "--quiet", "--replications", "1", "--timeline", "logs"};
  log.insert(log.end(), options.begin(), options.end());
  ASSERT_EQ(run(log).code, 0);
  for (const char* policy : {"min-slowdown", "las"}) {
    const TraceFile results = trace({"r.h5", "--policy", policy, "--quiet"});
    const TraceFile events = trace({std::string("logs/") + policy + ".csv"});
    ASSERT_EQ(results.slices.size(), events.slices.size());
    for (std::size_t i = 0; i < results.slices.size(); ++i) {
      EXPECT_EQ(results.slices[i].name, events.slices[i].name);
      EXPECT_EQ(results.slices[i].start_us, events.slices[i].start_us);
      EXPECT_EQ(results.slices[i].end_us, events.slices[i].end_us);
      EXPECT_EQ(results.slices[i].args["end"], events.slices[i].args["end"]);
    }
    EXPECT_EQ(results.instants.size(), events.instants.size());
    EXPECT_EQ(results.counters.at("jobs running").size(),
              events.counters.at("jobs running").size());
    EXPECT_FALSE(events.counters.contains("GPU utilisation %"));
  }
}

TEST_F(TimelineCommand, ShowsGangsPreemptionsAndFailures) {
  std::string jobs = "job,submit_s,solo_s,gpus,gpu_util_pct,mem_used_mib\n";
  for (int j = 0; j < 40; ++j) {
    jobs += "j" + std::to_string(j) + "," + std::to_string(j * 5) + "," +
            std::to_string(30 + j * 7 % 90) + "," + (j % 5 == 0 ? "2" : "1") + ",40," +
            (j % 3 == 0 ? "9000" : "1000") + "\n";
  }
  directory_.write("jobs.csv", jobs);
  replay({"jobs.csv", "--gpus", "4", "--policies", "kube-default,srtf"});
  const TraceFile packed = trace({"r.h5", "--policy", "kube-default"});
  const TraceFile preempting = trace({"r.h5", "--policy", "srtf"});
  std::map<std::string, int> ends;
  for (const TraceFile* trace : {&packed, &preempting}) {
    for (const auto& slice : trace->slices) ++ends[slice.args["end"].get<std::string>()];
    for (const auto& slice : trace->slices) {
      if (slice.args.contains("gpus")) ++ends["of a gang"];
    }
  }
  EXPECT_GT(ends["out of memory"], 0);
  EXPECT_GT(ends["preempted"], 0);
  EXPECT_GT(ends["of a gang"], 0);
  EXPECT_EQ(ends["not in the file"], 0);
}

TEST_F(TimelineCommand, WritesAFileWholeAndReplacesNothingElse) {
  replay({"--policies", "fcfs,random"});
  EXPECT_EQ(run({"timeline", "r.h5", "-o", "t.json", "--quiet"}).err, "");
  const std::string first = read("t.json");
  EXPECT_EQ(TraceReader::read(first).problems, Arguments());
  EXPECT_EQ(first, run({"timeline", "r.h5", "--threads", "3"}).out);
  const test::Outcome again = run({"timeline", "r.h5", "-o", "t.json"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(again.out, "");
  EXPECT_NE(again.err.find("note: this is the run of fcfs"), std::string::npos) << again.err;
  EXPECT_NE(error({"r.h5", "--policy", "random", "-o", "t.json"}).find("--force"),
            std::string::npos);
  EXPECT_EQ(read("t.json"), first);
  EXPECT_EQ(run({"timeline", "r.h5", "--policy", "random", "-o", "t.json", "--force"}).code, 0);
  EXPECT_NE(read("t.json"), first);
  EXPECT_NE(error({"r.h5", "-o", "r.h5", "--quiet"}).find("--output"), std::string::npos);
  EXPECT_NE(error({"r.h5", "-o", "t.csv", "--quiet"}).find("names the format csv"),
            std::string::npos);
  EXPECT_NE(error({"r.h5", "-o", "none/t.json", "--quiet"}).find("does not exist"),
            std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory_.path()), {}), 3)
      << "r.h5, its run file and t.json";
}

TEST_F(TimelineCommand, NamesAreText) {
  const std::string hostile = "<script>alert('x')</script>";
  directory_.write("jobs.csv", "job,submit_s,solo_s\n" + hostile +
                                   ",0,10\n\"a \"\"b\"\"\\\",0,10\n" + std::string(10'000, 'n') +
                                   ",0,10\n\xd7\xa9,0,10\n");
  replay({"jobs.csv", "--policies", "fcfs"});
  ASSERT_EQ(run({"replay", "jobs.csv", "--quiet", "--policies", "fcfs", "--replications", "1",
                 "--timeline", "logs"})
                .code,
            0);
  for (const char* file : {"r.h5", "logs/fcfs.csv"}) {
    std::set<std::string> names;
    for (const auto& slice : trace({file}).slices) names.insert(slice.name);
    EXPECT_EQ(names,
              (std::set<std::string>{hostile, "a \"b\"\\", std::string(10'000, 'n'), "\xd7\xa9"}))
        << file;
  }
  directory_.write(
      "log.csv",
      "time_ns,event,job,gpus\n0,arrive,\x1b]0;t\x07\xff\xe2\x80\xae,\n0,start,\x1b]0;t\x07"
      "\xff\xe2\x80\xae,0\n");
  EXPECT_EQ(trace({"log.csv"}).slices.front().name, "\x1b]0;t\x07\xef\xbf\xbd\xe2\x80\xae");
}

TEST_F(TimelineCommand, RefusesWhatIsNoRunWithOneLine) {
  replay({"--policies", "fcfs,min-slowdown"});
  const auto expect = [&](const Arguments& arguments, const std::string& part) {
    const std::string line = error(arguments);
    EXPECT_NE(line.find(part), std::string::npos) << line;
  };
  expect({}, "needs results");
  expect({"none.h5"}, "no file 'none.h5'");
  expect({"."}, "is neither results");
  expect({"r.h5", "--policy", "min-slow"}, "did you mean 'min-slowdown'?");
  expect({"r.h5", "--policy", ""}, "--policy: is empty");
  expect({"r.h5", "--replication", "1", "--quiet"}, "has the events of replication 0 alone");
  expect({"r.h5", "--replication", "-1"}, "--replication: found '-1'");
  expect({"r.h5", "--format", "csv"}, "--format: a trace is JSON");
  const std::string whole = read("r.h5");
  directory_.write("cut.h5", whole.substr(0, whole.size() / 2));
  expect({"cut.h5"}, "cut.h5: does not end with the checksum");
  directory_.write("short.h5", whole.substr(0, 9));
  expect({"short.h5"}, "short.h5: does not end with the checksum");
  std::string damaged = whole;
  damaged[damaged.size() / 2] = static_cast<char>(damaged[damaged.size() / 2] ^ 1);
  directory_.write("damaged.h5", damaged);
  expect({"damaged.h5"}, "damaged.h5: is damaged");
  directory_.write("empty", "");
  expect({"empty"}, "is neither results");
  directory_.write("text", "hello\n");
  expect({"text"}, "is neither results");
  directory_.write("jobs.csv", "job,submit_s,solo_s\na,0,1\n");
  expect({"jobs.csv"}, "is a job trace, expected results of corun replay or an event log");
  directory_.write("sweep.yaml", "replications: 1\npolicies: [fifo]\nsweep: {list: [{seed: 1}]}\n");
  ASSERT_EQ(run({"sweep", "sweep.yaml", "--output", "s.h5", "--quiet"}).code, 0);
  expect({"s.h5"}, "s.h5: is of the kind 'corun sweep', which has no events");
  std::filesystem::remove(directory_.path("r.h5"));
  replay({"--policies", "fcfs", "--set", "measure.details=false"});
  expect({"r.h5"}, "r.h5: has no events: measure.details was false");
}

TEST_F(TimelineCommand, NamesTheLineOfALogThatCannotBe) {
  const auto expect = [&](const std::string& lines, const std::string& line) {
    directory_.write("l.csv", "time_ns,event,job,gpus\n" + lines);
    EXPECT_EQ(error({"l.csv"}), line + "\n");
  };
  expect("0,arrive,a,\n1,start,a,0\n2,start,a,0\n", "l.csv:4: a job cannot start that is on a GPU");
  expect("5,arrive,a,\n1,start,a,0\n", "l.csv:3: time_ns goes back");
  expect("0,arrive,a,\n1,start,a,99999999\n",
         "l.csv:3: gpu is 99999999, expected a number below 10000000");
  expect("0,arrive,a\n", "l.csv:2: found '0,arrive,a', expected 4 fields: time_ns,event,job,gpus");
  directory_.write("l.csv", "time_ns,event,job,gpus\n");
  EXPECT_NE(error({"l.csv", "--policy", "a"}).find("an event log has one run"), std::string::npos);
  EXPECT_EQ(trace({"l.csv"}).slices.size(), 0U);
}

TEST(StreamedFile, StaysAsItWasIfItsSourceFails) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("f", "old");
  EXPECT_THROW(write_file_atomically(path,
                                     [](const ByteSink& sink) {
                                       sink("new");
                                       throw std::runtime_error("no more");
                                     }),
               std::runtime_error);
  EXPECT_EQ(test::read_file(path), "old");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

}  // namespace
}  // namespace corun::timeline_command_test
