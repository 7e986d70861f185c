#pragma once

#include <string_view>

/// The fitted model that comes with corun, made by experiments/interference/prefit.sh. It is part of the
/// program, so that no file has to be found.
namespace corun::inline models {

/// The bytes of models/prefitted/corun.model, a model file (knowledge/model_file.hpp).
std::string_view prefitted_bytes();

}  // namespace corun::inline models
