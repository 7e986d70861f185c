#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "policies/queues/queue_policy.hpp"
#include "sim/policy.hpp"

/// A policy that decides at each event which jobs hold GPUs, for all jobs anew and by the number of GPUs:
///   1. The jobs in the system, waiting or running, take GPUs in the policy's order. A job that asks for more than
///      are left is passed over.
///   2. Running jobs that took none are preempted. The others stay where they are.
///   3. Waiting jobs that took some are placed, one after the other. One for which there is no placement waits on,
///      although it took GPUs in step 1.
/// Events are arrivals, departures and times that the policy names (`next`). The rule of Tiresias' simulator (Gu et
/// al., NSDI 2019; its placement `count` is `anywhere`, which always succeeds) and of the policies srtf and tiresias
/// in Lucid's simulator (Hu et al., ASPLOS 2023; placement `consolidated`).
///
/// An event costs O(jobs in the system).
///
/// If jobs name GPU types, step 1 counts by type: a running job takes what it holds, a waiting one the first types
/// on which it may run.
namespace corun::inline policies {

struct CountedOptions : PlacingOptions {
  CountedOptions() { placing = Placing::kAnywhere; }
};

/// The parameter `placement`.
const ParametersOf<CountedOptions>& counted_parameters();

/// The traits of such a policy: `others`, without sharing, with preemption, and placing as `placement` says.
PolicyTraits counted_traits(const Parameters& parameters, PolicyTraits others = {});

class CountedQueue : public Policy {
 public:
  explicit CountedQueue(Placing placing) : placing_(placing) {}

  void arrived(const JobView& job, Time now) override;
  void departed(JobId job, LogKind how, Time now) override;
  void decide(const ClusterView& view, std::vector<Decision>& out) override;

 protected:
  /// Appends the jobs in the system, the first to take GPUs first.
  virtual void order(const ClusterView& view, std::vector<JobId>& jobs) = 0;
  /// For each job of order(): whether it took GPUs. Called once after each order().
  virtual void counted(const ClusterView& view, std::span<const JobId> jobs,
                       const std::vector<bool>& takes) {
    (void)view;
    (void)jobs;
    (void)takes;
  }
  /// The next event that the policy needs beside arrivals and departures. At `now` or earlier: the jobs are ordered
  /// and counted again at this instant.
  virtual Time next(const ClusterView& view) {
    (void)view;
    return kNever;
  }
  /// A waiting job that took GPUs found no placement.
  virtual void unplaced(JobId job) { (void)job; }

  struct Running {
    JobId job = kNoJob;
    std::vector<GpuId> gpus;
  };
  /// In the order of their starts.
  std::span<const Running> running() const { return running_; }

 private:
  void count(const ClusterView& view);
  void carry_out(const ClusterView& view, std::vector<Decision>& out);
  std::vector<Running>::iterator find(JobId job);

  Placing placing_;
  std::vector<Running> running_;
  std::vector<JobId> jobs_;  ///< of the present event, in order
  std::vector<bool> takes_;  ///< by place in jobs_
  std::vector<int> left_;    ///< GPUs by type, or in total
  bool stirred_ = false;     ///< a job has arrived or left since the last event
  JobId returns_ = kNoJob;   ///< preempted by this policy, about to join the queue
  Time next_ = kNever;
};

}  // namespace corun::inline policies
