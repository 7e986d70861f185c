#pragma once

#include <unordered_map>

#include "models/formulas/saturation.hpp"
#include "sim/speed_table.hpp"

/// How far jobs saturate the GPU, from their rates alone and from pairs of copies of jobs of the same family.
///
/// The rate that job n, a program on a share of the GPU, reaches beside a copy of itself is limited by a capacity:
///
///   log capacity_n = a_share + b_program + d_n        a ~ Normal(log of the highest rate alone on the share, 1)
///                                                     b ~ Normal(0, 1), d ~ Normal(0, 0.2)
///   log(2 s_n) = log_joint_speed(log u_n, 0, log 2) + e        u_n = rate_n / capacity_n, e ~ Normal(0, 0.05)
///
/// So a pair that runs at full speed on one share is told apart by what its program reached on smaller shares, and by what
/// other programs reached on its own. Where programs are not known, b is one number and d ~ Normal(0, 0.4). The mode is by
/// Levenberg-Marquardt, the deviations by the curvature there.
namespace corun {

/// Of the jobs of a family that have feature "solo_rate" and of which pairs with themselves were measured by MPS, if these
/// pairs are of one campaign, with 100 jobs at most. A job's share is feature "sm_share_pct", the whole GPU if it is not
/// known; three jobs at least were measured there, since the one with the highest rate is taken as one that leaves nothing
/// idle.
std::unordered_map<WorkloadKey, Saturation> saturations_of(const SpeedTable& table);

}  // namespace corun
