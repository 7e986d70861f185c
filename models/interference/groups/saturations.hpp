#pragma once

#include <unordered_map>

#include "models/formulas/saturation.hpp"
#include "sim/speed_table.hpp"

/// How far jobs saturate the GPU, from their rates alone and from how copies of jobs of the same family run together.
///
/// The rate that job n, a program on a share of the GPU, reaches beside a copy of itself is limited by a capacity:
///
///   log capacity_n = a_share + b_program + d_n        a ~ Normal(log of the highest rate alone on the share, 1)
///                                                     b ~ Normal(0, 1), d ~ Normal(0, 0.2)
///   log s_k,n = speed_by_load(k) + e                  u_n = rate_n / capacity_n, e ~ Normal(0, 0.03) for each n and k
///
/// So the load of a job whose pair runs at full speed is known from its program's rates on smaller shares, and from those
/// of other programs on the same share. Where programs are not known, b is one number and d ~ Normal(0, 0.4). The fit is
/// the posterior mode (Levenberg-Marquardt), with the covariance from the curvature there.
///
/// Known error of the speeds that follow: models/formulas/saturation.hpp.
///
/// Rates count samples, not batches: the job with the highest one is assumed to keep the GPU busy.
namespace corun::inline models {

struct Saturations {
  SpeedTable::Campaign campaign;  ///< where they were measured
  std::unordered_map<WorkloadKey, Saturation> jobs;
  friend bool operator==(const Saturations&, const Saturations&) = default;
};

/// Of jobs that were measured in copies of themselves in one campaign, the campaign with MPS that has most such jobs, and
/// in no other. Of those that have a family and feature "solo_rate", if three or more of the family, 100 at most in all, are
/// on the same share of the GPU. That is feature "sm_share_pct"; if no job of the family has it, all use the whole GPU.
/// Families of which a program has two rates on a share are left out: there is more that differs.
Saturations saturations_of(const SpeedTable& table);

}  // namespace corun::inline models
