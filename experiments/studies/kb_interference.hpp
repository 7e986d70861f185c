#pragma once

#include "experiments/studies/study_section.hpp"

/// `corun kb eval interference`: how well cluster means predict a pair of the papers that was left out,
/// and which pairs of clusters cost least.
namespace corun {

StudySection interference_section();

}  // namespace corun
