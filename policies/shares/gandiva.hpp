#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "policies/shares/mersenne_twister.hpp"
#include "policies/shares/share_problem.hpp"

/// Random packing by trial (Gandiva, Xiao et al., OSDI 2018, in the form of Gavel). As long as the GPUs suffice, each
/// job is by itself. Else jobs of equal gangs are paired at random; a pair stays until a member ends or the sum of
/// both normalised rates is below 1 on the mean of the types. Time is then split evenly over pairs and single jobs,
/// as by equal_shares() over these.
namespace corun::inline policies {

class GandivaShares {
 public:
  explicit GandivaShares(std::uint32_t seed) : draws_(seed) {}

  /// The jobs of the problem are in the order of their arrival, and it has a unit for each pair of equal gangs, or no pairs:
  /// then all are by themselves.
  /// Objective: 0.
  Shares assign(const ShareProblem& problem);

 private:
  MersenneTwister draws_;
  std::map<std::uint64_t, std::uint64_t> partners_;  ///< both ways
};

}  // namespace corun::inline policies
