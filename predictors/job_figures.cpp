#include "predictors/job_figures.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "predictors/graph/execution.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

constexpr auto kFigures = std::to_array<FigureEntry>({
    {"training", &JobFigures::training, "1: a step of training, 0: of inference"},
    {"library_version", &JobFigures::library_version, "of cuDNN, as 7605"},
    {"batch", &JobFigures::batch, "samples of a step"},
    {"input_elements", &JobFigures::input_elements, "numbers of one sample"},
    {"input_bytes", &JobFigures::input_bytes, "of one sample"},
    {"parameters", &JobFigures::parameters, "numbers of the weights"},
    {"parameter_tensors", &JobFigures::parameter_tensors, "lists in which they lie"},
    {"weight_bytes", &JobFigures::weight_bytes, "of the weights"},
    {"multiply_adds", &JobFigures::multiply_adds, "of one sample, forward"},
    {"grouped_multiply_adds", &JobFigures::grouped_multiply_adds,
     "of these, in grouped convolutions"},
    {"activation_elements", &JobFigures::activation_elements, "outputs of all layers, one sample"},
    {"weighted_outputs", &JobFigures::weighted_outputs,
     "of these, of convolutions and linear layers"},
    {"bytes_moved", &JobFigures::bytes_moved, "read and written forward, one sample, no weights"},
    {"convolution_elements", &JobFigures::convolution_elements, "outputs of convolutions"},
    {"normalisation_elements", &JobFigures::normalisation_elements, "outputs of normalisations"},
    {"function_elements", &JobFigures::function_elements, "outputs of activation functions"},
    {"dropout_elements", &JobFigures::dropout_elements, "outputs of dropout"},
    {"convolutions", &JobFigures::convolutions, "layers"},
    {"linear_layers", &JobFigures::linear_layers, "layers"},
    {"normalisations", &JobFigures::normalisations, "layers"},
    {"functions", &JobFigures::functions, "activation functions"},
    {"other_layers", &JobFigures::other_layers, "layers"},
    {"forward_kernels", &JobFigures::forward_kernels, "launched by a forward pass"},
    {"backward_kernels", &JobFigures::backward_kernels, "launched by a backward pass"},
    {"mean_channels", &JobFigures::mean_channels, "geometric mean over layers' outputs"},
    {"mean_length", &JobFigures::mean_length, "geometric mean over layers' outputs"},
    {"even_layers", &JobFigures::even_layers, "sum of layers' outputs over the largest"},
    {"kept_bytes", &JobFigures::kept_bytes, "at the end of the forward pass, whole batch"},
    {"peak_bytes", &JobFigures::peak_bytes, "most at a time, gradients of weights included"},
    {"workspace_bytes", &JobFigures::workspace_bytes, "largest input and output of a convolution"},
    {"lean_reserved_bytes", &JobFigures::lean_reserved_bytes, "of a caching allocator"},
    {"reserved_bytes", &JobFigures::reserved_bytes, "of a caching allocator, with workspaces"},
    {"sms", &JobFigures::sms, "of the GPU type"},
    {"cuda_cores", &JobFigures::cuda_cores, "of the GPU type"},
    {"tensor_cores", &JobFigures::tensor_cores, "of the GPU type"},
    {"threads_per_sm", &JobFigures::threads_per_sm, "of the GPU type"},
    {"gpu_memory_mib", &JobFigures::memory_mib, "of the GPU type"},
    {"bandwidth_gbs", &JobFigures::bandwidth_gbs, "of its memory"},
    {"memory_clock_mhz", &JobFigures::memory_clock_mhz, "of its memory"},
    {"boost_mhz", &JobFigures::boost_mhz, "of its SMs"},
    {"fp32_tflops", &JobFigures::fp32_tflops, "peak in single precision"},
    {"l2_mib", &JobFigures::l2_mib, "of its L2 cache"},
    {"convolution_tflops", &JobFigures::convolution_tflops, "peak of convolutions"},
    {"half_tflops", &JobFigures::half_tflops, "peak of the tensor cores with float16"},
    {"bfloat16_tflops", &JobFigures::bfloat16_tflops, "peak of the tensor cores with bfloat16"},
});

double of_kind(const GraphTotals& totals, OperationKind kind) {
  return totals.elements.at(static_cast<std::size_t>(kind));
}

double convolution_peak(const GpuSpec& type) {
  const std::string& architecture = type.architecture;
  const double peak = type.fp32_tflops;
  if (architecture == "Kepler") return 2.0 / 3 * peak;
  const bool hopper = architecture == "Hopper";
  if (!hopper && architecture != "Ampere" && architecture != "Ada" && architecture != "Blackwell") {
    return peak;
  }
  // Operations of a tensor core per clock with TF32: data-centre types have 64 lanes per SM, or are Hopper.
  const bool large = hopper || type.cuda_cores == 64 * type.sms;
  const double per_clock = hopper ? 512 : large ? 256 : 64;
  const double tensor = type.tensor_cores * type.boost_mhz * per_clock / 1e6;
  const double plain = large ? peak : 0.735 * peak;
  return tensor > 0 ? std::sqrt(plain * tensor) : plain;
}

/// Operations of a tensor core per clock in half precision; 0: it has none for it. Of Ampere, data-centre types have 64
/// lanes per SM.
double half_per_clock(const GpuSpec& type, Precision precision) {
  const std::string& architecture = type.architecture;
  const bool bfloat16 = precision == Precision::kBfloat16;
  if (architecture == "Volta" || architecture == "Turing") return bfloat16 ? 0 : 128;
  if (architecture == "Ampere") return type.cuda_cores == 64 * type.sms ? 512 : 256;
  if (architecture == "Ada" || architecture == "Blackwell") return 256;
  if (architecture == "Hopper") return 1024;
  if (architecture == "CDNA") return bfloat16 ? 128 : 256;
  return architecture == "CDNA 2" ? 256 : 0;
}

