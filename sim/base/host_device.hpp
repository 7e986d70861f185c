#pragma once

/// CORUN_HOST_DEVICE marks functions that are compiled for the processor and, by a CUDA compiler,
/// also for the GPU. The bits are equal where contraction of products and sums is off on both
/// sides.
///
/// CORUN_HOST_DEVICE_INLINE: the same, and always inlined. For functions that are compiled for
/// several vector units of the processor: the linker must not keep the copy compiled for a wide
/// unit for callers on processors without it.
#if defined(__CUDACC__)
#define CORUN_HOST_DEVICE __host__ __device__
#define CORUN_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
#else
#define CORUN_HOST_DEVICE
#define CORUN_HOST_DEVICE_INLINE inline __attribute__((always_inline))
#endif
