#pragma once

#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "traces/trace.hpp"

/// Maps the GPU models that jobs name to those of a cluster.
namespace corun::inline runner {

/// Whether fit_gpu_models() may change the trace: jobs name GPU models, or do not run on a type of the cluster.
bool restricts_gpu_models(const Cluster& cluster, const Trace& trace);

/// Changes each job's GPU models from bits of the trace's list to bits of ClusterSpec::models(),
/// which becomes the trace's list. On a cluster that cluster.gpu_type describes, the jobs lose
/// their GPU models. Types on which a job does not run (JobOnType) are left out of its models.
/// InputError if none is left in the cluster.
void fit_gpu_models(const Config& config, const Cluster& cluster, Trace& trace);

}  // namespace corun::inline runner
