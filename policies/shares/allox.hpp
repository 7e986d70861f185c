#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "policies/shares/share_problem.hpp"

/// AlloX (Le et al., EuroSys 2020) in the form of Gavel: least mean JCT of jobs of one GPU each, by matching.
namespace corun::inline policies {

/// A matching of rows to columns with the least sum of costs: shortest augmenting paths, row after row (Crouse, IEEE
/// Transactions on Aerospace and Electronic Systems 52, 2016). Of equal paths the first to a column that is free wins,
/// columns counted from the last. `cost` is row-major, with at least as many columns as rows. Returns each row's column.
std::vector<std::size_t> least_cost_matching(std::size_t rows, std::size_t columns,
                                             std::span<const double> cost);

/// A job that waits, and the type to which it is matched.
struct AlloXStart {
  std::size_t job = 0;  ///< position in the problem
  std::size_t type = 0;
};

/// The jobs that start now on `free` GPUs by type. Each waiting job is matched to a GPU and a position k = 1, 2, ...
/// from the end of the GPU's queue, at the cost k left / rate + age; on each GPU the job with the greatest k starts. A
/// started job keeps its type to its end: the caller gives jobs that have not started, and GPUs that no started
/// job holds. GPUs count from the last type to the first. Jobs that run nowhere and gangs never start.
std::vector<AlloXStart> allox_starts(const ShareProblem& waiting, std::span<const int> free);

}  // namespace corun::inline policies
