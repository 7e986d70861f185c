#pragma once

#include "evaluation/paper_sections/study_section.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb eval synthetic`: the blind test of synthetic profiles (PriRecT Table II and fig. 3, JRS
/// fig. 2).
namespace corun::inline evaluation {

/// Throws InputError if the table lacks a point of the authors' recipes.
StudySection synthetic_section(const ProfileTable& profiles);

}  // namespace corun::inline evaluation
