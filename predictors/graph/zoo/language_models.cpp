#include <string>

#include <fmt/format.h>

#include "predictors/graph/graph_builder.hpp"
#include "predictors/graph/zoo/builders.hpp"

/// Language models: an LSTM (PyTorch's example word_language_model: 200 features, 2 layers, WikiText-2's vocabulary),
/// the Transformer (Vaswani et al. 2017, one shared vocabulary of 37,000), BERT (Devlin et al. 2019, with its
/// pooling layer, without heads) and GPT-2 (Radford et al. 2019, the output's weights are the embedding's).
namespace corun::inline predictors {

namespace {

using Node = GraphBuilder::Node;

struct AttentionShape {
  std::int64_t width, heads;
  bool bias = true;
  bool fused = false;  ///< one linear layer for queries, keys and values
};

class TextGraph {
 public:
  GraphBuilder graph;

  std::string name(const char* kind) const {
    return fmt::format("{}{}", kind, graph.graph().size());
  }
  std::int64_t tokens_of(Node node) const { return graph.shape(node).at(1); }

  Node linear(Node in, std::int64_t features, bool bias = true) {
    return graph.linear(name("linear"), in, features, bias);
  }
  Node norm(Node in) { return graph.layer_norm(name("norm"), in); }
  Node dropout(Node in) { return graph.dropout(name("dropout"), in); }

  /// Attention of the tokens of `in` to those of `to`, its dropouts and output layer included.
  Node attention(Node in, Node to, const AttentionShape& shape) {
    const std::int64_t width = shape.width;
    Node query = 0, key = 0, value = 0;
    if (shape.fused) {
      const Node all = linear(in, 3 * width, shape.bias);
      const Shape part = graph.shape(in);
      query = graph.copy(name("query"), all, part);
      key = graph.copy(name("key"), all, part);
      value = graph.copy(name("value"), all, part);
    } else {
      query = linear(in, width, shape.bias);
      key = linear(to, width, shape.bias);
      value = linear(to, width, shape.bias);
    }
    const std::int64_t samples = graph.shape(in).at(0), each = width / shape.heads;
    const std::int64_t from = tokens_of(in), onto = tokens_of(to);
    query = graph.view(name("heads"), query, {samples, shape.heads, from, each});
    key = graph.view(name("heads"), key, {samples, shape.heads, each, onto});
    value = graph.view(name("heads"), value, {samples, shape.heads, onto, each});
    Node scores = graph.matrix_product(name("scores"), query, key);
    scores = dropout(graph.softmax(name("softmax"), scores));
    const Node mixed = graph.matrix_product(name("mixed"), scores, value);
    const Node merged = graph.copy(name("merge"), mixed, {samples, from, width});
    return dropout(linear(merged, width, shape.bias));
  }

  Node feed_forward(Node in, std::int64_t inner, bool smooth) {
    const std::int64_t width = graph.shape(in).back();
    Node hidden = linear(in, inner);
    hidden =
        smooth ? graph.smooth_activation(name("gelu"), hidden) : graph.relu(name("relu"), hidden);
    return dropout(linear(hidden, width));
  }
  Node add(Node a, Node b) { return graph.sum(name("sum"), a, b); }

  /// Tokens through a table of words; `tied`: another layer has its parameters.
  Node embed(const char* input, std::int64_t tokens, std::int64_t words, std::int64_t width,
             bool tied) {
    const Node in = graph.input(input, {1, tokens});
    if (!tied) return dropout(graph.embedding("embedding", in, words, width));
    Operation again;
    again.name = "tied embedding";
    again.kind = OperationKind::kEmbedding;
    again.output = {1, tokens, width};
    return dropout(graph.add(std::move(again), {in}));
  }

