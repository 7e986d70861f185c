#pragma once

#include <optional>

#include "models/solo/solo_predictor.hpp"

/// Solo speed and memory by the specifications of two GPU types alone, for jobs of which nothing else is
/// known.
namespace corun::inline models {

/// By the roofline model (Williams, Waterman, Patterson, CACM 2009) a job gains the ratio of the bandwidths
/// if memory bounds it and the ratio of the peaks [FLOP/s] if arithmetic does. Which one is not known, so
/// the speed is the mean of both in logarithms, with weights 2/3 and 1/3.
///
/// Weights and deviations are chosen on public iteration times of 14 GPU types (pytorch-gpu-benchmark, float)
/// and throughputs of 24 (Lambda): Roofline.DeviatesOnPublicTablesAsItSays compares.
class Roofline final : public SoloPredictor {
 public:
  static constexpr double kBandwidthWeight = 2.0 / 3;
  static constexpr double kTypeSigma = 0.35;  ///< the known errors, as SoloPrediction's
  static constexpr double kJobSigma = 0.25;

  SoloSource source() const override { return SoloSource::kScaled; }
  /// Nothing if bandwidth or peak of a type is not known.
  std::optional<SoloPrediction> predict(JobId job, const GpuSpec& from,
                                        const GpuSpec& to) const override;
};

/// Memory that the driver's context of a process takes on a GPU type, as far as it depends on the type
/// [MiB]: 2.4 KiB for each thread that can be resident. Nothing if the number of these threads is not known.
///
/// The same images on several types differ by 2.5 MiB per SM on Turing (1,024 threads per SM) and by 256 MiB
/// between a V100 (80 SMs of 2,048 threads) and a Quadro RTX 5000 (48 SMs of 1,024): Lambda's benchmark.
std::optional<double> context_mib(const GpuSpec& type);

}  // namespace corun::inline models
