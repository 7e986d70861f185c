#include "predictors/tables/layer_list.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <tuple>

#include <fmt/format.h>

#include "sim/base/math.hpp"
#include "sim/base/text.hpp"

namespace corun::inline predictors {

namespace {

using Node = ComputationGraph::Node;

constexpr std::size_t kMostLayers = 100'000;
constexpr std::int64_t kMostNumber = std::int64_t{1} << 40;

/// Reads the list from front to back.
class ListText {
 public:
  explicit ListText(std::string_view text) : text_(text) {}

  void blanks() {
    while (!text_.empty() && text_.front() == ' ') text_.remove_prefix(1);
  }
  bool take(char c) {
    blanks();
    if (text_.empty() || text_.front() != c) return false;
    text_.remove_prefix(1);
    return true;
  }
  void expect(char c) {
    if (!take(c)) {
      throw std::invalid_argument(
          fmt::format("a list of layers without '{}' at '{}'", c, printable(text_.substr(0, 20))));
    }
  }
  std::string word() {
    expect('\'');
    const std::size_t end = text_.find('\'');
    if (end > 60) {  // npos, too
      throw std::invalid_argument("a layer's name without end");
    }
    std::string name(text_.substr(0, end));
    text_.remove_prefix(end + 1);
    return name;
  }
  std::int64_t number() {
    blanks();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789"), text_.size());
    const auto value = parse_integer(text_.substr(0, end));
    if (!value || *value > kMostNumber) {
      throw std::invalid_argument(fmt::format("a layer with '{}', expected a whole number",
                                              printable(text_.substr(0, 20))));
    }
    text_.remove_prefix(end);
    return *value;
  }
  bool empty() {
    blanks();
    return text_.empty();
  }

 private:
  std::string_view text_;
};

OperationKind kind_of_layer(std::string_view type) {
  if (type == "conv2d") return OperationKind::kConvolution;
  if (type == "linear") return OperationKind::kLinear;
  if (type == "batchnorm2d" || type == "batch_normalization") return OperationKind::kNormalisation;
  if (type == "dropout") return OperationKind::kDropout;
  if (type == "adaptive_avg_pool2d") return OperationKind::kPooling;
  if (type == "softmax" || type == "Softmax") return OperationKind::kSoftmax;
  if (type == "Identity") return OperationKind::kView;
  return OperationKind::kActivation;
}

/// What PyTorch keeps for the backward pass of the layer.
Kept kept_of_layer(std::string_view type, OperationKind kind) {
  switch (kind) {
    case OperationKind::kConvolution:
    case OperationKind::kLinear:
    case OperationKind::kNormalisation:
      return {.inputs = true};
    case OperationKind::kDropout:
      return {.bytes_per_output = 1};
    case OperationKind::kSoftmax:
      return {.output = true};
    case OperationKind::kActivation:
      if (type == "ReLU" || type == "Tanh" || type == "Sigmoid") return {.output = true};
      return {.inputs = true};
    default:
      return {};
  }
}

Operation operation_of_layer(const ListedLayer& layer) {
  Operation op;
  op.name = layer.type;
  op.kind = kind_of_layer(layer.type);
  op.kept = kept_of_layer(layer.type, op.kind);
  op.parameters = layer.parameters;
  op.parameter_tensors = layer.parameters > 0 ? 2 : 0;
  const bool weights = op.kind == OperationKind::kConvolution || op.kind == OperationKind::kLinear;
  op.backward_kernels = weights ? 3 : 1;
  if (op.kind == OperationKind::kView) {
    op.in_place = true;
    op.forward_kernels = op.backward_kernels = 0;
  }
  return op;
}

std::int64_t square_root(std::int64_t x) {
  auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(x)));
  while (root * root > x) --root;
  while ((root + 1) * (root + 1) <= x) ++root;
  return root;
}

/// The shape of a convolution.
struct FoundConvolution {
  std::int64_t in_channels = 0, in_side = 0, channels = 0, side = 0, kernel = 1;
  bool concatenates = false;
};

