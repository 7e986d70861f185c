#pragma once

#include <string>
#include <vector>

#include "live/jobs/measurement.hpp"
#include "support/json.hpp"

/// Files and printed output of `corun live solo` and `corun live corun`.
namespace corun::live {

/// runs.csv: one row per run of a job (end, times, temperature, clock, memory; units in the header) and per
/// refused set.
std::string runs_csv(const MeasuredSession& session, const LiveConfig& config);

/// measured.corun.csv: the sets of two or more whose members all finished and have solo times, without those whose times
/// no speeds explain, as its readers need it: a job took half of its time alone, say. Empty if there is none.
std::string measured_corun_csv(const MeasuredSession& session, const LiveConfig& config);

/// measured.groups.csv: the same sets in the form of a table of groups (traces/tables/group_table.hpp), `norm` being the speed
/// while all members are resident (overlap_excess()), empty if the times fit none; empty if no set has more than two members.
std::string measured_groups_csv(const MeasuredSession& session, const LiveConfig& config);

/// Throws InputError if config.output holds measurements of other commands, of another GPU or with
/// another sharing mode, unless they may be replaced: workloads.json beside them tells.
void check_measured_before(const LiveConfig& config, const std::string& gpu_name);

/// Writes workloads.json (the GPU, the sharing mode and the commands), runs.csv and, if they are not empty, solo.csv,
/// services.csv, measured.corun.csv and measured.groups.csv to config.output; returns the names of the written files. Throws InputError
/// if a file cannot be written.
std::vector<std::string> write_measurement(const MeasuredSession& session,
                                           const LiveConfig& config);

/// services.csv: a row per service alone and per set of its co-runners (latency, requests within the goal, goodput, the
/// co-runners' slowdown, the GPU's profile; units in the header). Empty if there is none.
std::string services_csv(const MeasuredSession& session, const LiveConfig& config);

Json measurement_json(const MeasuredSession& session, const LiveConfig& config);

/// `files`: the names of the written files.
std::string measurement_table(const MeasuredSession& session, const LiveConfig& config,
                              const std::vector<std::string>& files);

}  // namespace corun::live
