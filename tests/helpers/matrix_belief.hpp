#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "sim/belief.hpp"

/// A belief by table, for tests of its users.
namespace corun::test {

/// Under the objective min-slowdown the cost of a pair is `cost` (n x n, row-major, symmetric, by JobId).
class MatrixBelief final : public Belief {
 public:
  MatrixBelief(std::vector<double> cost, std::size_t n) : cost_(std::move(cost)), n_(n) {}
  PairBelief pair(JobId a, JobId b) const override {
    ++asked;
    return {.isd_a = cost_[index(a) * n_ + index(b)], .isd_b = 0, .ps = 0};
  }
  void learn(const EpisodeOutcome&) override {}

  mutable std::size_t asked = 0;  ///< calls of pair()

 private:
  std::vector<double> cost_;
  std::size_t n_;
};

/// Jobs 0 to n - 1.
inline std::vector<JobId> first_jobs(std::size_t n) {
  std::vector<JobId> jobs;
  for (std::uint32_t i = 0; i < n; ++i) jobs.push_back(JobId{i});
  return jobs;
}

}  // namespace corun::test
