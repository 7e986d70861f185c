#pragma once

#include <vector>

#include "policies/srsf_packed/preemption.hpp"

/// The running job that gains most if it goes on alone on idle GPUs.
namespace corun::inline policies::srsf {

class Moves {
 public:
  Moves(const Jobs& jobs, Running& running, const Reservations& reservations,
        const Preemption& preemption)
      : jobs_(jobs), running_(running), reservations_(reservations), preemption_(preemption) {}

  /// kNoJob if no move gains more than it costs.
  JobId best(const ClusterView& view);

 private:
  double gain(JobId id, const Run& run, double there_s);
  double idle_speed(const ClusterView& view, const JobView& job, const Job& j, double rest);

  const Jobs& jobs_;
  Running& running_;
  const Reservations& reservations_;
  const Preemption& preemption_;
  std::vector<GpuId> gpus_;
  std::vector<double> idle_;  ///< speeds alone
};

}  // namespace corun::inline policies::srsf
