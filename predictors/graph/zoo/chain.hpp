#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "predictors/graph/graph_builder.hpp"

/// A chain of layers: each call adds one after the last. A copy of a chain is a branch that starts at the same
/// place.
namespace corun::inline predictors {

class Chain {
 public:
  using Node = GraphBuilder::Node;

  Chain(GraphBuilder& graph, Node start) : graph_(&graph), at_(start) {}
  /// Images of three channels and `pixels` x `pixels`.
  static Chain of_images(GraphBuilder& graph, std::int64_t pixels);

  Node node() const { return at_; }
  std::int64_t channels() const { return graph_->shape(at_).at(1); }

  /// `padding` -1: half the kernel, so that stride 1 keeps the size.
  Chain& conv(std::int64_t channels, std::int64_t kernel = 1, std::int64_t stride = 1,
              std::int64_t groups = 1, bool bias = false, std::int64_t padding = -1);
  Chain& norm();
  Chain& relu();
  Chain& smooth();  ///< SiLU, hard swish, ...; ReLU6, of which the input is kept, too
  Chain& conv_norm(std::int64_t channels, std::int64_t kernel = 1, std::int64_t stride = 1,
                   std::int64_t groups = 1);
  Chain& conv_norm_relu(std::int64_t channels, std::int64_t kernel = 1, std::int64_t stride = 1,
                        std::int64_t groups = 1);
  Chain& conv_norm_relu6(std::int64_t channels, std::int64_t kernel = 1, std::int64_t stride = 1,
                         std::int64_t groups = 1);
  Chain& max_pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding = 0,
                  bool round_up = false);
  Chain& mean_pool(std::int64_t kernel, std::int64_t stride);
  Chain& global_pool();
  Chain& adaptive_pool(std::int64_t size);
  Chain& flatten();
  Chain& dropout();
  Chain& linear(std::int64_t features);
  /// Global pooling, flattening and a linear layer.
  Chain& classify(std::int64_t classes);
  /// Adds the other branch's output to this one's.
  Chain& add(const Chain& other);
  Chain& multiply(const Chain& other);
  /// All outputs, one behind the other along the channels.
  static Chain join(std::initializer_list<Chain> branches);
  static Chain join(const std::vector<Chain>& branches);
  /// A part of the channels, as a view of no cost, or moved (channel shuffle).
  Chain& first_channels(std::int64_t channels);
  Chain& shuffle();
  /// Zeros behind the channels, so that there are `channels`.
  Chain& pad_channels(std::int64_t channels);

 private:
  std::string name(const char* kind) const;

  GraphBuilder* graph_;
  Node at_;
};

}  // namespace corun::inline predictors
