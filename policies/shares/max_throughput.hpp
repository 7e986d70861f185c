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

}  // namespace corun::inline policies
