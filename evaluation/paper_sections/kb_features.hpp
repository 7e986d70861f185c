#pragma once

#include "evaluation/paper_sections/study_section.hpp"
#include "traces/tables/profile_csv.hpp"

/// `corun kb eval features`: the importance of a profile's attributes for GPU utilisation and memory (PriRecT
/// fig. 2).
namespace corun::inline evaluation {

/// Throws InputError, which names the table, if nothing can be ranked. Progress goes to stderr unless
/// `quiet`.
StudySection features_section(const ProfileTable& profiles, unsigned threads, bool quiet);

}  // namespace corun::inline evaluation
