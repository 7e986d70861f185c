#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/parallel_for.hpp"
#include "tests/helpers/invariants.hpp"
#include "tests/helpers/random_runs.hpp"
#include "tests/helpers/scenarios.hpp"

/// Properties of srsf-packed on fuzzed workloads: gangs of 1 to 64, equal times, jobs of a nanosecond, parts of
/// GPUs, CPU and memory of nodes. The checks go by the event log alone.
namespace corun::test::srsf_packed_properties_test {
namespace {

struct Case {
  ClusterSpec cluster;
  OwnedWorkload workload;
  PreemptionLoss loss;  ///< as the policy is told
  bool preemptive = false;
  double patience = 50;
  std::int64_t reservations = 3;
  double gain = 0.2;
  std::uint64_t seed = 0;
};

struct Limits {
  std::uint32_t jobs = 60;
  bool parts = true;
  bool gangs = true;
};

/// Times are drawn from few values, so that many are equal; one in eight jobs takes 1 ns.
Case random_case(std::uint64_t seed, const Limits& limits = {}) {
  Rng rng(seed, Stream::kTest, 30);
  Case c;
  c.seed = seed;
  const int nodes = static_cast<int>(1 + rng.below(8));
  const int per_node = 1 << rng.below(4);
  c.cluster = cluster(nodes, per_node, 1, 1000);
  const bool parts = limits.parts && rng.below(2) == 0;
  for (NodeSpec& n : c.cluster.nodes) {
    n.cpu_milli = 1000 * per_node;
    n.memory_mib = 100 * per_node;
  }
  const int gpus = c.cluster.gpu_count();
  std::vector<JobSpec> jobs;
  const std::uint32_t count = 1 + rng.below(limits.jobs);
  for (std::uint32_t i = 0; i < count; ++i) {
    JobBuilder j = job(rng.below(8) == 0 ? nanoseconds(1) : seconds(1 + 10 * rng.below(12)));
    j.at(seconds(5 * rng.below(20)));
    int gang = 1;
    if (limits.gangs) gang = std::min(gpus, 1 << rng.below(7));
    j.gpus(gang);
    if (rng.below(3) == 0) j.memory(100 * (1 + rng.below(9)));
    if (parts && gang == 1 && rng.below(2) == 0)
      j.milli(static_cast<int>(125 * (1 + rng.below(7))));
    if (parts && gang <= per_node && rng.below(2) == 0) {
      j.requests(500 * (1 + rng.below(2)) * std::max(1, gang / 2), 50 * rng.below(3));
    }
    jobs.push_back(j);
  }
  c.workload = workload(std::move(jobs));
  c.preemptive = rng.below(2) == 0;
  c.patience = rng.below(3) == 0 ? 0 : 2.0 * (1 + rng.below(10));
  c.reservations = rng.below(4);
  c.gain = 0.2 * rng.below(3);
  return c;
}

RunResult simulate(const Case& c, const World& world) {
  const PolicyEntry& entry = *find_policy("srsf-packed");
  Parameters parameters(entry.parameters);
  parameters.set("mode", std::string(c.preemptive ? "preemptive" : "non-preemptive"));
  parameters.set("patience", c.patience);
  parameters.set("reservations", c.reservations);
  parameters.set("gain", c.gain);
  std::vector<Duration> solo;
  for (const JobSpec& j : c.workload.jobs) solo.push_back(j.work);
  PolicyContext context{parameters, std::make_unique<TruthBelief>(world, std::move(solo), false),
                        c.seed};
  context.preemption = c.loss;
  const auto policy = entry.make(std::move(context));
  RunOptions options;
  options.name = "srsf-packed";
  options.traits = entry.traits_for(parameters);
  options.simulation.preemption.restore = from_seconds(c.loss.seconds);
  options.simulation.preemption.lost_work = c.loss.work;
  return run(c.cluster, c.workload, world, *policy, options);
}

std::string first_few(const Violations& v) {
  std::string out;
  for (std::size_t i = 0; i < v.size() && i < 5; ++i) out += "\n  " + v[i];
  return out;
}

/// What the log says of each node and GPU, kept apart from the policy's own books.
class Books {
 public:
  explicit Books(const Case& c) : c_(c), on_(static_cast<std::size_t>(c.cluster.gpu_count())) {
    for (std::size_t n = 0; n < c.cluster.nodes.size(); ++n) {
      left_.push_back({c.cluster.nodes[n].cpu_milli, c.cluster.nodes[n].memory_mib});
      first_.push_back(static_cast<std::uint32_t>(node_of_.size()));
      node_of_.insert(node_of_.end(), static_cast<std::size_t>(c.cluster.nodes[n].gpus), n);
    }
  }

