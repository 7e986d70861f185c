#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "predictors/graph/zoo/builders.hpp"
#include "predictors/graph/zoo/chain.hpp"

/// Networks of depthwise convolutions, as in torchvision: MobileNetV2 (Sandler et al. 2018), MobileNetV3 (Howard et
/// al. 2019), MNASNet (Tan et al. 2019), ShuffleNetV2 (Ma et al. 2018).
namespace corun::inline predictors {

namespace {

/// The nearest multiple of 8, not below 90 % of `channels`.
std::int64_t multiple_of_8(double channels) {
  const auto rounded = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(rounded) < 0.9 * channels ? rounded + 8 : rounded;
}

/// A convolution, normalisation and activation.
using ActivatedLayer = Chain& (Chain::*)(std::int64_t channels, std::int64_t kernel,
                                         std::int64_t stride, std::int64_t groups);

/// Wide, depthwise, narrow; the input is added if the shape is the same.
void inverted_residual(Chain& net, std::int64_t channels, std::int64_t expand, std::int64_t kernel,
                       std::int64_t stride, ActivatedLayer layer) {
  const Chain in = net;
  const std::int64_t wide = net.channels() * expand;
  if (expand != 1) (net.*layer)(wide, 1, 1, 1);
  (net.*layer)(wide, kernel, stride, wide).conv_norm(channels);
  if (stride == 1 && in.channels() == channels) net.add(in);
}

}  // namespace

ZooGraph mobilenet_v2(const ZooInput& input) {
  struct Stage {
    std::int64_t expand, channels, blocks, stride;
  };
  constexpr std::array<Stage, 7> kStages{{{1, 16, 1, 1},
                                          {6, 24, 2, 2},
                                          {6, 32, 3, 2},
                                          {6, 64, 4, 2},
                                          {6, 96, 3, 1},
                                          {6, 160, 3, 2},
                                          {6, 320, 1, 1}}};
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu6(32, 3, 2);
  for (const Stage& stage : kStages) {
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      inverted_residual(net, stage.channels, stage.expand, 3, block == 0 ? stage.stride : 1,
                        &Chain::conv_norm_relu6);
    }
  }
  net.conv_norm_relu6(1280).global_pool().flatten().dropout().linear(1000);
  return graph.take();
}

template <int kHundredths>
ZooGraph mnasnet(const ZooInput& input) {
  struct Stage {
    std::int64_t kernel, stride, expand, blocks, channels;
  };
  constexpr std::array<Stage, 6> kStages{{{3, 2, 3, 3, 24},
                                          {5, 2, 3, 3, 40},
                                          {5, 2, 6, 3, 80},
                                          {3, 1, 6, 2, 96},
                                          {5, 2, 6, 4, 192},
                                          {3, 1, 6, 1, 320}}};
  const auto scaled = [](std::int64_t channels) {
    return multiple_of_8(static_cast<double>(channels) * kHundredths / 100.0);
  };
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu(scaled(32), 3, 2).conv_norm_relu(scaled(32), 3, 1, scaled(32));
  net.conv_norm(scaled(16));
  for (const Stage& stage : kStages) {
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      inverted_residual(net, scaled(stage.channels), stage.expand, stage.kernel,
                        block == 0 ? stage.stride : 1, &Chain::conv_norm_relu);
    }
  }
  net.conv_norm_relu(1280).global_pool().flatten().dropout().linear(1000);
  return graph.take();
}

