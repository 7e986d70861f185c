#pragma once

#include <cstddef>
#include <string>

#include "traces/profile_csv.hpp"

/// The profiles of a table that a study can look at.
namespace corun {

/// Rows of a table that have all three features, and no more of them than `most`, drawn evenly: the
/// forests of a ranking take time in proportion to rows, guessing to their square.
struct UsableProfiles {
  ProfileTable table;
  std::string note;  ///< lines that say what was left out; empty where nothing was
};
UsableProfiles usable_profiles(const ProfileTable& table, std::size_t most);

}  // namespace corun
