#pragma once

#include "evaluation/paper_sections/study_section.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb eval clusters`: the number of clusters, whether JRS Tables IV and VII follow from raw profiles,
/// and the effect of other ways to cluster.
namespace corun::inline evaluation {

/// Throws InputError if the table lacks a point of the authors' recipes.
StudySection clusters_section(const ProfileTable& profiles);

}  // namespace corun::inline evaluation
