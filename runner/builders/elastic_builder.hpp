#pragma once

#include <memory>

#include "models/elastic/elastic_jobs.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/config/config.hpp"
#include "runner/inputs/input_files.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// Elastic jobs with measured programs (source pollux): their work, their phases and their speed on each allocation of the
/// cluster.
namespace corun::inline runner {

/// Whether the jobs of the configured source have their speed from measurements of elastic programs.
bool has_elastic_programs(const Config& config);

/// Reads the programs of workload.programs, and gives each job of the trace its phases, one for each epoch: their work is
/// the time alone on the GPUs that the job asks for, of the first type of the cluster on which its program was measured, on as few nodes as can be, with
/// its batch size. Gives the jobs the numbers of GPUs that workload.adaptivity permits, and the types on which they run.
/// InputError at the wrong key, as the reader, and for a job whose program was not measured on the cluster's types.
std::shared_ptr<const ElasticJobs> make_elastic(const Config& config, const Cluster& cluster,
                                                const WorkloadKeys& keys, InputFiles& files,
                                                Trace& trace);

}  // namespace corun::inline runner
