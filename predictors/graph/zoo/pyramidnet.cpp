#include <array>
#include <cmath>

#include "predictors/graph/zoo/builders.hpp"
#include "predictors/graph/zoo/chain.hpp"

/// PyramidNet for CIFAR (Han et al. 2017): channels grow by alpha / blocks with every block; shortcuts are padded
/// with zeros. DPN (Chen et al. 2017): a residual path and a path that grows, side by side.
namespace corun::inline predictors {

template <int kLayers, int kAlpha, bool kBottleneck>
ZooGraph pyramidnet(const ZooInput& input) {
  constexpr int kBlocks = (kLayers - 2) / (kBottleneck ? 9 : 6);  // of each of three stages
  constexpr std::int64_t kWider = kBottleneck ? 4 : 1;
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm(16, 3);
  for (int block = 0; block < 3 * kBlocks; ++block) {
    // Rounding of 16 + alpha i / n to the nearest whole number, halves to even as Python's round().
    const double exact = 16 + static_cast<double>(kAlpha) * (block + 1) / (3.0 * kBlocks);
    const auto channels = static_cast<std::int64_t>(std::nearbyint(exact));
    const std::int64_t stride = block > 0 && block % kBlocks == 0 ? 2 : 1;
    Chain shortcut = net;
    if (kBottleneck) {
      net.norm().conv_norm_relu(channels).conv_norm_relu(channels, 3, stride);
      net.conv_norm(kWider * channels);
    } else {
      net.norm().conv_norm_relu(channels, 3, stride).conv_norm(channels, 3);
    }
    if (stride == 2) shortcut.mean_pool(2, 2);
    net.add(shortcut.pad_channels(kWider * channels));
  }
  net.norm().relu().classify(10);
  return graph.take();
}

template <int kLayers>
ZooGraph dpn(const ZooInput& input) {
  struct PathShape {
    std::int64_t first, first_kernel, groups, reduced;
    std::array<int, 4> blocks;
    std::array<std::int64_t, 4> growth;
    bool small;
  };
  constexpr PathShape kShape =
      kLayers == 68   ? PathShape{10, 3, 32, 128, {3, 4, 12, 3}, {16, 32, 32, 64}, true}
      : kLayers == 92 ? PathShape{64, 7, 32, 96, {3, 4, 20, 3}, {16, 32, 24, 128}, false}
      : kLayers == 98 ? PathShape{96, 7, 40, 160, {3, 6, 20, 3}, {16, 32, 32, 128}, false}
                      : PathShape{128, 7, 40, 160, {4, 8, 28, 3}, {16, 32, 32, 128}, false};
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu(kShape.first, kShape.first_kernel, 2).max_pool(3, 2, 1);
  std::int64_t residual = kShape.small ? 64 : 256;
  std::int64_t reduced = kShape.reduced;
  for (std::size_t stage = 0; stage < kShape.blocks.size(); ++stage) {
    const std::int64_t growth = kShape.growth.at(stage);
    Chain sum = net, grown = net;  // the two paths
    for (int block = 0; block < kShape.blocks.at(stage); ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      Chain in = block == 0 ? net : Chain::join({sum, grown});
      if (block == 0) {
        Chain both = in;
        both.norm().relu().conv(residual + 2 * growth, 1, stride);
        sum = both;
        sum.first_channels(residual);
        grown = both;
        grown.first_channels(2 * growth);
      }
      in.norm().relu().conv(reduced).norm().relu().conv(reduced, 3, stride, kShape.groups);
      in.norm().relu().conv(residual + growth);
      Chain more = in;
      in.first_channels(residual);
      more.first_channels(growth);
      sum.add(in);
      grown = Chain::join({grown, more});
    }
    net = Chain::join({sum, grown});
    residual *= 2;
    reduced *= 2;
  }
  net.norm().smooth().global_pool().conv(1000, 1, 1, 1, true).flatten();
  return graph.take();
}

template ZooGraph pyramidnet<110, 48, false>(const ZooInput&);
template ZooGraph pyramidnet<110, 84, false>(const ZooInput&);
template ZooGraph pyramidnet<110, 270, false>(const ZooInput&);
template ZooGraph pyramidnet<164, 270, true>(const ZooInput&);
template ZooGraph pyramidnet<272, 200, true>(const ZooInput&);
template ZooGraph dpn<68>(const ZooInput&);
template ZooGraph dpn<92>(const ZooInput&);
template ZooGraph dpn<98>(const ZooInput&);
template ZooGraph dpn<131>(const ZooInput&);

}  // namespace corun::inline predictors