  void take(const LogEntry& e) {
    switch (e.kind) {
      case LogKind::kArrive:
        waiting_.insert(e.job);
        break;
      case LogKind::kStart:
        waiting_.erase(e.job);
        gpus_[e.job] = e.gpus;
        for (const GpuId g : e.gpus) on_[index(g)].insert(e.job);
        ask(e.job, -1);
        break;
      case LogKind::kPreempt:
      case LogKind::kOom:
        leave(e.job);
        waiting_.insert(e.job);
        break;
      default:
        leave(e.job);
    }
  }

  /// No resource of a node or GPU has been given out twice; empty if so.
  std::string excess() const {
    for (std::size_t g = 0; g < on_.size(); ++g) {
      int parts = 0;
      int wholes = 0;
      for (const JobId j : on_[g]) {
        const int milli = spec(j).gpu_milli;
        parts += milli < 1000 ? milli : 0;
        wholes += milli == 1000 ? 1 : 0;
      }
      if (parts > 1000) return "parts of GPU " + std::to_string(g) + ": " + std::to_string(parts);
      if (parts > 0 && wholes > 0) return "a part beside a whole job on GPU " + std::to_string(g);
      if (wholes > 2) return "three jobs on GPU " + std::to_string(g);
    }
    for (std::size_t n = 0; n < left_.size(); ++n) {
      if (left_[n].cpu_milli < 0 || left_[n].memory_mib < 0) {
        return "CPU or memory of node " + std::to_string(n);
      }
    }
    return "";
  }

  /// A waiting job for which there is room that no job uses; kNoJob: none.
  JobId left_waiting() const {
    for (const JobId j : waiting_) {
      for (std::size_t n = 0; n < left_.size(); ++n) {
        if (has_room(n, j)) return j;
      }
    }
    return kNoJob;
  }

 private:
  const JobSpec& spec(JobId j) const { return c_.workload.jobs[index(j)]; }
  bool is_wide(JobId j) const {
    return std::ranges::none_of(c_.cluster.nodes,
                                [&](const NodeSpec& n) { return n.gpus >= spec(j).gpus; });
  }
  void ask(JobId j, int sign) {
    if (is_wide(j)) return;
    ResourceRequest& left = left_[node_of_[index(gpus_.at(j).front())]];
    left.cpu_milli += sign * spec(j).request.cpu_milli;
    left.memory_mib += sign * spec(j).request.memory_mib;
  }
  void leave(JobId j) {
    const auto at = gpus_.find(j);
    if (at == gpus_.end()) return;
    for (const GpuId g : at->second) on_[index(g)].erase(j);
    ask(j, 1);
    gpus_.erase(at);
  }
  /// Empty GPUs for the whole job on this node.
  bool has_room(std::size_t n, JobId j) const {
    const ResourceRequest& asked = spec(j).request;
    if (asked.cpu_milli > left_[n].cpu_milli && asked.cpu_milli > 0) return false;
    if (asked.memory_mib > left_[n].memory_mib && asked.memory_mib > 0) return false;
    int empty = 0;
    for (int g = 0; g < c_.cluster.nodes[n].gpus; ++g) {
      empty += on_[first_[n] + static_cast<std::uint32_t>(g)].empty() ? 1 : 0;
    }
    return empty >= spec(j).gpus;
  }

