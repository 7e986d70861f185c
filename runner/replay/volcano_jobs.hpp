#pragma once

#include <string>

#include "results/export/container_csv.hpp"
#include "runner/experiment/experiment.hpp"

/// `--volcano FILE`: where the policy placed the jobs of replication 0, to hand to Kubernetes with Volcano.
namespace corun::inline runner {

/// Checks before a run: one policy, a container for every job, and no jobs of several GPUs, which cannot share one by
/// memory. Throws InputError.
void check_volcano(const Experiment& experiment, const ContainerTable& containers);

/// The manifest. A job is where its last run was. It asks for the memory that the policy sees, with the policy's margin
/// if it has one (schedtune), rounded up; a job of unknown memory asks for the whole GPU. Runs replication 0 again.
std::string volcano_jobs(const Experiment& experiment, const ContainerTable& containers);

}  // namespace corun::inline runner
