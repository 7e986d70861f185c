#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/knowledge/knowledge_base.hpp"
#include "policies/groups/group_policy.hpp"
#include "runner/experiment/experiment.hpp"

/// Recommends the groups of a queue that should share a GPU: the plan of a JRS policy for an idle
/// cluster (JRS section II-B), with the expected cost of each group and the reason.
namespace corun::inline runner {

inline constexpr PredictionInterval kUnknownInterval{std::numeric_limits<double>::quiet_NaN(),
                                                     std::numeric_limits<double>::quiet_NaN()};

/// One group of two jobs or more.
struct Recommendation {
  Group group;
  std::vector<std::string> jobs;        ///< names of the jobs, in the group's order
  std::vector<int> clusters;            ///< of the jobs
  std::vector<double> uncertainty;      ///< of the jobs; infinite without a profile
  std::vector<std::string> overridden;  ///< jobs with a cluster or uncertainty from --overrides
  std::vector<std::string> blank;       ///< jobs without a profile
  /// 90 % intervals of the next such co-run, fractions; NaN if unknown.
  std::array<PredictionInterval, 2> isd{kUnknownInterval, kUnknownInterval};
  PredictionInterval ps = kUnknownInterval;
  std::int64_t observations = 0;  ///< co-runs of this pair of clusters
  std::string reason;             ///< one line
};

struct RecommendedQueue {
  std::vector<Recommendation> groups;  ///< in order of their start
  std::vector<std::string> alone;      ///< jobs that run alone
  int largest_gang = 1;                ///< largest number of GPUs of a job
};

/// Plans with the first policy of the experiment, which must be a Recommender (std::bad_cast); jobs
/// of one gang size are planned together. InputError if its belief is not about clusters.
RecommendedQueue recommend(const Experiment& experiment);

}  // namespace corun::inline runner
