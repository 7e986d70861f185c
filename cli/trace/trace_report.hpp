#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "traces/trace.hpp"

/// Statistics of a trace as table, JSON and CSV: number of jobs, requests, arrivals, run times, and
/// the load that they offer to a cluster.
namespace corun::inline cli {

struct GpusOfType {
  std::string gpu_type;
  double gpus = 0;
};

struct TraceReport {
  std::string file;
  std::string format;                  ///< name in the catalogue, or "synthetic"
  const Trace* trace = nullptr;        ///< not null
  std::optional<double> gpus;          ///< of the cluster whose load is reported
  std::vector<GpusOfType> types = {};  ///< of this cluster, each once; empty: not known
  int gpus_per_node = 0;               ///< 0: not told, or nodes differ
  int nodes_per_switch = 0;            ///< 0: not told
};

std::string trace_report_table(const TraceReport& report);
nlohmann::ordered_json trace_report_json(const TraceReport& report);
/// Columns figure,value: one row per statistic.
std::string trace_report_csv(const TraceReport& report);

}  // namespace corun::inline cli
