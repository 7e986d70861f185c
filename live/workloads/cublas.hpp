#pragma once

#include <memory>

/// Matrix products by NVIDIA's cuBLAS, which is loaded at run time: neither the build nor the start of the
/// program needs it.
namespace corun::live {

class Cublas {
 public:
  /// Null if neither the loader's search nor /usr/local/cuda/lib64 has a complete libcublas.so.`major`, .13,
  /// .12 or .11. `major` is the version of the CUDA runtime in use. Throws DeviceError if the library cannot
  /// start: another kernel would make runs incomparable.
  static std::unique_ptr<Cublas> load(int major, void* cuda_stream);

  /// C = A B of n x n floats, row-major, in device memory, on the stream. Throws DeviceError if cuBLAS fails.
  void multiply(const float* a, const float* b, float* c, int n) const;
  ~Cublas();
  Cublas(const Cublas&) = delete;
  Cublas& operator=(const Cublas&) = delete;

 private:
  Cublas() = default;
  void* library_ = nullptr;
  void* handle_ = nullptr;
  int (*destroy_)(void*) = nullptr;
  int (*sgemm_)(void*, int, int, int, int, int, const float*, const float*, int, const float*, int,
                const float*, float*, int) = nullptr;
};

}  // namespace corun::live
