#include <stdexcept>

#include <fmt/format.h>

#include "predictors/onnx/operators.hpp"

/// Sums, means, maxima over dimensions, and the largest elements.
namespace corun::inline predictors::onnx_file {

namespace {

Layer reduction_layer(Shape to) { return layer_of(OperationKind::kReduction, std::move(to)); }

std::optional<Layer> infer_reduction(const Call& call) {
  const Shape& from = call.shape(0);
  const auto axes = call.numbers_or_input("axes", 1);
  if (!axes) return std::nullopt;
  if (axes->empty() && call.number("noop_with_empty_axes", 0) != 0) return reduction_layer(from);
  const bool keeps_rank = call.number("keepdims", 1) != 0;
  std::vector<bool> reduced(from.size(), axes->empty());
  for (const std::int64_t axis : *axes) reduced[dimension_of(axis, from.size())] = true;
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (!reduced[i]) {
      to.push_back(from[i]);
    } else if (keeps_rank) {
      to.push_back(1);
    }
  }
  return reduction_layer(std::move(to));
}

std::optional<Layer> infer_position(const Call& call) {
  Shape to = call.shape(0);
  const std::size_t axis = call.axis(0, to.size());
  if (call.number("keepdims", 1) != 0) {
    to[axis] = 1;
  } else {
    to.erase(to.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return reduction_layer(std::move(to));
}

std::optional<Layer> infer_largest(const Call& call) {
  Shape to = call.shape(0);
  const std::size_t axis = call.axis(-1, to.size());
  std::int64_t count = call.number("k", -1);
  if (call.has(1)) {
    const auto asked = call.whole_numbers(1);
    if (!asked || asked->size() != 1) return std::nullopt;
    count = asked->front();
  }
  if (count < 0 || count > to[axis]) {
    throw std::invalid_argument(fmt::format("the {} largest of {}", count, text_of(to)));
  }
  to[axis] = count;
  Layer layer = reduction_layer(to);
  layer.operation.kept.bytes_per_output = 8;
  layer.outputs.push_back(to);  // indices
  return layer;
}

std::optional<Layer> infer_determinant(const Call& call) {
  const Shape& from = call.shape(0);
  if (from.size() < 2) throw std::invalid_argument("a determinant of " + text_of(from));
  return reduction_layer(Shape(from.begin(), from.end() - 2));
}

}  // namespace

std::vector<Operator> reduction_operators() {
  using enum OperationKind;
  using enum OutputType;
  std::vector<Operator> result{
      {"ArgMax", kReduction, kWhole, infer_position},
      {"ArgMin", kReduction, kWhole, infer_position},
      {"TopK", kReduction, kFirst, infer_largest, false, kWhole},
      {"Det", kReduction, kFirst, infer_determinant},
  };
  for (const char* name :
       {"ReduceMean", "ReduceSum", "ReduceMax", "ReduceMin", "ReduceProd", "ReduceL1", "ReduceL2",
        "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"}) {
    result.push_back({name, kReduction, kFirst, infer_reduction});
  }
  return result;
}

}  // namespace corun::inline predictors::onnx_file
