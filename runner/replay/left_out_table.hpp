#pragma once

#include <span>
#include <string>

#include "traces/trace.hpp"

namespace corun::inline runner {

/// Rows of a file of jobs that are no jobs, a line per reason, after an empty line; empty if there are none.
std::string left_out_table(std::span<const LeftOut> left_out);

}  // namespace corun::inline runner
