#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"
#include "sim/job.hpp"
#include "sim/policy.hpp"
#include "sim/rng.hpp"
#include "sim/world.hpp"
#include "tests/helpers/jobs_on_types.hpp"
#include "tests/helpers/owned_workload.hpp"

/// Small builders for the tests of the engine: jobs, clusters, worlds, a policy that follows a script, and
/// one function that runs a simulation and returns all its results.
namespace corun::test {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::seconds;

constexpr JobId J(std::uint32_t i) { return JobId{i}; }
constexpr GpuId G(std::uint32_t i) { return GpuId{i}; }

inline std::vector<JobId> ids(std::span<const JobId> jobs) { return {jobs.begin(), jobs.end()}; }

/// A JobSpec by chained calls: job(100s).at(5s).gpus(2).memory(600).
class JobBuilder {
 public:
  explicit JobBuilder(Duration work) { spec_.work = work; }
  JobBuilder& at(Time submit) {
    return set([&] { spec_.submit = submit; });
  }
  JobBuilder& gpus(int n) {
    return set([&] { spec_.gpus = n; });
  }
  JobBuilder& priority(int p) {
    return set([&] { spec_.priority = p; });
  }
  JobBuilder& memory(double mib) {
    return set([&] { spec_.profile.mem_used_mib = mib; });
  }
  JobBuilder& util(double pct) {
    return set([&] { spec_.profile.gpu_util_pct = pct; });
  }
  JobBuilder& reserved(double pct) {
    return set([&] { spec_.profile.mem_alloc_pct = pct; });
  }
  JobBuilder& accessed(double pct) {
    return set([&] { spec_.profile.mem_time_pct = pct; });
  }
  JobBuilder& label(int l) {
    return set([&] { spec_.profile.packing_label = l; });
  }
  JobBuilder& milli(int m) {
    return set([&] { spec_.gpu_milli = m; });
  }
  JobBuilder& models(std::uint32_t mask) {
    return set([&] { spec_.gpu_models = mask; });
  }
  JobBuilder& requests(std::int64_t cpu_milli, std::int64_t memory_mib) {
    return set([&] { spec_.request = {cpu_milli, memory_mib}; });
  }
  JobBuilder& elastic(int least, int most) {
    return set([&] {
      spec_.gpus_min = least;
      spec_.gpus_max = most;
    });
  }
  JobBuilder& epoch(Duration d) {
    return set([&] { spec_.epoch = d; });
  }
  operator JobSpec() const { return spec_; }  // NOLINT: the point of a builder

 private:
  template <typename F>
  JobBuilder& set(F&& f) {
    f();
    return *this;
  }
  JobSpec spec_;
};

inline JobBuilder job(Duration work) { return JobBuilder(work); }

/// Arrivals by submit time, equal times by position in the list.
inline OwnedWorkload workload(std::vector<JobSpec> jobs) {
  OwnedWorkload w;
  w.jobs = std::move(jobs);
  for (std::uint32_t i = 0; i < w.jobs.size(); ++i) w.arrivals.push_back(J(i));
  std::stable_sort(w.arrivals.begin(), w.arrivals.end(), [&](JobId a, JobId b) {
    return w.jobs[index(a)].submit < w.jobs[index(b)].submit;
  });
  return w;
}

/// Gives a job these phases, whose work becomes the job's.
inline void set_phases(OwnedWorkload& w, JobId id, const std::vector<JobSpec>& phases) {
  JobSpec& job = w.jobs[index(id)];
  job.first_phase = static_cast<std::uint32_t>(w.phases.size());
  job.phases = static_cast<std::uint32_t>(phases.size());
  job.profile = phases.front().profile;
  job.work = Duration::zero();
  for (const JobSpec& phase : phases) job.work += phase.work;
  w.phases.insert(w.phases.end(), phases.begin(), phases.end());
}

inline NodeSpec node(int gpus, double speed = 1, double memory_mib = 16384) {
  NodeSpec spec;
  spec.gpu.speed = speed;
  spec.gpu.memory_mib = memory_mib;
  spec.gpus = gpus;
  return spec;
}

inline NodeSpec of_type(std::uint32_t id, NodeSpec spec) {
  spec.gpu.id = id;
  spec.gpu.name = "type " + std::to_string(id);
  return spec;
}

inline ClusterSpec cluster(std::vector<NodeSpec> nodes) {
  ClusterSpec spec;
  spec.nodes = std::move(nodes);
  return spec;
}

/// n nodes of g equal GPUs.
inline ClusterSpec cluster(int nodes, int gpus, double speed = 1, double memory_mib = 16384) {
  return cluster(
      std::vector<NodeSpec>(static_cast<std::size_t>(nodes), node(gpus, speed, memory_mib)));
}

/// Each of k residents runs at 1 / (1 + x (k - 1)).
class ShareWorld final : public World {
 public:
  explicit ShareWorld(double x) : x_(x) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    const auto others = static_cast<double>(co_runners.residents.size() - 1);
    std::fill(out.begin(), out.end(), 1 / (1 + x_ * others));
    return Provenance::kModelled;
  }

