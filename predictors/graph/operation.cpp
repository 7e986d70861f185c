#include "predictors/graph/operation.hpp"

#include <array>
#include <stdexcept>

#include <fmt/format.h>

namespace corun::inline predictors {

namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 42;

constexpr std::array<const char*, kOperationKinds> kKindNames{
    "input",     "convolution", "linear",      "matrix product", "normalisation", "activation",
    "softmax",   "pooling",     "elementwise", "concatenation",  "dropout",       "embedding",
    "recurrent", "reduction",   "copy",        "view",           "loss",          "unknown"};

constexpr std::array<const char*, kPrecisions> kPrecisionNames{"float32", "float16", "bfloat16",
                                                               "float64"};

}  // namespace

std::int64_t elements_of(const Shape& shape) {
  std::int64_t elements = 1;
  for (const std::int64_t size : shape) {
    if (size < 1)
      throw std::invalid_argument("a tensor of " + text_of(shape) + " has a size below 1");
    if (size > kMostElements / elements) {
      throw std::invalid_argument("a tensor of " + text_of(shape) + " has more than 2^42 elements");
    }
    elements *= size;
  }
  return elements;
}

std::string text_of(const Shape& shape) {
  return shape.empty() ? "one number" : fmt::format("{}", fmt::join(shape, " x "));
}

const char* name_of(OperationKind kind) { return kKindNames.at(static_cast<std::size_t>(kind)); }

const char* name_of(Precision precision) {
  return kPrecisionNames.at(static_cast<std::size_t>(precision));
}

double learnt_bytes(const Operation& operation) {
  return operation.bytes_per_parameter * static_cast<double>(operation.parameters);
}

double weight_bytes(const Operation& operation) {
  return learnt_bytes(operation) + operation.frozen_bytes;
}

}  // namespace corun::inline predictors
