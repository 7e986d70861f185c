#include "runner/sweep/sweep.hpp"

#include <atomic>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <thread>

#include <boost/crc.hpp>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <zlib.h>

#include "policies/catalog.hpp"
#include "results/export/slurm_script.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/sweep/sweep_journal.hpp"
#include "runner/sweep/sweep_output.hpp"
#include "runner/sweep/sweep_plan.hpp"
#include "runner/sweep/sweep_results.hpp"
#include "runner/sweep/sweep_resume.hpp"
#include "sim/error.hpp"
#include "support/atomic_file.hpp"
#include "tests/helpers/program.hpp"
#include "tests/runner/sweep/failing_reads.hpp"

namespace corun::sweep_test {
namespace {

SweepPlan plan_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  return SweepPlan::parse(text, "s.yaml", parse_overrides(overrides), policy_catalog());
}

std::string error_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    plan_of(text, overrides);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

// ---- which points -------------------------------------------------------------------------------

TEST(SweepPlan, GridTurnsTheLastKeyFastest) {
  const SweepPlan plan = plan_of(
      "replications: 7\nsweep:\n  grid:\n    cluster.nodes: [2, 4]\n    belief.known: [0, 0.5, "
      "1]\n");
  ASSERT_EQ(plan.points(), 6U);
  EXPECT_EQ(plan.total_replications(), 42U);
  EXPECT_EQ(plan.describe(0), "point 0 (cluster.nodes=2, belief.known=0)");
  EXPECT_EQ(plan.describe(1), "point 1 (cluster.nodes=2, belief.known=0.5)");
  EXPECT_EQ(plan.describe(3), "point 3 (cluster.nodes=4, belief.known=0)");
  EXPECT_EQ(plan.config_of(4).cluster.nodes, 4);
  EXPECT_EQ(plan.config_of(4).belief.known, 0.5);
}

TEST(SweepPlan, APointIsWhatSetWouldMakeOfIt) {
  const std::string base =
      "policies: [fcfs, {name: min-slowdown, epsilon: 0.1}]\nworkload: {jobs: 5}\n";
  const SweepPlan plan = plan_of(base +
                                 "sweep:\n  list:\n    - {'policies[1].epsilon': 0.5, "
                                 "cluster: {nodes: 3}, workload.load: null}\n    - {}\n");
  const std::vector<std::string> set = {"policies[1].epsilon=0.5", "cluster={nodes: 3}",
                                        "workload.load=null"};
  EXPECT_EQ(dump_yaml(plan.config_of(0)),
            dump_yaml(parse_config(base, "b", parse_overrides(set), policy_catalog())));
  EXPECT_EQ(dump_yaml(plan.config_of(1)), dump_yaml(parse_config(base, "b", {}, policy_catalog())));
}

TEST(SweepPlan, PoliciesThatNobodyListedCanBeSwept) {
  const SweepPlan plan = plan_of("sweep:\n  grid:\n    'policies[4].epsilon': [0, 1]\n");
  EXPECT_EQ(plan.config_of(1).policies.at(4).name, "min-slowdown");
  EXPECT_EQ(std::get<double>(plan.config_of(1).policies.at(4).settings.at("epsilon")), 1.0);
}

TEST(SweepPlan, ALabelNamesAPolicyAsItsPositionDoes) {
  const SweepPlan by_label =
      plan_of("sweep:\n  grid:\n    policies.min-slowdown.epsilon: [0, 1]\n");
  const SweepPlan by_position = plan_of("sweep:\n  grid:\n    'policies[4].epsilon': [0, 1]\n");
  EXPECT_EQ(by_label.describe(1), "point 1 (policies.min-slowdown.epsilon=1)");
  EXPECT_EQ(dump_yaml(by_label.config_of(1)), dump_yaml(by_position.config_of(1)));
  EXPECT_EQ(plan_of(by_label.dump_yaml()).dump_yaml(), by_label.dump_yaml());
  // A swept list comes first, and the label is looked up in it.
  const SweepPlan swept = plan_of(
      "sweep:\n  grid:\n    policies: [[min-slowdown], [fcfs, min-slowdown]]\n"
      "    policies.min-slowdown.epsilon: [0.5]\n");
  EXPECT_EQ(std::get<double>(swept.config_of(0).policies.at(0).settings.at("epsilon")), 0.5);
  EXPECT_EQ(std::get<double>(swept.config_of(1).policies.at(1).settings.at("epsilon")), 0.5);
}

TEST(SweepPlan, RandomPointsLieInTheirRanges) {
  const SweepPlan plan = plan_of(
      "sweep:\n  random:\n    points: 300\n    space:\n      cluster.nodes: {integer: [2, 5]}\n"
      "      belief.known: {uniform: [0.25, 0.75]}\n      workload.load: {log-uniform: [0.01, "
      "10]}\n"
      "      world.noise: {choice: [true, false]}\n");
  std::set<std::int64_t> nodes;
  int below = 0;
  for (std::size_t p = 0; p < plan.points(); ++p) {
    const Config config = plan.config_of(p);
    nodes.insert(config.cluster.nodes);
    EXPECT_GE(config.belief.known, 0.25);
    EXPECT_LE(config.belief.known, 0.75);
    EXPECT_GE(*config.workload.load, 0.01);
    EXPECT_LE(*config.workload.load, 10);
    below += *config.workload.load < 0.3162 ? 1 : 0;  // the geometric middle of the range
  }
  EXPECT_EQ(nodes, (std::set<std::int64_t>{2, 3, 4, 5}));
  EXPECT_NEAR(below, 150, 40);  // 4.6 standard deviations
}

TEST(SweepPlan, MoreRandomPointsKeepTheFirstAndMoreKeysKeepTheOthers) {
  const std::string begin = "sweep:\n  random:\n    points: ";
  const std::string space = "\n    space:\n      belief.known: {uniform: [0, 1]}\n";
  const SweepPlan few = plan_of(begin + "5" + space);
  const SweepPlan more = plan_of(begin + "9" + space + "      cluster.nodes: {integer: [1, 9]}\n");
  for (std::size_t p = 0; p < 5; ++p) EXPECT_EQ(few.text(p, 0), more.text(p, 0));
  const SweepPlan other = plan_of(begin + "5" + space + "    seed: 2\n");
  EXPECT_NE(few.text(0, 0), other.text(0, 0));
}

TEST(SweepPlan, ALatinHypercubeHasOnePointInEverySlice) {
  const SweepPlan plan = plan_of(
      "sweep:\n  latin-hypercube:\n    points: 50\n    space:\n      belief.known: {uniform: [0, "
      "1]}\n"
      "      workload.load: {uniform: [1, 2]}\n");
  std::set<int> known;
  std::set<int> load;
  for (std::size_t p = 0; p < plan.points(); ++p) {
    known.insert(static_cast<int>(plan.config_of(p).belief.known * 50));
    load.insert(static_cast<int>((*plan.config_of(p).workload.load - 1) * 50));
  }
  EXPECT_EQ(known.size(), 50U);
  EXPECT_EQ(load.size(), 50U);
}

TEST(SweepPlan, DumpedItIsTheSameSweep) {
  const SweepPlan plan = plan_of(
      "policies: [{name: min-slowdown, label: 'a, b'}]\nsweep:\n  list:\n    - {cluster.gpu_type: "
      "'V100-16GB', 'policies[0].label': 'x: {y}'}\n    - {world: {noise: false}}\n");
  const SweepPlan again = plan_of(plan.dump_yaml());
  EXPECT_EQ(again.dump_yaml(), plan.dump_yaml());
  for (std::size_t p = 0; p < plan.points(); ++p) {
    EXPECT_EQ(dump_yaml(again.config_of(p)), dump_yaml(plan.config_of(p)));
  }
}

TEST(SweepPlan, OverridesReachTheSectionAndTheRest) {
  const SweepPlan plan =
      plan_of("sweep: {random: {points: 5, space: {cluster.nodes: {integer: [1, 3]}}}}",
              {"sweep.random.points=8", "replications=2"});
  EXPECT_EQ(plan.points(), 8U);
  EXPECT_EQ(plan.replications(0), 2U);
}

struct BadSection {
  const char* text;
  const char* begin;
  const char* hint;
};

class BadSweep : public testing::TestWithParam<BadSection> {};

TEST_P(BadSweep, IsRefusedWithItsPlace) {
  const std::string error = error_of(GetParam().text);
  EXPECT_EQ(error.rfind(GetParam().begin, 0), 0U) << error;
  EXPECT_NE(error.find(GetParam().hint), std::string::npos) << error;
  EXPECT_EQ(error.find('\n'), std::string::npos) << error;
}

INSTANTIATE_TEST_SUITE_P(
    Cases, BadSweep,
    testing::Values(
        BadSection{"seed: 1\n", "s.yaml:1:1: ", "corun replay"},
        BadSection{"sweep:\n", "s.yaml:1:1: ", "grid, list, random"},
        BadSection{"sweep: {grid: {seed: [1]}, list: []}\n", "s.yaml:1:8: ", "one of grid"},
        BadSection{"sweep:\n  gird: {seed: [1]}\n", "s.yaml:2:3: ", "did you mean 'grid'"},
        BadSection{"sweep:\n  grid: {}\n", "s.yaml:2:9: ", "keys with their values"},
        BadSection{"sweep:\n  grid:\n    seed: 5\n", "s.yaml:3:11: ", "list of values"},
        BadSection{"sweep:\n  grid:\n    seed: []\n", "s.yaml:3:11: ", "list of values"},
        BadSection{"sweep:\n  grid:\n    seed: [1, 2, 1]\n", "s.yaml:3:18: ", "each value once"},
        BadSection{"sweep:\n  grid:\n    clutser.nodes: [1]\n", "s.yaml:3:5: ", "mean 'cluster'"},
        BadSection{"sweep:\n  grid:\n    cluster.ndoes: [1]\n", "s.yaml:3:5: ", "mean 'nodes'"},
        BadSection{"sweep:\n  grid:\n    cluster.nodes: [1, many]\n", "s.yaml:3:24: ", "'many'"},
        BadSection{"sweep:\n  grid:\n    cluster.nodes: [1, 0]\n", "s.yaml:3:24: ", "from 1"},
        BadSection{"sweep:\n  grid:\n    cluster..nodes: [1]\n", "s.yaml:3:5: ", "path of a key"},
        BadSection{"sweep:\n  grid:\n    'policies[9].epsilon': [1]\n",
                   "s.yaml:3:5: ", "index below"},
        BadSection{"sweep:\n  grid:\n    policies.min-slwdown.epsilon: [1]\n",
                   "s.yaml:3:5: ", "did you mean 'min-slowdown'"},
        BadSection{"sweep:\n  grid:\n    'policies[4].epsilon': [1]\n"
                   "    policies.min-slowdown.epsilon: [0]\n",
                   "s.yaml:4:5: ", "is the same key as policies[4].epsilon"},
        BadSection{"sweep:\n  grid:\n    sweep.grid: [1]\n", "s.yaml:3:5: ", "unknown key 'sweep'"},
        BadSection{"sweep:\n  list: {cluster.nodes: 2}\n", "s.yaml:2:9: ", "list of points"},
        BadSection{"sweep:\n  list: [5]\n", "s.yaml:2:10: ", "list of points"},
        BadSection{"sweep:\n  list:\n    - {cluster.nodes: -1}\n", "s.yaml:3:23: ", "-1"},
        BadSection{"sweep:\n  random: {points: 5}\n", "s.yaml:2:11: ", "points and a space"},
        BadSection{"sweep:\n  random: {points: 0, space: {seed: {integer: [1, 2]}}}\n",
                   "s.yaml:2:20: ", "from 1"},
        BadSection{"sweep:\n  random: {points: 1e9, space: {seed: {integer: [1, 2]}}}\n",
                   "s.yaml:2:20: ", "from 1"},
        BadSection{"sweep:\n  random: {points: 2, space: {seed: {integer: [2, 1]}}}\n",
                   "s.yaml:2:51: ", "above the lower"},
        BadSection{"sweep:\n  random: {points: 2, space: {seed: {normal: [2, 1]}}}\n",
                   "s.yaml:2:38: ", "log-uniform"},
        BadSection{"sweep:\n  random: {points: 2, space: {belief.known: {log-uniform: [0, 1]}}}\n",
                   "s.yaml:2:60: ", "above 0"},
        BadSection{"sweep:\n  random: {points: 2, space: {belief.known: {uniform: [0, x]}}}\n",
                   "s.yaml:2:59: ", "a number"},
        BadSection{"sweep:\n  random: {points: 9, space: {belief.known: {uniform: [2, 3]}}}\n",
                   "s.yaml:2:45: ", "from 0 to 1"}));

TEST(SweepPlan, AGridOfTooManyPointsIsRefusedBeforeItFillsTheMemory) {
  std::string values = "[";
  for (int i = 0; i < 500; ++i) values += std::to_string(i) + ", ";
  values += "500]";
  EXPECT_NE(error_of("sweep:\n  grid:\n    seed: " + values + "\n    replications: " + "[1, 2]" +
                     "\n    workload.jobs: " + values.replace(1, 3, "") +
                     "\n    cluster.nodes: " + "[1, 2, 3, 4, 5]\n")
                .find("more than 1000000 points"),
            std::string::npos);
}

TEST(SweepPlan, AKeyCannotBeBothSetAndSwept) {
  const std::string error =
      error_of("sweep:\n  grid:\n    cluster.nodes: [1, 2]\n", {"cluster.nodes=5"});
  EXPECT_EQ(error.rfind("--set cluster.nodes=5: ", 0), 0U) << error;
  EXPECT_NE(error.find("s.yaml:3:5"), std::string::npos) << error;
  const std::string by_position = error_of(
      "sweep:\n  grid:\n    policies.min-slowdown.epsilon: [0, 1]\n", {"policies[4].epsilon=0.5"});
  EXPECT_NE(by_position.find("policies.min-slowdown.epsilon is swept"), std::string::npos)
      << by_position;
}

// ---- the same bytes however it was run ----------------------------------------------------------

constexpr const char* kSmall =
    "policies: [fcfs, random, min-slowdown]\nworkload: {source: jrs-resampled, jobs: 12}\n"
    "replications: 3\nsweep:\n  grid:\n    workload.load: [0.5, 1]\n    cluster.nodes: [1, 2, 4]\n";

/// Runs or continues a sweep as the command does and returns its outcome.
SweepOutcome run_small(const std::string& journal, unsigned threads, SweepShard shard = {},
                       std::size_t stop_after = 1000, const std::string& text = kSmall) {
  const SweepPlan plan = plan_of(text);
  std::atomic<bool> stop{false};
  SweepOptions options;
  options.threads = threads;
  options.shard = shard;
  options.stop = &stop;
  std::size_t finished = 0;
  options.on_finished = [&](std::size_t, std::size_t) {
    if (++finished >= stop_after) stop = true;
  };
  const SweepStart start =
      begin_sweep(plan, sweep_files(journal, true), options, Existing::kKeepOthers);
  return run_journalled(plan, start, options);
}

std::string results_of(const test::TemporaryDirectory& directory,
                       const std::vector<std::string>& names) {
  std::vector<std::unique_ptr<SweepJournalIndex>> journals;
  for (const std::string& name : names) {
    journals.push_back(std::make_unique<SweepJournalIndex>(directory.path(name)));
  }
  write_sweep_results(directory.path("results.h5"), journals, false);
  return test::read_file(directory.path("results.h5"));
}

std::string undisturbed() {
  const test::TemporaryDirectory directory;
  run_small(directory.path("one"), 1);
  return results_of(directory, {"one"});
}

TEST(Sweep, ItsChecksAndItsRunFitAModelOnce) {
  const SweepPlan plan = plan_of(
      "policies: [random, min-slowdown]\nbelief: {model: contention}\n"
      "replications: 1\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  SweepOptions options;
  options.files = std::make_shared<InputCache>();
  sweep_inputs(plan, options);
  const std::size_t fits = options.files->models().fits();
  EXPECT_GT(fits, 0U);
  const test::TemporaryDirectory directory;
  SweepJournalWriter writer(directory.path("j"), "test");
  writer.begin(sweep_identity(plan));
  EXPECT_FALSE(run_sweep(plan, writer, nullptr, options).interrupted());
  EXPECT_EQ(options.files->models().fits(), fits);
}

TEST(Sweep, ThreadsShardsAndStopsLeaveTheBytesAsTheyAre) {
  const std::string expected = undisturbed();
  const test::TemporaryDirectory directory;
  EXPECT_FALSE(run_small(directory.path("threads"), 5).interrupted());
  EXPECT_EQ(results_of(directory, {"threads"}), expected);

  for (std::size_t of = 1; of <= 4; ++of) {  // of 1: by points; above: by replications
    std::vector<std::string> parts;
    std::size_t total = 0;
    for (std::size_t n = 1; n <= of; ++n) {
      parts.push_back("part" + std::to_string(of) + "-" + std::to_string(n));
      total += run_small(directory.path(parts.back()), 2, {n, of}).total;
    }
    EXPECT_EQ(total, 18U);
    EXPECT_EQ(results_of(directory, parts), expected);
    std::ranges::reverse(parts);
    EXPECT_EQ(results_of(directory, parts), expected);
  }

  int rounds = 0;
  while (run_small(directory.path("stops"), 2, {}, 3).interrupted()) ASSERT_LT(++rounds, 20);
  EXPECT_GE(rounds, 3);
  EXPECT_EQ(results_of(directory, {"stops"}), expected);
}

TEST(Sweep, ResumingRepeatsNothingThatFinished) {
  const test::TemporaryDirectory directory;
  run_small(directory.path("j"), 1, {}, 7);
  const std::size_t before = SweepJournalIndex(directory.path("j")).units().size();
  EXPECT_EQ(before, 7U);
  const std::string kept = test::read_file(directory.path("j"));
  run_small(directory.path("j"), 2);
  const std::string all = test::read_file(directory.path("j"));
  EXPECT_EQ(all.substr(0, kept.size()), kept);
  EXPECT_EQ(SweepJournalIndex(directory.path("j")).units().size(), 18U);
}

TEST(Sweep, AJournalCutAnywhereIsContinuedToTheSameBytes) {
  const std::string expected = undisturbed();
  const test::TemporaryDirectory directory;
  run_small(directory.path("whole"), 1);
  const std::string whole = test::read_file(directory.path("whole"));
  const std::size_t header =
      whole.find("sweep:");  // within the header, before the end of which there is no journal
  for (std::size_t size = header + 2000; size < whole.size(); size += whole.size() / 23) {
    directory.write("cut", whole.substr(0, size));
    run_small(directory.path("cut"), 1);
    EXPECT_EQ(results_of(directory, {"cut"}), expected) << size;
  }
}

TEST(Sweep, AChangedByteIsNeverTakenForAResult) {
  const std::string expected = undisturbed();
  const test::TemporaryDirectory directory;
  run_small(directory.path("whole"), 1);
  const std::string whole = test::read_file(directory.path("whole"));
  for (std::size_t at = 3; at < whole.size(); at += whole.size() / 29) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x20);
    directory.write("changed", changed);
    try {
      run_small(directory.path("changed"), 1);
      EXPECT_EQ(results_of(directory, {"changed"}), expected) << at;
    } catch (const InputError& e) {
      EXPECT_EQ(std::string(e.what()).rfind(directory.path("changed"), 0), 0U) << e.what();
    }
  }
}