/// The solution for an input of `in_channels` x `in_side` x `in_side`, and how bad it is.
using RankedConvolution = std::pair<std::tuple<bool, double, bool>, FoundConvolution>;
std::optional<RankedConvolution> solve_convolution(const ListedLayer& layer,
                                                   std::int64_t in_channels, std::int64_t in_side) {
  std::optional<RankedConvolution> best;
  for (const std::int64_t kernel : {3, 1, 5, 7}) {
    for (const std::int64_t bias : {1, 0}) {
      const std::int64_t per_channel = in_channels * kernel * kernel + bias;
      if (layer.parameters % per_channel != 0) continue;
      const std::int64_t channels = layer.parameters / per_channel;
      if (channels < 1 || layer.elements % channels != 0) continue;
      const std::int64_t side = square_root(layer.elements / channels);
      if (side < 1 || side * side * channels != layer.elements) continue;
      const double change =
          std::abs(math::log(static_cast<double>(in_side) / static_cast<double>(side)));
      const std::tuple rank{kernel > 3, change, bias == 0};
      if (!best || rank < best->first) {
        best = {rank, {in_channels, in_side, channels, side, kernel, false}};
      }
    }
  }
  return best;
}

/// A convolution whose input channels are not those of any output before it.
FoundConvolution free_convolution(const ListedLayer& layer, const ListedLayer* next,
                                  std::int64_t in_side) {
  FoundConvolution best;
  double least = 1e9;
  for (std::int64_t side = 1; side <= 2 * std::max<std::int64_t>(in_side, 512); ++side) {
    if (layer.elements % (side * side) != 0) continue;
    const std::int64_t channels = layer.elements / (side * side);
    const bool norm_follows =
        next != nullptr && kind_of_layer(next->type) == OperationKind::kNormalisation;
    if (norm_follows && next->parameters != 2 * channels) continue;
    if (layer.parameters % channels != 0 || layer.parameters / channels < 2) continue;
    for (const std::int64_t kernel : {3, 1}) {
      const std::int64_t window = kernel * kernel;
      if ((layer.parameters / channels - 1) % window != 0) continue;
      const double change =
          std::abs(math::log(static_cast<double>(in_side) / static_cast<double>(side))) +
          (kernel == 3 ? 0 : 1e-3);
      if (change >= least) continue;
      least = change;
      best = {(layer.parameters / channels - 1) / window,
              std::max(in_side, side),
              channels,
              side,
              kernel,
              true};
    }
  }
  if (best.channels == 0)
    best = {1, in_side, std::max<std::int64_t>(1, layer.elements), 1, 1, false};
  return best;
}

/// Builds the graph of images, with the residual blocks.
class ImageLayers {
 public:
  ImageLayers(std::int64_t channels, std::int64_t side) : channels_(channels), side_(side) {
    Operation image;
    image.kind = OperationKind::kInput;
    image.name = "image";
    image.output = {1, channels, side, side};
    image.forward_kernels = image.backward_kernels = 0;
    at_ = graph_.add(std::move(image), {});
  }

  ComputationGraph build(const std::vector<ListedLayer>& layers) {
    for (std::size_t i = 0; i < layers.size(); ++i) {
      const ListedLayer& layer = layers[i];
      const ListedLayer* next = i + 1 < layers.size() ? &layers[i + 1] : nullptr;
      if (layer.type == "conv2d") {
        if (is_shortcut(layers, i)) {
          finish_block();
          const Node start = at_;
          const std::int64_t channels = channels_, side = side_;
          convolve(layer, next);
          if (next != nullptr && kind_of_layer(next->type) == OperationKind::kNormalisation) {
            add(layers[++i]);
          }
          shortcut_ = at_;
          at_ = start;
          channels_ = channels;
          side_ = side;
        } else {
          convolve(layer, next);
        }
        continue;
      }
      if (layer.type == "adaptive_avg_pool2d") finish_block();
      add(layer);
    }
    return std::move(graph_);
  }

 private:
  /// A convolution of 1 x 1 after which the next convolution reads the same input.
  bool is_shortcut(const std::vector<ListedLayer>& layers, std::size_t at) const {
    const auto own = solve_convolution(layers[at], channels_, side_);
    if (!own || own->second.kernel != 1) return false;
    for (std::size_t i = at + 1; i < layers.size(); ++i) {
      if (layers[i].type != "conv2d") continue;
      const auto same_input = solve_convolution(layers[i], channels_, side_);
      if (!same_input) return false;
      const auto in_turn = solve_convolution(layers[i], own->second.channels, own->second.side);
      return !in_turn || same_input->first <= in_turn->first;
    }
    return false;
  }