template <bool kLarge>
ZooGraph mobilenet_v3(const ZooInput& input) {
  struct Block {
    std::int64_t wide, kernel, channels;
    bool squeeze, smooth;
    std::int64_t stride;
  };
  static constexpr std::array<Block, 15> kLargeBlocks{{{16, 3, 16, false, false, 1},
                                                       {64, 3, 24, false, false, 2},
                                                       {72, 3, 24, false, false, 1},
                                                       {72, 5, 40, true, false, 2},
                                                       {120, 5, 40, true, false, 1},
                                                       {120, 5, 40, true, false, 1},
                                                       {240, 3, 80, false, true, 2},
                                                       {200, 3, 80, false, true, 1},
                                                       {184, 3, 80, false, true, 1},
                                                       {184, 3, 80, false, true, 1},
                                                       {480, 3, 112, true, true, 1},
                                                       {672, 3, 112, true, true, 1},
                                                       {672, 5, 160, true, true, 2},
                                                       {960, 5, 160, true, true, 1},
                                                       {960, 5, 160, true, true, 1}}};
  static constexpr std::array<Block, 11> kSmallBlocks{{{16, 3, 16, true, false, 2},
                                                       {72, 3, 24, false, false, 2},
                                                       {88, 3, 24, false, false, 1},
                                                       {96, 5, 40, true, true, 2},
                                                       {240, 5, 40, true, true, 1},
                                                       {240, 5, 40, true, true, 1},
                                                       {120, 5, 48, true, true, 1},
                                                       {144, 5, 48, true, true, 1},
                                                       {288, 5, 96, true, true, 2},
                                                       {576, 5, 96, true, true, 1},
                                                       {576, 5, 96, true, true, 1}}};
  const std::span<const Block> blocks =
      kLarge ? std::span<const Block>(kLargeBlocks) : std::span<const Block>(kSmallBlocks);
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm(16, 3, 2).smooth();
  for (const Block& block : blocks) {
    const Chain in = net;
    const auto activate = [&] { block.smooth ? net.smooth() : net.relu(); };
    if (block.wide != net.channels()) {
      net.conv_norm(block.wide);
      activate();
    }
    net.conv_norm(block.wide, block.kernel, block.stride, block.wide);
    activate();
    if (block.squeeze) {
      Chain scale = net;
      scale.global_pool()
          .conv(multiple_of_8(static_cast<double>(block.wide) / 4), 1, 1, 1, true)
          .relu();
      scale.conv(block.wide, 1, 1, 1, true).relu();
      net.multiply(scale);
    }
    net.conv_norm(block.channels);
    if (block.stride == 1 && in.channels() == block.channels) net.add(in);
  }
  net.conv_norm(6 * net.channels()).smooth().global_pool().flatten();
  net.linear(kLarge ? 1280 : 1024).smooth().dropout().linear(1000);
  return graph.take();
}

template <int kTenths>
ZooGraph shufflenet_v2(const ZooInput& input) {
  constexpr std::array<std::int64_t, 4> kChannels =
      kTenths == 5    ? std::array<std::int64_t, 4>{48, 96, 192, 1024}
      : kTenths == 10 ? std::array<std::int64_t, 4>{116, 232, 464, 1024}
      : kTenths == 15 ? std::array<std::int64_t, 4>{176, 352, 704, 1024}
                      : std::array<std::int64_t, 4>{244, 488, 976, 2048};
  constexpr std::array<int, 3> kBlocks{4, 8, 4};
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu(24, 3, 2).max_pool(3, 2, 1);
  for (std::size_t stage = 0; stage < kBlocks.size(); ++stage) {
    const std::int64_t half = kChannels.at(stage) / 2;
    for (int block = 0; block < kBlocks.at(stage); ++block) {
      const bool first = block == 0;
      Chain kept = net, changed = net;
      if (first) {
        kept.conv_norm(net.channels(), 3, 2, net.channels()).conv_norm_relu(half);
      } else {
        kept.first_channels(half);
        changed.first_channels(half);
      }
      changed.conv_norm_relu(half).conv_norm(half, 3, first ? 2 : 1, half).conv_norm_relu(half);
      net = Chain::join({kept, changed});
      net.shuffle();
    }
  }
  net.conv_norm_relu(kChannels[3]).classify(1000);
  return graph.take();
}

template ZooGraph mnasnet<50>(const ZooInput&);
template ZooGraph mnasnet<75>(const ZooInput&);
template ZooGraph mnasnet<100>(const ZooInput&);
template ZooGraph mnasnet<130>(const ZooInput&);
template ZooGraph mobilenet_v3<true>(const ZooInput&);
template ZooGraph mobilenet_v3<false>(const ZooInput&);
template ZooGraph shufflenet_v2<5>(const ZooInput&);
template ZooGraph shufflenet_v2<10>(const ZooInput&);
template ZooGraph shufflenet_v2<15>(const ZooInput&);
template ZooGraph shufflenet_v2<20>(const ZooInput&);

}  // namespace corun::inline predictors
