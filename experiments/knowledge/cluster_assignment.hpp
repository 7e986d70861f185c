#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "models/knowledge/clusters.hpp"
#include "traces/profile_csv.hpp"

/// The cluster of each profile of a table and how uncertain that is, by both scores.
namespace corun {

struct AssignedProfile {
  std::string job;
  bool has_features = false;
  ClusterAssignment assignment;
  int rank_all = 0;  ///< within its cluster, by the sum of the distances; 0 without features
  int rank_own = 0;  ///< within its cluster, by the own distance
};

struct AssignmentTable {
  std::vector<AssignedProfile> rows;
  Uncertainty rule = Uncertainty::kAllCentres;
  std::size_t moved = 0;  ///< profiles whose two ranks differ
};

AssignmentTable assign_profiles(const Clusters& clusters, const ProfileTable& table);
std::string assignment_table(const AssignmentTable& table);
std::string assignment_csv(const AssignmentTable& table);
nlohmann::ordered_json assignment_json(const AssignmentTable& table);

}  // namespace corun
