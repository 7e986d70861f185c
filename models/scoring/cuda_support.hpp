#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/error.hpp"

#if !defined(CORUN_FIBER_CUDA)
#include <cuda_runtime.h>

/// Dynamic shared memory of the block, aligned for any type.
#define CORUN_DYNAMIC_SHARED(type, name)                         \
  extern __shared__ __align__(16) unsigned char corun_shared_[]; \
  type* const name = reinterpret_cast<type*>(corun_shared_)
#define CORUN_LAUNCH(kernel, grid, block, shared_bytes, stream, ...) \
  kernel<<<grid, block, shared_bytes, stream>>>(__VA_ARGS__)
#endif

/// Basics of all code for the GPU: checked calls, and owners of memory, streams and events. Files that
/// include this are compiled by nvcc, and again by the tests, with tests/helpers/fiber_cuda.hpp in place of
/// the CUDA runtime. Each compilation has a namespace of its own.
#if defined(CORUN_FIBER_CUDA)
#define CORUN_GPU emulated
#else
#define CORUN_GPU cuda
#endif

namespace corun::inline models::CORUN_GPU {

/// A failed call of the CUDA runtime, with the runtime's message. Results of the work in progress must not be
/// used.
class GpuError : public DeviceError {
 public:
  GpuError(cudaError_t status, const char* doing)
      : DeviceError("the GPU failed while " + std::string(doing) + ": " +
                    cudaGetErrorString(status)),
        status_(status) {}
  cudaError_t status() const { return status_; }

 private:
  cudaError_t status_;
};

/// Not enough memory: a smaller tile may fit.
class GpuOutOfMemory : public GpuError {
 public:
  using GpuError::GpuError;
};

/// Throws GpuOutOfMemory or GpuError unless `status` is success. `doing` completes "failed while ...".
inline void check(cudaError_t status, const char* doing) {
  if (status == cudaSuccess) return;
  static_cast<void>(
      cudaGetLastError());  // clears the error, which the next check_launch() would report
  if (status == cudaErrorMemoryAllocation) throw GpuOutOfMemory(status, doing);
  throw GpuError(status, doing);
}
/// Checks the CORUN_LAUNCH before it.
inline void check_launch(const char* doing) { check(cudaGetLastError(), doing); }

class Stream {
 public:
  Stream() { check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream"); }
  Stream(Stream&& other) noexcept : stream_(std::exchange(other.stream_, nullptr)) {}
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  Stream& operator=(Stream&&) = delete;
  ~Stream() {
    if (stream_ != nullptr) static_cast<void>(cudaStreamDestroy(stream_));
  }
  operator cudaStream_t() const { return stream_; }
  void wait() const { check(cudaStreamSynchronize(stream_), "computing"); }

 private:
  cudaStream_t stream_ = nullptr;
};

class Event {
 public:
  Event() { check(cudaEventCreate(&event_), "making an event"); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event() { static_cast<void>(cudaEventDestroy(event_)); }
  void record(cudaStream_t stream) { check(cudaEventRecord(event_, stream), "recording an event"); }
  /// Time [s] from an earlier event to this one, both recorded. Waits for this one.
  double seconds_since(const Event& earlier) const {
    check(cudaEventSynchronize(event_), "computing");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, earlier.event_, event_), "reading a clock");
    return static_cast<double>(ms) / 1000;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

/// An array in the GPU's memory, not initialised.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t size) : size_(size) {
    if (size > 0) check(cudaMalloc(&data_, size * sizeof(T)), "reserving memory");
  }
  /// A copy of `values`, made asynchronously on the stream; `values` must outlive the copying.
  DeviceBuffer(std::span<const T> values, cudaStream_t stream) : DeviceBuffer(values.size()) {
    copy_from(values, stream);
  }
  DeviceBuffer(DeviceBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;
  ~DeviceBuffer() {
    if (data_ != nullptr) static_cast<void>(cudaFree(data_));
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  /// Asynchronous; `values` must outlive the copying.
  void copy_from(std::span<const T> values, cudaStream_t stream) {
    if (values.empty()) return;
    check(
        cudaMemcpyAsync(data_, values.data(), values.size_bytes(), cudaMemcpyHostToDevice, stream),
        "copying to the GPU");
  }
  /// Copies the first `out.size()` elements, asynchronously on the stream.
  void copy_to(std::span<T> out, cudaStream_t stream) const {
    if (out.empty()) return;
    check(cudaMemcpyAsync(out.data(), data_, out.size_bytes(), cudaMemcpyDeviceToHost, stream),
          "copying from the GPU");
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Copies of arrays of any types in the GPU's memory. Each call copies one array and returns the copy's
/// address.
class DeviceArrays {
 public:
  /// Copies asynchronously on `stream`; the arrays must outlive the copying.
  explicit DeviceArrays(cudaStream_t stream) : stream_(stream) {}

  template <class Array>
  const typename Array::value_type* operator()(const Array& array) {
    held_.emplace_back(std::as_bytes(std::span(array)), stream_);
    return reinterpret_cast<const typename Array::value_type*>(held_.back().data());
  }

 private:
  cudaStream_t stream_;
  std::vector<DeviceBuffer<std::byte>> held_;
};

/// An array in pinned host memory, which the GPU reads and writes asynchronously at full speed.
template <class T>
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t size) : size_(size) {
    if (size > 0) check(cudaMallocHost(&data_, size * sizeof(T)), "reserving pinned memory");
  }
  PinnedBuffer(PinnedBuffer&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedBuffer(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(const PinnedBuffer&) = delete;
  PinnedBuffer& operator=(PinnedBuffer&&) = delete;
  ~PinnedBuffer() {
    if (data_ != nullptr) static_cast<void>(cudaFreeHost(data_));
  }
  std::span<T> span() const { return {data_, size_}; }
  T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

/// Free memory of the current device, in bytes.
inline std::size_t free_memory() {
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  check(cudaMemGetInfo(&free_bytes, &total), "asking for free memory");
  return free_bytes;
}

/// Calls work(tile), first with tile = `most`, then with half the tile after every GpuOutOfMemory, down to
/// `least`, whose exception is passed on. `work` must be repeatable: each call starts afresh.
template <class Work>
auto with_shrinking_tile(std::size_t most, std::size_t least, const Work& work) {
  std::size_t tile = std::max(most, least);
  for (;;) {
    try {
      return work(tile);
    } catch (const GpuOutOfMemory&) {
      if (tile <= least) throw;
      tile = std::max(least, tile / 2);
    }
  }
}

}  // namespace corun::inline models::CORUN_GPU
