#pragma once

#include <array>
#include <iosfwd>
#include <string>
#include <vector>

#include "sim/measurement.hpp"
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
/// | `model_x`        |      | name of the model                                                   |
/// | `solo_gpu_util_x`  | %  | GPU utilisation alone                                               |
/// | `solo_gmem_util_x` | %  | share of time accessing memory, alone                               |
/// | `solo_gmem_mib_x`  | MiB| memory in use, alone                                                |
/// | `norm_x`         |      | speed beside the other as a multiple of the speed alone             |
///
/// All others are ignored. In particular `lucid_label` was derived from the outcome: it is no feature of a
/// job.
namespace corun::inline traces {

inline constexpr std::string_view kLucidGpuType = "RTX-3090";
inline constexpr double kLucidMemoryMib = 24576;

struct LucidPair {
  /// Both speeds were taken while both jobs were there, and the lengths of the jobs are not known. So the
  /// times are constructed, such that both jobs end together after kLucidCorunSeconds: overlap_excess()
  /// gives the measured speeds back, and J_c / J_a is that of a job of any length whose co-runners stay to
  /// the end. Clusters are not part of the file: -1.
  CorunMeasurement measurement;
  std::array<double, 2> speeds{};  ///< above 1 if noise outweighs the interference
  bool imputed_speed = false;      ///< PPO or TD3 take part, without measured speeds: no evidence
};

inline constexpr double kLucidCorunSeconds = 1000;

/// Speeds of a pair in a file; workloads are named "MODEL|DATASET|BATCH|AMP".
struct LucidRates {
  std::array<WorkloadKey, 2> workloads{};
  std::array<double, 2> speeds{};
};

/// All rows in file order of the file above or of Lucid's own `colocate_info.csv`, whose columns are
/// model1, dataset1, batchsize1, amp1, speed1 and the same with 2. Speeds are above 0 and up to 10.
/// InputError for a file of neither form.
std::vector<LucidRates> read_lucid_rates(const std::string& path, WorkloadKeys& keys);

/// All rows in file order. InputError for a file that is not of this form.
std::vector<LucidPair> read_lucid_pairs(const std::string& path, WorkloadKeys& keys);
/// The same from a stream; `name` stands for the file in messages.
std::vector<LucidPair> read_lucid_pairs(std::istream& in, const std::string& name,
                                        WorkloadKeys& keys);

}  // namespace corun::inline traces
