#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "models/formulas/pair_formula.hpp"
#include "models/scoring/cuda_support.hpp"

/// Jobs of a short formula in the memory of the GPU: what holds their arrays there, and gives the view that
/// kernels read. on_gpu(jobs, stream) makes it of each.
namespace corun::CORUN_GPU {

class ContentionOnGpu {
 public:
  ContentionOnGpu(const ContentionJobs& jobs, cudaStream_t stream)
      : equation_(jobs.equation),
        free_u_(std::span(jobs.free_u), stream),
        u_(std::span(jobs.u), stream),
        t_(std::span(jobs.t), stream),
        light_(std::span(jobs.light), stream),
        overflow_(std::span(jobs.overflow), stream) {}
  ContentionView view() const {
    return {equation_, free_u_.data(), u_.data(), t_.data(), light_.data(), overflow_.data()};
  }

 private:
  ContentionEquation equation_;
  DeviceBuffer<double> free_u_, u_, t_, light_, overflow_;
};
inline ContentionOnGpu on_gpu(const ContentionJobs& jobs, cudaStream_t stream) {
  return {jobs, stream};
}

class KindTableOnGpu {
 public:
  KindTableOnGpu(const KindTableJobs& jobs, cudaStream_t stream)
      : kinds_(jobs.kinds),
        speed_(std::span(jobs.speed), stream),
        sd_(std::span(jobs.sd), stream),
        inverse_(std::span(jobs.inverse), stream),
        kind_(std::span(jobs.kind), stream),
        excess_(std::span(jobs.excess), stream) {}
  KindTableView view() const {
    return {kinds_,       speed_.data(),  sd_.data(),        inverse_.data(),
            kind_.data(), excess_.data(), excess_.size() > 0};
  }

 private:
  std::size_t kinds_;
  DeviceBuffer<double> speed_, sd_, inverse_;
  DeviceBuffer<std::uint32_t> kind_;
  DeviceBuffer<double> excess_;
};
inline KindTableOnGpu on_gpu(const KindTableJobs& jobs, cudaStream_t stream) {
  return {jobs, stream};
}

}  // namespace corun::CORUN_GPU
