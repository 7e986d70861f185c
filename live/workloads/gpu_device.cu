#include <memory>
#include <string>

#include "live/workloads/cublas.hpp"
#include "live/workloads/device.hpp"
#include "live/workloads/workload_kernels.cuh"

namespace corun::live {

namespace {

class Gpu : public WorkloadDevice {
 public:
  Gpu(std::string name, const Recipe& recipe, std::uint64_t seed, Gemm gemm)
      : name_(std::move(name)), work_(recipe, seed), products_(recipe.products > 0) {
    if (!products_ || gemm == Gemm::kOwn) return;
    cublas_ = Cublas::load(CUDART_VERSION / 1000, work_.stream());
    if (cublas_ == nullptr && gemm == Gemm::kCublas) {
      throw DeviceError(
          "corun live workload: --gemm cublas: cuBLAS cannot be loaded; install it or put its "
          "directory into LD_LIBRARY_PATH, or give --gemm own");
    }
    if (cublas_ == nullptr) return;
    work_.multiply_by(
        [this](const float* a, const float* b, float* c, int n) { cublas_->multiply(a, b, c, n); });
  }

  std::string name() const override { return name_; }
  std::string gemm() const override {
    return !products_ ? "none" : cublas_ != nullptr ? "cublas" : "own";
  }
  void step() override { work_.step(); }
  double checksum() override { return work_.checksum(); }

 private:
  std::string name_;
  cuda::RecipeOnGpu work_;
  bool products_;
  std::unique_ptr<Cublas> cublas_;
};

}  // namespace

std::unique_ptr<WorkloadDevice> open_gpu(const Recipe& recipe, std::uint64_t seed, Gemm gemm) {
  int count = 0;
  cudaError_t status = cudaGetDeviceCount(&count);
  cudaDeviceProp properties{};
  if (status == cudaSuccess && count > 0) status = cudaGetDeviceProperties(&properties, 0);
  if (status != cudaSuccess || count == 0) {
    throw DeviceError(std::string("corun live workload: no usable GPU (") +
                      (status != cudaSuccess ? cudaGetErrorString(status) : "none is visible") +
                      "); see corun live probe");
  }
  try {
    return std::make_unique<Gpu>(properties.name, recipe, seed, gemm);
  } catch (const corun::cuda::GpuOutOfMemory& e) {
    throw DeviceOutOfMemory(std::string("CUDA error: ") + cudaGetErrorString(e.status()) +
                            ": corun live workload " + std::string(recipe.name) + " holds " +
                            std::to_string(static_cast<long long>(recipe.memory_mib)) +
                            " MiB and more; lower --memory-mib");
  }
}

}  // namespace corun::live
