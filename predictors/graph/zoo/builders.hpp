#pragma once

#include "predictors/graph/zoo/zoo.hpp"

/// The builders that zoo.cpp lists, one function per model.
namespace corun::inline predictors {

using ZooGraph = ComputationGraph;

ZooGraph alexnet(const ZooInput& input);
/// 11, 13, 16 or 19 layers.
template <int kLayers, bool kNorm>
ZooGraph vgg(const ZooInput& input);
/// 18, 34, 50, 101, 152 or 200 layers.
template <int kLayers>
ZooGraph resnet(const ZooInput& input);
/// `kWidth`: channels of a group in the first stage.
template <int kLayers, int kGroups, int kWidth>
ZooGraph resnext(const ZooInput& input);
template <int kLayers>
ZooGraph wide_resnet(const ZooInput& input);
template <int kLayers>
ZooGraph densenet(const ZooInput& input);
/// 0 or 1: version 1.0 or 1.1.
template <int kVersion>
ZooGraph squeezenet(const ZooInput& input);
ZooGraph googlenet(const ZooInput& input);
ZooGraph mobilenet_v2(const ZooInput& input);
template <bool kLarge>
ZooGraph mobilenet_v3(const ZooInput& input);
/// `kHundredths`: the multiplier of the width, 50 for 0.5.
template <int kHundredths>
ZooGraph mnasnet(const ZooInput& input);
/// `kTenths`: the multiplier of the width, 5 for 0.5.
template <int kTenths>
ZooGraph shufflenet_v2(const ZooInput& input);
/// `kAlpha`: channels that are added from the first block to the last.
template <int kLayers, int kAlpha, bool kBottleneck>
ZooGraph pyramidnet(const ZooInput& input);
template <int kLayers>
ZooGraph dpn(const ZooInput& input);
ZooGraph word_lstm(const ZooInput& input);
template <bool kBig>
ZooGraph transformer(const ZooInput& input);
template <bool kLarge>
ZooGraph bert(const ZooInput& input);
/// Layers 12, 24, 36 or 48.
template <int kLayers>
ZooGraph gpt2(const ZooInput& input);

}  // namespace corun::inline predictors