// ---- damaged journals -----------------------------------------------------------------------------

struct JournalRecord {
  std::size_t offset = 0;
  std::size_t bytes = 0;  ///< with its size and checksum
  char kind = '\0';
};

std::uint32_t number_at(const std::string& bytes, std::size_t at) {
  std::uint32_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::vector<JournalRecord> records_of(const std::string& journal) {
  std::vector<JournalRecord> records;
  for (std::size_t at = std::string("corun sweep 1\n").size(); at < journal.size();) {
    records.push_back({at, 8 + number_at(journal, at), journal[at + 8]});
    at += records.back().bytes;
  }
  return records;
}

std::string record_of(const std::string& payload) {
  const auto size = static_cast<std::uint32_t>(payload.size());
  const auto crc = static_cast<std::uint32_t>(
      crc32_z(0, reinterpret_cast<const Bytef*>(payload.data()), payload.size()));
  std::string record(8, '\0');
  std::memcpy(record.data(), &size, 4);
  std::memcpy(record.data() + 4, &crc, 4);
  return record + payload;
}

/// A finished shard of a sweep that reads a file, so that its journal has records of all kinds.
class DamagedJournal : public testing::Test {
 protected:
  DamagedJournal() {
    text_ = "workload: {source: csv, path: " +
            directory_.write("jobs.csv", "job,submit_s,solo_s\na,0,10\nb,0,20\nc,5,9\n") +
            "}\npolicies: [fcfs, random]\nreplications: 3\n"
            "sweep: {grid: {cluster.nodes: [1, 2], cluster.gpus_per_node: [1, 2]}}\n";
    run_small(path(), 1, {}, 1000, text_);
    whole_ = test::read_file(path());
    records_ = records_of(whole_);
    expected_ = results_of(directory_, {"j"});
  }

  std::string path() const { return directory_.path("j"); }

  /// Continues the sweep from a journal of these bytes.
  struct Continued {
    std::size_t kept = 0;
    std::string notice;
    std::string refused;  ///< the error, if it does not continue
  };
  Continued continue_from(const std::string& journal) {
    directory_.write("j", journal);
    std::filesystem::remove(path() + ".damaged");
    const SweepPlan plan = plan_of(text_);
    Continued outcome;
    SweepOptions options;
    try {
      const SweepStart start =
          begin_sweep(plan, sweep_files(path(), true), options, Existing::kKeepOthers);
      outcome.kept = start.kept();
      outcome.notice = start.notice;
      run_journalled(plan, start, options);
    } catch (const InputError& error) {
      outcome.refused = error.what();
      EXPECT_EQ(test::read_file(path()), journal);  // nothing was changed
    }
    return outcome;
  }

  /// Checks that the sweep continues with so many replications, says so, keeps the journal aside and
  /// comes to the same results.
  void expect_repaired(const std::string& journal, std::size_t kept, const std::string& place) {
    const Continued outcome = continue_from(journal);
    EXPECT_EQ(outcome.refused, "");
    EXPECT_EQ(outcome.kept, kept);
    EXPECT_NE(outcome.notice.find(place), std::string::npos) << outcome.notice;
    EXPECT_NE(outcome.notice.find(fmt::format(": {} finished replications are used", kept)),
              std::string::npos)
        << outcome.notice;
    ASSERT_TRUE(std::filesystem::exists(path() + ".damaged"));
    EXPECT_EQ(test::read_file(path() + ".damaged"), journal);
    EXPECT_EQ(results_of(directory_, {"j"}), expected_);
  }

  test::TemporaryDirectory directory_;
  std::string text_;
  std::string whole_;
  std::vector<JournalRecord> records_;
  std::string expected_;
};

TEST_F(DamagedJournal, OneChangedBitTakesOneRecordAwayAndIsTold) {
  ASSERT_EQ(whole_.size(), records_.back().offset + records_.back().bytes);
  std::map<char, std::size_t> kept_after{{'R', 11}, {'P', 9}, {'I', 0}};
  std::mt19937 random(1);
  std::set<char> seen;
  for (const JournalRecord& record : records_) {
    seen.insert(record.kind);
    std::vector<std::size_t> at{record.offset,     record.offset + 1,
                                record.offset + 3, record.offset + 4,
                                record.offset + 8, record.offset + record.bytes - 1};
    for (int i = 0; i < 4; ++i) at.push_back(record.offset + random() % record.bytes);
    for (const std::size_t byte : at) {
      std::string changed = whole_;
      changed[byte] = static_cast<char>(changed[byte] ^ (1U << (random() % 8)));
      SCOPED_TRACE(fmt::format("byte {} of record {} at {}", byte, record.kind, record.offset));
      if (record.kind == 'H') {
        EXPECT_NE(continue_from(changed).refused.find("has a damaged header (at byte 14)"),
                  std::string::npos);
        continue;
      }
      expect_repaired(changed, kept_after.at(record.kind),
                      fmt::format("is damaged at 1 place (bytes {} to {})", record.offset,
                                  record.offset + record.bytes - 1));
    }
  }
  EXPECT_EQ(seen, (std::set<char>{'H', 'I', 'P', 'R'}));
}

TEST_F(DamagedJournal, RecordsAroundLostOnesAreUsed) {
  std::vector<JournalRecord> runs;
  for (const JournalRecord& record : records_) {
    if (record.kind == 'R') runs.push_back(record);
  }
  ASSERT_EQ(runs.size(), 12U);
  std::string changed = whole_;
  changed.replace(runs[1].offset, runs[1].bytes, std::string(runs[1].bytes, '\0'));
  changed[runs[4].offset] ^= 1;
  changed.back() ^= 1;
  expect_repaired(changed, 9, "is damaged at 3 places (bytes ");
  std::string shorter = whole_;
  shorter.erase(runs[2].offset + 3, 40);  // all later records move
  expect_repaired(shorter, 11, "is damaged at 1 place (bytes ");
  expect_repaired(whole_ + std::string(5000, '\0'), 12, "is damaged at 1 place (bytes ");
}

TEST_F(DamagedJournal, ARecordThatCorunDoesNotWriteSoIsDamagedThoughItsChecksumIsRight) {
  for (const std::string payload :
       {R"(I{"entry":"sha256:0 x"})", R"(I5)", R"(P{"point":1})", R"(P{"point":0,"policies":[{}]})",
        R"(P{"point":77,"policies":[]})", R"(I{"entry":)"}) {
    const std::string record = record_of(payload);
    expect_repaired(whole_ + record, 12,
                    fmt::format("is damaged at 1 place (bytes {} to {})", whole_.size(),
                                whole_.size() + record.size() - 1));
  }
  const JournalRecord& header = records_.front();
  for (const std::string payload :
       {R"(H{"corun_version":"0.1.0"})", "H{}", "H[", R"(H{"seed":"x"})"}) {
    const std::string changed = whole_.substr(0, header.offset) + record_of(payload) +
                                whole_.substr(header.offset + header.bytes);
    EXPECT_NE(continue_from(changed).refused.find("has a damaged header"), std::string::npos);
  }
}

TEST_F(DamagedJournal, ATornEndIsLeftOutWithAShortNote) {
  const Continued outcome = continue_from(whole_.substr(0, whole_.size() - 5));
  EXPECT_EQ(outcome.kept, 11U);
  EXPECT_NE(outcome.notice.find("bytes of an unfinished record, which are left out"),
            std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(path() + ".damaged"));
  EXPECT_EQ(results_of(directory_, {"j"}), expected_);
  EXPECT_EQ(continue_from(whole_).notice, "");
}

TEST_F(DamagedJournal, IsKeptBesideOlderOnesAndNeverMerged) {
  std::string changed = whole_;
  changed.back() ^= 1;
  directory_.write("j", changed);
  try {
    results_of(directory_, {"j"});
    FAIL() << "a damaged part was merged";
  } catch (const InputError& error) {
    EXPECT_NE(std::string(error.what()).find("is damaged at 1 place"), std::string::npos);
  }
  directory_.write("j.damaged", "older");
  run_small(path(), 1, {}, 1000, text_);
  EXPECT_EQ(test::read_file(path() + ".damaged"), "older");
  EXPECT_EQ(test::read_file(path() + ".damaged.2"), changed);
}

TEST_F(DamagedJournal, AReadErrorStopsTheSweepAndChangesNothing) {
  const std::size_t size = whole_.size();
  for (const std::size_t at : {std::size_t{3}, size / 2, size - 1}) {
    const test::FailingReads failing(path(), at);
    const SweepPlan plan = plan_of(text_);
    try {
      begin_sweep(plan, sweep_files(path(), true), {}, Existing::kKeepOthers);
      FAIL() << "the unread part was taken for missing";
    } catch (const InputError& error) {
      EXPECT_NE(std::string(error.what()).find("Input/output error"), std::string::npos)
          << error.what();
    }
  }
  EXPECT_EQ(test::read_file(path()), whole_);
  EXPECT_EQ(continue_from(whole_).kept, 12U);
}

TEST(Sweep, OtherConfigurationsAndUnfinishedPartsAreRefused) {
  const test::TemporaryDirectory directory;
  run_small(directory.path("a"), 1, {1, 2});
  std::string other = kSmall;
  other.replace(other.find("replications: 3"), 15, "replications: 4");
  EXPECT_THROW(run_small(directory.path("a"), 1, {1, 2}, 1000, other), InputError);
  run_small(directory.path("b"), 1, {2, 2}, 1000, other);
  try {
    results_of(directory, {"a", "b"});
    FAIL() << "parts of different sweeps were merged";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("another sweep"), std::string::npos) << e.what();
  }
  try {
    results_of(directory, {"a"});
    FAIL() << "a part was taken for the whole";
  } catch (const InputError& e) {
    EXPECT_NE(std::string(e.what()).find("9 of 18 replications are missing"), std::string::npos)
        << e.what();
  }
}

