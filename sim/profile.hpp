#pragma once

#include <optional>

/// Observations of a job that ran alone, and all that a policy may know of a job's nature (DESIGN
/// 4.13): the type has no field for model, data set, batch size or epochs.
namespace corun::inline sim {

struct Profile {
  std::optional<double> gpu_util_pct;   ///< maximum GPU utilisation [%], PriRecT Table I
  std::optional<double> mem_alloc_pct;  ///< maximum share of memory reserved [%]; not a demand
  std::optional<double> mem_time_pct;   ///< maximum share of time device memory was accessed [%]
  std::optional<double> mem_used_mib;   ///< memory really needed [MiB]; empty = unknown, never OOM
  bool imputed = false;                 ///< stand-in for an unpublished profile
  /// The share of a GPU that it uses, as a packing scheduler has classified it from a run alone: 0
  /// tiny, 1 medium, 2 jumbo (Lucid's packing label). Empty if there is no label.
  std::optional<int> packing_label = {};

  friend bool operator==(const Profile&, const Profile&) = default;
};

}  // namespace corun::inline sim
