#include <array>
#include <vector>

#include "predictors/graph/zoo/builders.hpp"
#include "predictors/graph/zoo/chain.hpp"

/// DenseNet (Huang et al. 2017) as in torchvision: each layer reads the outputs of all before it in its block.
namespace corun::inline predictors {

template <int kLayers>
ZooGraph densenet(const ZooInput& input) {
  constexpr std::array<int, 4> kBlocks = kLayers == 121   ? std::array{6, 12, 24, 16}
                                         : kLayers == 169 ? std::array{6, 12, 32, 32}
                                         : kLayers == 201 ? std::array{6, 12, 48, 32}
                                                          : std::array{6, 12, 36, 24};
  constexpr std::int64_t kGrowth = kLayers == 161 ? 48 : 32;
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu(2 * kGrowth, 7, 2).max_pool(3, 2, 1);
  for (std::size_t block = 0; block < kBlocks.size(); ++block) {
    std::vector<Chain> outputs{net};
    for (int layer = 0; layer < kBlocks.at(block); ++layer) {
      Chain next = layer == 0 ? net : Chain::join(outputs);
      next.norm().relu().conv_norm_relu(4 * kGrowth).conv(kGrowth, 3);
      outputs.push_back(next);
    }
    net = Chain::join(outputs);
    net.norm().relu();
    if (block + 1 < kBlocks.size()) net.conv(net.channels() / 2).mean_pool(2, 2);
  }
  net.classify(1000);
  return graph.take();
}

template ZooGraph densenet<121>(const ZooInput&);
template ZooGraph densenet<161>(const ZooInput&);
template ZooGraph densenet<169>(const ZooInput&);
template ZooGraph densenet<201>(const ZooInput&);

}  // namespace corun::inline predictors
