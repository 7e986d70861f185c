#include "policies/catalog.hpp"

#include <array>

#include "policies/entries.hpp"

namespace corun {

std::span<const PolicyEntry> policy_catalog() {
  static const std::array catalog = {
      fcfs_entry(),        random_entry(),       kube_default_entry(),
      balance_entry(),     min_slowdown_entry(), max_packing_entry(),
      opposites_entry(),   exclusive_entry(),    oracle_entry(),
      fifo_entry(),        fifo_packed_entry(),  sjf_entry(),
      srtf_entry(),        las_entry(),          lucid_entry(),
      external_entry(),    fgd_entry(),          best_fit_entry(),
      dot_product_entry(), gpu_packing_entry(),  incremental_matching_entry(),
  };
  return catalog;
}

const PolicyEntry* find_policy(std::string_view name) {
  for (const PolicyEntry& entry : policy_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace corun
