#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "bench/synthetic_belief.hpp"
#include "policies/catalog.hpp"
#include "policies/groups/matching.hpp"
#include "policies/groups/sparse_matching.hpp"
#include "results/decision_times.hpp"

/// Policies over large queues: the loss of a sparse matching against the full one, and the time of a
/// scheduling pass with thousands of waiting jobs. Prints the two tables of bench/performance.md
/// (bench/matching.py inserts them).
///
///   matching_bench loss|pass [JOBS [BELIEF]]
///
/// Beliefs: synthetic_belief.hpp. Times are CPU time, one thread.
namespace {

using namespace corun;  // NOLINT: a program of one file
using bench::belief_of;

/// CPU time of this program, which uses one thread: other programs on the machine have little effect.
struct Clock {
  using time_point = std::clock_t;
  static time_point now() { return std::clock(); }
};

double seconds_since(Clock::time_point start) {
  return static_cast<double>(Clock::now() - start) / CLOCKS_PER_SEC;
}

std::vector<JobId> first_jobs(std::size_t n) {
  std::vector<JobId> jobs;
  for (std::uint32_t i = 0; i < n; ++i) jobs.push_back(JobId{i});
  return jobs;
}

/// Cost of the full matching.
double full_matching(const Belief& belief, const std::vector<JobId>& jobs) {
  const std::size_t n = jobs.size();
  std::vector<double> cost(n * n, 0);
  // All pairs at once: the quickest query of a belief.
  const std::vector<CoRunner> all = belief.top_co_runners({.jobs = jobs, .k = n - 1}, {});
  for (std::size_t x = 0; x < all.size(); ++x) {
    cost[x / (n - 1) * n + all[x].position] = all[x].cost;
  }
  const std::vector<std::int32_t> full = min_cost_matching(cost, n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    if (full[i] > static_cast<std::int32_t>(i)) {
      sum += cost[i * n + static_cast<std::size_t>(full[i])];
    }
  }
  return sum;
}

/// `given` 0: sizes for which the full matching takes up to half a minute, then 2,000 jobs without it.
void losses(std::size_t given, const std::string& only) {
  fmt::print(
      "| belief | jobs | full matching | sparse matching | searches | pairs kept | lost | "
      "proven to lose at most |\n|---|---:|---:|---:|---:|---:|---:|---:|\n");
  struct Row {
    std::string name;
    std::size_t jobs;
    bool with_full;
  };
  const std::array<Row, 5> rows{{{"contention", 1000, true},
                                 {"contention", 2000, false},
                                 {"gp", 1000, true},
                                 {"gp", 2000, false},
                                 {"random", 2000, true}}};
  for (const auto& [name, jobs_of_row, with_full] : rows) {
    if ((!only.empty() && only != name) || (given > 0 && !with_full)) continue;
    const std::size_t n = given > 0 ? given : jobs_of_row;
    const std::unique_ptr<Belief> belief = belief_of(name, n);
    const std::vector<JobId> jobs = first_jobs(n);
    auto start = Clock::now();
    const SparseMatching sparse = sparse_matching(*belief, jobs, {});
    const double sparse_s = seconds_since(start);
    std::string full_time = "-";
    std::string lost = "-";
    if (with_full) {
      start = Clock::now();
      const double optimum = full_matching(*belief, jobs);
      full_time = fmt::format("{:.2f} s", seconds_since(start));
      lost = fmt::format("{:.3f} %", 100 * (sparse.cost - optimum) / optimum);
    }
    fmt::print("| `{}` | {} | {} | {:.2f} s | {} | {:.1f} % | {} | {:.3f} % |\n", name, n,
               full_time, sparse_s, sparse.rounds,
               100 * static_cast<double>(sparse.edges) / (static_cast<double>(n * (n - 1)) / 2),
               lost, 100 * sparse.loss() / sparse.cost);
    std::fflush(stdout);
  }
}

/// Passes of a policy over a queue of constant length: GPUs for `starts` groups become free, as many jobs
/// arrive as start, and one co-run is learnt.
struct PassTimes {
  double first_s = 0;  ///< a new queue on an empty cluster
  DecisionTimes next;
};

PassTimes passes_of(const char* policy_name, Parameters parameters, const std::string& belief_name,
                    std::size_t n, int gpus, std::size_t passes, bool learns) {
  constexpr std::size_t kStarts = 4;
  const std::size_t total = n + 2 * (static_cast<std::size_t>(gpus) + kStarts * passes);
  const auto cluster_of = [](int node_gpus) {
    NodeSpec node;
    node.gpus = node_gpus;
    ClusterSpec spec;
    spec.nodes.push_back(node);
    return spec;
  };
  const ClusterSpec whole = cluster_of(gpus);
  const ClusterSpec part = cluster_of(static_cast<int>(kStarts));
  const ClusterState empty(whole);
  const ClusterState few(part);
  std::vector<JobView> job_views(total);
  for (std::size_t j = 0; j < total; ++j) job_views[j].id = static_cast<JobId>(j);
  const auto policy = find_policy(policy_name)
                          ->make({std::move(parameters), belief_of(belief_name, total), 1, false});
  std::vector<JobId> waiting = first_jobs(n);
  std::size_t next = n;
  std::size_t told = 0;
  PassTimes out;
  for (std::size_t pass = 0; pass <= passes; ++pass) {
    std::vector<Decision> decisions;
    for (; told < next; ++told) policy->arrived(job_views[told], Time{1});
    const ClusterView view(Time{1}, StartMode::kGroup, waiting, job_views, pass == 0 ? empty : few,
                           0, 1, pass + 1);
    const auto start = Clock::now();
    policy->decide(view, decisions);
    const double took = seconds_since(start);
    if (pass == 0) {
      out.first_s = took;
    } else {
      out.next.add(took);
    }
    std::vector<JobId> started;
    for (const Decision& d : decisions) {
      const auto& group = std::get<StartGroup>(d).jobs;
      started.insert(started.end(), group.begin(), group.end());
    }
    std::ranges::sort(started);
    std::erase_if(waiting, [&](JobId j) { return std::ranges::binary_search(started, j); });
    for (std::size_t j = 0; j < started.size(); ++j) waiting.push_back(static_cast<JobId>(next++));
    if (!learns || started.size() < 2) continue;
    const std::vector<MemberOutcome> members = {
        {started[0], std::chrono::seconds{100}, std::chrono::seconds{120}, 0.2},
        {started[1], std::chrono::seconds{100}, std::chrono::seconds{125}, 0.25}};
    policy->corun_ended(
        {members, std::chrono::seconds{125}, 0.37, true, std::chrono::seconds{125}});
  }
  return out;
}

void passes(std::size_t n, const std::string& only) {
  constexpr int kGpus = 1000;
  fmt::print(
      "| policy | belief | waiting | first pass, {} GPUs empty | later passes, 4 empty: p50 | "
      "p99 | longest |\n|---|---|---:|---:|---:|---:|---:|\n",
      kGpus);
  for (const char* belief : {"contention", "random"}) {
    if (!only.empty() && only != belief) continue;
    for (const char* policy : {"incremental-matching", "min-slowdown"}) {
      const bool kept = policy == std::string("incremental-matching");
      Parameters parameters(find_policy(policy)->parameters);
      parameters.set("window", static_cast<std::int64_t>(n));
      const PassTimes t =
          passes_of(policy, std::move(parameters), belief, n, kGpus, kept ? 200 : 1, kept);
      fmt::print("| `{}` | `{}` | {} | {:.2f} s | {:.0f} ms | {:.0f} ms | {:.0f} ms |\n", policy,
                 belief, n, t.first_s, 1e3 * t.next.quantile_s(0.5), 1e3 * t.next.quantile_s(0.99),
                 1e3 * t.next.max_s());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const long jobs = argc > 2 ? std::strtol(argv[2], nullptr, 10) : what == "loss" ? 0 : 10000;
  if ((what != "loss" && what != "pass") || argc > 4 || (argc > 2 && jobs < 4) || jobs > 100000) {
    std::fprintf(stderr, "usage: matching_bench loss|pass [JOBS [BELIEF]]\n");
    return 2;
  }
  const auto n = static_cast<std::size_t>(jobs);
  const std::string only = argc > 3 ? argv[3] : "";
  if (what == "loss") {
    losses(n, only);
  } else {
    passes(n, only);
  }
}
