#pragma once

#include "predictors/onnx/model_file.hpp"

namespace corun::inline predictors::onnx_file {

/// Exporters write some layers as several operators. Where no other operator reads what lies between them,
/// they become one again, as the layer is computed in training, in the bodies of control flow too:
/// - x * sigmoid(x): Swish; x * hard sigmoid(x): HardSwish
/// - x * (1 + erf(x / c)) * 1/2 in any order: Gelu
/// - (x - mean) / sqrt(mean of squares + c), with weights and bias: LayerNormalization
void join_patterns(Graph& graph);

}  // namespace corun::inline predictors::onnx_file