  const Case& c_;
  std::vector<std::set<JobId>> on_;  ///< by GPU
  std::vector<ResourceRequest> left_;
  std::vector<std::uint32_t> first_;  ///< GPU, by node
  std::vector<std::size_t> node_of_;  ///< by GPU
  std::map<JobId, std::vector<GpuId>> gpus_;
  std::set<JobId> waiting_;
};

TEST(SrsfPackedProperties, InvariantsHoldAndNothingIsGivenTwice) {
  int preemptions = 0;
  int shared = 0;
  int parts = 0;
  std::set<Why> whys;
  for (std::uint64_t seed = 0; seed < random_runs(1500U); ++seed) {
    Case c = random_case(seed);
    if (seed % 3 == 0) c.loss = {.seconds = 3, .work = 0.25};
    const ShareWorld world(0.1 * static_cast<double>(seed % 9));
    const RunResult r = simulate(c, world);
    PreemptionCost cost;
    cost.restore = from_seconds(c.loss.seconds);
    cost.lost_work = c.loss.work;
    const Violations v = check_all({.workload = c.workload,
                                    .cluster = c.cluster,
                                    .world = world,
                                    .record = r.record,
                                    .log = r.log,
                                    .join = true,
                                    .preemption = cost});
    ASSERT_TRUE(v.empty()) << "seed " << seed << first_few(v);
    Books books(c);
    for (std::size_t i = 0; i < r.log.size(); ++i) {
      const LogEntry& e = r.log[i];
      books.take(e);
      ASSERT_EQ(books.excess(), "") << "seed " << seed << ", " << to_seconds(e.at) << " s";
      preemptions += e.kind == LogKind::kPreempt;
      parts += e.kind == LogKind::kStart && c.workload.jobs[index(e.job)].gpu_milli < 1000;
      ASSERT_EQ(e.reason.has_value(), e.kind == LogKind::kStart || e.kind == LogKind::kPreempt);
      if (!e.reason) continue;
      whys.insert(e.reason->why);
      ASSERT_EQ(e.reason->why == Why::kMakesRoom, e.kind == LogKind::kPreempt);
      shared += e.reason->why == Why::kShares;
    }
  }
  EXPECT_GT(preemptions, random_finds(1000));
  EXPECT_GT(shared, random_finds(1000));
  EXPECT_GT(parts, random_finds(1000));
  EXPECT_EQ(whys.size(), 7U);
}

/// Without reservations no GPUs stay idle for which a waiting job has use, once an instant is over.
TEST(SrsfPackedProperties, WorkIsConserved) {
  int preemptions = 0;
  for (std::uint64_t seed = 0; seed < random_runs(1500U); ++seed) {
    Case c = random_case(seed);
    c.patience = 0;
    c.reservations = 0;
    const ShareWorld world(0.1 * static_cast<double>(seed % 9));
    const RunResult r = simulate(c, world);
    Books books(c);
    for (std::size_t i = 0; i < r.log.size(); ++i) {
      books.take(r.log[i]);
      preemptions += r.log[i].kind == LogKind::kPreempt;
      if (i + 1 < r.log.size() && r.log[i + 1].at == r.log[i].at) continue;
      const JobId job = books.left_waiting();
      ASSERT_EQ(job, kNoJob) << "seed " << seed << ": job " << index(job) << " waits at "
                             << to_seconds(r.log[i].at) << " s, though it has room";
    }
  }
  EXPECT_GT(preemptions, random_finds(1000));
}

/// A stay of a job in the queue [s].
struct Wait {
  std::size_t job = 0;
  double from = 0;
  double to = 0;
  double due = 0;     ///< overdue from then on; after runs below speed 1 not before then
  bool first = true;  ///< since it was submitted
};

/// From the event log. Work is kept in full, and estimates are exact.
std::vector<Wait> waits_of(const Case& c, const RunResult& r) {
  struct Progress {
    std::size_t wait = 0;  ///< its latest
    double start = 0;
    double served = 0;
    double done = 0;
    double debt = 0;
  };
  std::vector<Wait> waits;
  std::vector<Progress> jobs(c.workload.jobs.size());
  for (const LogEntry& e : r.log) {
    const std::size_t j = index(e.job);
    Progress& p = jobs[j];
    const JobSpec& spec = c.workload.jobs[j];
    const double now = to_seconds(e.at);
    if (e.kind == LogKind::kStart) {
      p.start = now;
      waits[p.wait].to = now;
      continue;
    }
    if (e.kind == LogKind::kPreempt) {
      const double ran = now - p.start;
      p.served += ran;
      p.done += std::max(0.0, ran - p.debt);
      p.debt = c.loss.seconds;
    } else if (e.kind != LogKind::kArrive) {
      continue;
    }
    const double rest = std::max(1.0, to_seconds(spec.work) - p.done) + p.debt;
    p.wait = waits.size();
    waits.push_back({j, now, now,
                     std::max(now, to_seconds(spec.submit) + p.served + c.patience * rest),
                     e.kind == LogKind::kArrive});
  }
  return waits;
}

/// The bound that the policy states: a job waits at most `patience` times its expected run time, and then for the
/// jobs that were overdue before it and for those on its GPUs, each no longer than the longest stay of a job.
/// Adversarial: jobs that are preferred keep coming, at a rate that fills the cluster, until the job has
/// started or far beyond the bound.
TEST(SrsfPackedProperties, WaitsStayWithinTheStatedBoundWhateverArrives) {
  constexpr double kTie_s = 1e-6;  // times in seconds are rounded
  int overdue = 0;
  for (std::uint64_t seed = 0; seed < random_runs(300U); ++seed) {
    Rng rng(seed, Stream::kTest, 31);
    Case c;
    c.seed = seed;
    const int nodes = static_cast<int>(1 + rng.below(3));
    const int per_node = 1 << rng.below(4);
    c.cluster = cluster(nodes, per_node, 1, 1000);
    for (NodeSpec& n : c.cluster.nodes) n.cpu_milli = 1000 * per_node;
    c.preemptive = seed % 2 == 0;
    c.patience = 1 + rng.below(8);
    c.reservations = rng.below(4);
    if (seed % 3 == 0) c.loss = {.seconds = 1, .work = 0};
    const bool asks = seed % 4 == 1;  // CPU is the scarce resource
    const bool parts = seed % 4 == 2;
    std::vector<JobSpec> jobs;
    const int victims = static_cast<int>(1 + rng.below(4));
    for (int v = 0; v < victims; ++v) {
      JobBuilder j = job(seconds(20 + 10 * rng.below(5)));
      j.at(seconds(2 + rng.below(10)));
      const int gang = 1 << rng.below(7);
      j.gpus(std::min(gang, asks || parts ? per_node : nodes * per_node));
      if (asks) j.requests(1000 * per_node, 0);
      jobs.push_back(j);
    }
    const int small = 3 + static_cast<int>(rng.below(5));
    const int cluster_gpus = nodes * per_node;
    for (int t = 0; t < 900; ++t) {
      for (int k = 0; k < cluster_gpus; ++k) {
        if ((t + k) % small != 0) continue;
        JobBuilder j = job(seconds(small));
        j.at(seconds(t));
        if (parts) j.milli(500);
        if (asks) j.requests(1000, 0);
        jobs.push_back(j);
        if (parts) jobs.push_back(j);
      }
    }
    c.workload = workload(std::move(jobs));
    // Parts run at full speed, as the policy expects; speeds of those that share are not in the log.
    const bool shares = !parts && seed % 5 == 0;
    const ShareWorld world(parts ? 0 : shares ? 0.1 : 9);
    const RunResult r = simulate(c, world);

    double longest = 0;  // stay of a job on its GPUs [s]
    for (const JobRecord& job : r.record.jobs) longest = std::max(longest, to_seconds(job.corun()));
    const std::vector<Wait> waits = waits_of(c, r);
    for (const Wait& w : waits) {
      if (w.to <= w.due || (shares && !w.first)) continue;
      ++overdue;
      const auto before = std::ranges::count_if(waits, [&](const Wait& other) {
        return other.job != w.job && other.due <= w.due + kTie_s && other.from <= w.due + kTie_s &&
               other.to > w.due;
      });
      ASSERT_LE(w.to, w.due + static_cast<double>(before + 1) * longest + kTie_s)
          << "seed " << seed << ", job " << w.job << ", " << before << " before it";
    }
  }
  EXPECT_GT(overdue, random_finds(1000));
}

/// A job that made room for another does not take the place back: until one of them has run or been preempted
/// again, the other does not make room for it. Estimates are exact, and nobody shares.
TEST(SrsfPackedProperties, PreemptionsDoNotGoBackAndForth) {
  int preemptions = 0;
  for (std::uint64_t seed = 0; seed < random_runs(1500U); ++seed) {
    Case c = random_case(seed, {.jobs = 40});
    c.preemptive = true;
    if (seed % 2 == 0) c.loss = {.seconds = static_cast<double>(seed % 7), .work = 0};
    const ShareWorld world(9);
    const RunResult r = simulate(c, world);
    std::map<JobId, std::set<JobId>> made_room;  // by waiting job: for these
    std::map<std::pair<Time, JobId>, int> per_instant;
    for (const LogEntry& e : r.log) {
      if (e.kind == LogKind::kStart) {
        made_room.erase(e.job);
      } else if (e.kind == LogKind::kPreempt) {
        ++preemptions;
        const JobId taker = e.reason->beside;
        const auto at = made_room.find(taker);
        ASSERT_FALSE(at != made_room.end() && at->second.contains(e.job))
            << "seed " << seed << ": job " << index(taker) << " takes its place back from job "
            << index(e.job) << " at " << to_seconds(e.at) << " s";
        ASSERT_EQ(++per_instant[std::pair(e.at, e.job)], 1) << "seed " << seed;
        for (auto& [job, takers] : made_room) takers.erase(e.job);
        made_room[e.job].insert(taker);
      }
    }
  }
  EXPECT_GT(preemptions, random_finds(3000));
}

/// Jobs of one GPU on one GPU, exact estimates, free preemption: as under shortest remaining time first, only an
/// arrival preempts, and each at most once.
TEST(SrsfPackedProperties, AnArrivalPreemptsAtMostOnceOnOneGpu) {
  int preemptions = 0;
  for (std::uint64_t seed = 0; seed < random_runs(500U); ++seed) {
    Case c = random_case(seed, {.jobs = 40, .parts = false, .gangs = false});
    c.cluster = cluster(1, 1, 1, 1000);
    c.preemptive = true;
    c.patience = 0;
    const RunResult r = simulate(c, ShareWorld(9));
    std::map<JobId, int> by;
    for (const LogEntry& e : r.log) {
      if (e.kind != LogKind::kPreempt) continue;
      ++preemptions;
      const JobId taker = e.reason->beside;
      ASSERT_EQ(c.workload.jobs[index(taker)].submit, e.at) << "seed " << seed;
      ASSERT_EQ(++by[taker], 1) << "seed " << seed;
    }
  }
  EXPECT_GT(preemptions, random_finds(300));
}

/// In another order of the jobs' numbers every job starts and ends as before, on the same GPUs, for the same reasons. Of
/// jobs with equal submit times and equal service the first in the queue goes first, so times differ here.
TEST(SrsfPackedProperties, RenumberingJobsChangesNothing) {
  for (std::uint64_t seed = 0; seed < random_runs(400U); ++seed) {
    Case c = random_case(seed);
    Rng rng(seed, Stream::kTest, 32);
    for (JobSpec& j : c.workload.jobs) {
      j.submit += nanoseconds(rng.below(1'000'000'000));
      j.work += nanoseconds(rng.below(1'000'000'000));
    }
    c.workload = workload(std::move(c.workload.jobs));
    std::vector<std::uint32_t> order;  // new number -> old number
    for (std::uint32_t j = 0; j < c.workload.jobs.size(); ++j) order.push_back(j);
    rng.shuffle(std::span(order));
    Case other = c;
    for (std::size_t j = 0; j < order.size(); ++j)
      other.workload.jobs[j] = c.workload.jobs[order[j]];
    other.workload = workload(std::move(other.workload.jobs));
    const ShareWorld world(0.1 * static_cast<double>(seed % 9));
    const RunResult before = simulate(c, world);
    RunResult after = simulate(other, world);
    for (LogEntry& e : after.log) {
      e.job = J(order[index(e.job)]);
      if (e.reason && e.reason->beside != kNoJob) {
        e.reason->beside = J(order[index(e.reason->beside)]);
      }
    }
    ASSERT_EQ(before.log, after.log) << "seed " << seed;
  }
}

TEST(SrsfPackedProperties, RunsOnSeveralThreadsAreTheSame) {
  constexpr std::size_t kRuns = 24;
  const auto logs = [](int threads) {
    std::vector<EventLog> found(kRuns);
    parallel_for(kRuns, threads, [&](std::size_t i) {
      found[i] = simulate(random_case(i), ShareWorld(0.1 * static_cast<double>(i % 9))).log;
    });
    return found;
  };
  const std::vector<EventLog> one = logs(1);
  EXPECT_EQ(one, logs(4));
  EXPECT_EQ(one, logs(3));
}

}  // namespace
}  // namespace corun::test::srsf_packed_properties_test
