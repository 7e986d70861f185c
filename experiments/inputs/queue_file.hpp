#pragma once

#include <string>

#include "traces/trace.hpp"

/// The queue of jobs of `corun recommend --queue FILE`.
namespace corun {

/// Reads a job trace (if it has a column solo_s) or a table of profiles. The jobs of a table arrive
/// at once with 1 s of work each, because no recommendation uses run times. InputError as the
/// reader.
Trace read_queue(const std::string& path);

}  // namespace corun
