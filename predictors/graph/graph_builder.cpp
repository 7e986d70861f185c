#include "predictors/graph/graph_builder.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace corun::inline predictors {

namespace {

using Node = GraphBuilder::Node;

/// One entry per length of the image. Products of two entries, or of one and a tensor's size, fit 64 bits.
Lengths spread(const Lengths& lengths, std::size_t count, const char* what, std::int64_t least) {
  if (lengths.size() != 1 && lengths.size() != count) {
    throw std::invalid_argument(
        fmt::format("{} {} of a layer, found {} numbers", count, what, lengths.size()));
  }
  for (const std::int64_t length : lengths) {
    if (length < least || length > 1'000'000) {
      throw std::invalid_argument(fmt::format("{} of {}", what, length));
    }
  }
  return lengths.size() == count ? lengths : Lengths(count, lengths.at(0));
}

struct Sides {
  Lengths before, behind;
};

Sides sides_of(const Lengths& padding, std::size_t count) {
  if (padding.size() == 2 * count && count > 0 && padding.size() != 1) {
    const auto middle = padding.begin() + static_cast<std::ptrdiff_t>(count);
    return {spread({padding.begin(), middle}, count, "paddings", 0),
            spread({middle, padding.end()}, count, "paddings", 0)};
  }
  const Lengths both = spread(padding, count, "paddings", 0);
  return {both, both};
}

/// Windows of `kernel` that fit on a padded length.
std::int64_t windows(std::int64_t length, std::int64_t kernel, std::int64_t stride,
                     std::int64_t before, std::int64_t behind, std::int64_t dilation,
                     bool round_up) {
  const std::int64_t reach = dilation * (kernel - 1) + 1;
  const std::int64_t free = length + before + behind - reach;
  if (free < 0) {
    throw std::invalid_argument(
        fmt::format("a window of {} on a length of {}", reach, length + before + behind));
  }
  std::int64_t count = free / stride + 1;
  if (round_up && free % stride != 0) {
    // The last window must begin within the input or the padding before it.
    if (count * stride < length + before) ++count;
  }
  return count;
}

std::size_t lengths_of(const Shape& shape, const char* layer) {
  if (shape.size() < 3) {
    throw std::invalid_argument(
        fmt::format("a {} needs samples x channels x lengths, found {}", layer, text_of(shape)));
  }
  return shape.size() - 2;
}

std::int64_t product_of(const Lengths& lengths) { return elements_of(lengths); }

Operation operation_of(std::string name, OperationKind kind, Shape output) {
  Operation operation;
  operation.name = std::move(name);
  operation.kind = kind;
  operation.output = std::move(output);
  return operation;
}

/// Sets what convolutions and linear layers share.
void set_weights(Operation& operation, std::int64_t weights, std::int64_t biases,
                 std::int64_t inner_length) {
  operation.parameters = weights + biases;
  operation.parameter_tensors = biases > 0 ? 2 : 1;
  operation.inner_length = static_cast<double>(inner_length);
  operation.multiply_adds =
      static_cast<double>(elements_of(operation.output)) * operation.inner_length;
  operation.kept.inputs = true;
  operation.forward_kernels = 1;
  operation.backward_kernels = biases > 0 ? 3 : 2;
}

void check_groups(std::int64_t in, const ConvolutionLayer& layer) {
  if (layer.channels < 1 || layer.groups < 1 || in % layer.groups != 0 ||
      layer.channels % layer.groups != 0) {
    throw std::invalid_argument(fmt::format("a convolution of {} to {} channels in {} groups", in,
                                            layer.channels, layer.groups));
  }
}

}  // namespace

Shape stretched(const Shape& a, const Shape& b) {
  const Shape& longer = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  Shape result = longer;
  const std::size_t offset = longer.size() - shorter.size();
  for (std::size_t i = 0; i < shorter.size(); ++i) {
    std::int64_t& size = result[offset + i];
    if (size == 1) {
      size = shorter[i];
    } else if (shorter[i] != 1 && shorter[i] != size) {
      throw std::invalid_argument("shapes " + text_of(a) + " and " + text_of(b) + " do not agree");
    }
  }
  return result;
}

