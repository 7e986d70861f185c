#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/experiment/experiment.hpp"
#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"
#include "traces/tables/lucid_pairs.hpp"

/// Lucid's simulator (Hu et al., ASPLOS 2023) on its own traces: when every job starts and ends, to
/// the second. Without sharing, compared with its printed results; with sharing, with its rules,
/// simulated second by second here.
namespace corun::lucid_peers_test {
namespace {

struct Span {
  std::int64_t submit, start, end;
};

class Peer {
 public:
  Peer(const std::string& config, const std::vector<std::string>& overrides)
      : experiment_(read_config(std::string(CORUN_SOURCE_DIR) + "/experiments/peers/" + config,
                                parse_overrides(overrides), policy_catalog()),
                    test::public_data("")),
        trace_(experiment_.make_trace(0)),
        run_(experiment_.run_policy(*trace_, 0, experiment_.policies().front(), {})) {}

  const Trace& trace() const { return *trace_; }
  const MetricValues& metrics() const { return run_.metrics; }
  Span span(std::size_t job) const {
    const JobRecord& r = run_.record.jobs[job];
    return {seconds(r.submit), seconds(*r.first_start), seconds(r.finish)};
  }

 private:
  static std::int64_t seconds(Time t) {
    EXPECT_EQ(t.count() % 1'000'000'000, 0);
    return t.count() / 1'000'000'000;
  }
  Experiment experiment_;
  std::shared_ptr<const Trace> trace_;
  PolicyRun run_;
};

struct Case {
  std::string trace, policy;
  int nodes;
  double jct, queue, last_end;
};

class LucidWithoutSharing : public testing::TestWithParam<Case> {};

TEST_P(LucidWithoutSharing, StartsAndEndsEveryJobAsThePeerDoes) {
  const Case& c = GetParam();
  const std::string trace = "peers/lucid/" + c.trace + ".csv";
  const std::string results =
      "peers/lucid/jobs_" + c.trace + "_" + c.policy + "_" + std::to_string(c.nodes) + ".csv";
  for (const std::string& file : {trace, results}) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  }
  const Peer peer("lucid-" + c.policy + ".yaml",
                  {"workload.path=" + trace, "cluster.nodes=" + std::to_string(c.nodes)});
  CsvReader csv(test::public_data(results),
                {{"job_id", true}, {"submit_time", true}, {"start_time", true}, {"end_time", true}},
                {',', true});
  const auto id = csv.column("job_id");
  const auto start = csv.column("start_time");
  const auto end = csv.column("end_time");
  std::map<std::string, std::size_t> place;
  for (std::size_t j = 0; j < peer.trace().jobs.size(); ++j) place[peer.trace().jobs[j].name] = j;
  std::size_t rows = 0;
  for (; csv.next(); ++rows) {
    const std::string name(csv.text(id));
    ASSERT_TRUE(place.contains(name)) << name;
    const Span span = peer.span(place[name]);
    EXPECT_EQ(span.start, csv.integer(start, {"seconds"})) << "job " << name;
    EXPECT_EQ(span.end, csv.integer(end, {"seconds"})) << "job " << name;
  }
  EXPECT_EQ(rows, peer.trace().jobs.size());
  EXPECT_NEAR(at(peer.metrics(), Metric::kJctS), c.jct, 1e-3);
  EXPECT_NEAR(at(peer.metrics(), Metric::kQueueS), c.queue, 1e-3);
  EXPECT_NEAR(at(peer.metrics(), Metric::kLastEndS), c.last_end, 1e-6);
}

// Average JCT, average queueing delay and last end, in seconds, as the peer prints them.
INSTANTIATE_TEST_SUITE_P(
    Cases, LucidWithoutSharing,
    testing::Values(Case{"philly4_d100_200", "fifo", 8, 3221.355, 1350.205, 29467},
                    Case{"philly4_d100_200", "fifo", 16, 2050.990, 179.840, 25327},
                    Case{"philly4_d100_200", "sjf", 8, 2828.905, 957.755, 28835},
                    Case{"philly4_d100_200", "sjf", 16, 2021.320, 150.170, 25199},
                    Case{"philly3_d100_all", "fifo", 8, 9917.5917, 9448.8548, 81720},
                    Case{"philly3_d100_all", "fifo", 16, 670.5938, 201.8569, 81720},
                    Case{"philly3_d100_all", "sjf", 8, 2621.1058, 2152.3690, 81720},
                    Case{"philly3_d100_all", "sjf", 16, 532.3044, 63.5675, 81720}),
    [](const auto& c) {
      return c.param.trace + "_" + c.param.policy + "_" + std::to_string(c.param.nodes);
    });

/// The rules of sharing, one second after the other, over nodes of eight GPUs. Work is counted in
/// type Work: the peer's doubles, or integer millionths, so that a rate of few digits is a whole
/// number per second.
template <typename Work>
std::vector<Span> naive_sharing(const Trace& trace, const std::vector<LucidRates>& rates,
                                int nodes) {
  constexpr int kPerNode = 8;
  constexpr double kMemoryMib = 24576;
  struct Job {
    std::int64_t submit = 0, duration = 0;
    int gpus = 1;
    double memory = 0;
    int label = 0;
    WorkloadKey workload = kUnknownWorkload;
    Work remaining = 0, rate = 0;
    std::optional<std::size_t> co_runner;
    std::vector<int> on;  ///< node of each of its GPUs
    std::int64_t start = -1, end = -1;
  };
  const Work second = std::is_integral_v<Work> ? 1'000'000 : 1;
  const auto rate_of = [&](double speed) {
    if constexpr (std::is_integral_v<Work>) {
      return static_cast<Work>(std::llround(speed * 1e6));
    } else {
      return speed;
    }
  };
  std::vector<Job> jobs;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const JobSpec& spec = trace.jobs[j].spec;
    Job job;
    job.submit = spec.submit.count() / 1'000'000'000;
    job.duration = spec.work.count() / 1'000'000'000;
    job.gpus = spec.gpus;
    job.memory = spec.profile.mem_used_mib.value_or(0);
    job.label = spec.profile.packing_label.value_or(0);
    job.workload = trace.jobs[j].key;
    job.remaining = second * static_cast<Work>(job.duration);
    job.rate = second;
    jobs.push_back(job);
  }
  const auto rates_of = [&](WorkloadKey a, WorkloadKey b) {
    for (const LucidRates& row : rates) {
      if (row.workloads[0] == a && row.workloads[1] == b) return row.speeds;
    }
    for (const LucidRates& row : rates) {
      if (row.workloads[0] == b && row.workloads[1] == a) {
        return std::array{row.speeds[1], row.speeds[0]};
      }
    }
    return std::array{1.0, 1.0};
  };
  std::vector<int> free(static_cast<std::size_t>(nodes), kPerNode);
  const auto place = [&](int gpus) {
    std::vector<int> on;
    std::vector<int> order(free.size());
    std::iota(order.begin(), order.end(), 0);
    if (gpus <= kPerNode) {
      std::ranges::stable_sort(order, {}, [&](int n) { return free[n]; });
      for (const int n : order) {
        if (free[n] >= gpus) return std::vector<int>(gpus, n);
      }
      return on;
    }
    std::ranges::stable_sort(order, std::greater{}, [&](int n) { return free[n]; });
    std::size_t at = 0;
    for (int left = gpus; left > 0; ++at) {
      const int here = std::min(left, kPerNode);
      if (at == order.size() || free[order[at]] < here) return std::vector<int>();
      on.insert(on.end(), here, order[at]);
      left -= here;
    }
    return on;
  };

