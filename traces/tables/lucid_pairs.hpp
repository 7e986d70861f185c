#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "traces/workload_names.hpp"

/// The public co-runs of Lucid (Hu et al., "Lucid: A Non-intrusive, Scalable and Interpretable
/// Scheduler for Deep Learning Training Jobs", ASPLOS 2023): pairs of training jobs on an RTX 3090,
/// `lucid/lucid_pairs.csv` of the data directory.
///
/// Columns that are read (x is a and b):
///
/// | column           | unit | meaning                                                             |
/// |------------------|------|---------------------------------------------------------------------|
/// | `job_x`          |      | MODEL|DATASET|BATCH|AMP: the workload                               |
/// | `norm_x`         |      | speed beside the other as a multiple of the speed alone             |
///
/// All others are ignored. As measurements that models learn from, read_measurements() reads this file: there, the
/// speeds of PPO and TD3 are not known, and here they count.
namespace corun::inline traces {

inline constexpr std::string_view kLucidGpuType = "RTX-3090";
inline constexpr double kLucidMemoryMib = 24576;

/// Speeds of a pair in a file; workloads are named "MODEL|DATASET|BATCH|AMP".
struct LucidRates {
  std::array<WorkloadKey, 2> workloads{};
  std::array<double, 2> speeds{};
};

/// All rows in file order of the file above or of Lucid's own `colocate_info.csv`, whose columns are
/// model1, dataset1, batchsize1, amp1, speed1 and the same with 2. Speeds are above 0 and up to 10.
/// InputError for a file of neither form.
std::vector<LucidRates> read_lucid_rates(const std::string& path, WorkloadKeys& keys);

}  // namespace corun::inline traces
