#pragma once

#include "experiments/config/config.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "traces/trace.hpp"

/// Maps the GPU models that jobs name to those of a cluster.
namespace corun {

/// Changes each job's GPU models from bits of the trace's list to bits of ClusterSpec::models(),
/// which becomes the trace's list. Without cluster.path all GPUs have one type, and the jobs lose
/// their GPU models. InputError if the cluster has none of a job's models.
void fit_gpu_models(const Config& config, const Cluster& cluster, Trace& trace);

}  // namespace corun
