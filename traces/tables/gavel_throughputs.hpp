#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "traces/tables/measurements.hpp"
#include "traces/workload_names.hpp"

/// Gavel's simulation_throughputs.json: training steps per second of each type of job, alone and beside
/// each other type (Narayanan et al., OSDI 2020; stanford-futuredata/gavel).
///
///   {"v100": {"('ResNet-18 (batch size 16)', 1)": {
///        "null": 32.35,                                           alone [steps/s]
///        "('ResNet-50 (batch size 16)', 1)": [29.1, 8.9]}}}       the first and the second job as a pair
///
/// The outer keys are GPU types. Types other than v100, p100 and k80 (Gavel's *_unconsolidated, for gangs
/// spread over nodes) are checked and ignored. A key below is a type of job and its scale factor, the
/// number of GPUs of such a job. [0, 0]: the two do not fit on one GPU together. A rate of 0 alone: the job
/// does not run on this GPU type. Pairs may appear in both orders, if they agree.
namespace corun::inline traces {

/// The rates of one GPU type.
struct GavelThroughputs {
  /// Jobs are named by type, those of more GPUs "TYPE x2"; features solo_v100, solo_p100 and solo_k80 as in
  /// Gavel's table of pairs, that of `gpu` first. Speeds are rate beside the other / rate alone. Misfits are in.
  Measurements pairs;
  std::vector<double> alone;  ///< by pairs.speeds.jobs [steps/s]; NaN: not known, 0: does not run
  /// Rates alone on all GPU types of the file: jobs x gpus, row-major, as `alone`.
  std::vector<double> alone_on;
  std::vector<std::string> gpus;            ///< of alone_on, that of `pairs.gpu` first
  std::vector<std::int64_t> scale_factors;  ///< by pairs.speeds.jobs
  /// Positions in pairs.speeds.jobs, in the order of this GPU type's keys; jobs without a key there are not
  /// in.
  std::vector<std::uint32_t> listed;
  /// Rates of both jobs beside each other, by pairs.speeds.rows [steps/s]; [0, 0]: they do not fit.
  std::vector<std::array<double, 2>> rates;
  std::size_t pairs_left_out = 0;  ///< those with a job whose rate alone is 0
  std::string source;              ///< the file's name in messages

  /// Position in pairs.speeds.jobs; nothing if the file does not have it.
  std::optional<std::uint32_t> find(std::string_view type, std::int64_t scale_factor) const;
  std::unordered_map<std::string, std::uint32_t> places;  ///< by name
};

/// The GPU types of this format.
inline constexpr std::array<std::string_view, 3> kGavelGpuTypes{"v100", "p100", "k80"};

/// A pair of jobs of one GPU type, by positions in pairs.speeds.jobs, a <= b.
struct RatedPair {
  std::uint32_t a, b;
  std::array<double, 2> rates;  ///< [steps/s]
};

/// Fills the rest of rates of which the names, scale factors, places, speeds.jobs, speeds.values, gpus and source are there.
/// `refuse(pair, what was found)` must throw the InputError of a pair.
void complete_rates(GavelThroughputs& rates, std::span<const RatedPair> measured,
                    const std::function<void(std::size_t, const std::string&)>& refuse);

/// The name of a type with this number of GPUs.
std::string gavel_job_name(std::string_view type, std::int64_t scale_factor);

/// Whether it is a GPU type of this format: v100, p100 or k80.
bool is_gavel_gpu(std::string_view gpu);

/// Whether the first bytes of a file are those of such rates: JSON whose first key is a GPU type or whose first keys
/// below are types of jobs.
bool is_rates_head(std::string_view head);

/// Also of a trace with rates of its own (gavel_rates_csv.hpp).
/// `gpu` must satisfy is_gavel_gpu(). InputError "FILE:LINE:COLUMN: ..." for anything that the form above
/// excludes and for a file without that GPU type.
GavelThroughputs read_gavel_throughputs(const std::string& path, std::string_view gpu,
                                        WorkloadKeys& keys);
/// The same from text; `name` stands for the file in messages.
GavelThroughputs parse_gavel_throughputs(std::string_view text, const std::string& name,
                                         std::string_view gpu, WorkloadKeys& keys);

}  // namespace corun::inline traces
