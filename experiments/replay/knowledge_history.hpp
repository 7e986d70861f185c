#pragma once

#include <string>

#include "experiments/experiment/experiment.hpp"

/// `--knowledge FILE`: how the knowledge base of every policy that learns changed in replication 0.
namespace corun {

/// policy,time_s,co_runs,metric,cluster,partner,count,mean,rank: all pairs of clusters at the start and
/// after each finished co-run. Runs replication 0 once more. Throws InputError where the file cannot be
/// written.
void write_knowledge_history(const Experiment& experiment, const std::string& path);

}  // namespace corun
