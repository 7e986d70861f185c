#pragma once

#include <cstddef>
#include <vector>

#include "models/interference/gp/covariance.hpp"
#include "models/interference/gp/panels.hpp"
#include "models/interference/gp/training_set.hpp"

/// The covariance matrix of observations, by kernels that are computed once per pair of jobs.
namespace corun::inline models::gp {

/// jobs x jobs numbers.
class JobPairs {
 public:
  explicit JobPairs(std::size_t jobs) : jobs_(jobs), values_(jobs * jobs, 0) {}
  double& at(std::size_t i, std::size_t j) { return values_[i * jobs_ + j]; }
  double at(std::size_t i, std::size_t j) const { return values_[i * jobs_ + j]; }

 private:
  std::size_t jobs_;
  std::vector<double> values_;
};

/// A and B of covariance.hpp between all jobs, or numbers that belong to them.
struct JobKernels {
  JobPairs slowed, co_runner;
  explicit JobKernels(std::size_t jobs) : slowed(jobs), co_runner(jobs) {}
};

JobKernels kernels_between(const std::vector<Place>& places, const Covariance& covariance);

/// K with noise on the diagonal: the upper triangle and the diagonal.
Panels covariance_matrix(const Rows& rows, const Covariance& covariance, const JobKernels& kernels);

}  // namespace corun::inline models::gp
