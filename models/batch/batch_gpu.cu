#include "models/batch/batch_gpu.cuh"

namespace corun {

const BatchGpu* cuda_batch() {
  static const cuda::BatchDriver driver;
  return &driver;
}

}  // namespace corun
