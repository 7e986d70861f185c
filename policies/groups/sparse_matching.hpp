#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/belief.hpp"

/// Minimum-cost matching of thousands of jobs: over a graph of candidates in place of all pairs, by column
/// generation, with a proven bound on the loss.
///
/// Every job gets a price. The cheapest co-runners of a job at these prices (cost less the co-runner's
/// price) are candidates. The cheapest matching over the candidates gives new prices (the dual variables of
/// its linear programme), and so on. Without prices all jobs would choose the same few co-runners. The
/// first candidates are all pairs within blocks of `block` jobs; a hash of the jobs' numbers assigns the
/// blocks, so the graph always has a perfect matching. From one round to the next the matching and, for
/// each job, the `candidates` edges of least slack stay.
///
/// The bound. Let p be any prices with p[i] + p[j] <= c(i, j) for all pairs of jobs. Then no perfect
/// matching costs less than the sum of p, since each of its pairs covers its two prices. (With odd n the
/// job that stays alone covers nothing: the sum less the largest p.) Such prices follow from two facts.
///   1. On the edges of the graph the prices p of the matching satisfy the condition.
///   2. A search at prices q gave job i its k cheapest co-runners, the last of them at t[i] = c - q. Then
///      c(i, j) >= t[i] + q[j] for every j that is not among them. If neither job is among the other's,
///      c(i, j) >= s[i] + s[j], the mean of both, with s[i] = (t[i] + q[i]) / 2.
/// So min(p, s) satisfies it on all pairs: those of the graph by 1, all others by 2. The same with p = q,
/// and t of the first co-runner, needs no graph: then 2 holds for every pair. The best bound of all rounds
/// counts. Costs are limited by bounded_cost(), and 1e-9 per job is subtracted for rounding.
namespace corun::inline policies {

struct SparseMatchingOptions {
  std::size_t candidates = 8;  ///< co-runners searched per job and round, at least 1
  std::size_t block = 32;      ///< jobs of a block of the first round, at least 2 and even
  int rounds = 8;              ///< searches at most
  double tolerance = 0.005;    ///< ends when the proven loss is at most this share of the cost
};

struct SparseMatching {
  std::vector<std::int32_t> co_runner;  ///< by position; -1 for the job that stays alone (odd n)
  std::vector<double> price;            ///< of the last round, by position
  double cost = 0;             ///< total of the pairs' costs, each limited by bounded_cost()
  double least = 0;            ///< no matching of these jobs costs less
  int rounds = 0;              ///< searches made
  std::size_t edges = 0;       ///< of the last graph
  std::size_t components = 0;  ///< of the last graph, matched separately

  double loss() const { return cost - least; }
};

/// c(i, j) is objective_cost() of the belief about the pair, the job of the lower position first. Up to
/// `block` jobs every pair is a candidate, and the loss is 0. The order of `jobs` matters only among equal
/// costs; the number of threads does not.
SparseMatching sparse_matching(const Belief& belief, std::span<const JobId> jobs,
                               const CostRule& rule, const SparseMatchingOptions& options = {});

}  // namespace corun::inline policies
