#pragma once

#include <string>

#include "traces/trace.hpp"

/// A queue of jobs to be paired, as `corun recommend --queue FILE` takes it.
namespace corun {

/// A job trace, or a table of profiles: then all jobs are there at once, and how long they take is
/// not known, which no recommendation asks. InputError as the readers of both.
Trace read_queue(const std::string& path);

}  // namespace corun
