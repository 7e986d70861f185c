#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <tuple>
#include <vector>

#include "policies/pods/pod_policy.hpp"
#include "sim/policy.hpp"

/// A job as srsf-packed sees it (srsf_packed.cpp): waiting, and running.
namespace corun::inline policies::srsf {

inline constexpr double kNever_s = std::numeric_limits<double>::infinity();
inline constexpr int kWhole = 1000;  ///< of a GPU [1/1000]
/// Believed speeds below this are taken as this [1], so that every job has an expected end.
inline constexpr double kLeastSpeed = 0.01;
/// A running job is disturbed only for a gain by this factor.
inline constexpr double kHysteresis = 1.1;

/// The policy's parameters; the catalogue describes them.
struct Options {
  bool preempts = true;
  double gain = 0.2;
  int reservations = 3;
  double patience = 50;
  double memory_margin = 0;
  double risk = 0;
  double tail = 0;
  std::size_t window = 256;
};

/// A waiting job. Jobs that are overdue have rank -1, those of the tail rank 0.
struct Entry {
  double rank = 0;  ///< expected service [GPU s]
  /// Submit time; of an overdue job, when it became so; of the tail's, minus the expected rest.
  Time since{0};
  std::uint64_t position = 0;
  JobId job = kNoJob;

  friend bool operator<(const Entry& a, const Entry& b) {
    return std::tie(a.rank, a.since, a.position) < std::tie(b.rank, b.since, b.position);
  }
};

inline bool overdue(const Entry& entry) { return entry.rank < 0; }
inline bool of_tail(const Entry& entry) { return entry.rank == 0; }

/// A job from its arrival to its end.
struct Job {
  std::optional<double> estimate_s;
  double had_s = 0;   ///< work done in runs that have ended [solo s]
  double debt_s = 0;  ///< overhead that its next run begins with
  int gang = 1;       ///< GPUs that it is to have; of an elastic job see sizes.hpp
  int asked = 1;      ///< GPUs that it asks for
  Time submit{0};
  Duration served{0};
  std::optional<double> memory_mib;
  std::span<const ViewOnType> types;
  PodKind pod;
  std::uint32_t kind = 0;      ///< of pod, in the ledger
  std::uint64_t position = 0;  ///< of its latest arrival in the queue
  Entry entry;                 ///< while it waits
  Time due = kNever;           ///< overdue from then on
  /// Of an elastic job that may be resized: its view with `gang` GPUs; else nothing.
  std::optional<JobView> sized;
  std::vector<double>
      speeds;  ///< of such a job on `gang` GPUs, by GPU type; empty before its first pass
  double start_cost_s = 0;  ///< of such a job, of each start
  bool is_overdue = false;
  bool alone_only = false;

  bool is_part() const { return pod.gpu_milli < kWhole; }
  double gpus() const { return is_part() ? pod.gpu_milli / double{kWhole} : asked; }
  bool asks_of_node() const { return pod.request.cpu_milli > 0 || pod.request.memory_mib > 0; }
};

/// A stay of a job on GPUs.
struct Run {
  std::uint64_t number = 0;  ///< of its start
  Time start{0};
  Time since{0};     ///< `had_s` and `debt_s` are as of this time
  double had_s = 0;  ///< in this run
  double debt_s = 0;
  double speed = 1;
  double alone = 1;  ///< speed alone: the least of its GPUs' types
  std::vector<GpuId> gpus;
  /// The expected rest [solo s] at this time, after so many finished jobs: it is asked for many times in a pass.
  struct Rest {
    double rest_s = 0;
    Time at = kNever;
    std::uint64_t finished = 0;
  };
  mutable Rest rest;
  mutable std::uint64_t seen = 0;  ///< the latest scan that has met it (Running::begin_scan)
};

/// Speed alone on a GPU type.
inline double alone_on(const Job& j, std::size_t type) {
  if (!j.speeds.empty()) return std::max(j.speeds[type], kLeastSpeed);
  return j.types.empty() ? 1 : std::max(j.types[type].speed, kLeastSpeed);
}

}  // namespace corun::inline policies::srsf
