#pragma once

#include "experiments/config/config.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "traces/trace.hpp"

/// GPU models that jobs name, made those of a cluster.
namespace corun {

/// A job's GPU models are bits of the trace's list; afterwards they are bits of ClusterSpec::models(),
/// which becomes the trace's list. Where the configuration gives all GPUs one type no job is bound to a
/// model. InputError where a job can run nowhere.
void fit_gpu_models(const Config& config, const Cluster& cluster, Trace& trace);

}  // namespace corun
