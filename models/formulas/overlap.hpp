#pragma once

#include <span>
#include <vector>

#include "models/formulas/pair_cost_formula.hpp"
#include "sim/measurement.hpp"

/// From a measured group to speeds while its members share the GPU, and back (DESIGN section 3); from
/// speeds to what a pair costs: pair_cost_formula.hpp.
namespace corun {

/// Excess of each member per other resident: x with speed 1 / (1 + x (m - 1)) while m are resident,
/// constant over the run, such that the member finishes at its measured J_c. For a pair this is
/// exactly 1/s - 1 of s_i = J_a / J_c (first to end) and s_j = (J_a - (J_c(j) - J_c(i))) / J_c(i).
/// Throws InputError naming `source` where no positive speed does that.
std::vector<double> overlap_excess(const CorunMeasurement& measurement);

}  // namespace corun
