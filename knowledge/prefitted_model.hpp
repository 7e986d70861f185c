#pragma once

#include <string_view>

/// The fitted model that comes with corun (models/prefitted), under the name `prefitted`: wherever a file of
/// `corun model fit` may be named, it may be named. It has seen few machines, so what uses it says which (model_origin.hpp).
namespace corun::inline knowledge {

/// Stands for the file. A file of this name is ./prefitted.
inline constexpr std::string_view kPrefitted = "prefitted";

inline bool is_prefitted(std::string_view name) { return name == kPrefitted; }

}  // namespace corun::inline knowledge
