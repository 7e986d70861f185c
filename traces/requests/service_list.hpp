#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "sim/time.hpp"

/// Services of a cluster: a CSV with a row for each (docs/services.md).
///
///   name, times, model, end_s, goal_ms
///                  required; times: a file of read_service_times(), in which model, gpu_type, slice and processes choose
///   rate_per_s     requests per second on average; or requests: a file of read_request_trace(), at rate_factor times its rate
///   start_s        0 if absent
///   percentile     of the goal, 99 if absent
///   shape          of rate_per_s: constant (if absent), diurnal (with swing), bursts
///   spacing        of rate_per_s: poisson (if absent) or even
///   batch, wait_ms, variation
///                  largest batch, longest wait of a batch, constant or exponential; 1, 0 and constant if absent
///   replicas, least_replicas
///                  the most that there may be, and the least; 1 and 1 if absent
///   workload       by which measured co-runs know a replica; priority, gpu_util_pct, mem_used_mib: of a replica, as of a job
namespace corun::inline traces {

enum class LoadShape { kConstant, kDiurnal, kBursts };

struct ServiceRow {
  std::string name;
  std::string workload;  ///< empty: in no measurement
  std::string times;     ///< path
  std::string model;
  std::string gpu_type;
  std::string slice;
  int processes = 1;
  Duration start{0};
  Duration end{0};
  double goal_s = 0;
  double percentile = 99;
  double rate_per_s = 0;  ///< where `requests` is empty
  std::string requests;   ///< path
  double rate_factor = 1;
  LoadShape shape = LoadShape::kConstant;
  double swing = 0.5;
  bool even = false;
  int batch = 1;
  double wait_s = 0;
  bool exponential = false;
  int replicas = 1;
  int least_replicas = 1;
  int priority = 0;
  std::optional<double> gpu_util_pct;
  std::optional<double> mem_used_mib;
  std::string place;           ///< FILE:LINE:COLUMN of its name
  std::string times_place;     ///< of `times`
  std::string requests_place;  ///< of `requests`
};

/// In the file's order; each name once. InputError "FILE:LINE:COLUMN: ..." for anything else.
std::vector<ServiceRow> read_services(const std::string& path);
/// The same from a stream; `name` stands for the file in messages.
std::vector<ServiceRow> read_services(std::istream& in, const std::string& name);

}  // namespace corun::inline traces
