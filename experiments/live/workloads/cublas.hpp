#pragma once

#include <memory>

/// Matrix products by NVIDIA's cuBLAS, which is looked up when the program runs: a build needs no cuBLAS,
/// and a program that was built starts where there is none.
namespace corun::live {

class Cublas {
 public:
  /// Empty where no libcublas.so.11, .12 or .13 can be loaded, neither by the loader's own search nor from
  /// /usr/local/cuda/lib64. DeviceError where the library is there but
  /// cannot start: going on with another kernel would make runs incomparable. `major` is the version of
  /// the CUDA runtime in use, whose cuBLAS is tried first.
  static std::unique_ptr<Cublas> load(int major, void* cuda_stream);

  /// C = A B of n x n floats, row-major, on the stream. DeviceError when cuBLAS refuses.
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
