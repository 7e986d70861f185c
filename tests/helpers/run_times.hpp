#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/engine/round_backend.hpp"
#include "tests/helpers/builders.hpp"

/// Runs in closed form whose jobs are preempted, run out of memory, are probed and profiled, with J_c and
/// J_a of one of their jobs (DESIGN section 3): for the records and for the results file.
namespace corun::test {

/// The policy's decisions at one instant: first preemptions, then starts.
struct Move {
  Time at{0};
  std::vector<JobId> off = {};
  std::vector<JobId> jobs = {};
  std::vector<GpuId> gpus = {};
};

/// Makes the moves at their times, with any queue.
class Timetable final : public Policy {
 public:
  explicit Timetable(std::vector<Move> moves) : moves_(std::move(moves)) {}

  void decide(const ClusterView& view, std::vector<Decision>& out) override {
    while (next_ < moves_.size() && moves_[next_].at <= view.now()) {
      const Move& move = moves_[next_++];
      if (!move.off.empty()) out.emplace_back(Preempt{move.off});
      if (!move.jobs.empty()) out.emplace_back(StartGroup{move.jobs, move.gpus});
    }
    if (next_ < moves_.size() && woken_ <= next_) {
      out.emplace_back(WakeAt{moves_[next_].at});
      woken_ = next_ + 1;
    }
  }
  const Belief* belief() const override { return &by_profiles_; }

  static constexpr PolicyTraits kTraits{.moves_running_jobs = true};

 private:
  ProfileBelief by_profiles_;
  std::vector<Move> moves_;
  std::size_t next_ = 0;
  std::size_t woken_ = 0;  ///< number of moves with a requested wake-up
};

inline RunOptions of_timetable() {
  RunOptions options;
  options.traits = Timetable::kTraits;
  return options;
}

/// J_c and J_a of `job`; without J_c it was given up.
struct TimedRun {
  std::string what;
  RunRecord record;
  JobId job{};
  std::optional<Duration> corun;
  Duration solo{0};
};

/// A job of 100 s alone on one GPU: runs from 0 to 30, then from 50 to its end.
inline RunRecord preempted_once(PreemptionCost cost) {
  using namespace std::chrono_literals;
  Timetable policy({{0s, {}, {J(0)}, {G(0)}}, {30s, {J(0)}}, {50s, {}, {J(0)}, {G(0)}}});
  RunOptions options = of_timetable();
  options.simulation.preemption = cost;
  return run(cluster(1, 1), workload({job(100s)}), ShareWorld(0), policy, options).record;
}

/// Two jobs of 100 s that do not fit a GPU together and do not slow each other; a job above the memory
/// limit fails after 20 s.
inline RunRecord out_of_memory(std::vector<Move> moves, int retries = 3) {
  using namespace std::chrono_literals;
  Timetable policy(std::move(moves));
  ClusterSpec spec = cluster(1, 1, 1, 1000);
  spec.oom = {20s, retries};
  const OwnedWorkload jobs = workload({job(100s).memory(600), job(100s).memory(600)});
  RunOptions options = of_timetable();
  options.control.start = StartMode::kJoin;
  return run(spec, jobs, ShareWorld(0), policy, options).record;
}

/// 100 s of work: 30 s on a GPU twice as fast as the reference, the rest on a reference GPU.
inline RunRecord on_two_gpu_types(bool rounds) {
  using namespace std::chrono_literals;
  Timetable policy({{0s, {}, {J(0)}, {G(0)}}, {30s, {J(0)}, {J(0)}, {G(1)}}});
  const ClusterSpec spec = cluster({node(1, 2.0), node(1, 1.0)});
  const OwnedWorkload jobs = workload({job(100s)});
  const ShareWorld world(0);
  if (!rounds) return run(spec, jobs, world, policy, of_timetable()).record;
  RoundBackend backend(spec, jobs, world, {30s, {}});
  ControlLoop(backend, {policy, "timetable", Timetable::kTraits}, job_views(jobs), {}).run();
  return backend.take_record();
}

/// A minute alone, kept or not, then a run from 60 to 70, and one from 80 to the end.
inline RunRecord profiled_then_preempted(bool keeps) {
  using namespace std::chrono_literals;
  Timetable policy({{60s, {}, {J(0)}, {G(0)}}, {70s, {J(0)}}, {80s, {}, {J(0)}, {G(0)}}});
  RunOptions options = of_timetable();
  options.control.profiling = ProfilingMode::kMinute;
  options.simulation.profiling_keeps_progress = keeps;
  return run(cluster(1, 1), workload({job(100s)}), ShareWorld(0), policy, options).record;
}

inline std::vector<TimedRun> timed_runs() {
  using namespace std::chrono_literals;
  std::vector<TimedRun> all;
  const auto add = [&](std::string what, RunRecord record, std::uint32_t j,
                       std::optional<Duration> corun, Duration solo) {
    all.push_back({std::move(what), std::move(record), J(j), corun, solo});
  };
  add("preempted, all work kept: 30 + 70", preempted_once({}), 0, 100s, 100s);
  add("half of the 30 s is lost: 30 + 85", preempted_once({0s, 0s, 0.5}), 0, 115s, 100s);
  add("all of it is lost: 30 + 100", preempted_once({0s, 0s, 1}), 0, 130s, 100s);
  add("saved and restored: 30 + (2 + 3 + 70)", preempted_once({2s, 3s, 0}), 0, 105s, 100s);
  add("both: 30 + (2 + 3 + 85)", preempted_once({2s, 3s, 0.5}), 0, 120s, 100s);

  const auto fails_beside = [](Time from) { return Move{from, {}, {J(1)}, {G(0)}}; };
  add("out of memory from 10 to 30, again from 100 to 200",
      out_of_memory({{0s, {}, {J(0)}, {G(0)}}, fails_beside(10s), {100s, {}, {J(1)}, {G(0)}}}), 1,
      100s, 100s);
  const std::vector<Move> a_while_alone{
      {0s, {}, {J(1)}, {G(0)}}, {30s, {J(1)}, {J(0)}, {G(0)}}, fails_beside(40s)};
  const auto then = [&](std::vector<Move> more) {
    std::vector<Move> moves = a_while_alone;
    moves.insert(moves.end(), more.begin(), more.end());
    return moves;
  };
  add("preempted after 30 s, out of memory from 40 to 60, 70 s to the end",
      out_of_memory(then({{130s, {}, {J(1)}, {G(0)}}})), 1, 100s, 100s);
  add("preempted after 30 s, and at 50 before it failed, 70 s to the end",
      out_of_memory(then({{50s, {J(1)}}, {130s, {}, {J(1)}, {G(0)}}})), 1, 110s, 100s);
  add("preempted after 30 s, out of memory and given up", out_of_memory(a_while_alone, 0), 1, {},
      30s);

  add("on two GPU types: 30 + 40", on_two_gpu_types(false), 0, 70s, 70s);
  add("on two GPU types, in rounds: 30 + 40", on_two_gpu_types(true), 0, 70s, 70s);
  add("profiled, 10 + 90", profiled_then_preempted(false), 0, 100s, 100s);
  add("profiled and that kept, 10 + 30", profiled_then_preempted(true), 0, 40s, 40s);
  return all;
}

}  // namespace corun::test
