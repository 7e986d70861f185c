#pragma once

#include <span>
#include <vector>

#include "models/formulas/pair_cost_formula.hpp"
#include "sim/measurement.hpp"

/// From a measured group to the speeds of its members while they share the GPU (DESIGN section 3). The way
/// back, from speeds to the cost of a pair: pair_cost_formula.hpp.
namespace corun::inline models {

/// Excess of each member per other resident, in the order of the members: x such that the member, at speed
/// 1 / (1 + x (m - 1)) while m jobs are resident, finishes at its measured J_c. x has no unit and is constant
/// over the run. For a pair it is 1/s - 1 with s_i = J_a / J_c (i ends first) and s_j = (J_a - (J_c(j) -
/// J_c(i))) / J_c(i). InputError with the measurement's `source` if no positive speed does that. At least two
/// members.
std::vector<double> overlap_excess(const CorunMeasurement& measurement);

}  // namespace corun::inline models
