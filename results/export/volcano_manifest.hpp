#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "results/export/container_csv.hpp"

/// Placed jobs for Kubernetes with the Volcano scheduler, as SchedTune hands them over (Albahar et al., CCGrid 2022,
/// section IV-E): each job names its node, the scheduler, and the GPU memory that it needs of that node's GPU.
///
/// Every job is a Job (batch/v1) with one pod and one container. `volcano.sh/gpu-memory` counts MiB and is offered by
/// Volcano's device plugin where it shares GPUs by memory. Nodes are chosen by the label `corun/node`, the number of
/// the node in the cluster of the simulation: `kubectl label node NAME corun/node=0`. On a node with several GPUs the
/// plugin chooses the GPU. Jobs are in the order of their start, which Volcano keeps node by node.
namespace corun::inline results {

struct PlacedJob {
  std::string name;
  std::size_t node = 0;         ///< index in the cluster
  std::int64_t memory_mib = 1;  ///< asked of one GPU
};

/// The manifest as YAML documents, one per job; the same input gives the same bytes. InputError for a job that
/// `containers` lacks; std::logic_error for a job that occurs twice.
std::string volcano_manifest(std::span<const PlacedJob> jobs, const ContainerTable& containers);

}  // namespace corun::inline results
