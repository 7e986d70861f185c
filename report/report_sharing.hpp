#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/report.hpp"
#include "report/report_source.hpp"

/// The parts of a report that need single jobs.
namespace corun::inline report {

/// The results of jobs in a file.
struct ReportRuns {
  const ReportSource& source;
  const ReportLimits& limits;
  const hdf5::TableReader& table;    ///< /runs
  const std::vector<RunRows>& runs;  ///< of it
  std::size_t policies = 0;

  /// The rows of the first replication that the file has of a policy; null if it has none.
  const RunRows* first_of(std::size_t policy) const;
};

/// Adds `sharing`: co-runs by pair of clusters or jobs, beliefs beside the truth. Null without co-runs in the file.
/// Throws the source's damaged().
void add_sharing(const ReportRuns& runs, Json& out, std::vector<std::string>& reductions);

}  // namespace corun::inline report
