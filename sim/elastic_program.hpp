#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/time.hpp"

/// Measurements of a training program that can run on any number of GPUs and with any batch size within its limits: what
/// worlds are made of, as a reader gives them. Names stay with the reader.
namespace corun::inline sim {

/// A step on some GPUs: `local_batch` samples on each of them.
struct MeasuredStep {
  std::vector<int>
      on_nodes;  ///< GPUs on each node, in their order round the ring; empty: only `nodes` and `gpus` are told
  int nodes = 1;
  int gpus = 1;
  double local_batch = 1;
  double step_s = 0;  ///< the whole step: computation and exchange of gradients
  double sync_s = 0;  ///< its exchange
};

/// The steps of a program on one GPU type, in the order of their file.
struct ProgramOnType {
  std::string gpu_type;      ///< as its file names it
  double largest_batch = 1;  ///< of all GPUs together
  double least_local_batch = 1;
  double largest_local_batch = 1;
  Duration start_cost{0};  ///< to start or to move a job of it
  double slowdown = 1;     ///< of progress on a testbed, over the measured steps; at least 1
  std::vector<MeasuredStep> placements;  ///< with `on_nodes`
  std::vector<MeasuredStep> others;      ///< without
};

/// What one batch size needed up to the end of each epoch, and its gradients in the epoch.
struct MeasuredEpoch {
  double progress = 0;      ///< steps with the initial batch size that do as much
  double iterations = 0;    ///< steps
  double gradient_sqr = 0;  ///< squared norm of the mean gradient
  double gradient_var = 0;  ///< variance of the gradient with the initial batch size
};

struct EpochsOfBatch {
  double batch = 1;  ///< of all GPUs together
  std::vector<MeasuredEpoch> epochs;
};

struct ElasticProgram {
  double initial_batch = 1;
  std::size_t epochs = 0;  ///< in which its training is done; all of `batches` have as many
  std::vector<EpochsOfBatch> batches;  ///< ascending, not empty
  std::vector<ProgramOnType> on_types;
};

}  // namespace corun::inline sim
