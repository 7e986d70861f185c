#pragma once

#include <cstdint>

namespace corun::inline sim {

/// How long a job is profiled, and the cost of it (DESIGN 4.5).
enum class ProfilingMode : std::uint8_t {
  kNone,       ///< jobs bring their profile
  kEpoch,      ///< one epoch of the job, alone on a GPU
  kMinute,     ///< one minute, alone on a GPU
  kPredictor,  ///< the profile is predicted, at no cost
};

}  // namespace corun::inline sim
