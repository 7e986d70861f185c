#pragma once

#include <string>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/trace.hpp"

/// The queue of jobs of `corun recommend --queue FILE`.
namespace corun::inline runner {

/// Reads a job trace (if it has a column solo_s) or a table of profiles. The jobs of a table arrive
/// at once with 1 s of work each, because no recommendation uses run times. InputError as the
/// reader.
/// `renamed` as read_job_csv(); with it, the file is a job trace.
Trace read_queue(const std::string& path, const std::vector<RenamedColumn>& renamed = {});

}  // namespace corun::inline runner
