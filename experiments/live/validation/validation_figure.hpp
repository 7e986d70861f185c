#pragma once

#include <string>

#include "experiments/live/validation/run_validation.hpp"

namespace corun::live {

/// SVG: measured over said ISD of every job; what is said right lies on the diagonal.
std::string validation_figure(const RunValidation& run);

}  // namespace corun::live
