#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <vector>

#include "predictors/graph/computation_graph.hpp"

/// Builds computation graphs layer by layer: shapes, parameters, multiply-adds, kernels and what training
/// keeps follow from the layer's settings. Images are samples x channels x height x width (any number of
/// lengths in place of the last two), texts are samples x tokens x features.
///
/// Multiply-adds are those of convolutions, linear, recurrent and matrix products alone; a bias adds none.
/// Kernels are those of PyTorch without compilation: the backward pass of a layer with weights launches one
/// kernel for the inputs' gradient, one for the weights' and one for the bias's.
///
/// Each function adds one operation, named as `name` says, and returns its node. std::invalid_argument if the
/// layer does not fit its input: the message has the shapes.
namespace corun::inline predictors {

/// One number stands for all lengths of an image.
using Lengths = std::vector<std::int64_t>;

struct ConvolutionLayer {
  std::int64_t channels = 0;  ///< of the output
  Lengths kernel{1};
  Lengths stride{1};
  Lengths padding{0};  ///< on each side; or those before all lengths, then those behind
  Lengths dilation{1};
  std::int64_t groups = 1;
  bool bias = false;
};

struct PoolingLayer {
  Lengths kernel{2};
  Lengths stride{2};
  Lengths padding{0};  ///< as ConvolutionLayer
  Lengths dilation{1};
  bool round_up = false;  ///< a window may reach beyond the padding
  bool average = false;   ///< else the maximum
};

struct RecurrentLayer {
  std::int64_t hidden = 0;  ///< features of the state
  std::int64_t gates = 4;   ///< LSTM 4, GRU 3, RNN 1
  std::int64_t layers = 1;
  std::int64_t directions = 1;
  bool one_bias = false;  ///< else one for the inputs and one for the state, as PyTorch has
  /// Numbers of the projected state of an LSTM; 0: none.
  std::int64_t projection = 0;
};

class GraphBuilder {
 public:
  using Node = ComputationGraph::Node;

  explicit GraphBuilder(std::int64_t samples = 1) : graph_(samples) {}

  const ComputationGraph& graph() const { return graph_; }
  ComputationGraph take() { return std::move(graph_); }
  const Shape& shape(Node node) const { return graph_[node].output; }

  Node input(std::string name, Shape shape);
  /// An operation of any other kind.
  Node add(Operation operation, std::initializer_list<Node> inputs);
  Node add(Operation operation, std::span<const Node> inputs);

  Node convolution(std::string name, Node in, const ConvolutionLayer& layer);
  /// `output_padding`: lengths added to the output. Parameters as the convolution in the other direction.
  Node transposed_convolution(std::string name, Node in, const ConvolutionLayer& layer,
                              const Lengths& output_padding);
  /// Products along the last dimension.
  Node linear(std::string name, Node in, std::int64_t features, bool bias);
  /// A linear layer whose weights are another layer's (tied), so that it has no parameters.
  Node tied_linear(std::string name, Node in, std::int64_t features);
  /// The product of the last two dimensions; the others must agree or be 1.
  Node matrix_product(std::string name, Node left, Node right);

  /// Over samples, per channel (dimension 1); two parameters per channel.
  Node batch_norm(std::string name, Node in);
  /// Over the last dimension; `parameters` per feature: 2, 1 (no bias) or 0.
  Node layer_norm(std::string name, Node in, int parameters = 2);
  /// Any normalisation with `parameters` parameters in `tensors` lists.
  Node normalisation(std::string name, Node in, std::int64_t parameters, int tensors);

  /// ReLU, sigmoid, tanh: the backward pass needs the output.
  Node relu(std::string name, Node in, bool in_place = true);
  /// GELU, SiLU, ...: the backward pass needs the input.
  Node smooth_activation(std::string name, Node in);
  Node softmax(std::string name, Node in);
  /// A mask of a byte per element is kept.
  Node dropout(std::string name, Node in);

  Node pooling(std::string name, Node in, const PoolingLayer& layer);
  /// The mean of each channel: lengths become 1.
  Node global_pooling(std::string name, Node in);
  /// Means on a fixed grid of `height` x `width`.
  Node adaptive_pooling(std::string name, Node in, std::int64_t height, std::int64_t width);

  /// Sum of tensors whose shapes agree or can be stretched (sizes of 1). `keeps_inputs`: as a product does.
  Node elementwise(std::string name, std::span<const Node> in, bool keeps_inputs);
  Node sum(std::string name, Node a, Node b);
  /// Adds b to a: both have one shape.
  Node sum_in_place(std::string name, Node a, Node b);
  Node product(std::string name, Node a, Node b);
  Node concatenation(std::string name, std::span<const Node> in, std::size_t dimension);

  /// Rows of a table of `rows` x `features` parameters, one for each element of `in`.
  Node embedding(std::string name, Node in, std::int64_t rows, std::int64_t features);
  /// `in`: samples x tokens x features. Two products per gate and step, as Util20 counts an LSTM, and the
  /// gates' functions.
  Node recurrent(std::string name, Node in, const RecurrentLayer& layer);

  /// The same elements in another shape; a size of -1 follows from the others.
  Node view(std::string name, Node in, Shape shape);
  /// All dimensions from `first` as one.
  Node flatten(std::string name, Node in, std::size_t first = 1);
  /// Moves elements: the output has `shape`.
  Node copy(std::string name, Node in, Shape shape);
  Node reduction(std::string name, Node in, Shape shape);

 private:
  ComputationGraph graph_;
};

/// The shape that tensors of these shapes are stretched to, by the rules of NumPy; std::invalid_argument if
/// they do not agree.
Shape stretched(const Shape& a, const Shape& b);

}  // namespace corun::inline predictors
