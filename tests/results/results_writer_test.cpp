#include "results/results_writer.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>
#include <hdf5.h>
#include <nlohmann/json.hpp>

#include "results/hdf5_table.hpp"
#include "results/run_info.hpp"
#include "sim/base/nan.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "tests/helpers/eventually.hpp"

namespace corun::results_writer_test {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kNow{0};
constexpr milliseconds kNever_ms{3'600'000};

/// A directory of its own for each test.
class ResultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "corun-results-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string path(const std::string& name) const { return (directory_ / name).string(); }

  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto& entry : fs::directory_iterator(directory_)) {
      found.insert(entry.path().filename().string());
    }
    return found;
  }

  fs::path directory_;
};

std::string bytes_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

void write_text(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

ResultsHeader make_header() {
  ResultsHeader header;
  header.corun_version = "0.0.0-test";
  header.commit = "0123abc";
  header.config = "seed: 7\n# π\n";
  header.seed = 7;
  header.inputs = {"sha256:00 jobs.csv", "sha256:ff pairs.corun.csv"};
  header.policies = {{"fcfs", "fcfs", "{}", false},
                     {"oracle (truth)", "oracle", R"({"epsilon":0.5})", true}};
  header.gpus = {{"T4", 15360, 0, 0, "a"},
                 {"T4", 15360, 0, 1, "a"},
                 {"V100-16GB", 16384, 1, 0, "b π"},
                 {"V100-16GB", 16384, 1, 1, "b π"}};
  header.warnings = {"one note", "another, with π"};
  return header;
}

/// One co-run whose belief was off by half, and another that was cut off.
RunDetails make_details(std::size_t number) {
  RunDetails details;
  CoRunRecord pair;
  pair.gpu = GpuId{3};
  pair.start = seconds{1};
  pair.end = seconds{11};
  pair.pair = {JobId{0}, JobId{1}};
  pair.source = Provenance::kModelled;
  pair.speed = {0.5, 0.25};
  pair.isd = {1, 3};
  pair.ps = 0.125;
  pair.predicted_isd = {0.5, 1.5};
  pair.predicted_ps = 0.25;
  pair.predicted_speed = {0.75, 0.625};
  CoRunRecord unknown;  // as of a live run without belief
  unknown.co_run = 1;
  unknown.pair = {JobId{1}, JobId{2}};
  details.co_runs = {pair, unknown};
  details.co_runs_left_out = 7;
  if (number > 0) return details;
  details.events = {{seconds{0}, LogKind::kArrive, JobId{2}},
                    {seconds{9}, LogKind::kPreempt, JobId{1}, GpuId{3}, JobId{0}, 1}};
  details.events_left_out = 5;
  details.slices = {{seconds{0}, seconds{4}, 3, 2, 0.5, 1.5, 5},
                    {seconds{4}, seconds{6}, 1, 0, kNaN, 0, 1}};
  return details;
}

/// Two jobs together and one that never fitted; read_results.py knows these numbers.
Replication make_replication(std::size_t number) {
  Replication r;
  r.number = number;
  Trace trace;
  trace.jobs = {{{}, "J0"}, {{}, "J1-β"}, {{}, "lost"}};
  r.trace = std::make_shared<const Trace>(std::move(trace));
  r.clusters = {2, 0, kUnknownCluster};
  const auto n = static_cast<std::int64_t>(number);
  for (std::int64_t p = 0; p < 2; ++p) {
    PolicyRun run;
    EpisodeRecord episode;
    episode.start = seconds{n};
    for (std::int64_t j = 0; j < 2; ++j) {
      JobRecord job;
      job.first_start = job.last_start = seconds{n};
      job.work = job.solo = seconds{10 * (j + 1)};
      job.finish = job.last_start + job.solo + seconds{n + p};
      job.gpu = GpuId{3};
      run.record.jobs.push_back(job);
      episode.jobs.push_back(static_cast<JobId>(j));
      episode.solo_sum += job.solo;
      episode.end = std::max(episode.end, job.finish);
    }
    JobRecord lost;
    lost.work = lost.solo = seconds{5};
    lost.last_start = seconds{40};
    lost.finish = seconds{70};
    lost.ooms = 4;
    lost.end = JobEnd::kFailed;
    run.record.jobs.push_back(lost);
    episode.gpu = GpuId{3};
    run.record.episodes.push_back(episode);
    run.record.usage.busy = episode.end - episode.start;
    run.record.usage.corun_s = {0, 3, 1, 0};
    run.record.gpu_count = 4;
    run.record.passes = 11;
    run.metrics = compute_metrics(run.record);
    run.decide_s = 0.25;  // must not reach the results
    run.longest_decision_s = 0.125;
    run.pass_times.add(0.125);
    run.pass_times.add(0.125);
    if (p == 1) run.losses.add(10, 9);
    run.details = make_details(number);
    r.runs.push_back(std::move(run));
  }
  return r;
}

ReplayResult make_result(std::size_t replications, bool interrupted = false) {
  ReplayResult result;
  std::vector<std::vector<MetricValues>> values(2);
  for (std::size_t n = 0; n < replications; ++n) {
    result.replications.push_back(make_replication(n));
    for (std::size_t p = 0; p < 2; ++p) {
      values[p].push_back(result.replications.back().runs[p].metrics);
    }
  }
  result.comparison = compare(values);
  result.coverage = {0.75, 0.25, 0};
  result.coverage_by_policy = {result.coverage, result.coverage};
  result.interrupted = interrupted;
  return result;
}

template <typename F>
std::string error_of(F f) {
  try {
    f();
  } catch (const InputError& error) {
    return error.what();
  }
  ADD_FAILURE() << "no InputError";
  return "";
}

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void wait_for(const ResultsWriter& writer, std::size_t committed) {
  ASSERT_TRUE(test::eventually([&] { return writer.committed() >= committed; }));
}

/// The columns of /runs that the tests compare.
struct RunRow {
  std::int64_t replication;
  double finish_s;
};

/// Reads two columns of /runs and checks that the other tables exist. Throws if the file cannot be
/// read.
std::vector<RunRow> read_runs(const std::string& path) {
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  const auto need = [&](std::int64_t id) {
    if (id < 0) throw std::runtime_error("not readable: " + path);
    return id;
  };
  const hid_t file = need(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT));
  for (const char* table : {"gpus", "policies", "episodes", "episode_jobs", "usage", "metrics",
                            "summary", "versus", "coverage", "co_runs", "events", "over_time"}) {
    const hid_t data = need(H5Dopen2(file, table, H5P_DEFAULT));
    const hid_t type = need(H5Dget_type(data));
    const hid_t space = need(H5Dget_space(data));
    std::vector<char> rows(H5Tget_size(type) *
                           static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
    if (!rows.empty()) need(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()));
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(data);
  }
  const hid_t data = need(H5Dopen2(file, "runs", H5P_DEFAULT));
  const hid_t space = need(H5Dget_space(data));
  std::vector<RunRow> rows(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
  const hid_t type = need(H5Tcreate(H5T_COMPOUND, sizeof(RunRow)));
  H5Tinsert(type, "replication", HOFFSET(RunRow, replication), H5T_NATIVE_INT64);
  H5Tinsert(type, "finish_s", HOFFSET(RunRow, finish_s), H5T_NATIVE_DOUBLE);
  need(H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, rows.data()));
  H5Tclose(type);
  H5Sclose(space);
  H5Dclose(data);
  H5Fclose(file);
  return rows;
}

