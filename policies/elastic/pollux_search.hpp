#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/goodput/step_time.hpp"
#include "sim/rng.hpp"

/// Pollux' search for allocations (Qiao et al., "Pollux: Co-adaptive cluster scheduling for goodput-optimized deep
/// learning", OSDI 2021, section 4.2): a genetic algorithm over matrices A of GPUs by job and node. It maximises the power
/// mean
///
///   fitness(A) = (mean over jobs of speedup_j^p)^(1/p)
///
/// speedup_j is the job's goodput with A over that on an equal share of the cluster, times `restart_factor` if A differs
/// from the GPUs that it holds. Speedups count as at least `least_speedup`, so that jobs without GPUs do not make all
/// matrices equal. p = 1 is the mean, p = -1 (the default) the harmonic mean, which favours slow jobs.
///
/// One generation: two parents by tournaments of two each; one point crossover between jobs; mutation, on the mean of two
/// jobs, of a node's GPUs or of the whole row; repair; the best `population` different ones of parents and offspring
/// survive. Repair takes GPUs at random until no node has more than its GPUs, no job more than `most_gpus`, and, under
/// `avoid_interference`, no node more than one job that spans nodes.
///
/// Departures from the paper's program: no search over the number of nodes (autoscaling), and no Pareto front.
namespace corun::inline policies {

struct PolluxOptions {
  double p = -1;
  double least_speedup = 1e-6;
  std::uint32_t population = 100;
  std::uint32_t generations = 100;
  bool avoid_interference = true;
};

struct PolluxJob {
  std::uint64_t key = 0;         ///< names the job from pass to pass
  std::uint32_t least_gpus = 1;  ///< on fewer its speedup is 0; at most most_gpus
  std::uint32_t most_gpus = 1;
  std::vector<std::uint16_t> most_on_node;  ///< empty: all of each node
  double restart_factor = 1;
  std::vector<std::uint16_t> held;           ///< GPUs by node; empty: none
  std::function<double(GpuSpread)> speedup;  ///< at least 0
};

class PolluxSearch {
 public:
  PolluxSearch(const PolluxOptions& options, std::uint64_t seed) : options_(options), seed_(seed) {}

  /// GPUs by node for each job, of the best matrix found. `gpus`: by node; held GPUs must fit into them. Later passes go
  /// on from the matrices of the last one.
  std::vector<std::vector<std::uint16_t>> allocate(std::span<const PolluxJob> jobs,
                                                   std::span<const std::uint16_t> gpus);
  /// Of the result of the last pass.
  double fitness() const { return fitness_; }

 private:
  struct Pass;

  PolluxOptions options_;
  std::uint64_t seed_;
  std::uint64_t passes_ = 0;
  double fitness_ = 0;
  std::vector<std::uint64_t> keys_;                    ///< the jobs of the last pass
  std::vector<std::vector<std::uint16_t>> survivors_;  ///< its matrices, job by job
};

}  // namespace corun::inline policies
