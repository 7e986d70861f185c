#include "predictors/graph/zoo/zoo.hpp"

#include <algorithm>
#include <array>

#include "predictors/graph/zoo/builders.hpp"

namespace corun::inline predictors {

namespace {

constexpr std::string_view kHe = "He et al. 2016";
constexpr std::string_view kXie = "Xie et al. 2017";
constexpr std::string_view kZagoruyko = "Zagoruyko and Komodakis 2016";
constexpr std::string_view kHuang = "Huang et al. 2017";
constexpr std::string_view kSimonyan = "Simonyan and Zisserman 2015";
constexpr std::string_view kMa = "Ma et al. 2018";
constexpr std::string_view kTan = "Tan et al. 2019";
constexpr std::string_view kHan = "Han et al. 2017, for CIFAR-10";
constexpr std::string_view kChen = "Chen et al. 2017";
constexpr std::string_view kRadford = "Radford et al. 2019";

constexpr std::array kZoo{
    ZooEntry{"alexnet", "alexnet", "Krizhevsky 2014", 224, 0, alexnet},
    ZooEntry{"vgg11", "vgg", kSimonyan, 224, 0, vgg<11, false>},
    ZooEntry{"vgg13", "vgg", kSimonyan, 224, 0, vgg<13, false>},
    ZooEntry{"vgg16", "vgg", kSimonyan, 224, 0, vgg<16, false>},
    ZooEntry{"vgg19", "vgg", kSimonyan, 224, 0, vgg<19, false>},
    ZooEntry{"vgg11_bn", "vgg", kSimonyan, 224, 0, vgg<11, true>},
    ZooEntry{"vgg13_bn", "vgg", kSimonyan, 224, 0, vgg<13, true>},
    ZooEntry{"vgg16_bn", "vgg", kSimonyan, 224, 0, vgg<16, true>},
    ZooEntry{"vgg19_bn", "vgg", kSimonyan, 224, 0, vgg<19, true>},
    ZooEntry{"resnet18", "resnet", kHe, 224, 0, resnet<18>},
    ZooEntry{"resnet34", "resnet", kHe, 224, 0, resnet<34>},
    ZooEntry{"resnet50", "resnet", kHe, 224, 0, resnet<50>},
    ZooEntry{"resnet101", "resnet", kHe, 224, 0, resnet<101>},
    ZooEntry{"resnet152", "resnet", kHe, 224, 0, resnet<152>},
    ZooEntry{"resnet200", "resnet", kHe, 224, 0, resnet<200>},
    ZooEntry{"resnext50_32x4d", "resnext", kXie, 224, 0, resnext<50, 32, 4>},
    ZooEntry{"resnext101_32x8d", "resnext", kXie, 224, 0, resnext<101, 32, 8>},
    ZooEntry{"resnext101_64x4d", "resnext", kXie, 224, 0, resnext<101, 64, 4>},
    ZooEntry{"wide_resnet50_2", "resnext", kZagoruyko, 224, 0, wide_resnet<50>},
    ZooEntry{"wide_resnet101_2", "resnext", kZagoruyko, 224, 0, wide_resnet<101>},
    ZooEntry{"densenet121", "densenet", kHuang, 224, 0, densenet<121>},
    ZooEntry{"densenet161", "densenet", kHuang, 224, 0, densenet<161>},
    ZooEntry{"densenet169", "densenet", kHuang, 224, 0, densenet<169>},
    ZooEntry{"densenet201", "densenet", kHuang, 224, 0, densenet<201>},
    ZooEntry{"googlenet", "googlenet", "Szegedy et al. 2015", 224, 0, googlenet},
    ZooEntry{"squeezenet1_0", "squeezenet", "Iandola et al. 2016", 224, 0, squeezenet<0>},
    ZooEntry{"squeezenet1_1", "squeezenet", "Iandola et al. 2016", 224, 0, squeezenet<1>},
    ZooEntry{"mobilenet_v2", "mobilenet", "Sandler et al. 2018", 224, 0, mobilenet_v2},
    ZooEntry{"mobilenet_v3_large", "mobilenet", "Howard et al. 2019", 224, 0, mobilenet_v3<true>},
    ZooEntry{"mobilenet_v3_small", "mobilenet", "Howard et al. 2019", 224, 0, mobilenet_v3<false>},
    ZooEntry{"mnasnet0_5", "mnasnet", kTan, 224, 0, mnasnet<50>},
    ZooEntry{"mnasnet0_75", "mnasnet", kTan, 224, 0, mnasnet<75>},
    ZooEntry{"mnasnet1_0", "mnasnet", kTan, 224, 0, mnasnet<100>},
    ZooEntry{"mnasnet1_3", "mnasnet", kTan, 224, 0, mnasnet<130>},
    ZooEntry{"shufflenet_v2_x0_5", "shufflenet", kMa, 224, 0, shufflenet_v2<5>},
    ZooEntry{"shufflenet_v2_x1_0", "shufflenet", kMa, 224, 0, shufflenet_v2<10>},
    ZooEntry{"shufflenet_v2_x1_5", "shufflenet", kMa, 224, 0, shufflenet_v2<15>},
    ZooEntry{"shufflenet_v2_x2_0", "shufflenet", kMa, 224, 0, shufflenet_v2<20>},
    ZooEntry{"pyramidnet110_a48", "pyramidnet", kHan, 32, 0, pyramidnet<110, 48, false>},
    ZooEntry{"pyramidnet110_a84", "pyramidnet", kHan, 32, 0, pyramidnet<110, 84, false>},
    ZooEntry{"pyramidnet110_a270", "pyramidnet", kHan, 32, 0, pyramidnet<110, 270, false>},
    ZooEntry{"pyramidnet164_a270", "pyramidnet", kHan, 32, 0, pyramidnet<164, 270, true>},
    ZooEntry{"pyramidnet272_a200", "pyramidnet", kHan, 32, 0, pyramidnet<272, 200, true>},
    ZooEntry{"dpn68", "dpn", kChen, 224, 0, dpn<68>},
    ZooEntry{"dpn92", "dpn", kChen, 224, 0, dpn<92>},
    ZooEntry{"dpn98", "dpn", kChen, 224, 0, dpn<98>},
    ZooEntry{"dpn131", "dpn", kChen, 224, 0, dpn<131>},
    ZooEntry{"lstm", "lstm", "PyTorch's example word_language_model", 0, 35, word_lstm},
    ZooEntry{"transformer_base", "transformer", "Vaswani et al. 2017", 0, 128, transformer<false>},
    ZooEntry{"transformer_big", "transformer", "Vaswani et al. 2017", 0, 128, transformer<true>},
    ZooEntry{"bert_base", "bert", "Devlin et al. 2019", 0, 128, bert<false>},
    ZooEntry{"bert_large", "bert", "Devlin et al. 2019", 0, 128, bert<true>},
    ZooEntry{"gpt2", "gpt2", kRadford, 0, 1024, gpt2<12>},
    ZooEntry{"gpt2_medium", "gpt2", kRadford, 0, 1024, gpt2<24>},
    ZooEntry{"gpt2_large", "gpt2", kRadford, 0, 1024, gpt2<36>},
    ZooEntry{"gpt2_xl", "gpt2", kRadford, 0, 1024, gpt2<48>},
};

}  // namespace

std::span<const ZooEntry> zoo_catalog() { return kZoo; }

const ZooEntry* find_zoo_model(std::string_view name) {
  const auto* const at = std::ranges::find(kZoo, name, &ZooEntry::name);
  return at == kZoo.end() ? nullptr : at;
}

ComputationGraph build_zoo_model(const ZooEntry& entry, ZooInput input) {
  if (input.pixels == 0) input.pixels = entry.pixels;
  if (input.tokens == 0) input.tokens = entry.tokens;
  return entry.build(input);
}

}  // namespace corun::inline predictors