double half_peak(const GpuSpec& type, Precision precision) {
  return type.tensor_cores * type.boost_mhz * half_per_clock(type, precision) / 1e6;
}

void set_layer_means(JobFigures& figures, const ComputationGraph& graph) {
  const bool images = figures.convolutions > 0;
  const OperationKind kind = images ? OperationKind::kConvolution : OperationKind::kLinear;
  double sum = 0, largest = 0, channels = 0, lengths = 0;
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    if (graph[node].kind != kind) continue;
    const Shape& shape = graph[node].output;
    const auto elements = static_cast<double>(graph.elements(node));
    const auto width = static_cast<double>(images ? shape.at(1) : shape.back());
    const double positions = elements / static_cast<double>(shape.at(0)) / width;
    sum += elements;
    largest = std::max(largest, elements);
    channels += elements * math::log(width);
    lengths += elements * math::log(positions) / 2;
  }
  if (sum == 0) return;
  figures.mean_channels = math::exp(channels / sum);
  figures.mean_length = math::exp(lengths / sum);
  figures.even_layers = sum / largest;
}

constexpr double kSingleBytes = 4;

double known(double figure) { return figure > 0 ? figure : kNaN; }

}  // namespace

std::span<const FigureEntry> figure_catalog() { return kFigures; }

double weight_bytes(const JobFigures& figures) {
  return std::isnan(figures.weight_bytes) ? kSingleBytes * figures.parameters
                                          : figures.weight_bytes;
}

double input_bytes(const JobFigures& figures) {
  return std::isnan(figures.input_bytes) ? kSingleBytes * figures.input_elements
                                         : figures.input_bytes;
}

double peak_tflops(const JobFigures& figures, Precision precision) {
  switch (precision) {
    case Precision::kHalf:
      return figures.half_tflops;
    case Precision::kBfloat16:
      return figures.bfloat16_tflops;
    case Precision::kDouble:
      return kNaN;
    default:
      return figures.convolution_tflops;
  }
}

void set_graph(JobFigures& figures, const ComputationGraph& graph, double batch, bool training) {
  const GraphTotals totals = totals_of(graph);
  JobFigures& f = figures;
  f.training = training ? 1 : 0;
  f.batch = batch;
  f.input_elements = totals.input_elements;
  f.input_bytes = totals.input_bytes;
  f.parameters = static_cast<double>(totals.parameters);
  f.parameter_tensors = static_cast<double>(totals.parameter_tensors);
  f.weight_bytes = totals.weight_bytes;
  f.multiply_adds = totals.multiply_adds;
  f.grouped_multiply_adds = totals.grouped_multiply_adds;
  f.activation_elements = totals.activation_elements;
  f.weighted_outputs = totals.weighted_outputs;
  f.bytes_moved = totals.bytes_moved;
  f.convolution_elements = of_kind(totals, OperationKind::kConvolution);
  f.normalisation_elements = of_kind(totals, OperationKind::kNormalisation);
  f.function_elements = of_kind(totals, OperationKind::kActivation);
  f.dropout_elements = of_kind(totals, OperationKind::kDropout);
  f.convolutions = totals.count(OperationKind::kConvolution);
  f.linear_layers =
      totals.count(OperationKind::kLinear) + 2.0 * totals.count(OperationKind::kRecurrent);
  f.normalisations = totals.count(OperationKind::kNormalisation);
  f.functions = totals.count(OperationKind::kActivation);
  f.other_layers = 0;
  for (const OperationKind kind :
       {OperationKind::kMatrixProduct, OperationKind::kSoftmax, OperationKind::kPooling,
        OperationKind::kElementwise, OperationKind::kConcatenation, OperationKind::kDropout,
        OperationKind::kEmbedding, OperationKind::kReduction, OperationKind::kUnknown}) {
    f.other_layers += totals.count(kind);
  }
  f.forward_kernels = totals.forward_kernels;
  f.backward_kernels = totals.backward_kernels;
  const MemoryNeed need =
      training ? training_memory(graph, batch, 1) : inference_memory(graph, batch);
  f.kept_bytes = need.kept_bytes;
  f.peak_bytes = need.peak_with_gradients_bytes;
  f.workspace_bytes = need.workspace_bytes;
  if (training) {
    f.lean_reserved_bytes = reserved_memory(graph, batch, 0).reserved_bytes;
    f.reserved_bytes = reserved_memory(graph, batch, 1).reserved_bytes;
  }
  set_layer_means(f, graph);
}

void set_gpu(JobFigures& figures, const GpuSpec& type) {
  figures.sms = known(type.sms);
  figures.cuda_cores = known(type.cuda_cores);
  figures.tensor_cores = type.tensor_cores;  // 0: it has none
  figures.threads_per_sm = known(type.threads_per_sm);
  figures.memory_mib = known(type.memory_mib);
  figures.bandwidth_gbs = known(type.bandwidth_gbs);
  figures.memory_clock_mhz = known(type.memory_clock_mhz);
  figures.boost_mhz = known(type.boost_mhz);
  figures.fp32_tflops = known(type.fp32_tflops);
  figures.l2_mib = known(type.l2_mib);
  figures.convolution_tflops = known(convolution_peak(type));
  figures.half_tflops = known(half_peak(type, Precision::kHalf));
  figures.bfloat16_tflops = known(half_peak(type, Precision::kBfloat16));
}

}  // namespace corun::inline predictors
