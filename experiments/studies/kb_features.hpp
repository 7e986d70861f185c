#pragma once

#include "experiments/studies/study_section.hpp"
#include "traces/profile_csv.hpp"

/// `corun kb eval features`: which attributes of a profile tell of GPU utilisation and memory (PriRecT
/// fig. 2).
namespace corun {

/// InputError, naming the table, where nothing can be ranked. Progress goes to stderr unless `quiet`.
StudySection features_section(const ProfileTable& profiles, unsigned threads, bool quiet);

}  // namespace corun
