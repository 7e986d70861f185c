#include "predictors/physics/time_terms.hpp"

#include <algorithm>
#include <cmath>

namespace corun::inline predictors {

namespace {

constexpr double kMs = 1e3;            // per second
constexpr double kMicrosecond = 1e-3;  // in ms
constexpr double kCachedShare = 0.25;  // of the time that bytes of the device memory take
constexpr double kTileRows = 128, kTileColumns = 64;
constexpr double kLinkBytesPerMs = 5e6;
constexpr double kLeastWinogradChannels = 16;

bool is_light(OperationKind kind) {
  switch (kind) {
    case OperationKind::kActivation:
    case OperationKind::kSoftmax:
    case OperationKind::kPooling:
    case OperationKind::kElementwise:
    case OperationKind::kConcatenation:
    case OperationKind::kDropout:
    case OperationKind::kEmbedding:
    case OperationKind::kReduction:
    case OperationKind::kCopy:
    case OperationKind::kLoss:
    case OperationKind::kUnknown:
      return true;
    default:
      return false;
  }
}

}  // namespace

TimeTerms time_terms(const ComputationGraph& graph, const JobFigures& figures) {
  TimeTerms terms{};
  const double single_peak = figures.convolution_tflops * 1e12 / kMs;  // per ms
  const double bandwidth = figures.bandwidth_gbs * 1e9 / kMs;          // bytes per ms
  const double cache = figures.l2_mib * 1048576;
  const double scale = figures.batch / static_cast<double>(graph.samples());
  const auto unknown = [&] {
    terms.fill(kNaN);
    return terms;
  };
  if (!(single_peak > 0 && bandwidth > 0 && cache > 0 && figures.sms > 0 && scale > 0)) {
    return unknown();
  }
  const auto term = [&](TimeTerm which) -> double& {
    return terms[static_cast<std::size_t>(which)];
  };
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    const Operation& op = graph[node];
    const double outputs = static_cast<double>(graph.elements(node)) * scale;
    double bytes = graph.bytes(node) * scale;
    for (const ComputationGraph::Node input : graph.inputs(node)) {
      bytes += graph.bytes(input) * scale;
    }
    const double peak =
        op.multiply_adds > 0 ? peak_tflops(figures, op.precision) * 1e12 / kMs : single_peak;
    if (!(peak > 0)) return unknown();
    const double cached = std::min(1.0, cache / std::max(bytes, 1.0));
    const double moved = op.repeats * bytes * (1 - cached + kCachedShare * cached) / bandwidth;
    const double arithmetic = op.repeats * 2 * op.multiply_adds * scale / peak;
    term(TimeTerm::kWeightBytes) += op.repeats * weight_bytes(op) / bandwidth;
    term(TimeTerm::kWeightUpdates) += kMicrosecond * op.parameter_tensors;
    switch (op.kind) {
      case OperationKind::kInput:
        term(TimeTerm::kCopiedInput) += graph.bytes(node) * scale / kLinkBytesPerMs;
        break;
      case OperationKind::kConvolution: {
        const auto groups = static_cast<double>(op.groups);
        const auto window = static_cast<double>(op.window);
        const double in_channels = op.inner_length / window * groups;
        const bool depthwise = op.groups > 1 && groups == in_channels;
        const bool dense = op.groups == 1;
        const TimeTerm kind =
            depthwise        ? TimeTerm::kDepthwise
            : !dense         ? TimeTerm::kGrouped
            : op.window == 1 ? TimeTerm::kPointwise
            : op.window == 9 && !op.strided && in_channels >= kLeastWinogradChannels
                ? TimeTerm::kWinograd
                : TimeTerm::kWindows;
        term(kind) += arithmetic;
        if (dense) {
          const double channels = op.output.size() > 1 ? static_cast<double>(op.output[1]) : 1;
          const double tiles =
              std::ceil(outputs / channels / kTileRows) * std::ceil(channels / kTileColumns);
          term(TimeTerm::kWaves) += op.repeats * std::ceil(tiles / figures.sms) * 2 * kTileRows *
                                    kTileColumns * op.inner_length / (peak / figures.sms);
        }
        term(depthwise ? TimeTerm::kDepthwiseBytes : TimeTerm::kConvolutionBytes) += moved;
        term(TimeTerm::kConvolutionLaunches) += op.repeats * kMicrosecond;
        break;
      }
      case OperationKind::kLinear:
      case OperationKind::kMatrixProduct:
      case OperationKind::kRecurrent:
        term(TimeTerm::kProducts) += arithmetic;
        // A linear layer of one row per sample is counted by its weights; texts have many rows.
        if (graph.elements(node) > 0 && op.output.size() > 2) {
          term(TimeTerm::kConvolutionBytes) += moved;
          term(TimeTerm::kConvolutionLaunches) += op.repeats * kMicrosecond * op.forward_kernels;
        }
        break;
      case OperationKind::kNormalisation:
        term(TimeTerm::kNormalisationBytes) += moved;
        term(TimeTerm::kNormalisationLaunches) += op.repeats * kMicrosecond;
        break;
      default:
        if (!is_light(op.kind)) break;
        term(TimeTerm::kElementwiseBytes) += moved;
        term(TimeTerm::kElementwiseLaunches) += op.repeats * kMicrosecond;
    }
  }
  return terms;
}

}  // namespace corun::inline predictors
