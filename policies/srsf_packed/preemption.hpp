#pragma once

#include <optional>
#include <vector>

#include "policies/srsf_packed/reservations.hpp"

/// The running jobs that make room for a waiting one: those of whose preemption the least completions per second
/// are lost, if these are fewer than the job brings.
namespace corun::inline policies::srsf {

class Preemption {
 public:
  Preemption(Jobs& jobs, Running& running, const Reservations& reservations, PreemptionLoss loss)
      : jobs_(jobs), running_(running), reservations_(reservations), loss_(loss) {}

  /// Of a pass.
  void begin();

  struct Room {
    std::vector<GpuId> gpus;
    std::vector<JobId> victims;
  };
  /// Expected delay of a job that takes the place of one with more service left, if there is one: that job waits for as
  /// long as it runs; else infinite [job s].
  double delay_s(const Job& j) const;
  /// Room for the job, without which it waits; nothing if it would cost too much. `pods`: see Placer.
  std::optional<Room> find(const ClusterView& view, const Entry& entry, const JobView& job,
                           bool pods);
  /// What a preemption costs the job, in time at speed 1 [s].
  double cost_s(const Run& run) const;
  bool may_preempt(JobId id, const Run& run) const;

 private:
  struct Option {
    double loss = kNever_s;  ///< completions per second and GPU
    GpuId gpu{};
    std::vector<JobId> victims;
    std::uint64_t number = 0;  ///< of the first victim's start
  };

  double loss_of(JobId id, const Run& run) const;
  Option room_among_parts(const ClusterView& view, GpuId g, const Job& j) const;
  Option room_on(const ClusterView& view, GpuId g, const Job& j, JobId id);
  bool node_suffices(const Job& j, const std::vector<JobId>& without) const;

  Jobs& jobs_;
  Running& running_;
  const Reservations& reservations_;
  PreemptionLoss loss_;
  double most_rest_s_ = 0;  ///< of a running job alone on its GPUs, at least
  std::vector<GpuId> gpus_;
};

}  // namespace corun::inline policies::srsf