Node GraphBuilder::input(std::string name, Shape shape) {
  Operation operation = operation_of(std::move(name), OperationKind::kInput, std::move(shape));
  operation.forward_kernels = 0;
  operation.backward_kernels = 0;
  return add(std::move(operation), {});
}

Node GraphBuilder::add(Operation operation, std::initializer_list<Node> inputs) {
  return graph_.add(std::move(operation), std::span(inputs.begin(), inputs.size()));
}

Node GraphBuilder::add(Operation operation, std::span<const Node> inputs) {
  return graph_.add(std::move(operation), inputs);
}

Node GraphBuilder::convolution(std::string name, Node in, const ConvolutionLayer& layer) {
  const Shape& from = shape(in);
  const std::size_t count = lengths_of(from, "convolution");
  check_groups(from[1], layer);
  const Lengths kernel = spread(layer.kernel, count, "kernel sizes", 1);
  const Lengths stride = spread(layer.stride, count, "strides", 1);
  const Lengths dilation = spread(layer.dilation, count, "dilations", 1);
  const Sides padding = sides_of(layer.padding, count);
  Shape to{from[0], layer.channels};
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(windows(from[i + 2], kernel[i], stride[i], padding.before[i], padding.behind[i],
                         dilation[i], false));
  }
  const std::int64_t inner = elements_of({from[1] / layer.groups, product_of(kernel)});
  Operation operation = operation_of(std::move(name), OperationKind::kConvolution, std::move(to));
  set_weights(operation, elements_of({inner, layer.channels}), layer.bias ? layer.channels : 0,
              inner);
  operation.groups = layer.groups;
  operation.window = product_of(kernel);
  operation.strided = product_of(stride) > 1;
  return add(std::move(operation), {in});
}

Node GraphBuilder::transposed_convolution(std::string name, Node in, const ConvolutionLayer& layer,
                                          const Lengths& output_padding) {
  const Shape& from = shape(in);
  const std::size_t count = lengths_of(from, "transposed convolution");
  check_groups(from[1], layer);
  const Lengths kernel = spread(layer.kernel, count, "kernel sizes", 1);
  const Lengths stride = spread(layer.stride, count, "strides", 1);
  const Lengths dilation = spread(layer.dilation, count, "dilations", 1);
  const Lengths more = spread(output_padding, count, "output paddings", 0);
  const Sides padding = sides_of(layer.padding, count);
  Shape to{from[0], layer.channels};
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(stride[i] * (from[i + 2] - 1) + dilation[i] * (kernel[i] - 1) + 1 + more[i] -
                 padding.before[i] - padding.behind[i]);
  }
  Operation operation = operation_of(std::move(name), OperationKind::kConvolution, std::move(to));
  const std::int64_t per_input = elements_of({layer.channels / layer.groups, product_of(kernel)});
  set_weights(operation, elements_of({from[1], per_input}), layer.bias ? layer.channels : 0, 1);
  operation.multiply_adds = static_cast<double>(elements_of(from)) * static_cast<double>(per_input);
  operation.inner_length =
      operation.multiply_adds / static_cast<double>(elements_of(operation.output));
  operation.groups = layer.groups;
  operation.window = product_of(kernel);
  operation.strided = product_of(stride) > 1;
  return add(std::move(operation), {in});
}

Node GraphBuilder::linear(std::string name, Node in, std::int64_t features, bool bias) {
  Shape to = shape(in);
  if (to.empty() || features < 1) throw std::invalid_argument("a linear layer without features");
  const std::int64_t inner = to.back();
  to.back() = features;
  Operation operation = operation_of(std::move(name), OperationKind::kLinear, std::move(to));
  set_weights(operation, elements_of({inner, features}), bias ? features : 0, inner);
  return add(std::move(operation), {in});
}