/// Replications in the parts of a directory; checks that each part is complete and correct.
std::set<std::size_t> read_parts(const std::string& directory) {
  std::map<std::size_t, std::vector<double>> found;
  if (!fs::exists(directory)) return {};
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.path().extension() != ".h5") continue;
    for (const RunRow& row : read_runs(entry.path().string())) {
      found[static_cast<std::size_t>(row.replication)].push_back(row.finish_s);
    }
  }
  std::set<std::size_t> numbers;
  for (const auto& [number, finishes] : found) {
    std::vector<double> expected;
    for (const PolicyRun& run : make_replication(number).runs) {
      for (const JobRecord& job : run.record.jobs) expected.push_back(to_seconds(job.finish));
    }
    EXPECT_EQ(finishes, expected) << "replication " << number;
    numbers.insert(number);
  }
  return numbers;
}

// ---- content ------------------------------------------------------------------------------------

TEST_F(ResultsTest, BytesDependOnTheResultAlone) {
  const ReplayResult result = make_result(40);
  std::vector<std::string> written;
  for (int i = 0; i < 3; ++i) {
    const std::string file = path(i == 0 ? "a.h5" : "another name " + std::to_string(i) + ".h5");
    // All replications in one part, and one part each, in different orders.
    ResultsWriter writer(file, make_header(), i == 1 ? kNow : kNever_ms);
    std::vector<std::size_t> order(result.replications.size());
    for (std::size_t n = 0; n < order.size(); ++n) order[n] = n;
    std::shuffle(order.begin(), order.end(), std::mt19937(static_cast<unsigned>(i)));
    for (const std::size_t n : order) writer.add(result.replications[n]);
    if (i == 1) wait_for(writer, 40);
    writer.finish(result);
    written.push_back(bytes_of(file));
  }
  EXPECT_EQ(written[0], written[1]);
  EXPECT_EQ(written[0], written[2]);
  EXPECT_EQ(names(), (std::set<std::string>{"a.h5", "another name 1.h5", "another name 2.h5"}));

  // Written again in another second: no timestamps in it.
  const std::time_t written_at = std::time(nullptr);
  ASSERT_TRUE(test::eventually([&] { return std::time(nullptr) > written_at; }));
  ResultsWriter(path("a.h5"), make_header()).finish(result);
  EXPECT_EQ(bytes_of(path("a.h5")), written[0]);
  // Decision times do not change the file, everything else does.
  ReplayResult other = make_result(40);
  other.replications[3].runs[1].decide_s = 99;
  ResultsWriter(path("a.h5"), make_header()).finish(other);
  EXPECT_EQ(bytes_of(path("a.h5")), written[0]);
  other.replications[3].runs[1].record.jobs[0].finish += seconds{1};
  ResultsWriter(path("a.h5"), make_header()).finish(other);
  EXPECT_NE(bytes_of(path("a.h5")), written[0]);
  ReplayResult detailed = make_result(40);
  detailed.replications[3].runs[1].details.co_runs_left_out = 8;
  ResultsWriter(path("a.h5"), make_header()).finish(detailed);
  EXPECT_NE(bytes_of(path("a.h5")), written[0]);
}

