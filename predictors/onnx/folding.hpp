#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "predictors/onnx/call.hpp"

/// Arithmetic on small constant tensors, such as exported programs do with shapes: Shape, Gather, Concat,
/// Reshape and the like. Numbers are doubles; whole ones up to 2^53 are exact.
namespace corun::inline predictors::onnx_file {

/// The values of output `output`, which has `shape`; none if an input has no known values, the output has
/// more than kMostValues elements, or the operator is none that shapes are computed with.
std::optional<std::vector<double>> fold(const Call& call, std::size_t output, const Shape& shape);

}  // namespace corun::inline predictors::onnx_file