// A record that no corun wrote, with a matching checksum.
TEST(Sweep, ARecordOfAJournalMayNotBeDeep) {
  const test::TemporaryDirectory directory;
  run_small(directory.path("r.h5.journal"), 1);
  const std::string payload =
      R"(P{"point": 0, "policies": )" + std::string(200'000, '[') + std::string(200'000, ']') + "}";
  boost::crc_32_type crc;
  crc.process_bytes(payload.data(), payload.size());
  std::string frame;
  for (const std::size_t number : {payload.size(), std::size_t{crc.checksum()}}) {
    for (unsigned byte = 0; byte < 4; ++byte) frame += static_cast<char>(number >> (8 * byte));
  }
  directory.write("deep.journal",
                  test::read_file(directory.path("r.h5.journal")) + frame + payload);
  const SweepJournalIndex index(directory.path("deep.journal"));
  EXPECT_TRUE(index.damage_text().starts_with("is damaged at 1 place")) << index.damage_text();
}

// A journal without a complete header holds nothing: --resume begins anew. Another file, or the
// results of another sweep, is not touched.
TEST(Sweep, ResumesFromAJournalCutAtItsBirth) {
  const test::TemporaryDirectory directory;
  directory.write("s.yaml", kSmall);
  const std::vector<std::string> sweep = {"sweep", "s.yaml", "--output", "r.h5", "--resume"};
  for (const std::string cut : {"", "corun sw", "corun sweep 1\n", "corun sweep 1\n\x10"}) {
    std::filesystem::remove(directory.path("r.h5"));
    directory.write("r.h5.journal", cut);
    const auto outcome = test::run_corun(sweep, directory.path());
    EXPECT_EQ(outcome.code, 0) << cut << outcome.err;
  }
  std::filesystem::remove(directory.path("r.h5"));
  directory.write("r.h5.journal", "my notes");
  EXPECT_EQ(test::run_corun(sweep, directory.path()).code, 2);
  EXPECT_EQ(test::read_file(directory.path("r.h5.journal")), "my notes");

  std::filesystem::remove(directory.path("r.h5.journal"));
  EXPECT_EQ(test::run_corun(sweep, directory.path()).code, 0);
  const std::string results = test::read_file(directory.path("r.h5"));
  std::vector<std::string> other = sweep;
  other.insert(other.end(), {"--set", "seed=7"});
  EXPECT_EQ(test::run_corun(other, directory.path()).code, 2);
  EXPECT_EQ(test::read_file(directory.path("r.h5")), results);
}

TEST(Sweep, AnInputThatChangedIsNoticed) {
  const test::TemporaryDirectory directory;
  for (const char* name : {"jobs.csv", "mine.corun.csv", "kb.yaml"}) {
    directory.write(name, test::read_file(std::string(CORUN_SOURCE_DIR "/examples/") + name));
  }
  directory.write("s.yaml",
                  "workload: {source: csv, path: jobs.csv}\npolicies: [fcfs, random]\n"
                  "replications: 30\nsweep: {grid: {cluster.nodes: [1, 2]}}\n");
  const std::vector<std::string> shard = {"sweep",    "s.yaml", "--shard", "1/2",
                                          "--output", "part",   "--resume"};
  EXPECT_EQ(test::run_corun(shard, directory.path()).code, 0);
  EXPECT_EQ(test::run_corun(shard, directory.path()).code, 0);  // complete: nothing to do
  directory.write("jobs.csv", test::read_file(directory.path("jobs.csv")) + "\n");
  const test::Outcome outcome = test::run_corun(shard, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.rfind("jobs.csv: has changed since the sweep began", 0), 0U) << outcome.err;
}

// ---- what cannot run is told first ----------------------------------------------------------------

/// The refusal of a sweep; checks that no replication has run.
std::string refusal_of(const std::string& text, unsigned threads) {
  const test::TemporaryDirectory directory;
  const SweepPlan plan = plan_of(text);
  SweepJournalWriter writer(directory.path("j"), "test");
  writer.begin(sweep_identity(plan));
  SweepOptions options;
  options.threads = threads;
  std::size_t finished = 0;
  options.on_finished = [&](std::size_t, std::size_t) { ++finished; };
  try {
    run_sweep(plan, writer, nullptr, options);
  } catch (const InputError& e) {
    EXPECT_EQ(finished, 0U);
    return e.what();
  }
  return "ran";
}

TEST(Sweep, APointThatCannotRunIsToldBeforeTheFirstRuns) {
  const std::string begin = "replications: 1\nworkload: {source: jrs-queue}\n";
  for (const unsigned threads : {1U, 4U}) {
    // Points whose experiment cannot be built, whose policy refuses the mode, and whose names match
    // no job.
    const std::string type = refusal_of(
        begin + "sweep:\n  grid:\n    cluster.nodes: [1, 2]\n    cluster.gpu_type: [T4, Z9, Z8]\n",
        threads);
    EXPECT_EQ(type.rfind("s.yaml:6:28: unknown GPU type 'Z9'", 0), 0U) << type;
    EXPECT_NE(type.find("[point 1 (cluster.nodes=1, cluster.gpu_type=Z9)]"), std::string::npos);
    const std::string mode = refusal_of(
        begin +
            "policies: [fcfs]\nsweep:\n  list:\n    - {cluster.nodes: 3}\n"
            "    - {control: {mode: rounds, round_s: 60}, 'policies[0]': kube-default}\n",
        threads);
    EXPECT_EQ(mode.rfind("s.yaml:7:61: policy 'kube-default'", 0), 0U) << mode;
    EXPECT_NE(mode.find("places jobs beside running ones"), std::string::npos) << mode;
    EXPECT_NE(mode.find("[point 1 ("), std::string::npos) << mode;
  }
}

TEST(Sweep, AStopDuringTheTrialsIsAStop) {
  const test::TemporaryDirectory directory;
  const SweepPlan plan = plan_of(kSmall);
  SweepJournalWriter writer(directory.path("j"), "test");
  writer.begin(sweep_identity(plan));
  const std::atomic<bool> stop{true};
  SweepOptions options;
  options.threads = 2;
  options.stop = &stop;
  const SweepOutcome outcome = run_sweep(plan, writer, nullptr, options);
  EXPECT_TRUE(outcome.interrupted());
  EXPECT_EQ(outcome.finished, 0U);
}

TEST(Sweep, WithManyPointsEveryValueIsTriedAndOfManyNumbersTheEnds) {
  const auto all = [](const SweepPlan& plan) {
    std::vector<std::size_t> points(plan.points());
    std::iota(points.begin(), points.end(), 0);
    return points;
  };
  const SweepPlan grid = plan_of(
      "sweep:\n  grid:\n    cluster.nodes: [1, 2, 4, 8]\n    cluster.sharing: [time-slicing, mps]\n"
      "    seed: [1, 2, 3, 4, 5, 6, 7, 8]\n");
  EXPECT_EQ(points_to_check(grid, all(grid)),
            (std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 16, 32, 48}));
  EXPECT_EQ(points_to_check(grid, {5, 40, 60}), (std::vector<std::size_t>{5, 40, 60}));

  const SweepPlan drawn = plan_of(
      "sweep:\n  random:\n    points: 3000\n    space:\n      belief.known: {uniform: [0, 1]}\n"
      "      world.fallback: {choice: [contention, cluster-mean]}\n");
  const std::vector<std::size_t> chosen = points_to_check(drawn, all(drawn));
  EXPECT_GE(chosen.size(), 3U);
  EXPECT_LE(chosen.size(), 4U);
  double least = 1;
  double greatest = 0;
  std::set<std::string> fallbacks;
  for (const std::size_t p : chosen) {
    least = std::min(least, drawn.config_of(p).belief.known);
    greatest = std::max(greatest, drawn.config_of(p).belief.known);
    fallbacks.emplace(drawn.config_of(p).world.fallback.text());
  }
  EXPECT_EQ(fallbacks.size(), 2U);
  for (const std::size_t p : all(drawn)) {
    EXPECT_GE(drawn.config_of(p).belief.known, least);
    EXPECT_LE(drawn.config_of(p).belief.known, greatest);
  }
}

