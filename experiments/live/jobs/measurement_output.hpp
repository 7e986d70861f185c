#pragma once

#include <string>
#include <vector>

#include "experiments/base/json.hpp"
#include "experiments/live/jobs/measurement.hpp"

/// The files that `corun live solo` and `corun live corun` leave, and what they print.
namespace corun::live {

/// runs.csv: one row per process that ran: what happened when, at what temperature and clock.
std::string runs_csv(const MeasuredSession& session, const LiveConfig& config);

/// measured.corun.csv: the sets of two or more whose members all finished and have a solo time; empty
/// where there is none.
std::string measured_corun_csv(const MeasuredSession& session, const LiveConfig& config);

/// Writes all of these and solo.csv, as far as something was measured for them, to config.output, and gives
/// their names.
std::vector<std::string> write_measurement(const MeasuredSession& session,
                                           const LiveConfig& config);

Json measurement_json(const MeasuredSession& session, const LiveConfig& config);

/// `files`: those that were written.
std::string measurement_table(const MeasuredSession& session, const LiveConfig& config,
                              const std::vector<std::string>& files);

}  // namespace corun::live
