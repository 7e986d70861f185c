#pragma once

#include <initializer_list>
#include <vector>

#include "predictors/graph/graph_builder.hpp"

namespace corun::inline predictors::onnx_file {

/// The operation that `make(builder, inputs)` adds to a graph of nothing but inputs of these shapes: the
/// builder's rules for one layer, whatever the layer reads in the file's graph.
template <typename Make>
Operation drafted(const std::vector<Shape>& inputs, Make make) {
  GraphBuilder builder;
  std::vector<GraphBuilder::Node> nodes;
  for (const Shape& shape : inputs) nodes.push_back(builder.input("", shape));
  return builder.graph()[make(builder, nodes)];
}

}  // namespace corun::inline predictors::onnx_file
