#pragma once

#include <memory>
#include <span>
#include <string>

#include "experiments/live/jobs/live_config.hpp"
#include "experiments/live/run/policy_result.hpp"
#include "experiments/live/run/queue_prediction.hpp"
#include "experiments/results/results_header.hpp"

/// What `corun live run` writes to its directory of results; run_files.hpp names the files and reads them.
namespace corun::live {

/// replay.yaml and prediction.csv: to be on the disk before the first job starts. Gives what results.h5 will
/// say of itself.
ResultsHeader write_prediction(const QueuePrediction& prediction, const std::string& directory);

/// POLICY.jobs.csv, POLICY.events.csv and, where co-runs were seen, POLICY.corun.csv.
void write_policy_result(const PolicyResult& result, const Trace& queue, const LiveConfig& config,
                         const std::string& gpu_name);

/// results.h5: what was measured so far, in the tables in which `corun replay --output` gives what was
/// simulated. `done`: the first policies of the header; not empty.
void write_results_hdf5(const std::string& directory, ResultsHeader header,
                        std::shared_ptr<const Trace> queue, std::span<const PolicyResult> done);

}  // namespace corun::live