// ---- the command --------------------------------------------------------------------------------

TEST(SweepCommand, WritesResultsOnceAndContinuesWhatWasStopped) {
  const test::TemporaryDirectory directory;
  directory.write("s.yaml", kSmall);
  const std::vector<std::string> run = {"sweep", "s.yaml", "--output", "r.h5", "--threads", "2"};
  const test::Outcome outcome = test::run_corun(run, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(test::read_file(directory.path("r.h5")), undisturbed());
  EXPECT_FALSE(std::filesystem::exists(directory.path("r.h5.journal")));

  const test::Outcome complete = test::run_corun(run, directory.path());
  EXPECT_EQ(complete.code, 0);
  EXPECT_NE(complete.err.find("was complete already"), std::string::npos) << complete.err;

  // Killed at its very end, between the results and the run file: the journal goes last.
  std::filesystem::remove(directory.path("r.h5.run.json"));
  directory.write("r.h5.run.json.corun-tmp-1", "{");
  run_small(directory.path("r.h5.journal"), 1);
  const test::Outcome ended = test::run_corun(run, directory.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(test::read_file(directory.path("r.h5")), undisturbed());
  EXPECT_TRUE(std::filesystem::exists(directory.path("r.h5.run.json")));
  EXPECT_FALSE(std::filesystem::exists(directory.path("r.h5.run.json.corun-tmp-1")));
  EXPECT_FALSE(std::filesystem::exists(directory.path("r.h5.journal")));

  std::filesystem::remove(directory.path("r.h5"));
  run_small(directory.path("r.h5.journal"), 1, {}, 4);
  const test::Outcome continued = test::run_corun(run, directory.path());
  EXPECT_EQ(continued.code, 0) << continued.err;
  EXPECT_EQ(test::read_file(directory.path("r.h5")), undisturbed());
  EXPECT_NE(
      test::read_file(directory.path("r.h5.run.json")).find("\"replications_kept_from_before\": 4"),
      std::string::npos);
}

// Programs that begin at once must not make the journal anew over each other's, nor continue one that
// another writes.
TEST(SweepCommand, OfManyStartedAtOnceOneRunsAndTheOthersAreRefused) {
  const std::string expected = undisturbed();
  for (int round = 0; round < 30; ++round) {
    const test::TemporaryDirectory directory;
    directory.write("s.yaml", kSmall);
    if (round % 3 == 1) run_small(directory.path("r.h5.journal"), 1, {}, 4);
    if (round % 3 == 2) directory.write("r.h5.journal", "corun sw");
    std::vector<test::Outcome> outcomes(8);
    {
      std::vector<std::jthread> programs;
      for (test::Outcome& outcome : outcomes) {
        programs.emplace_back([&] {
          outcome =
              test::run_corun({"sweep", "s.yaml", "--output", "r.h5", "--resume", "--threads", "2"},
                              directory.path());
        });
      }
    }
    std::size_t ran = 0;
    for (const test::Outcome& outcome : outcomes) {
      if (outcome.code == 0) {
        ++ran;
      } else {
        EXPECT_EQ(outcome.code, 2) << outcome.err;
        EXPECT_EQ(outcome.err,
                  "--output: 'r.h5.journal' is being written by another corun; wait "
                  "for it or choose another file\n");
      }
    }
    EXPECT_GE(ran, 1U);
    EXPECT_EQ(test::read_file(directory.path("r.h5")), expected) << "round " << round;
    EXPECT_FALSE(std::filesystem::exists(directory.path("r.h5.journal")));
  }
}

TEST(SweepCommand, PrintsEachNoteOnceWithItsPoints) {
  const test::TemporaryDirectory directory;
  std::string jobs = "job,submit_s,solo_s\n";
  for (int j = 0; j < 200; ++j) jobs += fmt::format("j{},{},100\n", j, 10 * j);
  directory.write("jobs.csv", jobs);
  directory.write("s.yaml",
                  "workload: {source: csv, path: jobs.csv}\npolicies: [fcfs]\nreplications: 1\n"
                  "sweep: {grid: {cluster.nodes: [2, 4, 40]}}\n");
  const test::Outcome outcome =
      test::run_corun({"sweep", "s.yaml", "--output", "r.h5"}, directory.path());
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto times = [&](const std::string& text) {
    std::size_t count = 0;
    for (std::size_t at = outcome.err.find(text); at != std::string::npos;
         at = outcome.err.find(text, at + 1)) {
      ++count;
    }
    return count;
  };
  EXPECT_EQ(times("note: 200 of 200 jobs have no profile at all"), 1U) << outcome.err;
  EXPECT_EQ(times("note: point 0 and 1 other: the jobs offer more work"), 1U) << outcome.err;
  const test::Outcome quiet =
      test::run_corun({"sweep", "s.yaml", "--output", "q.h5", "--quiet"}, directory.path());
  EXPECT_EQ(quiet.err, "");
}

/// The notes of points stay in the journal: the same bytes in one run, split, and continued from a part.
TEST(SweepCommand, NotesAreInTheResultsAndAnswersWithTheirPoints) {
  const test::TemporaryDirectory directory;
  std::string jobs = "job,submit_s,solo_s\n";
  for (int j = 0; j < 60; ++j) jobs += fmt::format("j{},{},100\n", j, 10 * j);
  directory.write("jobs.csv", jobs);
  directory.write("s.yaml",
                  "workload: {source: csv, path: jobs.csv}\npolicies: [fcfs, exclusive]\n"
                  "replications: 3\nsweep: {grid: {cluster.nodes: [2, 4, 40], control.start: "
                  "[group, join]}}\n");
  const auto run = [&](const std::vector<std::string>& arguments) {
    const test::Outcome outcome = test::run_corun(arguments, directory.path());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return outcome.out;
  };
  const auto bytes = [&](const std::string& file) { return test::read_file(directory.path(file)); };
  run({"sweep", "s.yaml", "--output", "whole.h5", "-q"});
  run({"sweep", "s.yaml", "--shard", "1/2", "--output", "one", "-q"});
  run({"sweep", "s.yaml", "--shard", "2/2", "--output", "two", "-q"});
  run({"sweep", "--merge", "two", "one", "--output", "merged.h5", "-q"});
  EXPECT_TRUE(bytes("whole.h5") == bytes("merged.h5"));
  std::filesystem::copy(directory.path("one"), directory.path("continued.h5.journal"));
  run({"sweep", "s.yaml", "--output", "continued.h5", "-q"});
  EXPECT_TRUE(bytes("whole.h5") == bytes("continued.h5"));

  const std::string overload = "the jobs offer more work than the cluster can do";
  const std::string profiles = "60 of 60 jobs have no profile";
  const SweepResults results = read_sweep_results(directory.path("whole.h5"));
  const auto points_of = [&](const std::string& text) {
    for (const SweepResults::Note& note : results.notes) {
      if (note.text.starts_with(text)) return note.points;
    }
    return std::vector<std::size_t>();
  };
  EXPECT_EQ(points_of(overload), (std::vector<std::size_t>{0, 1, 2, 3}));
  EXPECT_EQ(points_of(profiles), (std::vector<std::size_t>{0, 1, 2, 3, 4, 5}));

  const std::string table = run({"sweep", "--answers", "whole.h5", "--figure", "f.svg"});
  EXPECT_NE(table.find("\nnote, cluster.nodes=2 or 4: " + overload), std::string::npos) << table;
  EXPECT_NE(table.find("note, all points: " + profiles), std::string::npos) << table;
  EXPECT_NE(bytes("f.svg").find("Note, all points:"), std::string::npos);
  const auto json =
      nlohmann::json::parse(run({"sweep", "--answers", "whole.h5", "--format", "json"}));
  ASSERT_EQ(json["notes"].size(), results.notes.size());
  for (const auto& note : json["notes"]) {
    if (!note["text"].get<std::string>().starts_with(overload)) continue;
    EXPECT_EQ(note["where"], "cluster.nodes=2 or 4");
    EXPECT_EQ(note["points"].size(), 4U);
  }
  const std::string csv = run({"sweep", "--answers", "whole.h5", "--format", "csv"});
  EXPECT_NE(csv.find("\nnote,,"), std::string::npos);
}

TEST(SweepAnswers, PointsOfANoteInWords) {
  const SweepPlan plan = plan_of(
      "sweep: {grid: {cluster.nodes: [2, 4, 8], control.start: [group, join], world.noise: [true, "
      "false]}}");
  SweepResults results{plan, true, {}, {}};
  results.policies.push_back(
      {"fcfs", false, std::vector<std::vector<MetricValues>>(12, std::vector<MetricValues>(1))});
  const auto words = [&](const std::vector<std::size_t>& points) {
    return points_of_note(results, {"text", points});
  };
  EXPECT_EQ(words({0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), "all points");
  EXPECT_EQ(words({4, 5, 6, 7}), "cluster.nodes=4");
  EXPECT_EQ(words({0, 1, 2, 3, 8, 9, 10, 11}), "cluster.nodes=2 or 8");
  EXPECT_EQ(words({2, 3, 6, 7, 10, 11}), "control.start=join");
  EXPECT_EQ(words({3}), "point 3");
  EXPECT_EQ(words({0, 1, 2, 5, 7, 9}), "points 0, 1, 2, 5 and 2 more");
  results.policies[0].values[11].clear();  // a point that the file lacks
  EXPECT_EQ(words({8, 9, 10}), "cluster.nodes=8");
}

TEST(SweepCommand, AMistakeAtAPointLeavesNothingAndNamesThePoint) {
  const test::TemporaryDirectory directory;
  directory.write("s.yaml", "replications: 2\nsweep: {list: [{cluster.gpu_type: Z999}]}\n");
  const test::Outcome outcome =
      test::run_corun({"sweep", "s.yaml", "--output", "r.h5"}, directory.path());
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.err.rfind("s.yaml:2:35: unknown GPU type 'Z999'", 0), 0U) << outcome.err;
  EXPECT_NE(outcome.err.find("[point 0 (cluster.gpu_type=Z999)]"), std::string::npos);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(SweepCommand, FlagsThatMakeNoSenseAreRefused) {
  const test::TemporaryDirectory directory;
  directory.write("s.yaml", kSmall);
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& begin) {
    const test::Outcome outcome = test::run_corun(arguments, directory.path());
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(outcome.err.rfind(begin, 0), 0U) << outcome.err;
  };
  refused({"sweep"}, "corun sweep: ");
  refused({"sweep", "s.yaml"}, "--output: ");
  refused({"sweep", "s.yaml", "--output", "o", "--shard", "3/2"}, "--shard: ");
  refused({"sweep", "s.yaml", "--output", "o", "--shard", "0/2"}, "--shard: ");
  refused({"sweep", "s.yaml", "--output", "s.yaml"}, "--output: ");
  refused({"sweep", "s.yaml", "--partial", "--output", "o"}, "--partial: ");
  refused({"sweep", "s.yaml", "--merge", "a", "--output", "o"}, "corun sweep: ");
  refused({"sweep", "--merge", "s.yaml", "--output", "o"}, "s.yaml: is no journal");
  refused({"sweep", "--answers", "s.yaml"},
          "s.yaml: is a sweep, expected results of corun sweep; run it: corun sweep s.yaml");
  refused({"sweep", "--answers", "s.yaml", "--metrics", "isdd"}, "--metrics: ");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(directory.path()), {}), 1);
}

