#include "models/scoring/gpu_scorer.hpp"

namespace corun::inline models {

const GpuScorer* cuda_scorer() { return nullptr; }

}  // namespace corun::inline models