 private:
  double x_;
};

/// Job i has speed `table[i]` whenever it has co-runners, for any number of them.
class TableWorld final : public World {
 public:
  explicit TableWorld(std::vector<double> table) : table_(std::move(table)) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = table_[index(co_runners.residents[i])];
    return Provenance::kMeasured;
  }

 private:
  std::vector<double> table_;
};

/// Speeds without regularity: each speed in [0.2, 1] is drawn for this job, these residents, this formed
/// group, this GPU type and this noise, so that wrong co-runners give another answer.
class ErraticWorld final : public World {
 public:
  explicit ErraticWorld(std::uint64_t seed) : seed_(seed) {}
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t> noise,
                    std::span<double> out) const override {
    std::vector<std::uint32_t> key{static_cast<std::uint32_t>(noise.value_or(0))};
    for (const JobId j : co_runners.residents) key.push_back(static_cast<std::uint32_t>(index(j)));
    key.push_back(0xffffffffU);
    for (const JobId j : co_runners.formed) key.push_back(static_cast<std::uint32_t>(index(j)));
    if (co_runners.gpu_type != 0) key.push_back(0xfffffff0U + co_runners.gpu_type);
    Rng rng(seed_, Stream::kTest, hash_entity(key));
    for (double& s : out) s = 0.2 + 0.8 * rng.uniform();
    return static_cast<Provenance>(1 + rng.below(3));
  }

 private:
  std::uint64_t seed_;
};

/// A belief that needs profiles and knows nothing.
class ProfileBelief final : public Belief {
 public:
  PairBelief pair(JobId, JobId) const override { return {}; }
  void learn(const EpisodeOutcome&) override {}
  bool needs_profile() const override { return true; }
};

/// Decides by a function and records what it is told.
class ScriptedPolicy final : public Policy, private ProbePlanner {
 public:
  using Decide = std::function<void(const ClusterView&, std::vector<Decision>&)>;
  struct Seen {
    std::vector<MemberOutcome> members;
    Duration length{0};
    double ps = 0;
    bool together = false;
  };

  explicit ScriptedPolicy(Decide decide) : decide_(std::move(decide)) {}
  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    ++calls;
    decide_(view, out);
  }
  void corun_ended(const EpisodeOutcome& o) override {
    seen.push_back({{o.members.begin(), o.members.end()}, o.length, o.ps, o.together});
  }
  const Belief* belief() const override { return wants_profile ? &by_profiles_ : nullptr; }
  ProbePlanner* probe_planner() override { return probe_pairs.empty() ? nullptr : this; }
  void probe_ended(const ProbeOutcome& o) override { probed.push_back(o); }
  /// Takes the pairs of the list in their order, each as soon as both jobs are available.
  std::optional<std::pair<JobId, JobId>> choose(std::span<const JobId> unprobed,
                                                std::span<const JobId> waiting) override {
    const auto there = [&](JobId j) {
      return std::find(unprobed.begin(), unprobed.end(), j) != unprobed.end() ||
             std::find(waiting.begin(), waiting.end(), j) != waiting.end();
    };
    if (next_probe == probe_pairs.size()) return std::nullopt;
    const auto pair = probe_pairs[next_probe];
    if (!there(pair.first) || !there(pair.second)) return std::nullopt;
    ++next_probe;
    return pair;
  }

  bool wants_profile = false;
  std::vector<std::pair<JobId, JobId>> probe_pairs;
  std::size_t next_probe = 0;
  int calls = 0;
  std::vector<Seen> seen;
  std::vector<ProbeOutcome> probed;

 private:
  Decide decide_;
  ProfileBelief by_profiles_;
};

