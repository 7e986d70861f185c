#pragma once

#include <optional>

/// What the profiler saw of a job that ran alone. This is all that a policy may know of a job's
/// nature (DESIGN 4.13): the type has no field for model, data set, batch size or epochs.
namespace corun {

struct Profile {
  std::optional<double> gpu_util_pct;   ///< maximum GPU utilisation [%], PriRecT Table I
  std::optional<double> mem_alloc_pct;  ///< maximum share of device memory reserved [%]; a belief
  std::optional<double> mem_time_pct;   ///< maximum share of time device memory was accessed [%]
  std::optional<double> mem_used_mib;   ///< true memory demand [MiB]; empty = unknown, never OOM
  bool imputed = false;                 ///< stands in for a profile that nobody published
  /// How much of a GPU it takes up, as a packing scheduler has classed it from a run alone: 0 tiny,
  /// 1 medium, 2 jumbo (Lucid's packing label). Empty where nobody has.
  std::optional<int> packing_label = {};

  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace corun