TEST(SweepCommand, OnePointIsDumpedAsAConfigurationOfItsOwn) {
  const test::TemporaryDirectory directory;
  directory.write("s.yaml", kSmall);
  const test::Outcome outcome =
      test::run_corun({"sweep", "s.yaml", "--dump-config", "--point", "4"}, directory.path());
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, dump_yaml(plan_of(kSmall).config_of(4)));
}

// ---- damaged results ------------------------------------------------------------------------------

/// The error of reading a results file of these bytes; empty if it can be read.
std::string refused_results(const test::TemporaryDirectory& directory, const std::string& bytes) {
  try {
    read_sweep_results(directory.write("damaged.h5", bytes));
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(SweepResults, NoChangedBitIsEverRead) {
  const test::TemporaryDirectory directory;
  const std::string whole = undisturbed();
  EXPECT_EQ(refused_results(directory, whole), "");
  std::mt19937 random(3);
  for (std::size_t at = 0; at < whole.size(); at += 1 + random() % 47) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ (1U << (random() % 8)));
    const std::string error = refused_results(directory, changed);
    ASSERT_EQ(error.rfind(directory.path("damaged.h5") + ": ", 0), 0U) << "byte " << at;
    ASSERT_NE(error.find("checksum"), std::string::npos) << error;
    ASSERT_EQ(error.find('\n'), std::string::npos) << error;
  }
}

