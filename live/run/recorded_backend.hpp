#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "live/run/live_ledger.hpp"
#include "sim/engine/cluster_backend.hpp"

/// Plays a live run back from its record: the same reports at the same times, without jobs or GPUs. A policy
/// that depends only on its view makes the same decisions again.
namespace corun::live {

/// A decision of the policy differs from the record.
class DecisionDiffers : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

class RecordedBackend final : public ClusterBackend {
 public:
  /// `log` of the control loop and `runs` of LiveBackend::runs(), of a complete run. `on_types`
  /// may be null. All arguments must outlive it.
  RecordedBackend(const ClusterSpec& spec, const corun::Workload& workload,
                  const JobsOnTypes* on_types, const EventLog& log, std::span<const LiveRun> runs);

  Time now() const override { return now_; }
  const ClusterState& state() const override { return ledger_.state(); }
  bool advance(std::vector<Report>& out) override;
  /// advance(), start_group() and preempt() throw DecisionDiffers.
  void start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) override;
  Preempted preempt(JobId job) override;
  void wake_at(Time) override {}  // the record has the effects of timers, with their times
  std::span<const EpisodeRecord> finished_episodes() const override {
    return ledger_.finished_episodes();
  }
  const JobRecord& record(JobId job) const override { return ledger_.record(job); }

 private:
  [[noreturn]] void differs(const std::string& wanted) const;

  const EventLog& log_;
  std::span<const LiveRun> runs_;
  std::size_t next_entry_ = 0;
  std::size_t next_run_ = 0;
  Time now_{0};
  LiveLedger ledger_;
};

}  // namespace corun::live