/// A live run's file has the prediction, in the columns of the measurement.
TEST_F(ResultsTest, ALiveRunHasItsPrediction) {
  ReplayResult result = make_result(1);
  result.predicted = make_replication(1).runs;
  ResultsHeader header = make_header();
  ResultsWriter(path("simulated.h5"), header).finish(make_result(1));
  header.measured_on = "V100";
  ResultsWriter(path("live.h5"), header).finish(result);
  const std::lock_guard lock(hdf5::hdf5_mutex());
  hdf5::silence_hdf5();
  const hdf5::Handle simulated = hdf5::open_file(path("simulated.h5"));
  EXPECT_EQ(H5Lexists(simulated, "predicted", H5P_DEFAULT), 0);
  EXPECT_EQ(H5Lexists(simulated, "predicted_runs", H5P_DEFAULT), 0);
  const hdf5::Handle live = hdf5::open_file(path("live.h5"));
  const hdf5::TableReader metrics(live, "predicted");
  const hdf5::TableReader jobs(live, "predicted_runs");
  ASSERT_EQ(metrics.rows(), 2U);
  ASSERT_EQ(jobs.rows(), 6U);
  EXPECT_EQ(metrics.reals("makespan_s")[1],
            result.predicted[1].metrics[static_cast<std::size_t>(Metric::kMakespanS)]);
  EXPECT_EQ(jobs.reals("finish_s")[1], 22);
  EXPECT_EQ(hdf5::TableReader(live, "runs").reals("finish_s")[1], 20);
  EXPECT_EQ(jobs.integers("replication"), std::vector<std::int64_t>(6, 0));
}

