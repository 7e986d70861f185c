#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predictors/graph/operation.hpp"
#include "predictors/onnx/model_file.hpp"

/// One use of an operator: what its shape inference sees. The functions throw std::invalid_argument for
/// attributes and inputs that an operator must have and has not, or that are of another type.
namespace corun::inline predictors::onnx_file {

/// Lengths of kernels, strides, paddings, ...: products of two and a tensor's size fit 64 bits.
inline constexpr std::int64_t kLongest = 1'000'000;

/// A tensor that an operator reads.
struct Argument {
  Shape shape;  ///< sizes from 0
  int type = kUndefined;
  bool constant = false;                        ///< the same for all samples
  const std::vector<double>* values = nullptr;  ///< of a small constant tensor
};

/// A number of a tensor as a size or position: cut off at +-2^60, 0 for no number.
std::int64_t whole(double value);

class Call {
 public:
  Call(const Node& node, std::int64_t operator_set, std::vector<std::optional<Argument>> inputs)
      : node_(node), operator_set_(operator_set), inputs_(std::move(inputs)) {}

  const Node& node() const { return node_; }
  std::int64_t operator_set() const { return operator_set_; }
  std::size_t inputs() const { return inputs_.size(); }
  /// At least one, though the file may name none.
  std::size_t outputs() const { return std::max<std::size_t>(1, node_.outputs.size()); }

  bool has(std::size_t input) const { return input < inputs_.size() && inputs_[input].has_value(); }
  const Argument& input(std::size_t index) const;
  const Shape& shape(std::size_t index) const { return input(index).shape; }
  /// Whole numbers that are an input; none if it is no small constant tensor.
  std::optional<std::vector<std::int64_t>> whole_numbers(std::size_t input) const;

  const Attribute* find(std::string_view name) const;
  std::int64_t number(std::string_view name, std::int64_t otherwise) const;
  double real(std::string_view name, double otherwise) const;
  std::string text(std::string_view name, std::string_view otherwise) const;
  /// Empty if the attribute is not there.
  std::vector<std::int64_t> numbers(std::string_view name) const;
  std::vector<double> reals(std::string_view name) const;
  /// Settings per length of an image: `count` numbers from `least` to kLongest, all `otherwise` if the
  /// attribute is not there.
  std::vector<std::int64_t> lengths(std::string_view name, std::size_t count, std::int64_t least,
                                    std::int64_t otherwise) const;
  /// Whole numbers that are an attribute, or in newer versions an input. Outer none: an input without known
  /// values. Empty: neither is there.
  std::optional<std::vector<std::int64_t>> numbers_or_input(std::string_view name,
                                                            std::size_t input) const;

  /// The attribute as a dimension of a tensor with `rank` dimensions; negative ones count from the end.
  std::size_t axis(std::int64_t otherwise, std::size_t rank) const;

 private:
  template <typename T>
  const T* find_value(std::string_view name, const char* expected) const;

  const Node& node_;
  std::int64_t operator_set_;
  std::vector<std::optional<Argument>> inputs_;
};

/// `axis` from -rank to rank - 1 as a dimension.
std::size_t dimension_of(std::int64_t axis, std::size_t rank);

/// Elements of a tensor that may be empty.
std::int64_t elements_or_none(const Shape& shape);

/// A range along one dimension.
struct Stretch {
  std::size_t dimension = 0;
  std::int64_t first = 0, step = 1, count = 0;
};

/// What Slice takes; none if its inputs have no known values.
std::optional<std::vector<Stretch>> stretches_of(const Call& call);

}  // namespace corun::inline predictors::onnx_file
