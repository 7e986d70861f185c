#pragma once

#include <optional>
#include <string>

#include <nlohmann/json.hpp>

#include "traces/trace.hpp"

/// The figures of a trace that one looks at first, for people and programs: how many jobs, what they ask
/// for, how they arrive, how long they run, and what load that is for a cluster.
namespace corun {

struct TraceReport {
  std::string file;
  std::string format;            ///< by its name in the catalogue, or "synthetic"
  const Trace* trace = nullptr;  ///< not null
  std::optional<double> gpus;    ///< of the cluster to compare with
};

std::string trace_report_table(const TraceReport& report);
nlohmann::ordered_json trace_report_json(const TraceReport& report);
/// figure,value: one row per figure, for a spreadsheet or a script.
std::string trace_report_csv(const TraceReport& report);

}  // namespace corun
