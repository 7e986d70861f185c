#pragma once

#include <array>

#include "predictors/graph/computation_graph.hpp"
#include "predictors/job_figures.hpp"

/// What a step's time consists of, by the roofline model (Williams, Waterman, Patterson, CACM 2009) applied to each
/// operation: arithmetic over the GPU's peak, bytes over its bandwidth, launches by the host. Each term is a time
/// in ms if the hardware reached its peaks and a launch took a microsecond; a predictor learns the coefficients.
///
/// Kinds of convolution have terms of their own, because they reach different shares of the peak: windows of 3 x 3
/// with stride 1, for which cuDNN has Winograd's algorithm; other windows; 1 x 1; grouped; depthwise. Bytes that
/// fit into the L2 cache count a quarter. Products of half-precision numbers go by the peak of the tensor cores; no
/// predictor has learnt from such jobs. What a loop runs counts for each trip.
namespace corun::inline predictors {

enum class TimeTerm : std::uint8_t {
  kWindows,    ///< dense convolutions that are neither of the next two
  kWinograd,   ///< dense, 3 x 3, stride 1, at least 16 input channels
  kPointwise,  ///< dense, 1 x 1
  kGrouped,    ///< between dense and depthwise
  kDepthwise,  ///< one channel per group
  kWaves,      ///< dense convolutions in whole waves of tiles of 128 x 64 on all SMs
  kConvolutionBytes,
  kDepthwiseBytes,
  kElementwiseBytes,
  kNormalisationBytes,
  kWeightBytes,
  kProducts,  ///< linear layers, matrix products, recurrent layers
  kConvolutionLaunches,
  kNormalisationLaunches,
  kElementwiseLaunches,
  kWeightUpdates,  ///< one launch per list of parameters
  kCopiedInput,    ///< from the host, at 5 GB/s
};
inline constexpr std::size_t kTimeTerms = 17;
/// The last five are the host's.
inline constexpr std::size_t kGpuTerms = 12;

using TimeTerms = std::array<double, kTimeTerms>;  ///< [ms]

/// The terms of a step; NaN in all of them if the batch, or the bandwidth, SMs, L2 cache or a peak that the graph's
/// precisions need (peak_tflops()) are not known.
TimeTerms time_terms(const ComputationGraph& graph, const JobFigures& figures);

}  // namespace corun::inline predictors
