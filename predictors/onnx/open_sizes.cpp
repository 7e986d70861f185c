#include "predictors/onnx/open_sizes.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <stdexcept>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"

namespace corun::inline predictors::onnx_file {

namespace {

constexpr std::int64_t kMark = -1;  ///< of an open dimension
constexpr std::size_t kMostListed = 20;

bool is_called_batch(std::string name) {
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::tolower(c); });
  return name.find("batch") != std::string::npos;
}

/// Usual short names of the number of samples, and those that tools make up.
bool says_nothing_else(const std::string& name) {
  static constexpr std::array<std::string_view, 7> kNames{"", "N", "n", "B", "b", "BS", "bs"};
  static constexpr std::array<std::string_view, 6> kMadeUp{"unk", "dim", "dyn", "None", "?", "-"};
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kMadeUp,
                             [&](std::string_view start) { return name.starts_with(start); });
}

}  // namespace

std::string place_name(const std::string& tensor, std::size_t index) {
  return fmt::format("{}.{}", tensor, index);
}

OpenSizes::OpenSizes(const Graph& graph, const std::vector<const Statement*>& read,
                     const OnnxOptions& options, bool zeros_are_open)
    : options_(options), zeros_are_open_(zeros_are_open), samples_(options.samples) {
  if (options_.samples < 1) {
    throw std::invalid_argument(fmt::format("{} samples were asked for", options_.samples));
  }
  refuse_unknown(graph);
  find_samples(read);
  bind(read);
}

bool OpenSizes::is_open(const Dimension& dimension) const {
  return !dimension.size || *dimension.size == kMark || (*dimension.size == 0 && zeros_are_open_);
}

void OpenSizes::refuse_unknown(const Graph& graph) {
  std::set<std::string> others, shown;
  const auto add = [&](const Statement& statement, bool is_input) {
    for (std::size_t i = 0; statement.shape && i < statement.shape->size(); ++i) {
      const Dimension& dimension = (*statement.shape)[i];
      if (!is_open(dimension) && dimension.size != 0) continue;
      const std::string place = place_name(statement.name, i);
      const std::string& name = dimension.symbol.empty() ? place : dimension.symbol;
      if (is_input) {
        of_inputs_.insert({place, name});
        shown.insert(name);
      } else if (!dimension.symbol.empty()) {
        others.insert(name);
      }
    }
  };
  for (const Statement& input : graph.inputs) add(input, true);
  for (const auto* list : {&graph.outputs, &graph.others}) {
    for (const Statement& statement : *list) add(statement, false);
  }
  for (const auto& [name, size] : options_.sizes) {
    if (of_inputs_.contains(name) || others.contains(name)) continue;
    std::vector<std::string> first;
    for (const std::string& known : shown) {
      if (first.size() < kMostListed) first.push_back(printable(known));
    }
    const std::string unlisted =
        shown.size() > first.size() ? fmt::format(" and {} more", shown.size() - first.size()) : "";
    throw std::invalid_argument(
        fmt::format("no dimension {} is open in the file; ", in_quotes(name)) +
        (shown.empty() ? "none is"
                       : fmt::format("open are: {}{}", fmt::join(first, ", "), unlisted)));
  }
}

void OpenSizes::find_samples(const std::vector<const Statement*>& read) {
  const auto at = [&](const Statement& input, std::size_t i) {
    const Dimension& dimension = (*input.shape)[i];
    samples_name_ = dimension.symbol.empty() ? place_name(input.name, i) : dimension.symbol;
    return dimension.symbol;
  };
  for (const Statement* input : read) {
    for (std::size_t i = 0; input->shape && i < input->shape->size(); ++i) {
      const Dimension& dimension = (*input->shape)[i];
      if (!is_open(dimension) || !is_called_batch(dimension.symbol)) continue;
      at(*input, i);
      called_batch_ = true;
      return;
    }
  }
  for (const Statement* input : read) {
    if (!input->shape || input->shape->empty()) continue;
    const Dimension& first = input->shape->front();
    if (is_open(first)) {
      samples_by_place_ = !says_nothing_else(at(*input, 0));
    } else {
      samples_in_file_ = std::max<std::int64_t>(0, *first.size);
      if (samples_in_file_ > 0) samples_ = samples_in_file_;
    }
    return;
  }
  samples_in_file_ = samples_ = 1;
}

