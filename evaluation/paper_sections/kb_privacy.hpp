#pragma once

#include "evaluation/paper_sections/study_section.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb eval privacy`: how often the model of a job is guessed from the three features that the papers
/// call private.
namespace corun::inline evaluation {

/// Throws InputError, which names the table, for fewer than two usable profiles and for one without a model.
StudySection privacy_section(const ProfileTable& profiles);

}  // namespace corun::inline evaluation
