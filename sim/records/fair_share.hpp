#pragma once

#include <span>
#include <vector>

#include "sim/time.hpp"

/// When would jobs finish if each had its fair share of the cluster? The denominator of finish-time fairness
///
///   rho = completion time / completion time on a fair share
///
/// (Mahajan et al., "Themis: Fair and Efficient GPU Cluster Scheduling", NSDI 2020). Themis divides the cluster of G
/// GPUs by the number N of its jobs. Here N is not one number of the whole run, nor the number of jobs that wait
/// and run under the policy: a policy that lets jobs pile up would then look fair. N is the number of unfinished
/// jobs under the fair share itself ("egalitarian processor sharing"), so all policies of a replication have the
/// same denominators.
///
///   rate of a job of g GPUs = min(1, G / (N g))      solo seconds per second
///
/// A job cannot use more than its g GPUs; what that leaves over is not handed out. With a share of fewer than g
/// GPUs it runs for part of the time, at no cost. Times are those of the reference GPU type, without co-runners.
/// A job on a part of a GPU counts as a job of one GPU.
///
/// Example: 2 GPUs; A: 1 GPU, 100 s, from 0; B: 2 GPUs, 100 s, from 0. N = 2: A runs at rate 1, until 100; B at
/// rate 1/2, then alone at rate 1: until 150.
namespace corun::inline sim {

struct FairShareJob {
  Time submit{0};
  Duration work{0};  ///< solo time on the reference GPU type
  int gpus = 1;
};

/// Completion times (finish - submit) under the fair share [s], by position; at least the job's work. `gpus`: of
/// the cluster, 1 or more. Cost: n log n and n times the number of gang sizes.
std::vector<double> fair_share_times_s(std::span<const FairShareJob> jobs, int gpus);

}  // namespace corun::inline sim
