#include <array>

#include "predictors/graph/zoo/builders.hpp"
#include "predictors/graph/zoo/chain.hpp"

/// AlexNet (Krizhevsky 2014, one tower) and VGG (Simonyan and Zisserman 2015), as in torchvision.
namespace corun::inline predictors {

ZooGraph alexnet(const ZooInput& input) {
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv(64, 11, 4, 1, true, 2).relu().max_pool(3, 2);
  net.conv(192, 5, 1, 1, true).relu().max_pool(3, 2);
  net.conv(384, 3, 1, 1, true).relu().conv(256, 3, 1, 1, true).relu();
  net.conv(256, 3, 1, 1, true).relu().max_pool(3, 2).adaptive_pool(6).flatten();
  net.dropout().linear(4096).relu().dropout().linear(4096).relu().linear(1000);
  return graph.take();
}

template <int kLayers, bool kNorm>
ZooGraph vgg(const ZooInput& input) {
  constexpr std::array<std::int64_t, 5> kChannels{64, 128, 256, 512, 512};
  constexpr std::array<int, 5> kConvolutions = kLayers == 11   ? std::array{1, 1, 2, 2, 2}
                                               : kLayers == 13 ? std::array{2, 2, 2, 2, 2}
                                               : kLayers == 16 ? std::array{2, 2, 3, 3, 3}
                                                               : std::array{2, 2, 4, 4, 4};
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  for (std::size_t stage = 0; stage < kChannels.size(); ++stage) {
    for (int i = 0; i < kConvolutions.at(stage); ++i) {
      net.conv(kChannels.at(stage), 3, 1, 1, true);
      if (kNorm) net.norm();
      net.relu();
    }
    net.max_pool(2, 2);
  }
  net.adaptive_pool(7).flatten().linear(4096).relu().dropout();
  net.linear(4096).relu().dropout().linear(1000);
  return graph.take();
}

template ZooGraph vgg<11, false>(const ZooInput&);
template ZooGraph vgg<13, false>(const ZooInput&);
template ZooGraph vgg<16, false>(const ZooInput&);
template ZooGraph vgg<19, false>(const ZooInput&);
template ZooGraph vgg<11, true>(const ZooInput&);
template ZooGraph vgg<13, true>(const ZooInput&);
template ZooGraph vgg<16, true>(const ZooInput&);
template ZooGraph vgg<19, true>(const ZooInput&);

}  // namespace corun::inline predictors
