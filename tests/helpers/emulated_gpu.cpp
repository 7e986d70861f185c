// Reciprocals as computed by the GPU.
#define CORUN_DIVIDE_BY_FMA

#include "tests/helpers/emulated_gpu.hpp"

#include "models/scoring/gpu_scorer.cuh"

namespace corun {

const GpuScorer& emulated_gpu() {
  static const emulated::Scorer scorer;
  return scorer;
}

}  // namespace corun
