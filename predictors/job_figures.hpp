#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "predictors/graph/computation_graph.hpp"
#include "sim/base/nan.hpp"
#include "sim/gpu_spec.hpp"

/// A deep-learning job and a GPU type as numbers: all that predictors see. There is no name in it.
namespace corun::inline predictors {

/// NaN: not known.
struct JobFigures {
  // The step.
  double training = kNaN;         ///< 1: a step of training, 0: of inference
  double library_version = kNaN;  ///< of cuDNN, as 7605
  double batch = kNaN;            ///< samples

  // The computation graph, for one sample.
  double input_elements = kNaN;
  double input_bytes = kNaN;
  double parameters = kNaN;
  double parameter_tensors = kNaN;
  double weight_bytes = kNaN;
  double multiply_adds = kNaN;  ///< forward
  double grouped_multiply_adds = kNaN;
  double activation_elements = kNaN;
  double weighted_outputs = kNaN;  ///< elements of the outputs of convolutions and linear layers
  double bytes_moved = kNaN;       ///< read and written forward, weights excepted
  double convolution_elements = kNaN;
  double normalisation_elements = kNaN;
  double function_elements = kNaN;  ///< outputs of activation functions
  double dropout_elements = kNaN;
  double convolutions = kNaN;  ///< number of layers, as the next four
  double linear_layers = kNaN;
  double normalisations = kNaN;
  double functions = kNaN;
  double other_layers = kNaN;
  double forward_kernels = kNaN;
  double backward_kernels = kNaN;
  /// Means over the outputs of convolutions, or else linear layers, by their elements.
  double mean_channels = kNaN;  ///< geometric
  double mean_length = kNaN;    ///< geometric: side of an image
  double even_layers = kNaN;    ///< sum of these outputs over the largest

  // Memory of the step by shape-only execution, for all samples [bytes].
  double kept_bytes = kNaN;  ///< at the end of the forward pass
  double peak_bytes = kNaN;  ///< with the gradients of weights, as the backward pass makes them
  double workspace_bytes = kNaN;      ///< the largest input and output of a convolution together
  double lean_reserved_bytes = kNaN;  ///< most that a caching allocator holds, without workspaces
  double reserved_bytes = kNaN;  ///< with workspaces as large as a convolution's input and output

  // The GPU type.
  double sms = kNaN;
  double cuda_cores = kNaN;
  double tensor_cores = kNaN;
  double threads_per_sm = kNaN;
  double memory_mib = kNaN;
  double bandwidth_gbs = kNaN;
  double memory_clock_mhz = kNaN;
  double boost_mhz = kNaN;
  double fp32_tflops = kNaN;
  double l2_mib = kNaN;
  double convolution_tflops = kNaN;  ///< peak that convolutions of single-precision numbers have
  double half_tflops = kNaN;         ///< peak of the tensor cores with float16
  double bfloat16_tflops = kNaN;
};

/// Bytes of the weights, and of a sample's input; of single precision where only their number is known.
double weight_bytes(const JobFigures& figures);
double input_bytes(const JobFigures& figures);

/// The peak that bounds products in a precision [TFLOP/s]; NaN if it is not known, as double precision's never is.
double peak_tflops(const JobFigures& figures, Precision precision);

/// A figure's name in files, its unit and its meaning.
struct FigureEntry {
  std::string_view name;  ///< with its unit
  double JobFigures::*value;
  std::string_view description;
};

/// All figures, in the order of the struct.
std::span<const FigureEntry> figure_catalog();

/// Sets the figures of the graph and of its memory, for a step of `batch` samples.
void set_graph(JobFigures& figures, const ComputationGraph& graph, double batch, bool training);

/// Sets the figures of the GPU type, of which convolution_tflops is
///   Kepler: 2/3 of the peak, as a third of the lanes needs two instructions at a time;
///   Ampere and later: the geometric mean of the peak and that of the tensor cores with TF32, which frameworks use
///   for convolutions by default. The peak of types with 128 lanes per SM counts 73.5 %: half of the lanes also do
///   integer arithmetic, of which there are 36 instructions per 100 (NVIDIA's Turing white paper).
/// half_tflops and bfloat16_tflops are tensor cores x clock x operations of one per clock, by the makers' white papers
/// (with sums in the same precision, dense); NaN for types without tensor cores for them.
/// Figures that are not known (0) become NaN.
void set_gpu(JobFigures& figures, const GpuSpec& type);

}  // namespace corun::inline predictors
