#pragma once

#include <string>

#include "live/validation/run_validation.hpp"

namespace corun::live {

/// SVG: measured over predicted and over replayed ISD [%] of every job; exact values lie on the diagonal.
std::string validation_figure(const RunValidation& run);

}  // namespace corun::live
