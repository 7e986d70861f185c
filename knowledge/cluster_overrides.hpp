#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

/// Clusters and uncertainties of jobs that replace those of their profiles, for jobs without a
/// published profile or with printed figures to keep: `belief: {overrides: FILE}`, `corun recommend
/// --overrides FILE`. Every output that used one says so.
///
///   job,cluster,uncertainty,why
///   J8-256,0,124.15,no profile published      both, as JRS Table IV prints them
///   J4-869,,234.35,printed for another job     empty: the cluster of the profile
namespace corun::inline knowledge {

struct ClusterOverride {
  std::string job;
  std::optional<int> cluster;
  std::optional<double> uncertainty;
  std::string why;
  std::string place;  ///< FILE:LINE:COLUMN of the job's name
};

/// Throws InputError for a job listed twice, a line with neither value, a cluster not below
/// `clusters`, or an uncertainty outside 0 to 1e9.
std::vector<ClusterOverride> read_cluster_overrides(const std::string& path, int clusters);
/// The same from a stream, called `name` in messages.
std::vector<ClusterOverride> read_cluster_overrides(std::istream& in, const std::string& name,
                                                    int clusters);

}  // namespace corun::inline knowledge
