#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "experiments/experiment/experiment.hpp"
#include "models/knowledge/knowledge_base.hpp"
#include "policies/group_policy.hpp"

/// A queue in, groups that should share a GPU out: the plan that a policy of JRS makes of a queue before
/// an idle cluster (JRS section II-B), with what the knowledge base expects of each group and why.
namespace corun {

inline constexpr PredictionInterval kUnknownInterval{std::numeric_limits<double>::quiet_NaN(),
                                                     std::numeric_limits<double>::quiet_NaN()};

/// One group of two jobs or more.
struct Recommendation {
  Group group;
  std::vector<std::string> jobs;        ///< what the jobs are called, in the group's order
  std::vector<int> clusters;            ///< of the jobs
  std::vector<double> uncertainty;      ///< of the jobs; infinite where there is no profile
  std::vector<std::string> overridden;  ///< jobs whose cluster or uncertainty a file gave
  std::vector<std::string> blank;       ///< jobs without a profile
  /// Of the next such co-run, 90 %; NaN where unknown.
  std::array<PredictionInterval, 2> isd{kUnknownInterval, kUnknownInterval};
  PredictionInterval ps = kUnknownInterval;
  std::int64_t observations = 0;  ///< co-runs of this pair of clusters
  std::string reason;             ///< one line
};

struct RecommendedQueue {
  std::vector<Recommendation> groups;  ///< in the order in which they are to start
  std::vector<std::string> alone;      ///< jobs that share with nobody
  int largest_gang = 1;                ///< most GPUs that a job of the queue asks for
};

/// By the first policy of the experiment, which is one of JRS; jobs of one gang size are planned together.
/// InputError where its belief goes by jobs and not by clusters.
RecommendedQueue recommend(const Experiment& experiment);

}  // namespace corun
