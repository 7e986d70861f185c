#pragma once

#include <span>
#include <vector>

#include "sim/measurement.hpp"

/// From a measured group to speeds while its members share the GPU, and back (DESIGN section 3).
namespace corun {

/// Excess of each member per other resident: x with speed 1 / (1 + x (m - 1)) while m are resident,
/// constant over the run, such that the member finishes at its measured J_c. For a pair this is
/// exactly 1/s - 1 of s_i = J_a / J_c (first to end) and s_j = (J_a - (J_c(j) - J_c(i))) / J_c(i).
/// Throws InputError naming `source` where no positive speed does that.
std::vector<double> overlap_excess(const CorunMeasurement& measurement);

/// Two jobs that start together, with speeds while both are resident; the survivor then runs at 1.
struct PairCost {
  double corun_a_s = 0;
  double corun_b_s = 0;
  double isd_a = 0;  ///< fraction
  double isd_b = 0;
  double ps = 0;
};
PairCost pair_cost(double solo_a_s, double solo_b_s, double speed_a, double speed_b);

}  // namespace corun
