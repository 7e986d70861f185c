#include <array>

#include "predictors/graph/zoo/builders.hpp"
#include "predictors/graph/zoo/chain.hpp"

/// GoogLeNet (Szegedy et al. 2015) as in torchvision, with batch norm, 3 x 3 in place of 5 x 5 and without the
/// auxiliary classifiers; SqueezeNet (Iandola et al. 2016).
namespace corun::inline predictors {

namespace {

/// Channels of the four branches: 1 x 1; reduced, 3 x 3; reduced, 3 x 3; pooled.
using InceptionChannels = std::array<std::int64_t, 6>;

Chain inception(const Chain& in, const InceptionChannels& c) {
  Chain one = in, three = in, five = in, pooled = in;
  one.conv_norm_relu(c[0]);
  three.conv_norm_relu(c[1]).conv_norm_relu(c[2], 3);
  five.conv_norm_relu(c[3]).conv_norm_relu(c[4], 3);
  pooled.max_pool(3, 1, 1, true).conv_norm_relu(c[5]);
  return Chain::join({one, three, five, pooled});
}

Chain fire(const Chain& in, std::int64_t squeezed, std::int64_t expanded) {
  Chain one = in;
  one.conv(squeezed, 1, 1, 1, true).relu();
  Chain three = one;
  one.conv(expanded, 1, 1, 1, true).relu();
  three.conv(expanded, 3, 1, 1, true).relu();
  return Chain::join({one, three});
}

}  // namespace

ZooGraph googlenet(const ZooInput& input) {
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  net.conv_norm_relu(64, 7, 2).max_pool(3, 2, 0, true);
  net.conv_norm_relu(64).conv_norm_relu(192, 3).max_pool(3, 2, 0, true);
  net = inception(net, {64, 96, 128, 16, 32, 32});
  net = inception(net, {128, 128, 192, 32, 96, 64});
  net.max_pool(3, 2, 0, true);
  net = inception(net, {192, 96, 208, 16, 48, 64});
  net = inception(net, {160, 112, 224, 24, 64, 64});
  net = inception(net, {128, 128, 256, 24, 64, 64});
  net = inception(net, {112, 144, 288, 32, 64, 64});
  net = inception(net, {256, 160, 320, 32, 128, 128});
  net.max_pool(2, 2, 0, true);
  net = inception(net, {256, 160, 320, 32, 128, 128});
  net = inception(net, {384, 192, 384, 48, 128, 128});
  net.global_pool().flatten().dropout().linear(1000);
  return graph.take();
}

template <int kVersion>
ZooGraph squeezenet(const ZooInput& input) {
  GraphBuilder graph;
  Chain net = Chain::of_images(graph, input.pixels);
  const auto pool = [&] { net.max_pool(3, 2, 0, true); };
  if (kVersion == 0) {
    net.conv(96, 7, 2, 1, true, 0).relu();
    pool();
    net = fire(fire(fire(net, 16, 64), 16, 64), 32, 128);
    pool();
    net = fire(fire(fire(fire(net, 32, 128), 48, 192), 48, 192), 64, 256);
    pool();
    net = fire(net, 64, 256);
  } else {
    net.conv(64, 3, 2, 1, true, 0).relu();
    pool();
    net = fire(fire(net, 16, 64), 16, 64);
    pool();
    net = fire(fire(net, 32, 128), 32, 128);
    pool();
    net = fire(fire(fire(fire(net, 48, 192), 48, 192), 64, 256), 64, 256);
  }
  net.dropout().conv(1000, 1, 1, 1, true).relu().global_pool().flatten();
  return graph.take();
}

template ZooGraph squeezenet<0>(const ZooInput&);
template ZooGraph squeezenet<1>(const ZooInput&);

}  // namespace corun::inline predictors
