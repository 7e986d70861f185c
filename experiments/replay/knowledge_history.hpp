#pragma once

#include <string>

#include "experiments/experiment/experiment.hpp"

/// `--knowledge FILE`: the changes of each learning policy's knowledge base in replication 0.
namespace corun {

/// Columns policy,time_s,co_runs,metric,cluster,partner,count,mean,rank: all pairs of clusters at
/// the start and after each finished co-run. Runs replication 0 again. Throws InputError if the
/// file cannot be written.
void write_knowledge_history(const Experiment& experiment, const std::string& path);

}  // namespace corun
