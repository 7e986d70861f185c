#pragma once

/// Marks functions that are compiled for the processor and, by a CUDA compiler, for the GPU as well:
/// one source, and with contraction of products and sums switched off on both sides the same bits.
///
/// CORUN_HOST_DEVICE_INLINE: likewise, and always inlined. For functions that are compiled for several
/// vector units of the processor: a copy that was compiled for a wide one must not become, at link time,
/// the one that a processor without it calls.
#if defined(__CUDACC__)
#define CORUN_HOST_DEVICE __host__ __device__
#define CORUN_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
#else
#define CORUN_HOST_DEVICE
#define CORUN_HOST_DEVICE_INLINE inline __attribute__((always_inline))
#endif