TEST(SweepResults, MutatedOnesAreRefused) {
  const test::TemporaryDirectory directory;
  const std::string whole = undisturbed();
  std::mt19937 random(4);
  const auto place = [&](std::size_t less = 0) { return random() % (whole.size() - less); };
  for (int round = 0; round < 2500; ++round) {
    std::string changed = whole;
    switch (round % 5) {
      case 0:
        changed.resize(place());
        break;
      case 1:
        changed.erase(place(), 1 + random() % 64);
        break;
      case 2:
        changed.insert(place(), std::string(1 + random() % 64, static_cast<char>(random())));
        break;
      case 3:
        for (int i = 0; i < 20; ++i) changed[place()] = static_cast<char>(random());
        break;
      default:
        changed.replace(place(512), 512, whole, place(512), 512);
    }
    if (changed == whole) continue;
    ASSERT_NE(refused_results(directory, changed), "") << "round " << round;
  }
}

TEST(SweepResults, TheCommandSaysThatTheyAreDamaged) {
  const test::TemporaryDirectory directory;
  const std::string whole = undisturbed();
  const auto answers = [&](const std::string& bytes) {
    directory.write("r.h5", bytes);
    return test::run_corun({"sweep", "--answers", "r.h5", "--format", "json"}, directory.path());
  };
  EXPECT_EQ(answers(whole).code, 0);
  std::string changed = whole;
  changed[whole.size() / 2] ^= 4;
  const test::Outcome damaged = answers(changed);
  EXPECT_EQ(damaged.code, 2);
  EXPECT_EQ(damaged.out, "");
  EXPECT_EQ(damaged.err.rfind("r.h5: is damaged: ", 0), 0U) << damaged.err;
  const test::Outcome older = answers(whole.substr(0, whole.size() - 79));
  EXPECT_EQ(older.code, 2);
  EXPECT_EQ(older.err.rfind("r.h5: does not end with the checksum", 0), 0U) << older.err;
}

TEST(SweepSlurm, ScriptsQuoteWhatTheyAreGiven) {
  SlurmSweep sweep;
  sweep.program = "/opt/co run/corun";
  sweep.config = "/home/o'brien/s.yaml";
  sweep.options = {"--set", "policies=[{name: fcfs}]"};
  sweep.output = "/tmp/r.h5";
  sweep.tasks = 12;
  sweep.threads = 3;
  const std::vector<SlurmFile> files = slurm_files(sweep);
  ASSERT_EQ(files.size(), 3U);
  const auto has = [&](std::size_t file, const char* text) {
    EXPECT_NE(files[file].text.find(text), std::string::npos) << text << "\n" << files[file].text;
  };
  has(0, "#SBATCH --array=1-12\n");
  has(0, "#SBATCH --cpus-per-task=3\n");
  has(0, "'/opt/co run/corun' sweep '/home/o'\\''brien/s.yaml' '--set' 'policies=[{name: fcfs}]'");
  has(0, "--resume");
  has(1, "--merge shard-{1..12}.journal --output '/tmp/r.h5'");
  has(2, "--dependency=\"afterok:");
}

}  // namespace
}  // namespace corun::sweep_test
