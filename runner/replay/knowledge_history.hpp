#pragma once

#include <string>

#include "runner/experiment/experiment.hpp"

/// `--knowledge FILE`: the changes of each learning policy's knowledge base in replication 0.
namespace corun::inline runner {

/// Columns policy,time_s,co_runs,metric,cluster,partner,count,mean,rank: all pairs of clusters at
/// the start and after each finished co-run. Runs replication 0 again.
std::string knowledge_history(const Experiment& experiment);

}  // namespace corun::inline runner
