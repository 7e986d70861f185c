#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "models/interference/speed_model.hpp"
#include "sim/measurement.hpp"

/// The visible table of interference models. To add one, write models/interference/<name>.{hpp,cpp}
/// and one line in catalog.cpp.
namespace corun {

struct SpeedModelEntry {
  std::string_view name;
  std::string_view description;
  /// Fits on the pairs among the rows; throws std::invalid_argument when there are none.
  std::unique_ptr<SpeedModel> (*fit)(std::span<const CorunMeasurement> rows) = nullptr;
};

std::span<const SpeedModelEntry> speed_model_catalog();
/// nullptr when there is none of that name.
const SpeedModelEntry* find_speed_model(std::string_view name);

}  // namespace corun
