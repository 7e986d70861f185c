#include "models/batch/batch_gpu.hpp"

namespace corun {

const BatchGpu* cuda_batch() { return nullptr; }

}  // namespace corun
