#include "policies/catalog.hpp"

#include <cstdlib>
#include <vector>

#include "policies/plugin.hpp"

namespace corun::inline policies {

// Each is defined in the policy's own file.
PolicyEntry fcfs_entry();
PolicyEntry random_entry();
PolicyEntry kube_default_entry();
PolicyEntry balance_entry();
PolicyEntry min_slowdown_entry();
PolicyEntry max_packing_entry();
PolicyEntry opposites_entry();
PolicyEntry exclusive_entry();
PolicyEntry oracle_entry();
PolicyEntry fifo_packed_entry();
PolicyEntry fifo_entry();
PolicyEntry sjf_entry();
PolicyEntry srtf_entry();
PolicyEntry las_entry();
PolicyEntry sharing_las_entry();
PolicyEntry lucid_entry();
PolicyEntry priority_entry();
PolicyEntry external_entry();
PolicyEntry external_shares_entry();
PolicyEntry fgd_entry();
PolicyEntry best_fit_entry();
PolicyEntry dot_product_entry();
PolicyEntry gpu_packing_entry();
PolicyEntry incremental_matching_entry();
PolicyEntry schedtune_entry();
PolicyEntry reactive_entry();
PolicyEntry proactive_entry();
PolicyEntry srsf_packed_entry();
PolicyEntry srsf_entry();
PolicyEntry tiresias_entry();
PolicyEntry blox_entry();
PolicyEntry optimus_entry();
PolicyEntry pollux_entry();
PolicyEntry sia_entry();
PolicyEntry max_min_entry();
PolicyEntry max_min_water_filling_entry();
PolicyEntry finish_time_fairness_entry();
PolicyEntry makespan_entry();
PolicyEntry max_throughput_entry();
PolicyEntry isolated_entry();
PolicyEntry allox_entry();
PolicyEntry gandiva_entry();
PolicyEntry fifo_by_type_entry();

namespace {

const std::vector<PolicyEntry>& built_in() {
  static const std::vector<PolicyEntry> entries = {
      fcfs_entry(),
      random_entry(),
      kube_default_entry(),
      balance_entry(),
      min_slowdown_entry(),
      max_packing_entry(),
      opposites_entry(),
      exclusive_entry(),
      oracle_entry(),
      fifo_entry(),
      fifo_packed_entry(),
      sjf_entry(),
      srtf_entry(),
      las_entry(),
      lucid_entry(),
      priority_entry(),
      external_entry(),
      fgd_entry(),
      best_fit_entry(),
      dot_product_entry(),
      gpu_packing_entry(),
      incremental_matching_entry(),
      schedtune_entry(),
      reactive_entry(),
      proactive_entry(),
      srsf_packed_entry(),
      sharing_las_entry(),
      srsf_entry(),
      tiresias_entry(),
      blox_entry(),
      max_min_entry(),
      max_min_water_filling_entry(),
      finish_time_fairness_entry(),
      makespan_entry(),
      max_throughput_entry(),
      isolated_entry(),
      allox_entry(),
      gandiva_entry(),
      fifo_by_type_entry(),
      external_shares_entry(),
      optimus_entry(),
      pollux_entry(),
      sia_entry(),
  };
  return entries;
}

}  // namespace

const std::vector<PolicyLibrary>& policy_libraries() {
  static const std::vector<PolicyLibrary> libraries = [] {
    const char* const list = std::getenv("CORUN_POLICIES");
    return load_policies(list == nullptr ? "" : list, built_in());
  }();
  return libraries;
}

std::span<const PolicyEntry> policy_catalog() {
  static const std::vector<PolicyEntry> catalog = [] {
    std::vector<PolicyEntry> all = built_in();
    for (const PolicyLibrary& library : policy_libraries()) {
      all.insert(all.end(), library.policies.begin(), library.policies.end());
    }
    return all;
  }();
  return catalog;
}

const PolicyEntry* find_policy(std::string_view name) {
  for (const PolicyEntry& entry : policy_catalog()) {
    if (entry.is_called(name)) return &entry;
  }
  return nullptr;
}

}  // namespace corun::inline policies
