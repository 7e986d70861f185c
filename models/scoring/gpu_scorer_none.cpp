#include "models/scoring/gpu_scorer.hpp"

namespace corun {

const GpuScorer* cuda_scorer() { return nullptr; }

}  // namespace corun
