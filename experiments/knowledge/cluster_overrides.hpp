#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

/// What holds for a job in place of what its profile says: for jobs whose profile nobody published,
/// or whose printed figures are to be kept. `belief: {overrides: FILE}`, `corun recommend --overrides
/// FILE`; every output that used one says so.
///
///   job,cluster,uncertainty,why
///   J8-256,0,124.15,no profile published      both, as JRS Table IV prints them
///   J4-869,,234.35,printed for another job     empty: what the profile says
namespace corun {

struct ClusterOverride {
  std::string job;
  std::optional<int> cluster;
  std::optional<double> uncertainty;
  std::string why;
  std::string place;  ///< FILE:LINE:COLUMN of the job's name
};

/// Throws InputError for a job listed twice, neither value given, or a cluster not below `clusters`.
std::vector<ClusterOverride> read_cluster_overrides(const std::string& path, int clusters);
/// The same from a stream, called `name` in messages.
std::vector<ClusterOverride> read_cluster_overrides(std::istream& in, const std::string& name,
                                                    int clusters);

}  // namespace corun
