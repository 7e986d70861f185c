#include <algorithm>
#include <map>
#include <stdexcept>

#include <fmt/format.h>

#include "predictors/onnx/drafted.hpp"
#include "predictors/onnx/operators.hpp"

/// Matrix products and recurrent layers.
namespace corun::inline predictors::onnx_file {

namespace {

/// `inner_length` multiply-adds for each element of `output`. With constant weights it is a linear layer. `second`: the
/// index of the second factor.
Layer product_layer(const Call& call, Shape output, std::int64_t inner_length,
                    std::size_t second = 1) {
  const bool linear = call.input(0).constant || call.input(second).constant;
  Operation operation;
  operation.kind = linear ? OperationKind::kLinear : OperationKind::kMatrixProduct;
  operation.inner_length = static_cast<double>(inner_length);
  operation.multiply_adds = static_cast<double>(elements_or_none(output)) * operation.inner_length;
  operation.kept.inputs = true;
  operation.backward_kernels = 2;
  Layer layer = layer_of(operation.kind, std::move(output));
  layer.operation = std::move(operation);
  layer.weights = {0, second};
  return layer;
}

[[noreturn]] void refuse_product(const Shape& a, const Shape& b) {
  throw std::invalid_argument("a matrix product of " + text_of(a) + " and " + text_of(b));
}

std::optional<Layer> product_with(const Call& call, std::size_t second) {
  Shape a = call.shape(0);
  Shape b = call.shape(second);
  if (a.empty() || b.empty()) refuse_product(a, b);
  const bool row = a.size() == 1;
  const bool column = b.size() == 1;
  if (row) a.insert(a.begin(), 1);
  if (column) b.push_back(1);
  if (a.back() != b[b.size() - 2]) refuse_product(call.shape(0), call.shape(second));
  Shape to = stretched(Shape(a.begin(), a.end() - 2), Shape(b.begin(), b.end() - 2));
  if (!row) to.push_back(a[a.size() - 2]);
  if (!column) to.push_back(b.back());
  return product_layer(call, std::move(to), a.back(), second);
}

std::optional<Layer> infer_matrix_product(const Call& call) { return product_with(call, 1); }

/// a, its scale and zero point, b, its scale and zero point, those of the product.
std::optional<Layer> infer_quantised_product(const Call& call) { return product_with(call, 3); }

/// ONNX Runtime's: weights of N rows of K numbers, packed in blocks that have a scale each.
std::optional<Layer> infer_packed_product(const Call& call) {
  Shape to = call.shape(0);
  const std::int64_t inner = call.number("K", 0);
  const std::int64_t bits = call.number("bits", 4);
  if (to.empty() || to.back() != inner || bits < 1 || bits > 8) {
    throw std::invalid_argument(fmt::format("a product of {} with rows of {} numbers of {} bits",
                                            text_of(to), inner, bits));
  }
  to.back() = call.number("N", 0);
  if (to.back() < 1) throw std::invalid_argument(fmt::format("weights of {} rows", to.back()));
  Layer layer = product_layer(call, std::move(to), inner);
  layer.weights = {1};
  if (call.input(1).type == kUint8) layer.numbers_per_element = 8 / bits;
  return layer;
}

std::optional<Layer> infer_gemm(const Call& call) {
  Shape a = call.shape(0);
  Shape b = call.shape(1);
  if (a.size() != 2 || b.size() != 2) refuse_product(a, b);
  if (call.number("transA", 0) != 0) std::swap(a[0], a[1]);
  if (call.number("transB", 0) != 0) std::swap(b[0], b[1]);
  if (a[1] != b[0]) refuse_product(a, b);
  Layer layer = product_layer(call, {a[0], b[1]}, a[1]);
  if (call.has(2)) {
    if (stretched(call.shape(2), {a[0], b[1]}) != Shape{a[0], b[1]}) {
      throw std::invalid_argument("a bias of " + text_of(call.shape(2)));
    }
    layer.weights.push_back(2);
    layer.operation.backward_kernels = 3;
  }
  return layer;
}

/// A letter for each dimension of an input; '.' stands for those that "..." covers.
std::string letters_of(std::string_view term, std::size_t rank) {
  std::string letters;
  const std::size_t dots = term.find("...");
  if (dots == std::string_view::npos) {
    letters = term;
  } else {
    const std::size_t named = term.size() - 3;
    if (named > rank) throw std::invalid_argument("an equation of too many letters");
    letters = std::string(term.substr(0, dots)) + std::string(rank - named, '.') +
              std::string(term.substr(dots + 3));
  }
  if (letters.size() != rank) throw std::invalid_argument("an equation of other dimensions");
  return letters;
}

std::optional<Layer> infer_einsum(const Call& call) {
  std::string equation = call.text("equation", "");
  std::erase(equation, ' ');
  if (equation.empty() || equation.size() > 1000) {
    throw std::invalid_argument("attribute 'equation' is missing or too long");
  }
  const std::size_t arrow = equation.find("->");
  std::string_view rest = std::string_view(equation).substr(0, arrow);
  std::map<char, std::int64_t> sizes;
  std::map<char, int> uses;
  Shape batch;  // of "..."
  std::size_t input = 0;
  for (bool more = true; more; ++input) {
    const std::size_t comma = rest.find(',');
    const Shape& shape = call.shape(input);
    const std::string letters = letters_of(rest.substr(0, comma), shape.size());
    Shape covered;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (letters[i] == '.') {
        covered.push_back(shape[i]);
        continue;
      }
      std::int64_t& size = sizes.try_emplace(letters[i], 1).first->second;
      ++uses[letters[i]];
      if (size == 1) size = shape[i];
      if (size != shape[i] && shape[i] != 1) {
        throw std::invalid_argument(fmt::format("sizes {} and {} of one letter", size, shape[i]));
      }
    }
    batch = stretched(batch, covered);
    more = comma != std::string_view::npos;
    if (more) rest.remove_prefix(comma + 1);
  }
  std::string result;
  if (arrow != std::string::npos) {
    result = equation.substr(arrow + 2);
  } else {
    result = equation.find("...") == std::string::npos ? "" : "...";
    for (const auto& [letter, count] : uses) {
      if (count == 1) result += letter;
    }
  }
  Shape to;
  std::map<char, std::int64_t> summed = sizes;
  for (std::size_t i = 0; i < result.size(); ++i) {
    if (result.substr(i, 3) == "...") {
      to.insert(to.end(), batch.begin(), batch.end());
      i += 2;
    } else {
      const auto found = sizes.find(result[i]);
      if (found == sizes.end()) throw std::invalid_argument("an equation with an unknown letter");
      to.push_back(found->second);
      summed.erase(result[i]);
    }
  }
  Shape inner;
  for (const auto& [letter, size] : summed) inner.push_back(size);
  if (input >= 2) return product_layer(call, std::move(to), elements_or_none(inner));
  return layer_of(inner.empty() ? OperationKind::kCopy : OperationKind::kReduction, std::move(to));
}

std::optional<Layer> infer_recurrent(const Call& call, std::int64_t gates) {
  const Shape& from = call.shape(0);
  const Shape& state_weights = call.shape(2);  // directions x gates * hidden x hidden
  if (from.size() != 3 || state_weights.size() != 3 || call.shape(1).size() != 3) {
    throw std::invalid_argument("a recurrent layer of " + text_of(from) + " with weights of " +
                                text_of(state_weights));
  }
  const bool samples_first = call.number("layout", 0) != 0;
  const std::int64_t samples = from[samples_first ? 0 : 1];
  const std::int64_t steps = from[samples_first ? 1 : 0];
  RecurrentLayer layer;
  layer.hidden = state_weights[2];
  layer.gates = gates;
  layer.directions = state_weights[0];
  if (layer.directions > 2 || call.shape(1)[2] != from[2] ||
      call.number("hidden_size", layer.hidden) != layer.hidden ||
      state_weights[1] / gates != layer.hidden) {
    throw std::invalid_argument("a recurrent layer of " + text_of(from) + " with weights of " +
                                text_of(call.shape(1)) + " and " + text_of(state_weights));
  }
  Layer result =
      layer_of(drafted({{samples, steps, from[2]}}, [&](GraphBuilder& builder, const auto& in) {
        return builder.recurrent("", in[0], layer);
      }));
  const Shape state = samples_first ? Shape{samples, layer.directions, layer.hidden}
                                    : Shape{layer.directions, samples, layer.hidden};
  result.outputs = {samples_first ? Shape{samples, steps, layer.directions, layer.hidden}
                                  : Shape{steps, layer.directions, samples, layer.hidden},
                    state, state};
  result.weights = {1, 2, 3, 7};
  return result;
}

std::optional<Layer> infer_lstm(const Call& call) { return infer_recurrent(call, 4); }
std::optional<Layer> infer_gru(const Call& call) { return infer_recurrent(call, 3); }
std::optional<Layer> infer_rnn(const Call& call) { return infer_recurrent(call, 1); }

}  // namespace

std::vector<Operator> product_operators() {
  using enum OperationKind;
  return {
      {"MatMul", kMatrixProduct, OutputType::kFirst, infer_matrix_product},
      {"MatMulInteger", kMatrixProduct, OutputType::kInteger, infer_matrix_product},
      {"QLinearMatMul", kMatrixProduct, OutputType::kQuantised, infer_quantised_product},
      {"com.microsoft.MatMulNBits", kMatrixProduct, OutputType::kFirst, infer_packed_product},
      {"Gemm", kLinear, OutputType::kFirst, infer_gemm},
      {"Einsum", kMatrixProduct, OutputType::kFirst, infer_einsum},
      {"LSTM", kRecurrent, OutputType::kFirst, infer_lstm},
      {"GRU", kRecurrent, OutputType::kFirst, infer_gru},
      {"RNN", kRecurrent, OutputType::kFirst, infer_rnn},
  };
}

}  // namespace corun::inline predictors::onnx_file
