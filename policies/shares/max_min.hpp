#pragma once

#include <span>
#include <vector>

#include "policies/shares/share_problem.hpp"

/// Max-min fairness and its water filling (Gavel, section 4.1 and 4.3 of the paper), and the programs that are one of
/// them in disguise.
namespace corun::inline policies {

/// max over x of min_i scale_i sum r x over the jobs with scale_i > 0. Objective: that minimum. A job that runs
/// nowhere must have scale 0: its minimum would be 0. `basis` may be null.
Shares max_min_scaled(const ShareProblem& problem, std::span<const double> scale,
                      ProgramBasis* basis = nullptr);

/// The same for one type and no pairs, without a program. Of all optima that with the least shares, x = level / (scale r).
Shares max_min_of_one_type(const ShareProblem& problem, std::span<const double> scale,
                           ProgramBasis* basis = nullptr);

/// One of these two, for the programs below.
using MaxMinSolver = Shares (*)(const ShareProblem& problem, std::span<const double> scale,
                                ProgramBasis* basis);

/// g_i / (w_i p_i), p_i = sum_t r_it N_t / sum N: the reciprocal of what is fair for a job; 0 for one that runs
/// nowhere. A larger weight w raises the share of a job.
std::vector<double> fair_scales(const ShareProblem& problem);

/// `max-min`: max_min_scaled() by fair_scales().
Shares max_min(const ShareProblem& problem, ProgramBasis* basis = nullptr,
               MaxMinSolver solve = &max_min_scaled);

/// The programs that a water filling solved, in order.
struct WaterFilling {
  Shares shares;                   ///< objective: that of the last max-min program
  std::vector<double> objectives;  ///< rise of the level, jobs that can rise still, rise, ...
};

/// Water filling: as long as a job can rise, the least level of those not yet final is raised as far as it goes while
/// final ones keep theirs; then as many jobs as possible rise above it by a factor of 1.0001 (a 0/1 program), and
/// those that cannot are final. `basis`, of the first program, may be null.
WaterFilling water_filling(const ShareProblem& problem, ProgramBasis* basis = nullptr);

/// Makespan (`makespan`): the bisection of Gavel between 100 and 1e6 s, while 1.05 low < high, for the least time T
/// in which all jobs can end: sum r x >= left / T. If no T below 1e6 is feasible, from there to ten times as much.
/// The answers follow from the least T, which is a max-min program with scale 1 / left.
struct Makespan {
  Shares shares;            ///< objective: the least T that was found feasible [s]
  std::vector<bool> found;  ///< the answers, in order
};
Makespan min_makespan(const ShareProblem& problem, ProgramBasis* basis = nullptr,
                      MaxMinSolver solve = &max_min_scaled);

/// Finish-time fairness (Themis in the form of Gavel): min over x of max_i rho_i,
///
///   rho_i = (age_i + left_i / sum r x) / (isolated_i + left_i / q_i),   q_i = sum_t r_it y_it of equal_shares()
///
/// which is a max-min program with scale (z D_i - age_i) / left_i, D_i the denominator, for the z at which its level is 1:
/// a root found by secants. Weights have no part. Objective: the greatest rho.
Shares finish_time_fairness(const ShareProblem& problem, ProgramBasis* basis = nullptr,
                            MaxMinSolver solve = &max_min_scaled);

/// q_i of finish_time_fairness(), by job.
std::vector<double> isolated_rates(const ShareProblem& problem);

}  // namespace corun::inline policies
