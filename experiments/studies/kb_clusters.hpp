#pragma once

#include "experiments/studies/study_section.hpp"
#include "traces/profile_csv.hpp"

/// `corun kb eval clusters`: how many clusters there are, whether JRS Tables IV and VII come from raw
/// profiles, and what other ways to cluster would have changed.
namespace corun {

/// InputError when the table lacks a point of the authors' recipes.
StudySection clusters_section(const ProfileTable& profiles);

}  // namespace corun
