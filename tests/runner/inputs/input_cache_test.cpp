#include "runner/inputs/input_cache.hpp"

#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "tests/helpers/temporary_directory.hpp"

/// Files of several experiments are read once, and results equal those without the cache.
namespace corun::input_cache_test {
namespace {

const std::string kHeader = "job,submit_s,solo_s\n";

TraceQuery csv_query(std::string path) {
  TraceQuery query;
  query.source = find_trace("csv");
  query.path = std::move(path);
  return query;
}

TEST(InputCache, ManyThreadsGetOneReading) {
  const test::TemporaryDirectory directory;
  std::string text = kHeader;
  for (int i = 0; i < 20'000; ++i) text += "j" + std::to_string(i) + ",0,1\n";
  const TraceQuery query = csv_query(directory.write("jobs.csv", text));
  InputCache cache;
  std::vector<std::shared_ptr<const TraceFile>> got(8);
  {
    std::vector<std::jthread> threads;
    for (auto& g : got) threads.emplace_back([&] { g = cache.trace(query); });
  }
  for (const auto& g : got) EXPECT_EQ(g, got.front());
  EXPECT_EQ(got.front()->trace.jobs.size(), 20'000U);
  EXPECT_EQ(cache.traces_read(), 1U);
}

TEST(InputCache, HoldsFewTracesAndLeavesThemToThoseWhoHaveThem) {
  const test::TemporaryDirectory directory;
  std::vector<TraceQuery> queries;
  for (std::size_t i = 0; i <= InputCache::kTracesMax; ++i) {
    queries.push_back(csv_query(directory.write(std::to_string(i), kHeader + "a,0,1\n")));
  }
  InputCache cache;
  const std::weak_ptr<const TraceFile> first = cache.trace(queries[0]);
  const std::weak_ptr<const TraceFile> second = cache.trace(queries[1]);
  const std::shared_ptr<const TraceFile> third = cache.trace(queries[2]);
  EXPECT_FALSE(first.expired());
  cache.trace(queries[0]);  // now the second is the least recently requested
  for (const TraceQuery& query : queries) {
    if (query != queries[1] && query != queries[2]) cache.trace(query);
  }
  EXPECT_FALSE(first.expired());
  EXPECT_TRUE(second.expired());
  EXPECT_EQ(cache.traces_read(), queries.size());
  cache.trace(queries[1]);
  EXPECT_EQ(cache.traces_read(), queries.size() + 1);
  EXPECT_EQ(third->trace.jobs.front().name, "a");
}

TEST(InputCache, AFileThatChangedIsReadAgain) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("jobs.csv", kHeader + "a,0,1\n");
  InputCache cache;
  EXPECT_EQ(cache.trace(csv_query(path))->trace.jobs.front().name, "a");
  EXPECT_EQ(cache.sha256(path), sha256_of_file(path));
  directory.write("other", kHeader + "b,0,1\n");
  std::filesystem::rename(directory.path("other"), path);  // same size, perhaps the same time
  EXPECT_EQ(cache.trace(csv_query(path))->trace.jobs.front().name, "b");
  EXPECT_EQ(cache.sha256(path), sha256_of_file(path));
  EXPECT_EQ(cache.traces_read(), 2U);
}

TEST(InputCache, AMistakeIsToldEachTimeUntilItIsCorrected) {
  const test::TemporaryDirectory directory;
  const std::string path = directory.write("jobs.csv", kHeader + "a,0,none\n");
  InputCache cache;
  EXPECT_THROW(cache.trace(csv_query(path)), InputError);
  EXPECT_THROW(cache.trace(csv_query(path)), InputError);
  directory.write("jobs.csv", kHeader + "a,0,1\n");
  EXPECT_EQ(cache.trace(csv_query(path))->trace.jobs.size(), 1U);
}

// ---- experiments that share ---------------------------------------------------------------------

Config configured(const std::vector<std::string>& settings) {
  return parse_config("replications: 1\n", "c.yaml", parse_overrides(settings), policy_catalog());
}

std::vector<MetricValues> metrics_of(const Experiment& experiment) {
  std::vector<MetricValues> all;
  for (const PolicyRun& run : experiment.run(0).runs) all.push_back(run.metrics);
  return all;
}

/// Compares values; NaN equals NaN.
void expect_equal(const std::vector<MetricValues>& a, const std::vector<MetricValues>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    for (std::size_t m = 0; m < kMetricCount; ++m) {
      if (std::isnan(a[i][m]) && std::isnan(b[i][m])) continue;
      EXPECT_EQ(a[i][m], b[i][m]) << i << " " << m;
    }
  }
}

const std::string kExamples = CORUN_SOURCE_DIR "/examples/";
const std::string kCorpus = CORUN_SOURCE_DIR "/tests/fuzz/corpus/";

TEST(InputCache, ExperimentsComeOutAsWithoutIt) {
  const std::vector<std::vector<std::string>> cases = {
      {"workload.source=csv", "workload.path=" + kExamples + "jobs.csv",
       "world.path=" + kExamples + "mine.corun.csv", "policies=[fcfs, min-slowdown, oracle]"},
      {"workload.source=gavel", "workload.path=" + kExamples + "gavel.csv",
       "world.path=" + kExamples + "gavel_rates.json", "world.fallback=cluster-mean",
       "world.noise=false", "policies=[fcfs, min-slowdown, oracle]"},
      // Jobs that name GPU models are adapted to the cluster in a copy per experiment.
      {"workload.source=openb", "workload.path=" + kCorpus + "openb/small.csv",
       "policies=[fcfs, fgd]", "cluster.gpus_per_node=2"}};
  for (const std::vector<std::string>& settings : cases) {
    const auto cache = std::make_shared<InputCache>();
    for (const char* nodes : {"2", "3", "2"}) {
      std::vector<std::string> all = settings;
      all.push_back("cluster.nodes=" + std::string(nodes));
      const Experiment alone(configured(all), "");
      const Experiment sharing(configured(all), "", {}, nullptr, cache);
      EXPECT_EQ(sharing.inputs(), alone.inputs());
      EXPECT_EQ(sharing.input_files(), alone.input_files());
      EXPECT_EQ(sharing.notes(), alone.notes());
      expect_equal(metrics_of(sharing), metrics_of(alone));
    }
    EXPECT_EQ(cache->traces_read(), 1U);
  }
}

TEST(InputCache, ExperimentsShareTheVeryTraceAndOtherKeysMakeAnother) {
  const auto cache = std::make_shared<InputCache>();
  const auto trace_of = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = {"workload.source=gavel",
                                    "workload.path=" + kExamples + "gavel.csv",
                                    "world.path=" + kExamples + "gavel_rates.json",
                                    "world.fallback=cluster-mean",
                                    "world.noise=false",
                                    "policies=[fcfs]"};
    all.insert(all.end(), more.begin(), more.end());
    return Experiment(configured(all), "", {}, nullptr, cache).make_trace(0);
  };
  const auto one = trace_of({"cluster.nodes=2"});
  EXPECT_EQ(trace_of({"cluster.nodes=5", "seed=3"}), one);
  const auto slow = trace_of({"cluster.gpu_type=K80"});  // other rates, other run times
  EXPECT_NE(slow, one);
  EXPECT_GT(slow->jobs[0].spec.work, one->jobs[0].spec.work);
  EXPECT_EQ(cache->traces_read(), 2U);
}

}  // namespace
}  // namespace corun::input_cache_test
