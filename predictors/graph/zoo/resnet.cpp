#include <array>

#include "predictors/graph/zoo/builders.hpp"
#include "predictors/graph/zoo/chain.hpp"

/// ResNet (He et al. 2016) as in torchvision: in a bottleneck the 3 x 3 convolution has the stride. ResNeXt (Xie et
/// al. 2017) has groups there, Wide ResNet (Zagoruyko and Komodakis 2016) twice the channels.
namespace corun::inline predictors {

namespace {

struct ResNetShape {
  std::array<int, 4> blocks;
  bool bottleneck;
};

ResNetShape shape_of_layers(int layers) {
  switch (layers) {
    case 18:
      return {{2, 2, 2, 2}, false};
    case 34:
      return {{3, 4, 6, 3}, false};
    case 50:
      return {{3, 4, 6, 3}, true};
    case 101:
      return {{3, 4, 23, 3}, true};
    case 152:
      return {{3, 8, 36, 3}, true};
    default:
      return {{3, 24, 36, 3}, true};
  }
}

/// `width`: channels of a group in the first stage, 64 for a plain ResNet.
ZooGraph residual_network(const ZooInput& input, int layers, std::int64_t groups,
                          std::int64_t width) {
  const ResNetShape shape = shape_of_layers(layers);
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu(64, 7, 2).max_pool(3, 2, 1);
  std::int64_t planes = 64;
  for (std::size_t stage = 0; stage < shape.blocks.size(); ++stage, planes *= 2) {
    const std::int64_t out = shape.bottleneck ? 4 * planes : planes;
    for (int block = 0; block < shape.blocks.at(stage); ++block) {
      const std::int64_t stride = stage > 0 && block == 0 ? 2 : 1;
      Chain shortcut = net;
      if (shape.bottleneck) {
        const std::int64_t inner = planes * width / 64 * groups;
        net.conv_norm_relu(inner).conv_norm_relu(inner, 3, stride, groups).conv_norm(out);
      } else {
        net.conv_norm_relu(planes, 3, stride).conv_norm(planes, 3);
      }
      if (stride != 1 || shortcut.channels() != out) shortcut.conv_norm(out, 1, stride);
      net.add(shortcut).relu();
    }
  }
  net.classify(1000);
  return graph.take();
}

}  // namespace

template <int kLayers>
ZooGraph resnet(const ZooInput& input) {
  return residual_network(input, kLayers, 1, 64);
}
template <int kLayers, int kGroups, int kWidth>
ZooGraph resnext(const ZooInput& input) {
  return residual_network(input, kLayers, kGroups, kWidth);
}
template <int kLayers>
ZooGraph wide_resnet(const ZooInput& input) {
  return residual_network(input, kLayers, 1, 128);
}

template ZooGraph resnet<18>(const ZooInput&);
template ZooGraph resnet<34>(const ZooInput&);
template ZooGraph resnet<50>(const ZooInput&);
template ZooGraph resnet<101>(const ZooInput&);
template ZooGraph resnet<152>(const ZooInput&);
template ZooGraph resnet<200>(const ZooInput&);
template ZooGraph resnext<50, 32, 4>(const ZooInput&);
template ZooGraph resnext<101, 32, 8>(const ZooInput&);
template ZooGraph resnext<101, 64, 4>(const ZooInput&);
template ZooGraph wide_resnet<50>(const ZooInput&);
template ZooGraph wide_resnet<101>(const ZooInput&);

}  // namespace corun::inline predictors
