#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "bench/synthetic_belief.hpp"
#include "policies/catalog.hpp"
#include "results/decision_times.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"

/// The time of a scheduling pass while thousands of jobs wait, of srsf-packed and of incremental-matching, in a
/// simulation: jobs finish, co-runs are learnt, the next jobs start. Prints a table of bench/performance.md.
///
///   waiting_bench [WAITING [GPUS]]
///
/// All jobs arrive at time 0, want one GPU and run alone for a lognormal time (median 600 s, sigma 1); estimates are
/// exact. A pass is measured, all calls of decide() in it, while at least WAITING jobs wait; the first twenty, which fill
/// the cluster, are not. Beliefs: synthetic_belief.hpp. Times are CPU time, one thread.
namespace {

using namespace corun;  // NOLINT: a program of one file

constexpr std::size_t kPasses = 500;
constexpr std::size_t kFilling = 20;  ///< passes

double cpu_s() {
  timespec t{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + 1e-9 * static_cast<double>(t.tv_nsec);
}

struct Enough {};

/// Measures the passes of another policy, and ends the simulation.
class Measured final : public Policy {
 public:
  Measured(Policy& policy, std::size_t waiting) : policy_(policy), waiting_(waiting) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    if (view.pass() != pass_) {
      if (passes_ > kFilling) times.add(pass_s_);
      if (view.waiting().size() < waiting_ || times.passes() == kPasses) throw Enough{};
      pass_ = view.pass();
      ++passes_;
      pass_s_ = 0;
    }
    const double start = cpu_s();
    policy_.decide(view, out);
    pass_s_ += cpu_s() - start;
  }
  void arrived(const JobView& job, Time now) override { policy_.arrived(job, now); }
  void departed(JobId job, LogKind how, Time now) override { policy_.departed(job, how, now); }
  void corun_ended(const EpisodeOutcome& outcome) override { policy_.corun_ended(outcome); }
  const Belief* belief() const override { return policy_.belief(); }

  DecisionTimes times;

 private:
  Policy& policy_;
  std::size_t waiting_;
  std::size_t pass_ = 0;
  std::size_t passes_ = 0;
  double pass_s_ = 0;
};

/// Pairs slow down by their profiles.
class ProfileWorld final : public World {
 public:
  explicit ProfileWorld(std::size_t jobs) {
    for (std::size_t j = 0; j < jobs; ++j) profiles_.push_back(bench::profile_of(j));
  }
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] = 1;
      for (const JobId other : co_runners.residents) {
        if (other == co_runners.residents[i]) continue;
        out[i] *=
            bench::true_speed(profiles_[index(co_runners.residents[i])], profiles_[index(other)]);
      }
    }
    return Provenance::kModelled;
  }

 private:
  std::vector<std::vector<double>> profiles_;
};

DecisionTimes passes_of(const char* name, const char* mode, const char* belief, std::size_t waiting,
                        int gpus) {
  constexpr std::size_t kMostStarts = 4;  // in a pass, in the mean
  constexpr int kNodeGpus = 8;
  const std::size_t n = waiting + 2 * static_cast<std::size_t>(gpus) + kMostStarts * kPasses;
  ClusterSpec spec;
  NodeSpec node;
  node.gpus = kNodeGpus;
  spec.nodes.assign(static_cast<std::size_t>(gpus / kNodeGpus), node);
  std::vector<JobSpec> jobs;
  std::vector<JobId> arrivals;
  Rng rng(10, Stream::kTest);
  for (std::size_t j = 0; j < n; ++j) {
    JobSpec job;
    job.work = from_seconds(600 * std::exp(rng.normal()));
    jobs.push_back(job);
    arrivals.push_back(static_cast<JobId>(j));
  }
  const PolicyEntry& entry = *find_policy(name);
  Parameters parameters(entry.parameters);
  if (*mode != 0) parameters.set("mode", std::string(mode));
  const auto policy = entry.make({parameters, bench::belief_of(belief, n), 1, false});
  Measured measured(*policy, waiting);
  const ProfileWorld world(n);
  SimulatedBackend backend(spec, {jobs, arrivals}, world, {});
  std::vector<JobView> views;
  for (std::size_t j = 0; j < n; ++j) {
    views.push_back(job_view_of(static_cast<JobId>(j), jobs[j]));
    views.back().estimate = jobs[j].work;
  }
  ControlLoop loop(backend, {measured, name, entry.traits_for(parameters)}, std::move(views), {});
  try {
    loop.run(nullptr, nullptr);
  } catch (const Enough&) {
    return measured.times;
  }
  return measured.times;
}

void measure(std::size_t waiting, int gpus) {
  struct Row {
    const char* policy;
    const char* mode;
  };
  for (const char* belief : {"contention", "random"}) {
    double other_s = 0;
    for (const Row& row : {Row{"incremental-matching", ""}, Row{"srsf-packed", "non-preemptive"},
                           Row{"srsf-packed", "preemptive"}}) {
      const DecisionTimes t = passes_of(row.policy, row.mode, belief, waiting, gpus);
      const double p99 = t.quantile_s(0.99);
      if (other_s == 0) other_s = p99;
      fmt::print("| `{}` {} | `{}` | {} | {} | {} | {:.2f} ms | {:.2f} ms | {:.2f} |\n", row.policy,
                 row.mode, belief, waiting, gpus, t.passes(), 1e3 * t.quantile_s(0.5), 1e3 * p99,
                 p99 / other_s);
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  const long waiting = argc > 1 ? std::strtol(argv[1], nullptr, 10) : 10000;
  const long gpus = argc > 2 ? std::strtol(argv[2], nullptr, 10) : 0;
  if (argc > 3 || waiting < 1 || waiting > 100000 || gpus < 0 || gpus % 8 != 0) {
    std::fprintf(stderr, "usage: waiting_bench [WAITING [GPUS]]; GPUS: a multiple of 8\n");
    return 2;
  }
  fmt::print(
      "| policy | belief | waiting | GPUs | passes | p50 | p99 | p99 / that of "
      "`incremental-matching` |\n"
      "|---|---|---:|---:|---:|---:|---:|---:|\n");
  const std::vector<long> sizes = gpus == 0 ? std::vector<long>{64, 1000} : std::vector<long>{gpus};
  for (const long n : sizes) measure(static_cast<std::size_t>(waiting), static_cast<int>(n));
}
