#pragma once

#include "models/formulas/short_formula.hpp"
#include "models/scoring/cuda_support.hpp"

namespace corun::inline models::CORUN_GPU {

/// Jobs of a short formula in the GPU's memory, and a View of them for the kernels. They are copied
/// asynchronously on `stream`; the jobs must outlive the copying.
template <ShortFormula Jobs>
class OnGpu {
 public:
  OnGpu(const Jobs& jobs, cudaStream_t stream)
      : arrays_(stream), view_(jobs.view([this](const auto& array) { return arrays_(array); })) {}
  const typename Jobs::View& view() const { return view_; }

 private:
  DeviceArrays arrays_;
  typename Jobs::View view_;
};

}  // namespace corun::inline models::CORUN_GPU
