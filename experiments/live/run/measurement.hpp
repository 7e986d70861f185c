#pragma once

#include <atomic>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/live/gpu/gpu_box.hpp"
#include "experiments/live/run/job_run.hpp"
#include "experiments/live/run/live_config.hpp"

/// Solo times, profiles and co-runs of workloads, measured on one GPU.
namespace corun::live {

/// What is known of a workload alone.
struct SoloRow {
  std::string job;
  double solo_s = 0;  ///< mean over runs
  double sd_s = 0;    ///< sample standard deviation; 0 of a single run
  int runs = 0;
  Profile profile;  ///< greatest over runs
};

/// solo.csv: job,solo_s,solo_sd_s,runs and the profile; a table of profiles (traces/profile_csv.hpp) too.
std::string solo_text(std::span<const SoloRow> rows);
/// InputError where the file is not that.
std::vector<SoloRow> read_solo_csv(const std::string& path);

/// Workloads that are to run at the same time: one or more positions in LiveConfig::workloads.
using Company = std::vector<std::size_t>;

/// All pairs of different workloads.
std::vector<Company> all_pairs(std::size_t workloads);
/// "gemm+stream,gemm+gemm"; InputError at `place` for a name that is none.
std::vector<Company> parse_pairs(const std::string& text, const LiveConfig& config,
                                 const std::string& place);

/// In which order companies are measured: shuffled once by `seed`, then forwards and backwards in turn, so
/// that a drift over the session (heat, clocks) weighs on all of them alike.
std::vector<Company> balanced_order(std::vector<Company> companies, int repeats,
                                    std::uint64_t seed);

/// One company that ran, or was not let run.
struct MeasuredCompany {
  Company members;
  int number = 0;  ///< position in the session, from 1
  std::string refused;
  std::vector<RunOutcome> outcomes;  ///< by member; empty when refused

  bool finished() const;
};

/// A session of measurements on one GPU.
struct MeasuredSession {
  std::string gpu_name;
  std::string sharing;
  std::vector<MeasuredCompany> companies;
  bool interrupted = false;

  /// Of workloads with at least one finished run alone.
  std::vector<SoloRow> solo(const LiveConfig& config) const;
  /// One row per process that ran: what happened when, at what temperature and clock.
  std::string runs_text(const LiveConfig& config) const;
  /// `*.corun.csv` of the companies of two or more whose members all finished and have a solo time;
  /// empty where there is none.
  std::string corun_text(const LiveConfig& config) const;
};

struct MeasureOptions {
  int warm_up = 1;  ///< runs of the first company whose figures are thrown away
  const std::atomic<bool>* stop = nullptr;
  std::function<void(const MeasuredCompany&, std::size_t total)> on_measured;
};

/// Runs the companies one after the other on this GPU. A company whose members are known (from runs alone
/// earlier in the session) to need more memory than the GPU has free is refused, and noted. DeviceError
/// where the GPU or the MPS daemon goes away.
MeasuredSession measure(Session& session, const Nvml& nvml, std::size_t gpu,
                        const LiveConfig& config, std::span<const Company> order, Sharing& sharing,
                        const MeasureOptions& options);

}  // namespace corun::live
