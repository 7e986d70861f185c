#include "live/workloads/cublas.hpp"

#include <string>

#include <dlfcn.h>

#include "live/workloads/device.hpp"

namespace corun::live {

namespace {

/// The four functions have had these names and arguments from CUDA 11 to 13. Enumerations are ints.
constexpr int kNoTranspose = 0;  // CUBLAS_OP_N
constexpr int kAllocFailed = 3;  // CUBLAS_STATUS_ALLOC_FAILED

void check_cublas(int status, const std::string& doing) {
  if (status == 0) return;
  if (status == kAllocFailed) {
    throw DeviceOutOfMemory("CUDA error: out of memory: CUBLAS_STATUS_ALLOC_FAILED while " + doing);
  }
  throw DeviceError("cuBLAS failed while " + doing + ": status " + std::to_string(status) +
                    "; --gemm own does without it");
}

template <typename F>
bool find(void* library, const char* name, F& function) {
  function = reinterpret_cast<F>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::unique_ptr<Cublas> Cublas::load(int major, void* cuda_stream) {
  void* library = nullptr;
  // The loader often does not search the directory of an installed toolkit.
  for (const char* folder : {"", "/usr/local/cuda/lib64/"}) {
    for (const int version : {major, 13, 12, 11}) {
      const std::string file = folder + ("libcublas.so." + std::to_string(version));
      if (library == nullptr) library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    }
  }
  if (library == nullptr) return nullptr;
  std::unique_ptr<Cublas> cublas(new Cublas);
  cublas->library_ = library;
  int (*create)(void**) = nullptr;
  int (*set_stream)(void*, void*) = nullptr;
  const bool complete = find(library, "cublasCreate_v2", create) &&
                        find(library, "cublasSetStream_v2", set_stream) &&
                        find(library, "cublasDestroy_v2", cublas->destroy_) &&
                        find(library, "cublasSgemm_v2", cublas->sgemm_);
  if (!complete) return nullptr;
  void* handle = nullptr;
  check_cublas(create(&handle), "starting");
  cublas->handle_ = handle;
  check_cublas(set_stream(handle, cuda_stream), "starting");
  return cublas;
}

void Cublas::multiply(const float* a, const float* b, float* c, int n) const {
  const float one = 1;
  const float zero = 0;
  // cuBLAS is column-major, so it reads the transposes: it computes C^T = B^T A^T.
  check_cublas(sgemm_(handle_, kNoTranspose, kNoTranspose, n, n, n, &one, b, n, a, n, &zero, c, n),
               "multiplying matrices");
}

Cublas::~Cublas() {
  if (handle_ != nullptr) destroy_(handle_);
  // The library stays loaded until the process ends, because it has threads and exit handlers.
}

}  // namespace corun::live
