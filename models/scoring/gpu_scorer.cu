#include "models/scoring/gpu_scorer.cuh"

namespace corun::inline models {

const GpuScorer* cuda_scorer() {
  static const cuda::Scorer scorer;
  return &scorer;
}

}  // namespace corun::inline models
