#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "sim/job.hpp"
#include "sim/policy.hpp"

/// The decisions of a run on a real GPU box, made again in a simulation: what then differs from the
/// measurement is the world's doing, not that of other decisions.
///
/// Who was on which GPU, in which order and with which co-runners is as on record; times are not. On each GPU
/// the starts follow one another as they did. One of them comes once its jobs are submitted, the start
/// before it on that GPU has taken place, and those have left that the record saw leave before it; and
/// then as much later as on record. That delay is what corun took to start a command and, mostly, for what
/// a policy waited that decides by timers (kube-default). So at every start the jobs already there are
/// among those that were there, and all of them unless somebody ends sooner, as to the others, than he did.
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
  std::vector<JobId> after;  ///< had left that GPU by then
  Duration delay{0};         ///< since everything was there that it had to wait for
};

/// Of at most one run per job, in any order. Those of one GPU come in their order.
std::vector<RecordedStart> recorded_starts(std::span<const RecordedRun> runs,
                                           const Workload& workload);

/// For a workload whose jobs are all in `starts`, once each.
class RecordedPolicy final : public Policy {
 public:
  /// A deferred job may have had co-runners when it started.
  static constexpr PolicyTraits kTraits{.always_colocates = true};

  RecordedPolicy(std::vector<RecordedStart> starts, std::size_t jobs, std::size_t gpus);

  void decide(const ClusterView& view, std::vector<Decision>& out) override;
  void departed(JobId job, LogKind how) override;

 private:
  /// The starts of one GPU that are still to come.
  struct Line {
    std::vector<RecordedStart> starts;
    std::size_t next = 0;
    std::optional<Time> due;  ///< of the next one, once nothing is missing for it
  };

  bool nothing_missing(const RecordedStart& start, const ClusterView& view) const;

  std::vector<Line> lines_;  ///< by GPU
  std::vector<bool> gone_;   ///< by job
};

}  // namespace corun::live
