#include "predictors/graph/zoo/zoo.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "tests/helpers/public_data.hpp"
#include "traces/csv_reader.hpp"

namespace corun::test::zoo_test {
namespace {

GraphTotals totals_of_model(std::string_view name, ZooInput input = {}) {
  const ZooEntry* entry = find_zoo_model(name);
  if (entry == nullptr) throw std::invalid_argument("no model " + std::string(name));
  return totals_of(build_zoo_model(*entry, input));
}

/// What others publish of a model.
struct Published {
  std::string_view name;
  std::int64_t parameters;
  double giga_multiply_adds;  ///< of the inputs of the catalog, rounded as published; 0: none known
  std::string_view source;
};

constexpr std::string_view kTorchvision =
    "torchvision's metadata of pretrained weights (num_params, _ops)";
constexpr std::string_view kPyramid = "the paper's parameters, to the unit by its PyTorch code";
constexpr std::string_view kDpn = "timm's parameters; GFLOPs of Chen et al. 2017, table 1";
constexpr std::string_view kHuggingFace = "the checkpoint of Hugging Face";
constexpr std::string_view kClosedForm = "closed form, see below";

constexpr std::array kPublished{
    Published{"alexnet", 61'100'840, 0.714, kTorchvision},
    Published{"vgg11", 132'863'336, 7.609, kTorchvision},
    Published{"vgg13", 133'047'848, 11.308, kTorchvision},
    Published{"vgg16", 138'357'544, 15.47, kTorchvision},
    Published{"vgg19", 143'667'240, 19.632, kTorchvision},
    Published{"vgg11_bn", 132'868'840, 7.609, kTorchvision},
    Published{"vgg13_bn", 133'053'736, 11.308, kTorchvision},
    Published{"vgg16_bn", 138'365'992, 15.47, kTorchvision},
    Published{"vgg19_bn", 143'678'248, 19.632, kTorchvision},
    Published{"resnet18", 11'689'512, 1.814, kTorchvision},
    Published{"resnet34", 21'797'672, 3.664, kTorchvision},
    Published{"resnet50", 25'557'032, 4.089, kTorchvision},
    Published{"resnet101", 44'549'160, 7.801, kTorchvision},
    Published{"resnet152", 60'192'808, 11.514, kTorchvision},
    Published{"resnet200", 64'673'832, 15.0, "timm's parameters; published FLOPs of He et al."},
    Published{"resnext50_32x4d", 25'028'904, 4.23, kTorchvision},
    Published{"resnext101_32x8d", 88'791'336, 16.414, kTorchvision},
    Published{"resnext101_64x4d", 83'455'272, 15.46, kTorchvision},
    Published{"wide_resnet50_2", 68'883'240, 11.398, kTorchvision},
    Published{"wide_resnet101_2", 126'886'696, 22.753, kTorchvision},
    Published{"densenet121", 7'978'856, 2.834, kTorchvision},
    Published{"densenet161", 28'681'000, 7.728, kTorchvision},
    Published{"densenet169", 14'149'480, 3.36, kTorchvision},
    Published{"densenet201", 20'013'928, 4.291, kTorchvision},
    Published{"googlenet", 6'624'904, 1.498, kTorchvision},
    Published{"squeezenet1_0", 1'248'424, 0.819, kTorchvision},
    Published{"squeezenet1_1", 1'235'496, 0.349, kTorchvision},
    Published{"mobilenet_v2", 3'504'872, 0.301, kTorchvision},
    Published{"mobilenet_v3_large", 5'483'032, 0.217, kTorchvision},
    Published{"mobilenet_v3_small", 2'542'856, 0.057, kTorchvision},
    Published{"mnasnet0_5", 2'218'512, 0.104, kTorchvision},
    Published{"mnasnet0_75", 3'170'208, 0.215, kTorchvision},
    Published{"mnasnet1_0", 4'383'312, 0.314, kTorchvision},
    Published{"mnasnet1_3", 6'282'256, 0.526, kTorchvision},
    Published{"shufflenet_v2_x0_5", 1'366'792, 0.04, kTorchvision},
    Published{"shufflenet_v2_x1_0", 2'278'604, 0.145, kTorchvision},
    Published{"shufflenet_v2_x1_5", 3'503'624, 0.296, kTorchvision},
    Published{"shufflenet_v2_x2_0", 7'393'996, 0.583, kTorchvision},
    Published{"pyramidnet110_a48", 1'772'706, 0, kPyramid},
    Published{"pyramidnet110_a84", 3'904'446, 0, kPyramid},
    Published{"pyramidnet110_a270", 28'485'477, 0, kPyramid},
    Published{"pyramidnet164_a270", 27'216'021, 0, kPyramid},
    Published{"pyramidnet272_a200", 26'210'842, 0, kPyramid},
    Published{"dpn68", 12'611'602, 0, kDpn},
    Published{"dpn92", 37'668'392, 6.5, kDpn},
    Published{"dpn98", 61'570'728, 11.7, kDpn},
    Published{"dpn131", 79'254'504, 16.0, kDpn},
    Published{"lstm", 13'987'678, 0, kClosedForm},
    Published{"transformer_base", 63'082'496, 0, kClosedForm},
    Published{"transformer_big", 214'245'376, 0, kClosedForm},
    Published{"bert_base", 109'482'240, 0, kHuggingFace},
    Published{"bert_large", 335'141'888, 0, kHuggingFace},
    Published{"gpt2", 124'439'808, 0, kHuggingFace},
    Published{"gpt2_medium", 354'823'168, 0, kHuggingFace},
    Published{"gpt2_large", 774'030'080, 0, kHuggingFace},
    Published{"gpt2_xl", 1'557'611'200, 0, kHuggingFace},
};

TEST(Zoo, HasThePublishedParametersToTheUnit) {
  for (const Published& model : kPublished) {
    EXPECT_EQ(totals_of_model(model.name).parameters, model.parameters)
        << model.name << ": " << model.source;
  }
}

TEST(Zoo, HasThePublishedMultiplyAddsWithinOnePercent) {
  for (const Published& model : kPublished) {
    if (model.giga_multiply_adds == 0) continue;
    // torchvision's are rounded to 0.001, which is more than 1 % of the smallest models.
    const double rounding = model.source == kTorchvision ? 0.00051 : 0;
    EXPECT_NEAR(totals_of_model(model.name).multiply_adds / 1e9, model.giga_multiply_adds,
                std::max(0.01 * model.giga_multiply_adds, rounding))
        << model.name << ": " << model.source;
  }
}

TEST(Zoo, HasNoModelWithoutAPublishedCount) {
  std::set<std::string_view> listed;
  for (const Published& model : kPublished) {
    EXPECT_TRUE(listed.insert(model.name).second) << model.name << " is listed twice";
  }
  std::set<std::string_view> built;
  for (const ZooEntry& entry : zoo_catalog()) {
    EXPECT_TRUE(built.insert(entry.name).second) << entry.name << " is in the catalog twice";
    EXPECT_FALSE(entry.family.empty()) << entry.name;
    EXPECT_FALSE(entry.source.empty()) << entry.name;
    EXPECT_NE(entry.pixels > 0, entry.tokens > 0) << entry.name;
  }
  EXPECT_EQ(built, listed);
}

TEST(Zoo, FindsModelsByTheirWholeName) {
  for (const ZooEntry& entry : zoo_catalog()) EXPECT_EQ(find_zoo_model(entry.name), &entry);
  for (const char* name : {"", "resnet", "resnet500", "ResNet50", "gpt2_"}) {
    EXPECT_EQ(find_zoo_model(name), nullptr) << name;
  }
}

/// Parameters of a linear layer with a bias.
constexpr std::int64_t linear(std::int64_t in, std::int64_t out) { return in * out + out; }
/// Parameters of an attention of four linear layers.
constexpr std::int64_t attention(std::int64_t width) { return 4 * linear(width, width); }
constexpr std::int64_t feed_forward(std::int64_t width) {
  return linear(width, 4 * width) + linear(4 * width, width);
}
constexpr std::int64_t norm(std::int64_t width) { return 2 * width; }

/// Multiply-adds of an attention: four linear layers, and two products of tokens with tokens.
constexpr double attention_work(double width, double tokens) {
  return 4 * tokens * width * width + 2 * tokens * tokens * width;
}
constexpr double feed_forward_work(double width, double tokens) {
  return 8 * tokens * width * width;
}

struct TextModel {
  std::string_view name;
  std::int64_t width, layers;
};

TEST(Zoo, LstmFollowsClosedForms) {
  constexpr std::int64_t kVocabulary = 33'278, kWidth = 200, kLayers = 2, kTokens = 35;
  const GraphTotals totals = totals_of_model("lstm");
  // Each of four gates reads the layer's input and its state, and has two biases.
  EXPECT_EQ(totals.parameters, kVocabulary * kWidth +
                                   kLayers * 4 * (2 * kWidth * kWidth + 2 * kWidth) +
                                   linear(kWidth, kVocabulary));
  EXPECT_DOUBLE_EQ(totals.multiply_adds,
                   kTokens * (kLayers * 8.0 * kWidth * kWidth + 1.0 * kWidth * kVocabulary));
}

TEST(Zoo, TransformersFollowClosedForms) {
  constexpr std::int64_t kVocabulary = 37'000, kLayers = 6;
  constexpr double kTokens = 128;
  for (const TextModel& model :
       {TextModel{"transformer_base", 512, kLayers}, TextModel{"transformer_big", 1024, kLayers}}) {
    const std::int64_t width = model.width;
    const std::int64_t encoder = attention(width) + feed_forward(width) + 2 * norm(width);
    const std::int64_t decoder = 2 * attention(width) + feed_forward(width) + 3 * norm(width);
    const GraphTotals totals = totals_of_model(model.name);
    EXPECT_EQ(totals.parameters, kVocabulary * width + kLayers * (encoder + decoder)) << model.name;
    const auto w = static_cast<double>(width);
    EXPECT_DOUBLE_EQ(totals.multiply_adds, kLayers * (3 * attention_work(w, kTokens) +
                                                      2 * feed_forward_work(w, kTokens)) +
                                               kTokens * w * kVocabulary)
        << model.name;
  }
}

TEST(Zoo, BertFollowsClosedForms) {
  constexpr std::int64_t kVocabulary = 30'522, kPositions = 512, kSegments = 2;
  constexpr double kTokens = 128;
  for (const TextModel& model :
       {TextModel{"bert_base", 768, 12}, TextModel{"bert_large", 1024, 24}}) {
    const std::int64_t width = model.width;
    const std::int64_t layer = attention(width) + feed_forward(width) + 2 * norm(width);
    const GraphTotals totals = totals_of_model(model.name);
    EXPECT_EQ(totals.parameters, (kVocabulary + kPositions + kSegments) * width + norm(width) +
                                     model.layers * layer + linear(width, width))
        << model.name;
    const auto w = static_cast<double>(width);
    EXPECT_DOUBLE_EQ(totals.multiply_adds,
                     static_cast<double>(model.layers) *
                             (attention_work(w, kTokens) + feed_forward_work(w, kTokens)) +
                         w * w)
        << model.name;
  }
}

TEST(Zoo, Gpt2FollowsClosedForms) {
  constexpr std::int64_t kVocabulary = 50'257, kPositions = 1024;
  constexpr double kTokens = 1024;
  for (const TextModel& model :
       {TextModel{"gpt2", 768, 12}, TextModel{"gpt2_medium", 1024, 24},
        TextModel{"gpt2_large", 1280, 36}, TextModel{"gpt2_xl", 1600, 48}}) {
    const std::int64_t width = model.width;
    const std::int64_t layer = attention(width) + feed_forward(width) + 2 * norm(width);
    const GraphTotals totals = totals_of_model(model.name);
    EXPECT_EQ(totals.parameters,
              (kVocabulary + kPositions) * width + model.layers * layer + norm(width))
        << model.name;
    const auto w = static_cast<double>(width);
    EXPECT_DOUBLE_EQ(totals.multiply_adds,
                     static_cast<double>(model.layers) *
                             (attention_work(w, kTokens) + feed_forward_work(w, kTokens)) +
                         kTokens * w * kVocabulary)
        << model.name;
  }
}

TEST(Zoo, WorkGrowsWithTheInputAndParametersDoNot) {
  const GraphTotals small = totals_of_model("resnet50");
  const GraphTotals large = totals_of_model("resnet50", {.pixels = 448});
  EXPECT_EQ(large.parameters, small.parameters);
  constexpr double kClassifier = 2048.0 * 1000;  // reads means, whatever the image's size
  EXPECT_DOUBLE_EQ(large.multiply_adds - kClassifier, 4 * (small.multiply_adds - kClassifier));

  const GraphTotals sentence = totals_of_model("bert_base");
  const GraphTotals page = totals_of_model("bert_base", {.tokens = 512});
  EXPECT_EQ(page.parameters, sentence.parameters);
  EXPECT_GT(page.multiply_adds, 4 * sentence.multiply_adds) << "attention grows with the square";
}

TEST(Zoo, RefusesInputsThatAreTooSmall) {
  for (const ZooEntry& entry : zoo_catalog()) {
    const bool images = entry.pixels > 0;
    EXPECT_THROW(build_zoo_model(entry, {.pixels = -1, .tokens = -1}), std::invalid_argument)
        << entry.name;
    if (!images) {
      EXPECT_NO_THROW(build_zoo_model(entry, {.tokens = 1})) << entry.name;
    }
  }
  EXPECT_THROW(totals_of_model("vgg16", {.pixels = 16}), std::invalid_argument);
  EXPECT_THROW(totals_of_model("alexnet", {.pixels = 32}), std::invalid_argument);
  EXPECT_THROW(totals_of_model("densenet121", {.pixels = 16}), std::invalid_argument);
}

/// Modules of torchvision and operations of the graph that do not correspond: torchvision calls some layers as
/// functions, which its file does not count.
struct Functions {
  std::string_view name;
  int activations;             ///< ReLUs that are functions
  double activation_elements;  ///< their outputs, and those of pooling functions
  std::string_view reason;
};

constexpr std::string_view kLastLayers = "the last ReLU and the mean after it are functions";
constexpr std::string_view kMean = "the mean of each channel is a function";

constexpr std::array kFunctions{
    Functions{"densenet121", 1, 1024 * (7 * 7 + 1), kLastLayers},
    Functions{"densenet161", 1, 2208 * (7 * 7 + 1), kLastLayers},
    Functions{"densenet169", 1, 1664 * (7 * 7 + 1), kLastLayers},
    Functions{"densenet201", 1, 1920 * (7 * 7 + 1), kLastLayers},
    Functions{"googlenet", 57, 3'226'160, "the ReLU of each convolution is a function"},
    Functions{"mobilenet_v2", 0, 1280, kMean},
    Functions{"mnasnet0_5", 0, 1280, kMean},
    Functions{"mnasnet0_75", 0, 1280, kMean},
    Functions{"mnasnet1_0", 0, 1280, kMean},
    Functions{"mnasnet1_3", 0, 1280, kMean},
    Functions{"shufflenet_v2_x0_5", 0, 1024, kMean},
    Functions{"shufflenet_v2_x1_0", 0, 1024, kMean},
    Functions{"shufflenet_v2_x1_5", 0, 1024, kMean},
    Functions{"shufflenet_v2_x2_0", 0, 2048, kMean},
};

TEST(Zoo, AgreesWithTorchvisionsModulesExactly) {
  const std::string file = "jobs/reference/torchvision_features.csv";
  if (!has_public_data(file)) GTEST_SKIP() << not_checked(file);
  CsvReader csv(public_data(file),
                {{"model", true},
                 {"img", true},
                 {"params", true},
                 {"act", true},
                 {"convact", true},
                 {"macs", true},
                 {"nconv", true},
                 {"nlin", true},
                 {"nact", true},
                 {"nnorm", true}},
                kAnyColumns);
  std::set<std::string> compared;
  while (csv.next()) {
    const std::string name(csv.text(csv.column("model")));
    const ZooEntry* entry = find_zoo_model(name);
    if (entry == nullptr) continue;
    SCOPED_TRACE(name);
    const auto number = [&](std::string_view column) {
      return *csv.integer(csv.column(column), {.what = "a count", .min = 0});
    };
    const GraphTotals totals = totals_of(build_zoo_model(*entry, {.pixels = number("img")}));
    Functions functions{name, 0, 0, ""};
    for (const Functions& other : kFunctions) {
      if (other.name == name) functions = other;
    }
    EXPECT_EQ(totals.parameters, number("params"));
    EXPECT_EQ(totals.multiply_adds, static_cast<double>(number("macs")));
    EXPECT_EQ(totals.weighted_outputs, static_cast<double>(number("convact")));
    EXPECT_EQ(totals.activation_elements - functions.activation_elements,
              static_cast<double>(number("act")))
        << functions.reason;
    EXPECT_EQ(totals.count(OperationKind::kConvolution), number("nconv"));
    EXPECT_EQ(totals.count(OperationKind::kLinear), number("nlin"));
    EXPECT_EQ(totals.count(OperationKind::kNormalisation), number("nnorm"));
    EXPECT_EQ(totals.count(OperationKind::kActivation) - functions.activations, number("nact"))
        << functions.reason;
    compared.insert(name);
  }
  // All of torchvision's models in the table, but one that its version of the file (0.14.1) was made without.
  std::set<std::string> expected;
  for (const Published& model : kPublished) {
    if (model.source == kTorchvision && model.name != "resnext101_64x4d") {
      expected.emplace(model.name);
    }
  }
  EXPECT_EQ(compared, expected);
}

}  // namespace
}  // namespace corun::test::zoo_test
