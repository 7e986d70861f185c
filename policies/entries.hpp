#pragma once

#include <algorithm>

#include "policies/catalog.hpp"

/// The catalogue entry of each policy, defined in the policy's own file.
namespace corun {

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
PolicyEntry lucid_entry();
PolicyEntry external_entry();
PolicyEntry fgd_entry();
PolicyEntry best_fit_entry();
PolicyEntry dot_product_entry();
PolicyEntry gpu_packing_entry();
PolicyEntry incremental_matching_entry();

}  // namespace corun
