#include "models/scoring/device.hpp"

#include <chrono>
#include <vector>

namespace corun::inline models {

namespace {

DeviceWish wish_of(std::string_view word) {
  if (word == "auto") return DeviceWish::kAuto;
  if (word == "cpu") return DeviceWish::kCpu;
  if (word == "cuda") return DeviceWish::kCuda;
  throw InputError("--device", "found '" + std::string(word) + "', expected auto, cpu or cuda");
}

}  // namespace

DeviceReport probe_devices(const GpuScorer* gpu) {
  if (gpu == nullptr) return {0, "built without the CUDA toolkit"};
  try {
    return {1, gpu->probe()};
  } catch (const DeviceError& error) {
    return {0, error.what()};
  }
}

Device::Device(std::string_view wanted, const GpuScorer* gpu) : wish_(wish_of(wanted)) {
  if (wish_ == DeviceWish::kCpu) return;
  const DeviceReport report = probe_devices(gpu);
  if (report.cuda_devices > 0) {
    gpu_ = gpu;
    gpu_name_ = report.reason;
    return;
  }
  reason_ = report.reason;
  if (wish_ == DeviceWish::kCuda) {
    throw DeviceError("--device cuda: no usable GPU (" + reason_ + "); use --device cpu or auto");
  }
}

double Device::batch_overhead_s() const {
  std::call_once(measured_, [&] {
    constexpr std::size_t kJobs = 64;
    ContentionJobs jobs;
    for (std::size_t i = 0; i < kJobs; ++i) jobs.add(ContentionLoad::of(0.5, 0.5, 0.5));
    PairFormula formula{std::move(jobs)};
    const SoloTimes solo(std::vector<double>(kJobs, 1.0));
    try {
      // The first turn includes setup that happens once; the second turn counts.
      for (int turn = 0; turn < 2; ++turn) {
        const auto started = std::chrono::steady_clock::now();
        gpu_->top_co_runners(formula, solo, {}, 1, {}, {});
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - started;
        overhead_s_ = took.count();
      }
    } catch (const DeviceError&) {
      overhead_s_ = 0;  // the batch will fail in the same way, and failed() reports it
    }
  });
  return overhead_s_;
}

void Device::failed(const DeviceError& error) {
  if (wish_ == DeviceWish::kCuda) throw DeviceError(std::string("--device cuda: ") + error.what());
  const std::scoped_lock lock(guard_);
  if (lost_why_.empty()) lost_why_ = error.what();
  lost_ = true;
}

std::string Device::record() const {
  const std::scoped_lock lock(guard_);
  if (gpu_ == nullptr) return "cpu";
  if (lost_) return "cpu, after " + gpu_name_ + " was given up: " + lost_why_;
  return gpu_name_ + (wish_ == DeviceWish::kAuto ? ", small batches on the cpu" : "");
}

std::string Device::note() const {
  if (wish_ != DeviceWish::kAuto) return {};
  const std::scoped_lock lock(guard_);
  if (gpu_ == nullptr) return {};
  if (lost_) return lost_why_ + "; went on without the GPU, results are the same";
  return "large batches of pairs are scored on " + gpu_name_ + "; results do not depend on it";
}

std::shared_ptr<Device> choose_device(std::string_view wanted) {
  return std::make_shared<Device>(wanted, cuda_scorer());
}

}  // namespace corun::inline models