  std::vector<std::size_t> queue, running;  // running in order of start
  std::size_t arrived = 0, over = 0;
  std::vector<std::size_t> by_submit(jobs.size());
  std::iota(by_submit.begin(), by_submit.end(), 0);
  std::ranges::stable_sort(by_submit, {}, [&](std::size_t j) { return jobs[j].submit; });
  for (std::int64_t now = 0; over < jobs.size(); ++now) {
    std::vector<std::size_t> still;
    for (const std::size_t j : running) {
      Job& job = jobs[j];
      if (job.remaining > 0) {
        job.remaining -= job.rate;
        still.push_back(j);
        continue;
      }
      job.end = now;
      ++over;
      if (job.co_runner) {
        Job& co_runner = jobs[*job.co_runner];
        co_runner.rate = second;
        co_runner.co_runner.reset();
      } else {
        for (const int n : job.on) ++free[n];
      }
    }
    running = still;
    for (; arrived < jobs.size() && jobs[by_submit[arrived]].submit == now; ++arrived) {
      queue.push_back(by_submit[arrived]);
    }
    const auto length = [&](std::size_t j) { return jobs[j].duration * jobs[j].gpus; };
    std::ranges::stable_sort(queue, {}, length);
    std::vector<std::size_t> waiting;
    for (const std::size_t j : queue) {
      Job& job = jobs[j];
      bool started = false;
      for (const std::size_t r : job.gpus <= kPerNode ? running : std::vector<std::size_t>()) {
        Job& host = jobs[r];
        if (host.co_runner || host.gpus != job.gpus || host.memory + job.memory >= kMemoryMib ||
            host.label + job.label > 2 || length(j) > 2 * length(r)) {
          continue;
        }
        const auto [own, its] = rates_of(job.workload, host.workload);
        job.rate = rate_of(own);
        host.rate = rate_of(its);
        job.co_runner = r;
        host.co_runner = j;
        job.on = host.on;
        started = true;
        break;
      }
      if (!started) {
        job.on = place(job.gpus);
        started = !job.on.empty();
        for (const int n : job.on) --free[n];
      }
      if (started) {
        job.start = now;
        running.push_back(j);
      } else {
        waiting.push_back(j);
      }
    }
    queue = waiting;
  }
  std::vector<Span> spans;
  for (const Job& job : jobs) spans.push_back({job.submit, job.start, job.end});
  return spans;
}

class LucidWithSharing : public testing::TestWithParam<std::pair<std::string, int>> {};

TEST_P(LucidWithSharing, StartsAndEndsEveryJobByTheRules) {
  const auto& [name, nodes] = GetParam();
  const std::string trace = "peers/lucid/" + name + ".csv";
  const std::string pairs = "lucid/lucid_pairs.csv";
  for (const std::string& file : {trace, pairs, std::string("lucid/lucid_solo.csv")}) {
    if (!test::has_public_data(file)) GTEST_SKIP() << test::not_checked(file);
  }
  const Peer peer("lucid-sharing.yaml",
                  {"workload.path=" + trace, "cluster.nodes=" + std::to_string(nodes)});
  WorkloadKeys keys;  // separate from the experiment's
  const std::vector<LucidRates> rates = read_lucid_rates(test::public_data(pairs), keys);
  Trace again = peer.trace();
  {
    CsvReader csv(test::public_data(trace),
                  {{"model", true}, {"dataset", true}, {"batchsize", true}, {"amp", true}},
                  {',', true});
    for (std::size_t j = 0; csv.next(); ++j) {
      std::string text;
      for (const char* part : {"model", "dataset", "batchsize", "amp"}) {
        text.append(text.empty() ? "" : "|").append(csv.text(csv.column(part)));
      }
      again.jobs.at(j).key = keys.of(text);
    }
  }
  const std::vector<Span> exact = naive_sharing<std::int64_t>(again, rates, nodes);
  const std::vector<Span> rounded = naive_sharing<double>(again, rates, nodes);
  double jct = 0, rounded_jct = 0;
  for (std::size_t j = 0; j < exact.size(); ++j) {
    const Span found = peer.span(j);
    EXPECT_EQ(found.start, exact[j].start) << "job " << peer.trace().jobs[j].name;
    EXPECT_EQ(found.end, exact[j].end) << "job " << peer.trace().jobs[j].name;
    jct += static_cast<double>(found.end - found.submit);
    rounded_jct += static_cast<double>(rounded[j].end - rounded[j].submit);
  }
  // The peer subtracts a rate a thousand times and rounds each time, which sometimes shifts a tick.
  EXPECT_NEAR(jct, rounded_jct, 2e-5 * rounded_jct);
}

INSTANTIATE_TEST_SUITE_P(Cases, LucidWithSharing,
                         testing::Values(std::pair{std::string("philly4_d100_200"), 8},
                                         std::pair{std::string("philly4_d100_200"), 2},
                                         std::pair{std::string("philly4_d100_200"), 16},
                                         std::pair{std::string("philly3_d100_all"), 16}),
                         [](const auto& c) {
                           return c.param.first + "_" + std::to_string(c.param.second);
                         });

}  // namespace
}  // namespace corun::lucid_peers_test