void OpenSizes::bind(const std::vector<const Statement*>& read) {
  // Under the dimension's own name, and by its place in an input.
  for (const auto& [name, size] : options_.sizes) bound_.emplace(name, size);
  for (const Statement* input : read) {
    for (std::size_t i = 0; input->shape && i < input->shape->size(); ++i) {
      const std::string& symbol = (*input->shape)[i].symbol;
      const auto given = options_.sizes.find(place_name(input->name, i));
      if (symbol.empty() || given == options_.sizes.end()) continue;
      const auto [other, added] = bound_.emplace(symbol, given->second);
      if (!added && other->second != given->second) {
        throw std::invalid_argument(fmt::format("{}={} and {}={} are sizes of one dimension",
                                                printable(symbol), other->second,
                                                printable(given->first), given->second));
      }
    }
  }
  const auto given = bound_.find(samples_name_);
  if (!samples_name_.empty() && given != bound_.end()) {
    if (given->second < 1) {
      throw std::invalid_argument(fmt::format("{}={}: a step has 1 sample or more",
                                              printable(samples_name_), given->second));
    }
    samples_ = given->second;
    samples_given_ = true;
  }
  for (const Statement* input : read) {
    for (std::size_t i = 0; input->shape && i < input->shape->size(); ++i) {
      const Dimension& dimension = (*input->shape)[i];
      if (!dimension.symbol.empty() && counts_samples(dimension, i)) {
        bound_.emplace(dimension.symbol, samples_);
      }
    }
  }
}

bool OpenSizes::counts_samples(const Dimension& dimension, std::size_t index) const {
  if (!is_open(dimension)) return false;
  return called_batch_ && !dimension.symbol.empty() ? is_called_batch(dimension.symbol)
                                                    : index == 0;
}

std::optional<std::int64_t> OpenSizes::size_of(const Dimension& dimension,
                                               const std::string& tensor, std::size_t index) const {
  if (!is_open(dimension)) {
    // A zero that is no open dimension may still be given a size.
    const auto given = options_.sizes.find(place_name(tensor, index));
    return dimension.size == 0 && given != options_.sizes.end() ? given->second : dimension.size;
  }
  const auto named =
      bound_.find(dimension.symbol.empty() ? place_name(tensor, index) : dimension.symbol);
  if (named == bound_.end()) return std::nullopt;
  used_.insert(named->first);
  return named->second;
}

void OpenSizes::refuse_unused() const {
  for (const auto& [name, size] : options_.sizes) {
    if (of_inputs_.contains(name) || used_.contains(name)) continue;
    throw std::invalid_argument(
        fmt::format("{}={} has no effect: the size of {} follows from the inputs", printable(name),
                    size, in_quotes(name)));
  }
}

std::optional<Shape> OpenSizes::of_input(const Statement& input) const {
  if (!input.shape) return std::nullopt;
  Shape shape;
  for (std::size_t i = 0; i < input.shape->size(); ++i) {
    const Dimension& dimension = (*input.shape)[i];
    auto size = size_of(dimension, input.name, i);
    if (!size && counts_samples(dimension, i)) size = samples_;
    if (!size) {
      const std::string name =
          dimension.symbol.empty() ? place_name(input.name, i) : dimension.symbol;
      throw MissingSize(name,
                        fmt::format("dimension {} of input {} is open; a size for {} is needed", i,
                                    in_quotes(input.name), in_quotes(name)));
    }
    if (*size < 0) {
      throw std::invalid_argument(
          fmt::format("input {} has a size of {}", in_quotes(input.name), *size));
    }
    shape.push_back(*size);
  }
  return shape;
}

std::optional<Shape> OpenSizes::of(const Statement& statement) const {
  if (!statement.shape) return std::nullopt;
  Shape shape;
  for (std::size_t i = 0; i < statement.shape->size(); ++i) {
    const auto size = size_of((*statement.shape)[i], statement.name, i);
    if (!size || *size < 0) return std::nullopt;
    shape.push_back(*size);
  }
  return shape;
}

}  // namespace corun::inline predictors::onnx_file
