#include <algorithm>
#include <numeric>
#include <stdexcept>

#include <fmt/format.h>

#include "predictors/onnx/drafted.hpp"
#include "predictors/onnx/operators.hpp"

/// Functions of elements, normalisations and losses.
namespace corun::inline predictors::onnx_file {

namespace {

/// PyTorch computes these in place in most models. The import decides whether the input may be overwritten.
std::optional<Layer> infer_relu(const Call& call) {
  Layer layer = layer_of(OperationKind::kActivation, call.shape(0));
  layer.operation.in_place = true;
  layer.operation.kept.output = true;
  return layer;
}

/// The backward pass needs the output.
std::optional<Layer> infer_squashing(const Call& call) {
  Layer layer = layer_of(OperationKind::kActivation, call.shape(0));
  layer.operation.kept.output = true;
  return layer;
}

/// The backward pass needs the input.
std::optional<Layer> infer_smooth(const Call& call) {
  Layer layer = layer_of(OperationKind::kActivation, call.shape(0));
  layer.operation.kept.inputs = true;
  layer.weights = {1};  // PRelu's slopes
  return layer;
}

/// The same without weights: ReLU6 is a clip.
std::optional<Layer> infer_clip(const Call& call) {
  Layer layer = layer_of(OperationKind::kActivation, call.shape(0));
  layer.operation.kept.inputs = true;
  return layer;
}

std::optional<Layer> infer_function(const Call& call) {
  Layer layer = layer_of(OperationKind::kElementwise, call.shape(0));
  layer.operation.kept.inputs = true;
  return layer;
}

/// Shape and type change little, and no gradient needs anything.
std::optional<Layer> infer_plain(const Call& call) {
  return layer_of(OperationKind::kElementwise, call.shape(0));
}

std::optional<Layer> infer_conversion(const Call& call) {
  return layer_of(OperationKind::kCopy, call.shape(0));
}

/// Bytes, a scale and a zero point.
std::optional<Layer> infer_dynamic_quantisation(const Call& call) {
  Layer layer = layer_of(OperationKind::kElementwise, call.shape(0));
  layer.outputs.insert(layer.outputs.end(), 2, Shape{});
  return layer;
}

std::optional<Layer> infer_softmax(const Call& call) {
  const Shape& from = call.shape(0);
  if (!from.empty()) call.axis(-1, from.size());
  Layer layer = layer_of(OperationKind::kSoftmax, from);
  layer.operation.kept.output = true;
  return layer;
}

std::optional<Layer> infer_dropout(const Call& call) {
  Layer layer = layer_of(OperationKind::kDropout, call.shape(0));
  layer.operation.kept.bytes_per_output = 1;
  layer.outputs.push_back(call.shape(0));
  return layer;
}

/// Before version 7, the second input was stretched only on demand, and along `axis`.
Shape aligned(const Call& call, std::size_t input) {
  Shape shape = call.shape(input);
  if (input != 1 || call.operator_set() >= 7 || call.find("axis") == nullptr) return shape;
  const std::size_t rank = call.shape(0).size();
  const std::size_t axis = call.axis(0, rank);
  if (axis + shape.size() <= rank) shape.resize(rank - axis, 1);
  return shape;
}

bool scalar_constant(const Call& call, std::size_t input) {
  return call.input(input).constant && elements_or_none(call.shape(input)) == 1;
}

Layer broadcast_layer(const Call& call, bool product) {
  if (call.inputs() == 0) throw std::invalid_argument("no inputs");
  Shape to;
  std::size_t tensors = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    to = i == 0 ? call.shape(0) : stretched(to, aligned(call, i));
    if (!scalar_constant(call, i)) ++tensors;
  }
  Layer layer = layer_of(OperationKind::kElementwise, std::move(to));
  // The gradient of a sum is passed on as it is. A constant factor is no tensor that is kept.
  const bool keeps = product && tensors > 1;
  layer.operation.kept.inputs = keeps;
  layer.operation.backward_kernels = keeps ? static_cast<int>(tensors) : product ? 1 : 0;
  layer.additions.resize(call.inputs());
  std::iota(layer.additions.begin(), layer.additions.end(), std::size_t{0});
  return layer;
}

std::optional<Layer> infer_sum(const Call& call) { return broadcast_layer(call, false); }
std::optional<Layer> infer_product(const Call& call) { return broadcast_layer(call, true); }

Layer normalisation_layer(const Call& call) {
  Layer layer = layer_of(OperationKind::kNormalisation, call.shape(0));
  layer.operation.kept.inputs = true;
  return layer;
}

std::optional<Layer> infer_normalisation(const Call& call) { return normalisation_layer(call); }

std::optional<Layer> infer_batch_norm(const Call& call) {
  const Shape& from = call.shape(0);
  const std::int64_t channels = from.size() < 2 ? 1 : from[1];
  for (std::size_t i = 1; i < 5; ++i) {
    if (elements_or_none(call.shape(i)) != channels) {
      throw std::invalid_argument(fmt::format("an image of {} and {} numbers for its channels",
                                              text_of(from), elements_or_none(call.shape(i))));
    }
  }
  Layer layer = normalisation_layer(call);
  layer.weights = {1, 2};
  layer.uncounted = {3, 4};  // running mean and variance
  for (int i = 0; i < 4; ++i) layer.outputs.push_back({channels});
  return layer;
}

/// Exported group norms have ones and zeros here, as constants of the program; those are not learnt.
std::optional<Layer> infer_channel_norm(const Call& call) {
  Layer layer = normalisation_layer(call);
  layer.additions = {1, 2};
  return layer;
}

std::optional<Layer> infer_layer_norm(const Call& call) {
  const Shape& from = call.shape(0);
  const std::size_t axis = call.axis(-1, from.size());
  if (stretched(from, call.shape(1)) != from) {
    throw std::invalid_argument("a layer norm of " + text_of(from) + " with weights of " +
                                text_of(call.shape(1)));
  }
  Layer layer = normalisation_layer(call);
  layer.weights = {1, 2};
  Shape moments = from;
  std::fill(moments.begin() + static_cast<std::ptrdiff_t>(axis), moments.end(), 1);
  layer.outputs.insert(layer.outputs.end(), 2, moments);
  return layer;
}

std::optional<Layer> infer_loss(const Call& call) {
  const Shape& labels = call.shape(1);
  Layer layer =
      layer_of(OperationKind::kLoss, call.text("reduction", "mean") == "none" ? labels : Shape());
  layer.operation.kept.inputs = true;
  layer.outputs.push_back(call.shape(0));
  return layer;
}

}  // namespace

