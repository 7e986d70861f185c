#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/live/jobs/job_run.hpp"

/// The configuration of live work: commands instead of a trace, and beside them the keys of every other
/// configuration (policies, belief, world, control, cluster.sharing, ...). docs/live.md has the table.
///
///   live: {gpus: [0], output: live-out, sample_s: 0.2, ...}
///   workloads:
///     gemm: {command: [corun, live, workload, gemm], timeout_s: 600}
///   queue: [gemm, {workload: gemm, submit_s: 5}]
namespace corun::live {

struct LiveWorkload {
  std::string name;
  JobCommand command;
};

struct QueueEntry {
  std::size_t workload = 0;  ///< position in LiveConfig::workloads
  std::string name;          ///< how the output calls the job; all different
  Duration submit{0};
};

struct LiveConfig {
  std::vector<std::int64_t> gpus;  ///< NVML's indices; empty: all that may be used
  std::string output = "live-out";
  double sample_s = 0.2;
  double memory_reserve_mib = 256;      ///< kept free when a job joins others
  std::vector<LiveWorkload> workloads;  ///< in the order of the file
  std::vector<QueueEntry> queue;
  Config config;  ///< the other keys
  std::string gpus_place;
  std::string queue_place;

  bool shares_by_mps() const { return config.cluster.sharing == SharingMode::kMps; }
};

/// Reads and checks a file: every program must be there. The word `corun` as a program is this program.
/// InputError with place for every mistake.
LiveConfig read_live_config(const std::string& path, std::span<const std::string> overrides);

/// Those of the overrides (KEY=VALUE) that are of LiveConfig::config.
std::vector<std::string> shared_overrides(std::span<const std::string> overrides);

}  // namespace corun::live
