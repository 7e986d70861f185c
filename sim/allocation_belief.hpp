#pragma once

#include <algorithm>
#include <memory>

#include "sim/allocation_speed.hpp"
#include "sim/cluster_view.hpp"

/// What a scheduler believes of the speed of elastic jobs on the allocations that it could give them: all that a policy
/// may know of it (DESIGN 4.22). A job is the opaque number of its view: no model, no batch size, no progress but
/// JobView::phase. Where it is the truth, the output says so. PolicyContext::allocations gives it to policies that need
/// it (PolicyNeeds::kAllocations).
namespace corun::inline sim {

class AllocationBelief {
 public:
  virtual ~AllocationBelief() = default;

  /// Progress of the job per second, alone on this allocation, with the batch size that it would choose there. Its unit is
  /// the job's own: numbers of one job compare, those of two jobs do not. 0: the job cannot run there.
  virtual double goodput(const JobView& job, const Allocation& on) const = 0;

  /// Time [s] in which the job would do the work that it is believed to have left now, alone on this allocation, without
  /// what a start costs; above 0, infinity: it cannot run there.
  virtual double remaining_s(const JobView& job, const Allocation& on, Time now) const = 0;

  /// The most GPUs of which the belief knows enough to give them to this job now, within what the job permits; at least
  /// 1. A belief that is fitted while the job runs may permit more and more.
  virtual int most_gpus(const JobView& job) const { return std::max(job.gpus, job.gpus_max); }

  /// The job runs on this allocation, in its present phase, and has done some work on it: a belief that is fitted learns
  /// what the job measured. A policy that needs a fitted belief (PolicyNeeds::kFittedAllocations) calls it before it asks.
  virtual void observe(const JobView& job, const Allocation& on) {
    (void)job;
    (void)on;
  }
  /// Of the truth: a belief that knows nothing yet and is fitted to what jobs measure; nullptr: they measure nothing. It
  /// must not outlive this.
  virtual std::unique_ptr<AllocationBelief> fitted() const { return nullptr; }
};

}  // namespace corun::inline sim