/// Start these jobs on these GPUs as soon as all of them wait, not before `from`.
struct Step {
  std::vector<JobId> jobs;
  std::vector<GpuId> gpus;
  Time from{0};
};

/// Each step is taken once, those of one job in their order; a job that came back after an OOM needs
/// another step.
inline ScriptedPolicy steps(std::vector<Step> list) {
  return ScriptedPolicy(
      [list, done = std::vector<bool>(list.size()), woken = std::vector<bool>(list.size())](
          const ClusterView& view, std::vector<Decision>& out) mutable {
        std::vector<JobId> waiting = ids(view.waiting());
        for (std::size_t s = 0; s < list.size(); ++s) {
          if (done[s]) continue;
          const bool due = list[s].from <= view.now();
          if (!due && !woken[s]) out.emplace_back(WakeAt{list[s].from});
          woken[s] = woken[s] || !due;
          const auto waits = [&](JobId j) {
            return std::find(waiting.begin(), waiting.end(), j) != waiting.end();
          };
          done[s] = due && std::all_of(list[s].jobs.begin(), list[s].jobs.end(), waits);
          if (done[s]) out.emplace_back(StartGroup{list[s].jobs, list[s].gpus});
          // In both cases later steps of these jobs have to wait.
          for (const JobId j : list[s].jobs) std::erase(waiting, j);
        }
      });
}

struct RunOptions {
  SimulationOptions simulation = {};
  ControlOptions control = {};
  std::string name = "scripted";
  PolicyTraits traits = {};
  ViewsOnTypes on_types = {};  ///< JobView::on_types by job; empty: not granted
  /// A layer between the loop and the simulated backend, for tests of a broken engine.
  std::function<std::unique_ptr<ClusterBackend>(ClusterBackend&)> wrap = {};
  RunObserver* observer = nullptr;
};

struct RunResult {
  RunRecord record;
  EventLog log;
  std::size_t passes = 0;
};

/// A policy's view of a job, with its run time as estimate.
inline JobView job_view(JobId id, const JobSpec& j) {
  JobView job_view = job_view_of(id, j);
  job_view.estimate = j.work;
  return job_view;
}

/// `on_types`: by job, or empty; must outlive the views.
inline std::vector<JobView> job_views(const OwnedWorkload& w, const ViewsOnTypes& on_types = {}) {
  std::vector<JobView> job_views;
  for (std::uint32_t i = 0; i < w.jobs.size(); ++i) {
    job_views.push_back(job_view(J(i), w.jobs[i]));
    if (!on_types.empty()) job_views.back().on_types = on_types[i];
  }
  return job_views;
}

/// One simulation. The options' retries and kind of profiling segment are made to agree with the
/// cluster and with `control.profiling`.
inline RunResult run(const ClusterSpec& spec, const OwnedWorkload& w, const World& world,
                     Policy& policy, RunOptions options = {}) {
  options.control.oom_retries = spec.oom.retries;
  options.simulation.profile_epoch = options.control.profiling == ProfilingMode::kEpoch;
  SimulatedBackend backend(spec, w, world, options.simulation);
  const auto wrapped = options.wrap ? options.wrap(backend) : nullptr;
  JobSource source = job_views(w, options.on_types);
  source.profile_in = [&w](JobId job, std::uint32_t phase) {
    return Workload(w).profile(job, phase);
  };
  ControlLoop loop(wrapped ? *wrapped : backend, {policy, options.name, options.traits},
                   std::move(source), options.control);
  RunResult result;
  result.passes = loop.run(&result.log, options.observer);
  result.record = backend.take_record();
  result.record.passes = result.passes;
  return result;
}

inline RunOptions join() {
  RunOptions options;
  options.control.start = StartMode::kJoin;
  return options;
}

}  // namespace corun::test