TEST_F(ResultsTest, PandasReadsItWithNoHelpOfOurs) {
  if (std::system("/usr/bin/python3 -c 'import h5py, pandas' >/dev/null 2>&1") != 0) {
    std::cerr << "\n*** NOT CHECKED: python3-h5py and python3-pandas are not installed; nothing "
                 "tested that users can open results files\n\n";
    GTEST_SKIP() << "needs python3-h5py and python3-pandas";
  }
  const fs::path script = fs::path(CORUN_SOURCE_DIR) / "tests/results/read_results.py";
  ASSERT_TRUE(fs::exists(script)) << script;
  const auto read = [&](const std::string& file, const std::string& more) {
    return std::system(
        ("/usr/bin/python3 '" + script.string() + "' '" + file + "' " + more).c_str());
  };
  ResultsWriter writer(path("r.h5"), make_header(), kNow);
  writer.add(make_replication(4));
  writer.add(make_replication(1));
  wait_for(writer, 2);
  for (const auto& entry : fs::directory_iterator(path("r.h5.partial"))) {
    EXPECT_EQ(read(entry.path().string(), ""), 0) << "a part is not like a results file";
  }
  writer.finish(make_result(5));
  EXPECT_EQ(read(path("r.h5"), "--expect-test-values"), 0);
}

