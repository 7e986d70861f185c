#include <algorithm>
#include <stdexcept>

#include <fmt/format.h>

#include "predictors/onnx/drafted.hpp"
#include "predictors/onnx/operators.hpp"

/// Convolutions and pooling: windows that move over images of any number of lengths.
namespace corun::inline predictors::onnx_file {

namespace {

struct Window {
  Lengths kernel, stride, dilation;
  Lengths padding;  ///< those before all lengths, then those behind
};

std::size_t lengths_in(const Shape& shape) {
  if (shape.size() < 3) {
    throw std::invalid_argument("samples x channels x lengths were expected, found " +
                                text_of(shape));
  }
  return shape.size() - 2;
}

/// Padding by which the number of windows is the length over the stride, rounded up. The sum is odd at times:
/// `upper` puts the longer half behind.
void pad_to_same(const Shape& from, bool upper, Window& window) {
  const std::size_t count = window.kernel.size();
  window.padding.assign(2 * count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::int64_t length = from[i + 2];
    const std::int64_t stride = window.stride[i];
    const std::int64_t reach = window.dilation[i] * (window.kernel[i] - 1) + 1;
    const std::int64_t windows = (length + stride - 1) / stride;
    const std::int64_t all = std::max<std::int64_t>(0, (windows - 1) * stride + reach - length);
    window.padding[i] = upper ? all / 2 : all - all / 2;
    window.padding[count + i] = all - window.padding[i];
  }
}

Window window_of(const Call& call, const Shape& from, const Lengths& kernel) {
  const std::size_t count = lengths_in(from);
  Window window;
  window.kernel = kernel.empty() ? call.lengths("kernel_shape", count, 1, 1) : kernel;
  if (window.kernel.size() != count ||
      std::any_of(window.kernel.begin(), window.kernel.end(),
                  [](std::int64_t length) { return length < 1 || length > kLongest; })) {
    throw std::invalid_argument(
        fmt::format("a kernel of {} on {}", fmt::join(window.kernel, " x "), text_of(from)));
  }
  window.stride = call.lengths("strides", count, 1, 1);
  window.dilation = call.lengths("dilations", count, 1, 1);
  window.padding = call.lengths("pads", 2 * count, 0, 0);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  if (automatic == "SAME_UPPER" || automatic == "SAME_LOWER") {
    pad_to_same(from, automatic == "SAME_UPPER", window);
  } else if (automatic == "VALID") {
    window.padding.assign(2 * count, 0);
  }
  return window;
}

ConvolutionLayer convolution_layer(const Window& window) {
  ConvolutionLayer layer;
  layer.kernel = window.kernel;
  layer.stride = window.stride;
  layer.dilation = window.dilation;
  layer.padding = window.padding;
  return layer;
}

/// The weights' sizes, at `index`: two numbers of channels, then the kernel's lengths.
const Shape& kernel_shape_of(const Call& call, std::size_t index) {
  const Shape& weights = call.shape(index);
  if (weights.size() != call.shape(0).size() || elements_or_none(weights) == 0) {
    throw std::invalid_argument("an image of " + text_of(call.shape(0)) + " and weights of " +
                                text_of(weights));
  }
  return weights;
}

void check_channels(const Call& call, std::int64_t expected) {
  if (call.shape(0)[1] != expected) {
    throw std::invalid_argument(fmt::format("an image of {}; the weights are for {} channels",
                                            text_of(call.shape(0)), expected));
  }
}

std::int64_t groups_of(const Call& call) {
  const std::int64_t groups = call.number("group", 1);
  if (groups < 1 || groups > kLongest)
    throw std::invalid_argument(fmt::format("{} groups", groups));
  return groups;
}

/// `kernel`, `bias`: indices of inputs.
Layer convolution_with(const Call& call, std::size_t kernel, std::size_t bias) {
  const Shape& from = call.shape(0);
  lengths_in(from);
  const Shape& weights = kernel_shape_of(call, kernel);
  ConvolutionLayer layer =
      convolution_layer(window_of(call, from, Lengths(weights.begin() + 2, weights.end())));
  layer.groups = groups_of(call);
  layer.channels = weights[0];
  layer.bias = call.has(bias);
  check_channels(call, weights[1] * layer.groups);
  Layer result = layer_of(drafted({from}, [&](GraphBuilder& builder, const auto& in) {
    return builder.convolution("", in[0], layer);
  }));
  result.weights = {kernel, bias};
  return result;
}

constexpr std::size_t kNoInput = 1000;

std::optional<Layer> infer_convolution(const Call& call) { return convolution_with(call, 1, 2); }
/// The image, the kernel, and their zero points.
std::optional<Layer> infer_integer_convolution(const Call& call) {
  return convolution_with(call, 1, kNoInput);
}
/// The image, its scale and zero point, the same of the kernel, those of the output, the bias.
std::optional<Layer> infer_quantised_convolution(const Call& call) {
  return convolution_with(call, 3, 8);
}

std::optional<Layer> infer_transposed_convolution(const Call& call) {
  const Shape& from = call.shape(0);
  const std::size_t count = lengths_in(from);
  const Shape& weights = kernel_shape_of(call, 1);
  const Window window = window_of(call, from, Lengths(weights.begin() + 2, weights.end()));
  ConvolutionLayer layer = convolution_layer(window);
  layer.groups = groups_of(call);
  if (weights[1] > (std::int64_t{1} << 40)) throw std::invalid_argument("too many channels");
  layer.channels = weights[1] * layer.groups;
  layer.bias = call.has(2);
  check_channels(call, weights[0]);
  Lengths more = call.lengths("output_padding", count, 0, 0);
  const Lengths asked = call.lengths("output_shape", count, 1, 0);
  const std::string automatic = call.text("auto_pad", "NOTSET");
  const bool same = automatic == "SAME_UPPER" || automatic == "SAME_LOWER";
  if (same || asked[0] > 0) {
    // Padding makes up for what is too long, output padding for what is too short.
    layer.padding.assign(2 * count, 0);
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t whole_length =
          window.stride[i] * (from[i + 2] - 1) + window.dilation[i] * (window.kernel[i] - 1) + 1;
      const std::int64_t wanted = asked[0] > 0 ? asked[i] : from[i + 2] * window.stride[i];
      if (whole_length + more[i] > wanted) {
        layer.padding[i] = whole_length + more[i] - wanted;
      } else {
        more[i] = wanted - whole_length;
      }
    }
  }
  Layer result = layer_of(drafted({from}, [&](GraphBuilder& builder, const auto& in) {
    return builder.transposed_convolution("", in[0], layer, more);
  }));
  result.weights = {1, 2};
  return result;
}

std::optional<Layer> infer_pooling(const Call& call, bool average) {
  const Shape& from = call.shape(0);
  if (call.find("kernel_shape") == nullptr) {
    throw std::invalid_argument("attribute 'kernel_shape' is missing");
  }
  const Window window = window_of(call, from, {});
  PoolingLayer layer;
  layer.kernel = window.kernel;
  layer.stride = window.stride;
  layer.padding = window.padding;
  layer.dilation = window.dilation;
  layer.round_up = call.number("ceil_mode", 0) != 0;
  layer.average = average;
  Layer result = layer_of(drafted({from}, [&](GraphBuilder& builder, const auto& in) {
    return builder.pooling("", in[0], layer);
  }));
  result.outputs.push_back(result.outputs[0]);  // indices
  return result;
}

std::optional<Layer> infer_average_pooling(const Call& call) { return infer_pooling(call, true); }
std::optional<Layer> infer_max_pooling(const Call& call) { return infer_pooling(call, false); }

std::optional<Layer> infer_global_pooling(const Call& call) {
  return layer_of(drafted({call.shape(0)}, [](GraphBuilder& builder, const auto& in) {
    return builder.global_pooling("", in[0]);
  }));
}

std::optional<Layer> infer_global_max_pooling(const Call& call) {
  std::optional<Layer> result = infer_global_pooling(call);
  result->operation.kept.bytes_per_output = 8;
  return result;
}

std::optional<Layer> infer_unpooling(const Call& call) {
  const Shape& from = call.shape(0);
  const std::size_t count = lengths_in(from);
  Shape to{from[0], from[1]};
  if (call.has(2)) {
    const auto asked = call.whole_numbers(2);
    if (!asked) return std::nullopt;
    to = *asked;
  } else {
    const Window window = window_of(call, from, {});
    for (std::size_t i = 0; i < count; ++i) {
      to.push_back(window.stride[i] * (from[i + 2] - 1) + window.kernel[i] - window.padding[i] -
                   window.padding[count + i]);
    }
  }
  return layer_of(OperationKind::kPooling, to);
}

std::optional<Layer> infer_region_pooling(const Call& call) {
  const Shape& from = call.shape(0);
  const Shape& regions = call.shape(1);
  if (from.size() != 4 || regions.empty()) {
    throw std::invalid_argument("regions of " + text_of(from));
  }
  return layer_of(OperationKind::kPooling, {regions[0], from[1], call.number("output_height", 1),
                                            call.number("output_width", 1)});
}

}  // namespace

