#pragma once

#include <span>

#include "policies/shares/share_problem.hpp"

/// The sum of the jobs' steps per second (Gavel, section 4.2 of the paper).
namespace corun::inline policies {

/// max over x of sum over units and types of (r_a + r_b) x / price_t. `prices` by type, above 0; empty: all 1. Jobs
/// with `time_left_s` must keep their deadline: sum r x >= left / time left. If no x satisfies all of these, they are
/// dropped. Objective: the sum [steps/s, over the price's unit].
Shares max_throughput(const ShareProblem& problem, std::span<const double> prices = {},
                      ProgramBasis* basis = nullptr);

/// The same for one type, no pairs and no deadlines, without a program: jobs by their steps per second and GPU, of equal
/// ones the first, as long as GPUs are left; the last may have a part of its time.
Shares max_throughput_of_one_type(const ShareProblem& problem);

}  // namespace corun::inline policies
