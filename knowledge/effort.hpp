#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace corun::inline knowledge {

/// A sentence for every output that rests on a model fitted at an effort (models/interference/fits/effort.hpp) below 1;
/// empty for 1. `model`: what the sentence begins with, such as a name or "the world's model".
inline std::string told_of_effort(std::string_view model, double effort) {
  return effort == 1
             ? ""
             : fmt::format(
                   "{} is fitted at effort {}: it is for trials and errs more than at effort 1",
                   model, effort);
}

}  // namespace corun::inline knowledge
