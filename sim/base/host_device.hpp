#pragma once

/// Marks functions that are compiled for the processor and, by a CUDA compiler, for the GPU as well:
/// one source, and with contraction of products and sums switched off on both sides the same bits.
#if defined(__CUDACC__)
#define CORUN_HOST_DEVICE __host__ __device__
#else
#define CORUN_HOST_DEVICE
#endif
