#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

/// Recorded runs of other simulators, each in a folder `peers3/PEER/CASE`: every job ends at the same instant.
namespace corun::peer_cases_test {
namespace {

struct Case {
  std::string folder;              ///< within the public data
  std::string config;              ///< in experiments/peers
  std::string jobs;                ///< file of the trace
  std::string results, name, end;  ///< file, and its columns
};

/// CASE without "speed-" begins with the words that name the configuration, two of them.
std::vector<Case> cases_of(const std::string& peer) {
  std::vector<Case> found;
  const std::string root = "peers3/" + peer;
  if (!test::has_public_data(root)) return found;
  for (const auto& entry : std::filesystem::directory_iterator(test::public_data(root))) {
    const std::string folder = entry.path().filename().string();
    std::string name = folder.starts_with("speed-") ? folder.substr(6) : folder;
    std::size_t end = name.find('-');
    if (peer != "lucid") end = name.find('-', end + 1);
    Case c{root + "/" + folder,
           peer + "-" + name.substr(0, end) + ".yaml",
           "jobs.csv",
           "jobs.csv",
           "job",
           "end_s"};
    if (peer == "tiresias") {
      c.jobs = "jobs_in.csv";
      c.results = "jobs_out.csv";
      c.name = "job_id";
      c.end = "end_time";
    }
    found.push_back(c);
  }
  std::ranges::sort(found, {}, &Case::folder);
  return found;
}

std::int64_t whole(CsvReader& csv, const char* column) {
  return csv.integer(csv.column(column), {"a whole number"}).value();
}

/// Nodes and GPUs of each; Tiresias' cases have a file with switches, others the numbers in summary.json.
std::vector<std::string> cluster_of(const Case& c) {
  std::int64_t nodes = 0, gpus = 0;
  if (c.jobs == "jobs_in.csv") {
    CsvReader csv(test::public_data(c.folder + "/cluster.csv"),
                  {{"num_switch", true}, {"num_node_p_switch", true}, {"num_gpu_p_node", true}},
                  {',', true});
    EXPECT_TRUE(csv.next());
    nodes = whole(csv, "num_switch") * whole(csv, "num_node_p_switch");
    gpus = whole(csv, "num_gpu_p_node");
  } else {
    std::ifstream in(test::public_data(c.folder + "/summary.json"));
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    const auto number = [&](const std::string& key) {
      const std::size_t at = text.find("\"" + key + "\":");
      EXPECT_NE(at, std::string::npos) << key;
      return std::stoll(text.substr(at + key.size() + 3));
    };
    nodes = number("nodes");
    gpus = number("gpus_per_node");
  }
  return {"cluster.nodes=" + std::to_string(nodes),
          "cluster.gpus_per_node=" + std::to_string(gpus)};
}

void expect_equal_ends(const Case& c) {
  SCOPED_TRACE(c.folder + " by " + c.config);
  std::vector<std::string> settings = cluster_of(c);
  settings.push_back("workload.path=" + c.folder + "/" + c.jobs);
  if (c.jobs == c.results) settings.push_back("workload.source=finished-jobs");
  const Experiment experiment(
      read_config(std::string(CORUN_SOURCE_DIR "/experiments/peers/") + c.config,
                  parse_overrides(settings), policy_catalog()),
      test::public_data(""));
  const auto trace = experiment.make_trace(0);
  const PolicyRun run = experiment.run_policy(*trace, 0, experiment.policies().front(), {});
  std::map<std::string, Time> ends;
  for (std::size_t j = 0; j < trace->jobs.size(); ++j) {
    ends[trace->jobs[j].name] = run.record.jobs[j].finish;
  }
  CsvReader csv(test::public_data(c.folder + "/" + c.results), {{c.name, true}, {c.end, true}},
                {',', true});
  const auto name = csv.column(c.name);
  std::size_t rows = 0, equal = 0;
  std::string first;
  for (; csv.next(); ++rows) {
    const std::string job(csv.text(name));
    ASSERT_TRUE(ends.contains(job)) << job;
    const std::chrono::seconds expected{whole(csv, c.end.c_str())};
    equal += ends[job] == expected;
    if (ends[job] != expected && first.empty()) {
      first = "job " + job + " ends at " + std::to_string(to_seconds(ends[job])) + " s, not " +
              std::to_string(expected.count());
    }
  }
  EXPECT_EQ(rows, trace->jobs.size());
  EXPECT_EQ(equal, rows) << first;
}

class PeerCases : public testing::TestWithParam<const char*> {};

TEST_P(PeerCases, EveryJobEndsWhenItDoesThere) {
  const std::vector<Case> cases = cases_of(GetParam());
  if (cases.empty()) GTEST_SKIP() << test::not_checked("peers3/" + std::string(GetParam()));
  for (const Case& c : cases) expect_equal_ends(c);
}

INSTANTIATE_TEST_SUITE_P(Simulators, PeerCases, testing::Values("tiresias", "lucid", "blox"),
                         [](const auto& p) { return std::string(p.param); });

}  // namespace
}  // namespace corun::peer_cases_test