std::vector<Operator> element_operators() {
  using enum OperationKind;
  using enum OutputType;
  std::vector<Operator> result{
      {"Softmax", kSoftmax, kFirst, infer_softmax},
      {"LogSoftmax", kSoftmax, kFirst, infer_softmax},
      {"Hardmax", kSoftmax, kFirst, infer_softmax},
      {"Dropout", kDropout, kFirst, infer_dropout, false, kTruth},
      {"BatchNormalization", kNormalisation, kFirst, infer_batch_norm},
      {"InstanceNormalization", kNormalisation, kFirst, infer_channel_norm},
      {"GroupNormalization", kNormalisation, kFirst, infer_channel_norm},
      {"LayerNormalization", kNormalisation, kFirst, infer_layer_norm},
      {"RMSNormalization", kNormalisation, kFirst, infer_layer_norm},
      {"LRN", kNormalisation, kFirst, infer_normalisation},
      {"LpNormalization", kNormalisation, kFirst, infer_normalisation},
      {"MeanVarianceNormalization", kNormalisation, kFirst, infer_normalisation},
      {"NegativeLogLikelihoodLoss", kLoss, kFirst, infer_loss},
      {"SoftmaxCrossEntropyLoss", kLoss, kFirst, infer_loss},
      {"Cast", kCopy, kStated, infer_conversion},
      {"CastLike", kCopy, kSecond, infer_conversion},
      {"QuantizeLinear", kElementwise, kQuantised, infer_plain},
      {"DequantizeLinear", kElementwise, kSecond, infer_plain},
      {"com.microsoft.QuantizeLinear", kElementwise, kQuantised, infer_plain},
      {"com.microsoft.DequantizeLinear", kElementwise, kSecond, infer_plain},
      {"DynamicQuantizeLinear", kElementwise, kQuantised, infer_dynamic_quantisation},
      {"Where", kElementwise, kSecond, infer_sum},
      {"Bernoulli", kElementwise, kStated, infer_plain, true},
      {"RandomNormalLike", kElementwise, kStated, infer_plain, true},
      {"RandomUniformLike", kElementwise, kStated, infer_plain, true},
      {"IsNaN", kElementwise, kTruth, infer_plain},
      {"IsInf", kElementwise, kTruth, infer_plain},
      {"Not", kElementwise, kTruth, infer_plain},
  };
  const auto add = [&](OperationKind kind, OutputType type, auto* infer,
                       std::initializer_list<std::string_view> names) {
    for (const std::string_view name : names) result.push_back({name, kind, type, infer});
  };
  add(kActivation, kFirst, infer_relu, {"Relu", "LeakyRelu"});
  add(kActivation, kFirst, infer_clip, {"Clip"});
  add(kActivation, kFirst, infer_squashing, {"Sigmoid", "Tanh", "Elu", "HardSigmoid"});
  add(kActivation, kFirst, infer_smooth,
      {"PRelu", "Selu", "Celu", "Gelu", "Erf", "Softplus", "Softsign", "HardSwish", "Mish",
       "ThresholdedRelu", "Shrink", "Swish"});
  add(kElementwise, kFirst, infer_function,
      {"Sqrt", "Exp", "Log", "Abs", "Reciprocal", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asin",
       "Acos", "Atan", "Asinh", "Acosh", "Atanh"});
  add(kElementwise, kFirst, infer_plain,
      {"Neg", "Floor", "Ceil", "Round", "Sign", "BitwiseNot", "CumSum", "Trilu"});
  add(kElementwise, kFirst, infer_sum,
      {"Add", "Sub", "Sum", "Mean", "Mod", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor"});
  add(kElementwise, kFirst, infer_product, {"Mul", "Div", "Pow", "Max", "Min"});
  add(kElementwise, kTruth, infer_sum,
      {"Equal", "Greater", "Less", "GreaterOrEqual", "LessOrEqual", "And", "Or", "Xor"});
  return result;
}

}  // namespace corun::inline predictors::onnx_file
