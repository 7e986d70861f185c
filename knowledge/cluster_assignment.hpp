#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/knowledge/clusters.hpp"
#include "traces/tables/profile_csv.hpp"

/// The cluster of each profile of a table and its uncertainty by both rules: the summed distances to
/// all centres and the distance to its own centre, in percentage points or, if scaled, deviations.
namespace corun::inline knowledge {

struct AssignedProfile {
  std::string job;
  bool has_features = false;
  ClusterAssignment assignment;
  int rank_all = 0;  ///< within its cluster, by the summed distances; 0 without features
  int rank_own = 0;  ///< within its cluster, by the distance to its own centre
};

struct AssignmentTable {
  std::vector<AssignedProfile> rows;
  Uncertainty rule = Uncertainty::kAllCentres;
  std::size_t moved = 0;  ///< profiles whose two ranks differ
};

/// One row per profile of the table, in its order, by the rule of `clusters`.
AssignmentTable assign_profiles(const Clusters& clusters, const ProfileTable& table);
std::string assignment_table(const AssignmentTable& table);
std::string assignment_csv(const AssignmentTable& table);
nlohmann::ordered_json assignment_json(const AssignmentTable& table);

}  // namespace corun::inline knowledge
