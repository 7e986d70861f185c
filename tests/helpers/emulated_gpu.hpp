#pragma once

#include "models/scoring/gpu_scorer.hpp"
#include "tests/helpers/fiber_cuda.hpp"

/// The GPU's batch scorer, kernels and driver from their own source, run by fibers on the processor.
/// fiber_cuda::device sets the faults; reset it after use.
namespace corun {

const GpuScorer& emulated_gpu();

}  // namespace corun
