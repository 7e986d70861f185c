#include "models/solo/roofline.hpp"

#include "sim/base/math.hpp"

namespace corun::inline models {

std::optional<SoloPrediction> Roofline::predict(JobId, const GpuSpec& from,
                                                const GpuSpec& to) const {
  for (const GpuSpec* type : {&from, &to}) {
    if (!(type->bandwidth_gbs > 0) || !(type->fp32_tflops > 0)) return std::nullopt;
  }
  const double log_bandwidth = math::log(to.bandwidth_gbs / from.bandwidth_gbs);
  const double log_peak = math::log(to.fp32_tflops / from.fp32_tflops);
  return SoloPrediction{
      math::exp(kBandwidthWeight * log_bandwidth + (1 - kBandwidthWeight) * log_peak), kTypeSigma,
      kJobSigma};
}

std::optional<double> context_mib(const GpuSpec& type) {
  constexpr double kMibPerThread = 2.4 / 1024;
  if (type.sms <= 0 || type.threads_per_sm <= 0) return std::nullopt;
  return kMibPerThread * type.sms * type.threads_per_sm;
}

}  // namespace corun::inline models