std::vector<Operator> window_operators() {
  using enum OperationKind;
  return {
      {"Conv", kConvolution, OutputType::kFirst, infer_convolution},
      {"ConvInteger", kConvolution, OutputType::kInteger, infer_integer_convolution},
      {"QLinearConv", kConvolution, OutputType::kQuantised, infer_quantised_convolution},
      {"ConvTranspose", kConvolution, OutputType::kFirst, infer_transposed_convolution},
      {"MaxPool", kPooling, OutputType::kFirst, infer_max_pooling, false, OutputType::kWhole},
      {"AveragePool", kPooling, OutputType::kFirst, infer_average_pooling},
      {"LpPool", kPooling, OutputType::kFirst, infer_average_pooling},
      {"GlobalAveragePool", kPooling, OutputType::kFirst, infer_global_pooling},
      {"GlobalLpPool", kPooling, OutputType::kFirst, infer_global_pooling},
      {"GlobalMaxPool", kPooling, OutputType::kFirst, infer_global_max_pooling},
      {"MaxUnpool", kPooling, OutputType::kFirst, infer_unpooling},
      {"MaxRoiPool", kPooling, OutputType::kFirst, nullptr},
      {"RoiAlign", kPooling, OutputType::kFirst, infer_region_pooling},
  };
}

}  // namespace corun::inline predictors::onnx_file