Node GraphBuilder::tied_linear(std::string name, Node in, std::int64_t features) {
  Shape to = shape(in);
  if (to.empty() || features < 1) throw std::invalid_argument("a linear layer without features");
  const std::int64_t inner = to.back();
  to.back() = features;
  Operation operation = operation_of(std::move(name), OperationKind::kLinear, std::move(to));
  set_weights(operation, 0, 0, inner);
  operation.parameter_tensors = 0;
  return add(std::move(operation), {in});
}

Node GraphBuilder::matrix_product(std::string name, Node left, Node right) {
  const Shape& a = shape(left);
  const Shape& b = shape(right);
  if (a.size() < 2 || b.size() < 2 || a.back() != b[b.size() - 2]) {
    throw std::invalid_argument("a matrix product of " + text_of(a) + " and " + text_of(b));
  }
  Shape to = stretched(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  to.push_back(a[a.size() - 2]);
  to.push_back(b.back());
  Operation operation = operation_of(std::move(name), OperationKind::kMatrixProduct, std::move(to));
  operation.inner_length = static_cast<double>(a.back());
  operation.multiply_adds =
      static_cast<double>(elements_of(operation.output)) * operation.inner_length;
  operation.kept.inputs = true;
  operation.backward_kernels = 2;
  return add(std::move(operation), {left, right});
}

Node GraphBuilder::batch_norm(std::string name, Node in) {
  const Shape& from = shape(in);
  if (from.size() < 2) throw std::invalid_argument("a batch norm of " + text_of(from));
  return normalisation(std::move(name), in, 2 * from[1], 2);
}

Node GraphBuilder::layer_norm(std::string name, Node in, int parameters) {
  const Shape& from = shape(in);
  if (from.empty()) throw std::invalid_argument("a layer norm of one number");
  if (parameters < 0 || parameters > 2) {
    throw std::invalid_argument(
        fmt::format("a layer norm with {} parameters per feature", parameters));
  }
  return normalisation(std::move(name), in, parameters * from.back(), parameters);
}

Node GraphBuilder::normalisation(std::string name, Node in, std::int64_t parameters, int tensors) {
  Operation operation = operation_of(std::move(name), OperationKind::kNormalisation, shape(in));
  operation.parameters = parameters;
  operation.parameter_tensors = tensors;
  operation.kept.inputs = true;
  return add(std::move(operation), {in});
}

Node GraphBuilder::relu(std::string name, Node in, bool in_place) {
  Operation operation = operation_of(std::move(name), OperationKind::kActivation, shape(in));
  operation.in_place = in_place;
  operation.kept.output = true;
  return add(std::move(operation), {in});
}

Node GraphBuilder::smooth_activation(std::string name, Node in) {
  Operation operation = operation_of(std::move(name), OperationKind::kActivation, shape(in));
  operation.kept.inputs = true;
  return add(std::move(operation), {in});
}

Node GraphBuilder::softmax(std::string name, Node in) {
  Operation operation = operation_of(std::move(name), OperationKind::kSoftmax, shape(in));
  operation.kept.output = true;
  return add(std::move(operation), {in});
}

Node GraphBuilder::dropout(std::string name, Node in) {
  Operation operation = operation_of(std::move(name), OperationKind::kDropout, shape(in));
  operation.kept.bytes_per_output = 1;
  return add(std::move(operation), {in});
}

Node GraphBuilder::pooling(std::string name, Node in, const PoolingLayer& layer) {
  const Shape& from = shape(in);
  const std::size_t count = lengths_of(from, "pooling layer");
  const Lengths kernel = spread(layer.kernel, count, "kernel sizes", 1);
  const Lengths stride = spread(layer.stride, count, "strides", 1);
  const Lengths dilation = spread(layer.dilation, count, "dilations", 1);
  const Sides padding = sides_of(layer.padding, count);
  Shape to{from[0], from[1]};
  for (std::size_t i = 0; i < count; ++i) {
    to.push_back(windows(from[i + 2], kernel[i], stride[i], padding.before[i], padding.behind[i],
                         dilation[i], layer.round_up));
  }
  Operation operation = operation_of(std::move(name), OperationKind::kPooling, std::move(to));
  operation.kept.inputs = true;
  operation.kept.bytes_per_output = layer.average ? 0 : 8;
  return add(std::move(operation), {in});
}

Node GraphBuilder::global_pooling(std::string name, Node in) {
  const Shape& from = shape(in);
  lengths_of(from, "global pooling layer");
  Shape to = from;
  std::fill(to.begin() + 2, to.end(), 1);
  Operation operation = operation_of(std::move(name), OperationKind::kPooling, std::move(to));
  return add(std::move(operation), {in});
}

Node GraphBuilder::adaptive_pooling(std::string name, Node in, std::int64_t height,
                                    std::int64_t width) {
  const Shape& from = shape(in);
  if (from.size() != 4) throw std::invalid_argument("an adaptive pooling of " + text_of(from));
  Operation operation =
      operation_of(std::move(name), OperationKind::kPooling, {from[0], from[1], height, width});
  operation.kept.inputs = true;
  return add(std::move(operation), {in});
}

Node GraphBuilder::elementwise(std::string name, std::span<const Node> in, bool keeps_inputs) {
  if (in.empty()) throw std::invalid_argument("an elementwise operation without inputs");
  Shape to = shape(in[0]);
  for (const Node node : in.subspan(1)) to = stretched(to, shape(node));
  Operation operation = operation_of(std::move(name), OperationKind::kElementwise, std::move(to));
  operation.kept.inputs = keeps_inputs;
  // The gradient of a sum is passed on as it is.
  operation.backward_kernels = keeps_inputs ? static_cast<int>(in.size()) : 0;
  return add(std::move(operation), in);
}

Node GraphBuilder::sum(std::string name, Node a, Node b) {
  const std::array<Node, 2> in{a, b};
  return elementwise(std::move(name), in, false);
}

Node GraphBuilder::sum_in_place(std::string name, Node a, Node b) {
  if (shape(a) != shape(b)) {
    throw std::invalid_argument("a sum in place of " + text_of(shape(a)) + " and " +
                                text_of(shape(b)));
  }
  Operation operation = operation_of(std::move(name), OperationKind::kElementwise, shape(a));
  operation.in_place = true;
  operation.backward_kernels = 0;
  return add(std::move(operation), {a, b});
}

Node GraphBuilder::product(std::string name, Node a, Node b) {
  const std::array<Node, 2> in{a, b};
  return elementwise(std::move(name), in, true);
}

Node GraphBuilder::concatenation(std::string name, std::span<const Node> in,
                                 std::size_t dimension) {
  if (in.empty()) throw std::invalid_argument("a concatenation of nothing");
  Shape to = shape(in[0]);
  if (dimension >= to.size()) {
    throw std::invalid_argument(
        fmt::format("a concatenation of {} along dimension {}", text_of(to), dimension));
  }
  for (const Node node : in.subspan(1)) {
    Shape rest = shape(node);
    if (rest.size() == to.size()) {
      const std::int64_t size = rest[dimension];
      rest[dimension] = to[dimension];
      if (rest == to) {
        to[dimension] += size;
        continue;
      }
    }
    throw std::invalid_argument("a concatenation of " + text_of(to) + " and " +
                                text_of(shape(node)));
  }
  Operation operation = operation_of(std::move(name), OperationKind::kConcatenation, std::move(to));
  // Each input gets a slice of the gradient, by a copy.
  operation.backward_kernels = static_cast<int>(in.size());
  return add(std::move(operation), in);
}

Node GraphBuilder::embedding(std::string name, Node in, std::int64_t rows, std::int64_t features) {
  Shape to = shape(in);
  to.push_back(features);
  Operation operation = operation_of(std::move(name), OperationKind::kEmbedding, std::move(to));
  operation.parameters = elements_of({rows, features});
  operation.parameter_tensors = 1;
  return add(std::move(operation), {in});
}

Node GraphBuilder::recurrent(std::string name, Node in, const RecurrentLayer& layer) {
  const Shape& from = shape(in);
  if (from.size() != 3 || layer.hidden < 1 || layer.gates < 1 || layer.layers < 1 ||
      layer.directions < 1 || layer.projection < 0) {
    throw std::invalid_argument("a recurrent layer needs samples x tokens x features, found " +
                                text_of(from));
  }
  // A product of the inputs for all steps; a product of the state and the gates' functions for each step.
  constexpr std::int64_t kMostKernels = 10'000'000;
  const std::int64_t kernels_of_layer = 1 + 2 * from[1];
  if (layer.layers > kMostKernels / layer.directions / kernels_of_layer) {
    throw std::invalid_argument("a recurrent layer of too many steps");
  }
  const std::int64_t state = layer.projection > 0 ? layer.projection : layer.hidden;
  const std::int64_t gates = elements_of({layer.gates, layer.hidden});
  const std::int64_t output_features = elements_of({layer.directions, state});
  std::int64_t features = from[2];
  std::int64_t parameters = 0;
  double multiply_adds = 0;
  const double steps = static_cast<double>(elements_of({from[0], from[1]}));
  for (std::int64_t i = 0; i < layer.layers; ++i) {
    const std::int64_t weights = elements_of({gates, features + state}) +
                                 (layer.projection > 0 ? elements_of({layer.hidden, state}) : 0);
    const std::int64_t biases = (layer.one_bias ? 1 : 2) * gates;
    parameters = elements_of({parameters + elements_of({layer.directions, weights + biases})});
    multiply_adds += steps * static_cast<double>(layer.directions * weights);
    features = output_features;
  }
  // The gates of each step and the states of the cells, in single precision.
  const std::int64_t kept = 4 * (layer.gates + 1) * layer.hidden * layer.layers / state;
  if (kept > std::numeric_limits<int>::max()) {
    throw std::invalid_argument(
        fmt::format("a recurrent layer that keeps {} bytes for each number of its output", kept));
  }
  Operation operation =
      operation_of(std::move(name), OperationKind::kRecurrent, {from[0], from[1], features});
  operation.parameters = parameters;
  const int tensors = (layer.one_bias ? 3 : 4) + (layer.projection > 0 ? 1 : 0);
  operation.parameter_tensors = static_cast<int>(layer.layers * layer.directions) * tensors;
  operation.multiply_adds = multiply_adds;
  operation.inner_length = multiply_adds / static_cast<double>(elements_of(operation.output));
  operation.kept.inputs = true;
  operation.kept.output = true;
  operation.kept.bytes_per_output = static_cast<int>(kept);
  operation.forward_kernels = static_cast<int>(layer.layers * layer.directions * kernels_of_layer);
  operation.backward_kernels = 2 * operation.forward_kernels;
  return add(std::move(operation), {in});
}

Node GraphBuilder::view(std::string name, Node in, Shape to) {
  const std::int64_t elements = elements_of(shape(in));
  const auto unknown = std::find(to.begin(), to.end(), -1);
  if (unknown != to.end()) {
    *unknown = 1;
    const std::int64_t others = elements_of(to);
    *unknown = elements / others;
  }
  if (elements_of(to) != elements) {
    throw std::invalid_argument("a view of " + text_of(shape(in)) + " as " + text_of(to));
  }
  Operation operation = operation_of(std::move(name), OperationKind::kView, std::move(to));
  operation.in_place = true;
  operation.forward_kernels = 0;
  operation.backward_kernels = 0;
  return add(std::move(operation), {in});
}

Node GraphBuilder::flatten(std::string name, Node in, std::size_t first) {
  const Shape& from = shape(in);
  if (first > from.size()) throw std::invalid_argument("a flat view of " + text_of(from));
  const auto middle = from.begin() + static_cast<std::ptrdiff_t>(first);
  Shape to(from.begin(), middle);
  to.push_back(elements_of(Shape(middle, from.end())));
  return view(std::move(name), in, std::move(to));
}

Node GraphBuilder::copy(std::string name, Node in, Shape to) {
  return add(operation_of(std::move(name), OperationKind::kCopy, std::move(to)), {in});
}

Node GraphBuilder::reduction(std::string name, Node in, Shape to) {
  return add(operation_of(std::move(name), OperationKind::kReduction, std::move(to)), {in});
}

}  // namespace corun::inline predictors
