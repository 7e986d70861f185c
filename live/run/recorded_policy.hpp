#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/job.hpp"
#include "sim/policy.hpp"

/// Makes the decisions of a live run again in a simulation. Differences from the measurement are then errors
/// of the world and not of other decisions.
///
/// The GPU of each job and the order of starts on each GPU are those of the record; times are not. A start
/// takes place when its jobs are submitted, the previous start on its GPU has taken place and the jobs that
/// had left that GPU before it in the record have left, plus the recorded delay. The delay is the time that
/// corun took to start a command and, mostly, the wait of a policy with timers (kube-default). At every start
/// the jobs on the GPU are therefore among those of the record; one is missing only if it ends sooner,
/// relative to the others, than in the record.
namespace corun::live {

/// One run of one job to its end.
struct RecordedRun {
  JobId job{};
  GpuId gpu{};
  std::uint32_t group = 0;  ///< jobs started by one decision share it
  bool deferred = false;    ///< it waited on its GPU for memory: a start of its own
  Time start{0};
  Time exit{0};
};

/// Jobs that started together.
struct RecordedStart {
  std::vector<JobId> jobs;
  GpuId gpu{};
  std::vector<JobId> after;  ///< jobs that had left that GPU by then
  Duration delay{0};         ///< from the last of its conditions to the start
};

/// `runs`: at most one per job, in any order. The result is ordered by GPU, then by start.
std::vector<RecordedStart> recorded_starts(std::span<const RecordedRun> runs,
                                           const Workload& workload);

/// For a workload whose jobs are all in `starts`, once each.
class RecordedPolicy final : public Policy {
 public:
  /// A deferred job may have had co-runners when it started.
  static constexpr PolicyTraits kTraits{.always_colocates = true};

  RecordedPolicy(std::vector<RecordedStart> starts, std::size_t jobs, std::size_t gpus);

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void departed(JobId job, LogKind how, Time now) override;

 private:
  /// The starts of one GPU that are still to come.
  struct Line {
    std::vector<RecordedStart> starts;
    std::size_t next = 0;
    std::optional<Time> due;  ///< of the next one, once its conditions are met
  };

  bool nothing_missing(const RecordedStart& start, const ClusterView& view) const;

  std::vector<Line> lines_;  ///< by GPU
  std::vector<bool> gone_;   ///< by job
};

}  // namespace corun::live