  void convolve(const ListedLayer& layer, const ListedLayer* next) {
    const auto solved = solve_convolution(layer, channels_, side_);
    const FoundConvolution found = solved ? solved->second : free_convolution(layer, next, side_);
    if (found.concatenates && found.in_channels > channels_) {
      Operation join;
      join.name = "concatenation";
      join.kind = OperationKind::kConcatenation;
      join.output = {1, found.in_channels, found.in_side, found.in_side};
      at_ = graph_.add(std::move(join), std::array{at_});
    }
    Operation op = operation_of_layer(layer);
    op.output = {1, found.channels, found.side, found.side};
    op.window = found.kernel * found.kernel;
    op.inner_length = static_cast<double>(found.in_channels * op.window);
    op.multiply_adds = static_cast<double>(elements_of(op.output)) * op.inner_length;
    op.strided = found.side < found.in_side;
    at_ = graph_.add(std::move(op), std::array{at_});
    channels_ = found.channels;
    side_ = found.side;
  }

  void add(const ListedLayer& layer) {
    Operation op = operation_of_layer(layer);
    op.output = op.kind == OperationKind::kPooling || op.kind == OperationKind::kLinear
                    ? Shape{1, layer.elements}
                    : graph_[at_].output;
    if (elements_of(op.output) != layer.elements) op.output = {1, layer.elements};
    if (op.kind == OperationKind::kLinear) {
      op.inner_length = static_cast<double>(graph_.elements(at_));
      op.multiply_adds = op.inner_length * static_cast<double>(layer.elements);
    }
    at_ = graph_.add(std::move(op), std::array{at_});
  }

  void finish_block() {
    if (!shortcut_) return;
    Operation sum;
    sum.name = "sum";
    sum.kind = OperationKind::kElementwise;
    sum.output = graph_[at_].output;
    sum.backward_kernels = 0;
    at_ = graph_.add(std::move(sum), std::array{at_, *shortcut_});
    shortcut_.reset();
  }

  ComputationGraph graph_;
  Node at_ = 0;
  std::int64_t channels_, side_;
  std::optional<Node> shortcut_;
};

void check_layers(const std::vector<ListedLayer>& layers) {
  if (layers.empty()) throw std::invalid_argument("a network without layers");
}

}  // namespace

std::vector<ListedLayer> parse_layer_list(std::string_view text) {
  ListText list(text);
  std::vector<ListedLayer> layers;
  list.expect('[');
  while (!list.take(']')) {
    if (!layers.empty()) list.expect(',');
    list.expect('(');
    ListedLayer& layer = layers.emplace_back();
    layer.type = list.word();
    list.expect(',');
    layer.elements = list.number();
    list.expect(',');
    layer.parameters = list.number();
    list.expect(')');
    if (layer.elements < 1) throw std::invalid_argument("a layer without outputs");
    if (layers.size() > kMostLayers) throw std::invalid_argument("more than 100,000 layers");
  }
  if (!list.empty()) throw std::invalid_argument("text behind a list of layers");
  return layers;
}

ComputationGraph image_layers(const std::vector<ListedLayer>& layers, std::int64_t channels,
                              std::int64_t side) {
  check_layers(layers);
  return ImageLayers(channels, side).build(layers);
}

ComputationGraph row_layers(const std::vector<ListedLayer>& layers, std::int64_t width) {
  check_layers(layers);
  ComputationGraph graph;
  Operation row;
  row.kind = OperationKind::kInput;
  row.name = "row";
  row.output = {1, width};
  row.forward_kernels = row.backward_kernels = 0;
  Node at = graph.add(std::move(row), {});
  for (const ListedLayer& layer : layers) {
    Operation op = operation_of_layer(layer);
    op.output = {1, layer.elements};
    if (op.kind == OperationKind::kLinear) {
      op.inner_length = static_cast<double>(graph.elements(at));
      op.multiply_adds = op.inner_length * static_cast<double>(layer.elements);
    }
    at = graph.add(std::move(op), std::array{at});
  }
  return graph;
}

}  // namespace corun::inline predictors
