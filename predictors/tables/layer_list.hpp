#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "predictors/graph/computation_graph.hpp"

/// Computation graphs from GPUMemNet's lists of layers, which state type, output elements per sample and
/// parameters of each, but no shapes and no connections.
namespace corun::inline predictors {

struct ListedLayer {
  std::string type;           ///< "conv2d", "linear", "GELU", ...
  std::int64_t elements = 0;  ///< of the output, one sample
  std::int64_t parameters = 0;
};

/// "[('conv2d', 105800, 1400), ('SiLU', 105800, 0)]"; std::invalid_argument for another text, more than
/// 100,000 layers and impossible numbers.
std::vector<ListedLayer> parse_layer_list(std::string_view text);

/// The graph of a network of convolutions on images of `channels` x `side` x `side`. A convolution's kernel,
/// channels and length follow from its elements and parameters; of several solutions the one with a kernel of
/// 3 or 1 whose length is nearest to the input's. A convolution of 1 x 1 after which another reads the same
/// input is the shortcut of a residual block, which is added before the next block. A convolution with more
/// input channels than there are reads a concatenation.
/// std::invalid_argument for an empty list.
ComputationGraph image_layers(const std::vector<ListedLayer>& layers, std::int64_t channels,
                              std::int64_t side);

/// The graph of a chain of layers on rows of `width` numbers.
ComputationGraph row_layers(const std::vector<ListedLayer>& layers, std::int64_t width);

}  // namespace corun::inline predictors
