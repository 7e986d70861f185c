#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

/// Sia's assignment of configurations to jobs (Jayaram Subramanya et al., "Sia: Heterogeneity-aware, goodput-optimized
/// ML-cluster scheduling", SOSP 2023, section 3.4), an integer program that COIN-OR CBC solves:
///
///   minimise    sum_jc A_jc x_jc + lambda (jobs - sum_jc x_jc)     p < 0; with p > 0 A counts negatively
///   subject to  sum_c x_jc <= 1 for each job (= 1 and the kept c for a job that may not be preempted)
///               sum of the GPUs of x_jc <= GPUs of each type;  x_jc is 0 or 1
///
///   A_jc = min((rho_jc g_jc / min_c g_jc)^p, 3000), rounded to two decimals
///
/// g_jc is the goodput of job j on configuration c. rho_jc is 1 for the configuration that the job has, and for a job
/// without one; else the share of the job's age that is left if it restarts once more (restart_factor).
///
/// CBC runs on one thread, to a gap of 0. Costs are the 32-bit floats nearest to the two decimals, as in the peer: their
/// last bits decide between many programs' equal optima. Other equal optima are a matter of the solver.
namespace corun::inline policies {

/// GPUs of one type, on as few nodes as hold them.
struct SiaConfiguration {
  std::uint32_t type = 0;
  std::uint32_t nodes = 1;
  std::uint32_t gpus = 1;

  bool operator==(const SiaConfiguration&) const = default;
};

/// Nodes of one GPU type.
struct SiaNodes {
  std::uint32_t nodes = 0;
  std::uint32_t gpus_per_node = 0;
};

/// The configurations of a cluster, type by type: 1, 2, 4, ... GPUs of a node and a whole node, then whole nodes.
std::vector<SiaConfiguration> sia_configurations(std::span<const SiaNodes> types);

/// rho: max(age - restarts penalty, 0) / (age + penalty); 1 while age < penalty, and with no penalty. All in seconds.
double restart_factor(double age_s, double restarts, double penalty_s);

/// A_jc of one job by configuration. `goodputs`: above 0, or 0 where the job cannot run; such costs are infinite. `held`:
/// the configuration that the job has. p is not 0.
std::vector<double> sia_costs(std::span<const double> goodputs, std::optional<std::uint32_t> held,
                              double restart_factor, double p);

struct SiaProgram {
  struct Job {
    std::vector<double> costs;           ///< A by configuration; infinite: not permitted
    std::optional<std::uint32_t> keeps;  ///< a configuration that the job must keep
  };
  std::vector<SiaConfiguration> configurations;
  std::vector<std::uint32_t> gpus;  ///< by type
  std::vector<Job> jobs;
  double p = -0.5;
  double lambda = 1.1;  ///< of a job without GPUs
};

struct SiaAssignment {
  std::vector<std::optional<std::uint32_t>> configurations;  ///< by job
  double objective = 0;
};

/// An optimum, or the best of 1,000 nodes of branch and bound: where hundreds of jobs wait whose gains are nearly equal, a proof
/// takes minutes. Kept configurations must fit into the GPUs.
SiaAssignment assign_configurations(const SiaProgram& program);

}  // namespace corun::inline policies