  /// Parameters that are added to every sample: positions.
  Node add_positions(Node in, std::int64_t rows) {
    const Shape& shape = graph.shape(in);
    Operation positions;
    positions.name = name("positions");
    positions.kind = OperationKind::kEmbedding;
    positions.output = shape;
    positions.parameters = rows * shape.back();
    positions.parameter_tensors = 1;
    return graph.add(std::move(positions), {in});
  }
};

}  // namespace

ZooGraph word_lstm(const ZooInput& input) {
  constexpr std::int64_t kVocabulary = 33'278, kFeatures = 200;
  TextGraph text;
  Node at = text.graph.input("tokens", {1, input.tokens});
  at = text.dropout(text.graph.embedding("embedding", at, kVocabulary, kFeatures));
  at = text.graph.recurrent("lstm", at, {.hidden = kFeatures, .layers = 2});
  at = text.linear(text.dropout(at), kVocabulary);
  text.graph.softmax("log_softmax", at);
  return text.graph.take();
}

template <bool kBig>
ZooGraph transformer(const ZooInput& input) {
  constexpr std::int64_t kVocabulary = 37'000, kWidth = kBig ? 1024 : 512;
  constexpr AttentionShape kShape{kWidth, kBig ? 16 : 8, true, false};
  constexpr int kLayersOfEach = 6;
  TextGraph text;
  Node source = text.embed("source", input.tokens, kVocabulary, kWidth, false);
  for (int layer = 0; layer < kLayersOfEach; ++layer) {
    source = text.norm(text.add(source, text.attention(source, source, kShape)));
    source = text.norm(text.add(source, text.feed_forward(source, 4 * kWidth, false)));
  }
  Node at = text.embed("target", input.tokens, kVocabulary, kWidth, true);
  for (int layer = 0; layer < kLayersOfEach; ++layer) {
    at = text.norm(text.add(at, text.attention(at, at, kShape)));
    at = text.norm(text.add(at, text.attention(at, source, kShape)));
    at = text.norm(text.add(at, text.feed_forward(at, 4 * kWidth, false)));
  }
  text.graph.softmax("softmax", text.graph.tied_linear("output", at, kVocabulary));
  return text.graph.take();
}

template <bool kLarge>
ZooGraph bert(const ZooInput& input) {
  constexpr std::int64_t kVocabulary = 30'522, kPositions = 512, kWidth = kLarge ? 1024 : 768;
  constexpr AttentionShape kShape{kWidth, kLarge ? 16 : 12, true, false};
  TextGraph text;
  const Node tokens = text.graph.input("tokens", {1, input.tokens});
  Node at = text.graph.embedding("words", tokens, kVocabulary, kWidth);
  at = text.add(at, text.graph.embedding("segments", tokens, 2, kWidth));
  at = text.dropout(text.norm(text.add_positions(at, kPositions)));
  for (int layer = 0; layer < (kLarge ? 24 : 12); ++layer) {
    at = text.norm(text.add(at, text.attention(at, at, kShape)));
    at = text.norm(text.add(at, text.feed_forward(at, 4 * kWidth, true)));
  }
  const Node first = text.graph.copy("first token", at, {1, kWidth});
  text.graph.relu("tanh", text.linear(first, kWidth), false);
  return text.graph.take();
}

template <int kLayers>
ZooGraph gpt2(const ZooInput& input) {
  constexpr std::int64_t kVocabulary = 50'257, kPositions = 1024;
  constexpr std::int64_t kHeads = kLayers == 12 ? 12 : kLayers == 24 ? 16 : kLayers == 36 ? 20 : 25;
  constexpr AttentionShape kShape{64 * kHeads, kHeads, true, true};
  TextGraph text;
  const Node tokens = text.graph.input("tokens", {1, input.tokens});
  Node at = text.graph.embedding("words", tokens, kVocabulary, kShape.width);
  at = text.dropout(text.add_positions(at, kPositions));
  for (int layer = 0; layer < kLayers; ++layer) {
    const Node normed = text.norm(at);
    at = text.add(at, text.attention(normed, normed, kShape));
    at = text.add(at, text.feed_forward(text.norm(at), 4 * kShape.width, true));
  }
  text.graph.softmax("softmax", text.graph.tied_linear("output", text.norm(at), kVocabulary));
  return text.graph.take();
}

template ZooGraph transformer<false>(const ZooInput&);
template ZooGraph transformer<true>(const ZooInput&);
template ZooGraph bert<false>(const ZooInput&);
template ZooGraph bert<true>(const ZooInput&);
template ZooGraph gpt2<12>(const ZooInput&);
template ZooGraph gpt2<24>(const ZooInput&);
template ZooGraph gpt2<36>(const ZooInput&);
template ZooGraph gpt2<48>(const ZooInput&);

}  // namespace corun::inline predictors
