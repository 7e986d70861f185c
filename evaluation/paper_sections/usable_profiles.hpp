#pragma once

#include <cstddef>
#include <string>

#include "traces/tables/profile_csv.hpp"

/// The profiles of a table that a study can use.
namespace corun::inline evaluation {

/// The rows of a table that have all three features, at most `most`, evenly spaced: the time of a ranking
/// grows with the rows, that of guessing with their square.
struct UsableProfiles {
  ProfileTable table;
  std::string note;  ///< lines about rows that were left out; empty: none
};
UsableProfiles usable_profiles(const ProfileTable& table, std::size_t most);

}  // namespace corun::inline evaluation
