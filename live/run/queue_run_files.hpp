#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "live/jobs/live_config.hpp"
#include "live/run/policy_result.hpp"
#include "live/run/queue_prediction.hpp"
#include "live/run/solo_on_gpus.hpp"
#include "results/results_header.hpp"

/// Writers of the results directory of `corun live run`; run_files.hpp names the files and reads them. All
/// throw InputError if a file cannot be written.
namespace corun::live {

/// Writes replay.yaml and prediction.csv; to be called before the first job starts. Returns the header of
/// results.h5. Throws InputError if the directory holds results of another experiment that must stay, or if
/// an input of the prediction would be overwritten.
ResultsHeader write_prediction(const QueuePrediction& prediction, const LiveConfig& live);

/// Writes POLICY.jobs.csv, POLICY.events.csv and, if there were co-runs, POLICY.corun.csv.
void write_policy_result(const PolicyResult& result, const Trace& queue, const LiveConfig& config,
                         const SoloOnGpus& alone);

/// Writes results.h5: the measurements so far, in the tables of `corun replay --output`. `done`: results of
/// the first policies of the header; not empty. `clusters`: Replication::clusters of the queue.
void write_results_hdf5(const std::string& directory, ResultsHeader header,
                        std::shared_ptr<const Trace> queue, std::vector<int> clusters,
                        std::span<const PolicyResult> done);

}  // namespace corun::live