TEST_F(ResultsTest, TakesLongTextsAndNoReplicationsAtAll) {
  ResultsHeader header = make_header();
  header.config.assign(200'000, 'x');  // more than a fixed-length HDF5 attribute holds
  header.inputs.clear();
  header.policies[1].parameters = "[" + std::string(100'000, ' ') + "]";
  ResultsWriter(path("r.h5"), header).finish(make_result(0, true));
  EXPECT_TRUE(read_runs(path("r.h5")).empty());
  const hid_t file = H5Fopen(path("r.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const hid_t attribute = H5Aopen(file, "config", H5P_DEFAULT);
  const hid_t type = H5Aget_type(attribute);
  char* text = nullptr;
  EXPECT_GE(H5Aread(attribute, type, static_cast<void*>(&text)), 0);
  EXPECT_EQ(std::string(text), header.config);
  H5free_memory(text);
  H5Tclose(type);
  H5Aclose(attribute);
  H5Fclose(file);
}

TEST_F(ResultsTest, AnInterruptedRunKeepsWhatFinishedAndSaysSo) {
  ResultsWriter writer(path("r.h5"), make_header());
  writer.finish(make_result(3, true));
  EXPECT_EQ(read_runs(path("r.h5")).size(), 3U * 2 * 3);
  const hid_t file = H5Fopen(path("r.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  const hid_t attribute = H5Aopen(file, "complete", H5P_DEFAULT);
  std::int64_t complete = -1;
  EXPECT_GE(H5Aread(attribute, H5T_NATIVE_INT64, &complete), 0);
  EXPECT_EQ(complete, 0);
  H5Aclose(attribute);
  H5Fclose(file);
}

TEST_F(ResultsTest, TheRunFileHoldsClocksAndDecisions) {
  const RunInfo info{1.5, 8, "cpu", ""};
  write_run_json(path("r.h5"), info, make_header(), make_result(4));
  const auto json = nlohmann::json::parse(bytes_of(path("r.h5.run.json")));
  EXPECT_EQ(json["wall_s"], 1.5);
  EXPECT_EQ(json["threads"], 8);
  EXPECT_EQ(json["device"], "cpu");
  EXPECT_EQ(json["complete"], true);
  ASSERT_EQ(json["policies"].size(), 2U);
  EXPECT_EQ(json["policies"][1]["policy"], "oracle (truth)");
  EXPECT_EQ(json["policies"][1]["decide_s"], 1.0);
  EXPECT_EQ(json["policies"][1]["longest_decision_s"], 0.125);
  EXPECT_EQ(json["policies"][1]["passes"], 44);
  for (const char* key : {"pass_p50_s", "pass_p95_s", "pass_p99_s", "pass_max_s"}) {
    EXPECT_EQ(json["policies"][1][key], 0.125) << key;
  }
  EXPECT_EQ(json["policies"][1]["bounded_plans"], 4);
  EXPECT_DOUBLE_EQ(json["policies"][1]["mean_loss"].get<double>(), 0.1);
  EXPECT_DOUBLE_EQ(json["policies"][1]["worst_loss"].get<double>(), 0.1);
  EXPECT_FALSE(json["policies"][0].contains("worst_loss"));
  EXPECT_EQ(names(), (std::set<std::string>{"r.h5.run.json"}));
}

// ---- parts --------------------------------------------------------------------------------------

TEST_F(ResultsTest, PartsAreReadableWhileTheRunGoesOn) {
  ResultsWriter writer(path("r.h5"), make_header(), kNow);
  std::set<std::size_t> added;
  for (const std::size_t n : {5U, 2U, 9U}) {
    writer.add(make_replication(n));
    added.insert(n);
    wait_for(writer, added.size());
    EXPECT_EQ(read_parts(path("r.h5.partial")), added);
  }
}

TEST_F(ResultsTest, FlushesByItselfWhenNothingFollows) {
  ResultsWriter writer(path("r.h5"), make_header(), milliseconds{50});
  writer.add(make_replication(0));
  writer.add(make_replication(1));
  EXPECT_EQ(writer.committed(), 0U);
  wait_for(writer, 2);  // nobody calls add() again
  EXPECT_EQ(read_parts(path("r.h5.partial")), (std::set<std::size_t>{0, 1}));
}

TEST_F(ResultsTest, WithoutFinishNothingIsLeft) {
  write_text(path("r.h5"), "old");
  {
    ResultsWriter writer(path("r.h5"), make_header(), kNow);
    writer.add(make_replication(0));
    wait_for(writer, 1);
  }
  EXPECT_EQ(names(), (std::set<std::string>{"r.h5"}));
  EXPECT_EQ(bytes_of(path("r.h5")), "old");
}

/// Runs `child` in a process that is killed by SIGKILL when `wait` returns.
template <typename F, typename Wait>
void kill_during(F child, Wait wait) {
  const pid_t pid = ::fork();
  ASSERT_GE(pid, 0);
  if (pid == 0) {
    try {
      child();
    } catch (const std::exception& error) {
      std::cerr << "child: " << error.what() << '\n';
      ::_exit(3);
    }
    ::_exit(0);
  }
  wait();
  ::kill(pid, SIGKILL);
  int status = 0;
  ASSERT_EQ(::waitpid(pid, &status, 0), pid);
  ASSERT_TRUE(WIFSIGNALED(status)) << "the child ended by itself: " << WEXITSTATUS(status);
}

/// Memory shared with a child, which survives its kill.
struct Shared {
  std::atomic<std::size_t> committed{0};
};

class SharedMemory {
 public:
  SharedMemory()
      : shared_(new (::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Shared) {}
  ~SharedMemory() { ::munmap(shared_, sizeof(Shared)); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;
  Shared* operator->() const { return shared_; }

 private:
  Shared* shared_;
};

TEST_F(ResultsTest, AKillAtAnyInstantLosesNothingThatWasCommitted) {
  std::mt19937 random(20240607);  // NOLINT(cert-msc51-cpp): a test is repeatable
  std::size_t with_parts = 0;
  for (int i = 0; i < 40; ++i) {
    const std::string file = path("r" + std::to_string(i) + ".h5");
    const SharedMemory shared;
    const std::chrono::microseconds delay{random() % (i % 2 == 0 ? 60'000 : 10'000)};
    // Every other kill waits for committed replications, however slow the machine is.
    const std::size_t wanted = i % 2 == 0 ? 0 : 1 + random() % 20;
    kill_during(
        [&] {
          ResultsWriter writer(file, make_header(), milliseconds{i % 3});
          for (std::size_t n = 0;; ++n) {
            writer.add(make_replication(n));
            shared->committed = writer.committed();
            // The pace of a replay: several commits before the kill.
            std::this_thread::sleep_for(std::chrono::microseconds{200});
          }
        },
        [&] {
          test::eventually([&] { return shared->committed >= wanted; });
          std::this_thread::sleep_for(delay);  // any instant will do, so a random one
        });
    const std::size_t committed = shared->committed;
    std::set<std::size_t> found;
    ASSERT_NO_THROW(found = read_parts(file + ".partial")) << "killed after " << delay.count();
    // Replications are added in order, so the first ones are committed.
    ASSERT_GE(found.size(), committed);
    for (std::size_t n = 0; n < committed; ++n) EXPECT_TRUE(found.contains(n)) << n;
    with_parts += found.empty() ? 0 : 1;
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_GE(with_parts, 20U) << "the kills came before there was something to lose";
}

TEST_F(ResultsTest, AKillDuringFinishLeavesTheOldFileOrTheNew) {
  const ReplayResult small = make_result(2);
  const ReplayResult large = make_result(30);
  ResultsWriter(path("small.h5"), make_header()).finish(small);
  ResultsWriter(path("large.h5"), make_header()).finish(large);
  const std::set<std::string> allowed{bytes_of(path("small.h5")), bytes_of(path("large.h5"))};
  fs::copy_file(path("small.h5"), path("r.h5"));
  std::mt19937 random(7);  // NOLINT(cert-msc51-cpp): a test is repeatable
  for (int i = 0; i < 20; ++i) {
    kill_during(
        [&] {
          for (int n = 0;; ++n) {
            ResultsWriter(path("r.h5"), make_header()).finish(n % 2 == 0 ? large : small);
          }
        },
        // Any instant will do, so a random one.
        [&] { std::this_thread::sleep_for(std::chrono::microseconds{random() % 40'000}); });
    EXPECT_TRUE(allowed.contains(bytes_of(path("r.h5"))));
  }
  // No parts were written, so the next run starts without a notice and leaves no files.
  ResultsWriter last(path("r.h5"), make_header());
  EXPECT_EQ(last.notice(), "");
  last.finish(small);
  EXPECT_EQ(names(), (std::set<std::string>{"r.h5", "small.h5", "large.h5"}));
}

TEST_F(ResultsTest, PartsOfAKilledRunAreKeptAside) {
  const std::string file = path("r.h5");
  for (int killed = 1; killed <= 2; ++killed) {
    const SharedMemory shared;
    const pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
      ResultsWriter writer(file, make_header(), milliseconds{1});
      for (std::size_t n = 0; n < 3; ++n) writer.add(make_replication(n));
      test::eventually([&] { return writer.committed() >= 3; });
      ::_exit(0);  // no destructor: as if killed
    }
    ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
    ASSERT_EQ(read_parts(file + ".partial").size(), 3U);

    ResultsWriter writer(file, make_header(), kNow);
    const std::string aside = file + ".partial." + std::to_string(killed);
    EXPECT_TRUE(contains(writer.notice(), "3 finished replications")) << writer.notice();
    EXPECT_TRUE(contains(writer.notice(), "'" + aside + "'")) << writer.notice();
    EXPECT_EQ(contains(writer.notice(), "; still earlier ones are in '" + file + ".partial.1'"),
              killed == 2)
        << writer.notice();
    EXPECT_EQ(read_parts(aside).size(), 3U);
    writer.add(make_replication(8));
    wait_for(writer, 1);
    EXPECT_EQ(read_parts(file + ".partial"), (std::set<std::size_t>{8}));
    writer.finish(make_result(2));
  }
  EXPECT_EQ(names(), (std::set<std::string>{"r.h5", "r.h5.partial.1", "r.h5.partial.2"}));
  // They are named until their user removes them.
  EXPECT_EQ(ResultsWriter(file, make_header()).notice(),
            "earlier runs that were killed left finished replications in '" + file +
                ".partial.1', '" + file + ".partial.2': remove it when it is not needed");
  fs::remove_all(file + ".partial.1");
  EXPECT_TRUE(
      contains(ResultsWriter(file, make_header()).notice(), "in '" + file + ".partial.2':"));
  fs::remove_all(file + ".partial.2");
  EXPECT_EQ(ResultsWriter(file, make_header()).notice(), "");
}

TEST_F(ResultsTest, TwoWritersCannotShareAFile) {
  ResultsWriter first(path("r.h5"), make_header(), kNow);
  first.add(make_replication(0));
  wait_for(first, 1);
  const std::string error = error_of([&] { ResultsWriter second(path("r.h5"), make_header()); });
  EXPECT_EQ(error, "--output: '" + path("r.h5") +
                       "' is being written by another corun; wait for it or choose another file");
  EXPECT_EQ(read_parts(path("r.h5.partial")), (std::set<std::size_t>{0}));
  first.finish(make_result(1));
  ResultsWriter(path("r.h5"), make_header()).finish(make_result(1));
}

// ---- mistakes -----------------------------------------------------------------------------------

TEST_F(ResultsTest, RefusesPathsThatCannotBeWritten) {
  fs::create_directory(path("folder"));
  write_text(path("text"), "");
  const auto refused = [&](const std::string& output) {
    std::string error = error_of([&] { ResultsWriter writer(output, make_header()); });
    EXPECT_TRUE(error.starts_with("--output: ")) << error;
    EXPECT_FALSE(contains(error, "\n")) << error;
    return error;
  };
  EXPECT_TRUE(contains(refused(""), "the path is empty"));
  EXPECT_TRUE(contains(refused(path("folder")), "is a directory; give a file in it"));
  EXPECT_TRUE(contains(refused(path("folder") + "/"), "is a directory; give a file in it"));
  EXPECT_TRUE(contains(refused(path("none/r.h5")), "does not exist; create it"));
  EXPECT_TRUE(contains(refused(path("none/")), "names no file"));
  EXPECT_TRUE(contains(refused(path("text/r.h5")), "is not a directory"));
  EXPECT_TRUE(contains(refused("/dev/null"), "is not a regular file"));
  EXPECT_TRUE(contains(refused(path(std::string(250, 'x'))), "cannot make directory"));
  write_text(path("r.h5.partial"), "");
  EXPECT_TRUE(contains(refused(path("r.h5")), "is in the way"));
  EXPECT_EQ(names(), (std::set<std::string>{"folder", "text", "r.h5.partial"}));
}

TEST_F(ResultsTest, RefusesWhatPermissionsForbid) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write anywhere";
  fs::create_directory(path("locked"));
  fs::permissions(path("locked"), fs::perms::owner_read | fs::perms::owner_exec);
  EXPECT_TRUE(contains(error_of([&] { ResultsWriter writer(path("locked/r.h5"), make_header()); }),
                       "cannot write in directory"));
  fs::permissions(path("locked"), fs::perms::owner_all);
  write_text(path("old.h5"), "old");
  fs::permissions(path("old.h5"), fs::perms::owner_read);
  EXPECT_TRUE(contains(error_of([&] { ResultsWriter writer(path("old.h5"), make_header()); }),
                       "cannot be overwritten"));
}

TEST_F(ResultsTest, FollowsALinkToTheFile) {
  fs::create_directory(path("folder"));
  write_text(path("folder/r.h5"), "old");
  fs::create_symlink("folder/r.h5", path("link.h5"));
  ResultsWriter(path("link.h5"), make_header()).finish(make_result(1));
  EXPECT_TRUE(fs::is_symlink(path("link.h5")));
  EXPECT_EQ(read_runs(path("folder/r.h5")).size(), 6U);
}

/// While this object lives, no file may grow beyond `bytes`, as on a full disk.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit now{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &now);
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit before_{};
  void (*handler_)(int) = SIG_DFL;
};

TEST_F(ResultsTest, AFailedFinishLeavesTheOldFileAndTheParts) {
  write_text(path("r.h5"), "old");
  {
    ResultsWriter writer(path("r.h5"), make_header(), kNow);
    writer.add(make_replication(0));
    wait_for(writer, 1);
    const SmallDisk disk(1000);
    const std::string error = error_of([&] { writer.finish(make_result(3)); });
    EXPECT_EQ(error, "--output: cannot write '" + path("r.h5") +
                         "': File too large; free some space or choose another file; 1 finished "
                         "replications are in '" +
                         path("r.h5.partial") + "'");
  }
  EXPECT_EQ(bytes_of(path("r.h5")), "old");
  EXPECT_EQ(read_parts(path("r.h5.partial")), (std::set<std::size_t>{0}));
  EXPECT_EQ(names(), (std::set<std::string>{"r.h5", "r.h5.partial"}));
}

TEST_F(ResultsTest, AFailedPartReachesTheCaller) {
  {
    ResultsWriter writer(path("r.h5"), make_header(), kNow);
    const SmallDisk disk(1000);
    const std::string error = error_of([&] {
      test::eventually([&] {
        writer.add(make_replication(0));
        return false;
      });
    });
    EXPECT_TRUE(contains(error, "File too large")) << error;
    EXPECT_EQ(writer.committed(), 0U);
  }
  EXPECT_TRUE(names().empty());
}

TEST_F(ResultsTest, AtomicWritesLeaveNoTemporaryFile) {
  write_file_atomically(path("f"), "one");
  write_file_atomically(path("f"), "two");
  EXPECT_EQ(bytes_of(path("f")), "two");
  {
    const SmallDisk disk(2);
    EXPECT_TRUE(contains(error_of([&] { write_file_atomically(path("f"), "three"); }),
                         "cannot write '" + path("f") + "': File too large"));
  }
  EXPECT_TRUE(contains(error_of([&] { write_file_atomically(path("none/f"), ""); }),
                       "No such file or directory"));
  EXPECT_EQ(bytes_of(path("f")), "two");
  EXPECT_EQ(names(), (std::set<std::string>{"f"}));
}

TEST_F(ResultsTest, AtomicWritesReplaceNothingButFiles) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0666), 0);
  fs::create_symlink("pipe", path("to-pipe"));
  fs::create_directory(path("folder"));
  for (const char* name : {"pipe", "to-pipe"}) {
    EXPECT_EQ(error_of([&] { write_file_atomically(path(name), "one"); }),
              "cannot write '" + path(name) + "': it is not a regular file; choose another file");
  }
  EXPECT_EQ(error_of([&] { write_file_atomically(path("folder"), "one"); }),
            "cannot write '" + path("folder") + "': it is a directory; choose another file");
  EXPECT_TRUE(fs::is_fifo(pipe) && fs::is_symlink(path("to-pipe")));
  EXPECT_EQ(names(), (std::set<std::string>{"pipe", "to-pipe", "folder"}));
}

TEST_F(ResultsTest, AtomicWritesFollowLinks) {
  write_text(path("f"), "one");
  fs::create_symlink("f", path("link"));
  write_file_atomically(path("link"), "two");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(bytes_of(path("f")), "two");
}

TEST_F(ResultsTest, APartialDirectoryThatIsALinkIsRefused) {
  fs::create_directory(path("mine"));
  write_text(path("mine/part-000000.h5"), "mine");
  for (const char* to : {"nowhere", "mine"}) {
    fs::create_symlink(to, path("r.h5.partial"));
    EXPECT_EQ(error_of([&] { ResultsWriter(path("r.h5"), make_header(), kNow); }),
              "--output: '" + path("r.h5.partial") +
                  "' is in the way (a link); remove it or choose another file");
    EXPECT_TRUE(fs::is_symlink(path("r.h5.partial")));
    fs::remove(path("r.h5.partial"));
  }
  EXPECT_EQ(bytes_of(path("mine/part-000000.h5")), "mine");
}

}  // namespace
}  // namespace corun::results_writer_test
