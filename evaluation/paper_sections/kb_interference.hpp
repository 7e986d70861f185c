#pragma once

#include "evaluation/paper_sections/study_section.hpp"

/// `corun kb eval interference`: the accuracy of cluster means for a left-out pair of the papers, and the
/// pairs of clusters of least cost.
namespace corun::inline evaluation {

StudySection interference_section();

}  // namespace corun::inline evaluation
