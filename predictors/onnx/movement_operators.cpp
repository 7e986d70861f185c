#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include <fmt/format.h>

#include "predictors/graph/graph_builder.hpp"
#include "predictors/onnx/operators.hpp"

/// Views, which move nothing, and copies.
namespace corun::inline predictors::onnx_file {

namespace {

using Sizes = std::vector<std::int64_t>;

Layer view_layer(const Call& call, Shape to) {
  if (elements_or_none(to) != elements_or_none(call.shape(0))) {
    throw std::invalid_argument("a view of " + text_of(call.shape(0)) + " as " + text_of(to));
  }
  Layer layer = layer_of(OperationKind::kView, std::move(to));
  layer.operation.in_place = true;
  layer.operation.forward_kernels = 0;
  layer.operation.backward_kernels = 0;
  return layer;
}

Layer copy_layer(Shape to) { return layer_of(OperationKind::kCopy, std::move(to)); }

/// Sizes that a file gives as numbers: too many or negative ones are refused here, for they come from
/// arithmetic.
Shape checked(Sizes sizes) {
  if (sizes.size() > kMostDimensions) {
    throw std::invalid_argument(fmt::format("a tensor of {} dimensions", sizes.size()));
  }
  for (const std::int64_t size : sizes) {
    if (size < 0) throw std::invalid_argument("a tensor of " + text_of(sizes));
  }
  return sizes;
}

std::optional<Layer> infer_identity(const Call& call) { return view_layer(call, call.shape(0)); }

std::optional<Layer> infer_reshape(const Call& call) {
  const Shape& from = call.shape(0);
  auto asked = call.numbers_or_input("shape", 1);
  if (!asked) return std::nullopt;
  const bool keep_zeros = call.number("allowzero", 0) != 0;
  for (std::size_t i = 0; i < asked->size() && !keep_zeros; ++i) {
    if ((*asked)[i] != 0) continue;
    if (i >= from.size()) throw std::invalid_argument("a view that keeps a size that is not there");
    (*asked)[i] = from[i];
  }
  const auto unknown = std::find(asked->begin(), asked->end(), -1);
  if (unknown != asked->end()) {
    *unknown = 1;
    const std::int64_t others = elements_or_none(checked(*asked));
    *unknown = others == 0 ? 0 : elements_or_none(from) / others;
  }
  return view_layer(call, checked(*asked));
}

std::optional<Layer> infer_flatten(const Call& call) {
  const Shape& from = call.shape(0);
  const std::int64_t axis = call.number("axis", 1);
  const auto rank = static_cast<std::int64_t>(from.size());
  if (axis < -rank || axis > rank) throw std::invalid_argument(fmt::format("axis {}", axis));
  const auto middle = from.begin() + (axis < 0 ? axis + rank : axis);
  return view_layer(call, {elements_or_none(Shape(from.begin(), middle)),
                           elements_or_none(Shape(middle, from.end()))});
}

std::optional<Layer> infer_squeeze(const Call& call) {
  const Shape& from = call.shape(0);
  const auto axes = call.numbers_or_input("axes", 1);
  if (!axes) return std::nullopt;
  std::vector<bool> leaves(from.size(), false);
  for (const std::int64_t axis : *axes) leaves[dimension_of(axis, from.size())] = true;
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    if (axes->empty() ? from[i] != 1 : !leaves[i]) to.push_back(from[i]);
  }
  return view_layer(call, std::move(to));
}

std::optional<Layer> infer_unsqueeze(const Call& call) {
  const Shape& from = call.shape(0);
  const auto axes = call.numbers_or_input("axes", 1);
  if (!axes) return std::nullopt;
  const std::size_t rank = from.size() + axes->size();
  if (rank > kMostDimensions) throw std::invalid_argument(fmt::format("{} dimensions", rank));
  Shape to(rank, -1);
  for (const std::int64_t axis : *axes) to[dimension_of(axis, rank)] = 1;
  std::size_t next = 0;
  for (std::int64_t& size : to) {
    if (size == -1 && next < from.size()) size = from[next++];
  }
  return view_layer(call, checked(to));
}

std::optional<Layer> infer_concatenation(const Call& call) {
  Shape to = call.shape(0);
  const std::size_t axis = call.axis(1, to.size());
  std::size_t filled = 0;
  for (std::size_t i = 0; i < call.inputs(); ++i) {
    Shape shape = call.shape(i);
    if (elements_or_none(shape) > 0) ++filled;
    if (i == 0) continue;
    const bool fits = shape.size() == to.size();
    if (fits) {
      const std::int64_t size = shape[axis];
      shape[axis] = to[axis];
      to[axis] += size;
      elements_or_none(to);  // refuses too many
    }
    Shape rest = to;
    rest.at(axis) = fits ? shape[axis] : 0;
    if (!fits || shape != rest) {
      throw std::invalid_argument("a concatenation of " + text_of(call.shape(0)) + " and " +
                                  text_of(call.shape(i)));
    }
  }
  Layer layer = layer_of(OperationKind::kConcatenation, std::move(to));
  layer.operation.backward_kernels = static_cast<int>(filled);
  for (std::size_t i = 0; i < call.inputs(); ++i) layer.additions.push_back(i);
  return layer;
}

std::optional<Layer> infer_split(const Call& call) {
  const Shape& from = call.shape(0);
  const std::size_t axis = call.axis(0, from.size());
  const auto parts = static_cast<std::int64_t>(call.outputs());
  auto sizes = call.numbers_or_input("split", 1);
  if (!sizes) return std::nullopt;
  if (sizes->empty()) {
    const std::int64_t each = (from[axis] + parts - 1) / parts;
    for (std::int64_t i = 0; i < parts; ++i) {
      sizes->push_back(std::clamp<std::int64_t>(from[axis] - i * each, 0, each));
    }
  }
  std::int64_t left = from[axis];
  Layer layer;
  layer.operation.kind = OperationKind::kCopy;
  layer.each_output = true;
  for (const std::int64_t size : *sizes) {
    if (size < 0 || size > left) {
      throw std::invalid_argument(
          fmt::format("a split of {} into {}", from[axis], fmt::join(*sizes, ", ")));
    }
    left -= size;
    layer.outputs.push_back(from);
    layer.outputs.back()[axis] = size;
  }
  if (left != 0 || layer.outputs.size() < call.outputs()) {
    throw std::invalid_argument(fmt::format("a split of {} into {} for {} outputs", from[axis],
                                            fmt::join(*sizes, ", "), parts));
  }
  return layer;
}

std::optional<Layer> infer_slice(const Call& call) {
  const auto stretches = stretches_of(call);
  if (!stretches) return std::nullopt;
  Shape to = call.shape(0);
  for (const Stretch& stretch : *stretches) to[stretch.dimension] = stretch.count;
  return copy_layer(std::move(to));
}

std::optional<Layer> infer_gather(const Call& call) {
  const Shape& from = call.shape(0);
  const Shape& indices = call.shape(1);
  const std::size_t axis = call.axis(0, from.size());
  Shape to(from.begin(), from.begin() + static_cast<std::ptrdiff_t>(axis));
  to.insert(to.end(), indices.begin(), indices.end());
  to.insert(to.end(), from.begin() + static_cast<std::ptrdiff_t>(axis) + 1, from.end());
  Layer layer = copy_layer(checked(to));
  if (call.input(0).constant) {
    layer.operation.kind = OperationKind::kEmbedding;
    layer.weights = {0};
  }
  return layer;
}

std::optional<Layer> infer_like_first(const Call& call) { return copy_layer(call.shape(0)); }
std::optional<Layer> infer_like_second(const Call& call) { return copy_layer(call.shape(1)); }

std::optional<Layer> infer_gather_nd(const Call& call) {
  const Shape& from = call.shape(0);
  const Shape& indices = call.shape(1);
  const std::int64_t batch = call.number("batch_dims", 0);
  if (indices.empty() || batch < 0 || indices.back() > static_cast<std::int64_t>(from.size()) ||
      batch + indices.back() > static_cast<std::int64_t>(from.size())) {
    throw std::invalid_argument("indices of " + text_of(indices) + " into " + text_of(from));
  }
  Shape to(indices.begin(), indices.end() - 1);
  to.insert(to.end(), from.begin() + batch + indices.back(), from.end());
  return copy_layer(checked(to));
}

std::optional<Layer> infer_padding(const Call& call) {
  Shape to = call.shape(0);
  auto pads = call.numbers_or_input(call.find("paddings") != nullptr ? "paddings" : "pads", 1);
  if (!pads) return std::nullopt;
  Sizes axes;
  if (call.has(3)) {
    const auto given = call.whole_numbers(3);
    if (!given) return std::nullopt;
    axes = *given;
  } else {
    for (std::size_t i = 0; i < to.size(); ++i) axes.push_back(static_cast<std::int64_t>(i));
  }
  if (pads->size() != 2 * axes.size()) {
    throw std::invalid_argument(
        fmt::format("{} paddings on {} dimensions", pads->size(), axes.size()));
  }
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t& size = to[dimension_of(axes[i], to.size())];
    for (const std::int64_t pad : {(*pads)[i], (*pads)[axes.size() + i]}) {
      if (std::abs(pad) > (std::int64_t{1} << 42)) {
        throw std::invalid_argument(fmt::format("a padding of {}", pad));
      }
      size += pad;
    }
  }
  return copy_layer(checked(to));
}

std::optional<Layer> infer_expansion(const Call& call) {
  const auto asked = call.whole_numbers(1);
  if (!asked) return std::nullopt;
  return copy_layer(stretched(call.shape(0), checked(*asked)));
}

std::optional<Layer> infer_tile(const Call& call) {
  Shape to = call.shape(0);
  auto repeats = call.whole_numbers(1);
  if (!repeats) return std::nullopt;
  if (call.operator_set() < 6 && call.has(2)) {  // how often, and along which dimension
    const auto axis = call.whole_numbers(2);
    if (!axis || axis->size() != 1 || repeats->size() != 1) return std::nullopt;
    Sizes all(to.size(), 1);
    all[dimension_of(axis->front(), to.size())] = repeats->front();
    repeats = all;
  }
  if (repeats->size() != to.size()) {
    throw std::invalid_argument(fmt::format("{} repeats of {}", repeats->size(), text_of(to)));
  }
  for (std::size_t i = 0; i < to.size(); ++i) {
    const std::int64_t repeat = (*repeats)[i];
    if (repeat < 0 || (repeat > 0 && to[i] > (std::int64_t{1} << 42) / repeat)) {
      throw std::invalid_argument(fmt::format("{} repeats of {}", repeat, to[i]));
    }
    to[i] *= repeat;
  }
  return copy_layer(std::move(to));
}

/// Lengths times factors, rounded down.
std::optional<Layer> scaled(const Shape& from, const std::vector<double>& scales) {
  if (scales.size() != from.size()) {
    throw std::invalid_argument(fmt::format("{} factors for {}", scales.size(), text_of(from)));
  }
  Shape to;
  for (std::size_t i = 0; i < from.size(); ++i) {
    to.push_back(whole(std::floor(static_cast<double>(from[i]) * scales[i])));
  }
  return copy_layer(checked(to));
}

std::optional<Layer> infer_resize(const Call& call) {
  const Shape& from = call.shape(0);
  if (call.has(3) && elements_or_none(call.shape(3)) > 0) {
    auto asked = call.whole_numbers(3);
    if (!asked) return std::nullopt;
    const Sizes axes = call.numbers("axes");
    if (axes.empty()) {
      if (asked->size() != from.size()) throw std::invalid_argument("sizes of other dimensions");
      return copy_layer(checked(*asked));
    }
    Shape to = from;
    if (axes.size() != asked->size()) throw std::invalid_argument("sizes of other dimensions");
    for (std::size_t i = 0; i < axes.size(); ++i) {
      to[dimension_of(axes[i], from.size())] = (*asked)[i];
    }
    return copy_layer(checked(to));
  }
  // Before version 11: the image and the factors alone.
  const std::size_t at = call.operator_set() < 11 ? 1 : 2;
  if (!call.has(at) || call.input(at).values == nullptr) return std::nullopt;
  return scaled(from, *call.input(at).values);
}

std::optional<Layer> infer_upsample(const Call& call) {
  const Shape& from = call.shape(0);
  if (call.has(1)) {
    if (call.input(1).values == nullptr) return std::nullopt;
    return scaled(from, *call.input(1).values);
  }
  if (call.find("scales") != nullptr) return scaled(from, call.reals("scales"));
  return scaled(from, {1, 1, call.real("height_scale", 1), call.real("width_scale", 1)});
}

std::optional<Layer> infer_transpose(const Call& call) {
  const Shape& from = call.shape(0);
  Sizes order = call.numbers("perm");
  if (order.empty()) {
    for (std::size_t i = from.size(); i-- > 0;) order.push_back(static_cast<std::int64_t>(i));
  }
  Sizes sorted = order;
  std::sort(sorted.begin(), sorted.end());
  bool fits = order.size() == from.size();
  for (std::size_t i = 0; i < sorted.size() && fits; ++i) {
    fits = sorted[i] == static_cast<std::int64_t>(i);
  }
  if (!fits) {
    throw std::invalid_argument(
        fmt::format("dimensions {} of {}", fmt::join(order, ", "), text_of(from)));
  }
  Shape to;
  for (const std::int64_t dimension : order)
    to.push_back(from[static_cast<std::size_t>(dimension)]);
  return copy_layer(std::move(to));
}

std::int64_t block_of(const Call& call) {
  const Shape& from = call.shape(0);
  const std::int64_t block = call.number("blocksize", 1);
  if (from.size() != 4 || block < 1 || block > kLongest) {
    throw std::invalid_argument(fmt::format("blocks of {} of {}", block, text_of(from)));
  }
  return block;
}

std::optional<Layer> infer_depth_to_space(const Call& call) {
  const Shape& from = call.shape(0);
  const std::int64_t block = block_of(call);
  Shape to{from[0], from[1] / block / block, from[2] * block, from[3] * block};
  if (elements_or_none(to) != elements_or_none(from)) {
    throw std::invalid_argument(fmt::format("blocks of {} of {}", block, text_of(from)));
  }
  return copy_layer(std::move(to));
}

std::optional<Layer> infer_space_to_depth(const Call& call) {
  const Shape& from = call.shape(0);
  const std::int64_t block = block_of(call);
  if (from[2] % block != 0 || from[3] % block != 0) {
    throw std::invalid_argument(fmt::format("blocks of {} of {}", block, text_of(from)));
  }
  return copy_layer(
      {from[0], elements_or_none({from[1], block, block}), from[2] / block, from[3] / block});
}

std::optional<Layer> infer_one_hot(const Call& call) {
  Shape to = call.shape(0);
  const auto depth = call.whole_numbers(1);
  if (!depth || depth->size() != 1) return std::nullopt;
  const std::size_t axis = call.axis(-1, to.size() + 1);
  to.insert(to.begin() + static_cast<std::ptrdiff_t>(axis), depth->front());
  return copy_layer(checked(to));
}

std::optional<Layer> infer_grid_sample(const Call& call) {
  const Shape& from = call.shape(0);
  const Shape& grid = call.shape(1);
  if (from.size() != 4 || grid.size() != 4) {
    throw std::invalid_argument("an image of " + text_of(from) + " at " + text_of(grid));
  }
  return copy_layer({from[0], from[1], grid[1], grid[2]});
}

std::optional<Layer> infer_constant(const Call& call) {
  for (const Attribute& attribute : call.node().attributes) {
    if (const auto* tensor = std::get_if<Tensor>(&attribute.value)) return copy_layer(tensor->dims);
    if (std::holds_alternative<std::int64_t>(attribute.value) ||
        std::holds_alternative<double>(attribute.value) ||
        std::holds_alternative<std::string>(attribute.value)) {
      return copy_layer({});
    }
    const auto list = [](const auto& values) {
      return copy_layer({static_cast<std::int64_t>(values.size())});
    };
    if (const auto* v = std::get_if<std::vector<std::int64_t>>(&attribute.value)) return list(*v);
    if (const auto* v = std::get_if<std::vector<double>>(&attribute.value)) return list(*v);
    if (const auto* v = std::get_if<std::vector<std::string>>(&attribute.value)) return list(*v);
  }
  return std::nullopt;
}

std::optional<Layer> infer_filling(const Call& call) {
  const auto asked = call.whole_numbers(0);
  if (!asked) return std::nullopt;
  return copy_layer(checked(*asked));
}

std::optional<Layer> infer_shape(const Call& call) {
  const Shape& from = call.shape(0);
  const auto rank = static_cast<std::int64_t>(from.size());
  const auto position = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t count = position(std::min(call.number("end", rank), rank)) -
                             position(std::max(call.number("start", 0), -rank));
  return copy_layer({std::max<std::int64_t>(count, 0)});
}

std::optional<Layer> infer_size(const Call&) { return copy_layer({}); }

std::optional<Layer> infer_range(const Call& call) {
  const Argument& first = call.input(0);
  const Argument& limit = call.input(1);
  const Argument& step = call.input(2);
  for (const Argument* argument : {&first, &limit, &step}) {
    if (argument->values == nullptr || argument->values->size() != 1) return std::nullopt;
  }
  const double by = step.values->front();
  if (by == 0) throw std::invalid_argument("a range with a step of 0");
  const double count = std::ceil((limit.values->front() - first.values->front()) / by);
  return copy_layer({std::max<std::int64_t>(0, whole(count))});
}

std::optional<Layer> infer_random(const Call& call) {
  return copy_layer(checked(call.numbers("shape")));
}

}  // namespace

std::vector<Operator> movement_operators() {
  using enum OperationKind;
  using enum OutputType;
  return {
      {"Identity", kView, kFirst, infer_identity},
      {"Reshape", kView, kFirst, infer_reshape},
      {"Flatten", kView, kFirst, infer_flatten},
      {"Squeeze", kView, kFirst, infer_squeeze},
      {"Unsqueeze", kView, kFirst, infer_unsqueeze},
      {"Concat", kConcatenation, kFirst, infer_concatenation},
      {"Split", kCopy, kFirst, infer_split},
      {"Slice", kCopy, kFirst, infer_slice},
      {"Gather", kCopy, kFirst, infer_gather},
      {"GatherElements", kCopy, kFirst, infer_like_second},
      {"GatherND", kCopy, kFirst, infer_gather_nd},
      {"Scatter", kCopy, kFirst, infer_like_first},
      {"ScatterElements", kCopy, kFirst, infer_like_first},
      {"ScatterND", kCopy, kFirst, infer_like_first},
      {"ReverseSequence", kCopy, kFirst, infer_like_first},
      {"Pad", kCopy, kFirst, infer_padding},
      {"Expand", kCopy, kFirst, infer_expansion},
      {"Tile", kCopy, kFirst, infer_tile},
      {"Resize", kCopy, kFirst, infer_resize},
      {"Upsample", kCopy, kFirst, infer_upsample},
      {"Transpose", kCopy, kFirst, infer_transpose},
      {"DepthToSpace", kCopy, kFirst, infer_depth_to_space},
      {"SpaceToDepth", kCopy, kFirst, infer_space_to_depth},
      {"OneHot", kCopy, kThird, infer_one_hot},
      {"GridSample", kCopy, kFirst, infer_grid_sample},
      {"EyeLike", kCopy, kStated, infer_like_first},
      {"Compress", kCopy, kFirst, nullptr},
      {"NonZero", kCopy, kWhole, nullptr},
      {"Unique", kCopy, kFirst, nullptr, false, kWhole},
      {"NonMaxSuppression", kCopy, kWhole, nullptr},
      {"Constant", kCopy, kFilling, infer_constant},
      {"ConstantOfShape", kCopy, kFilling, infer_filling},
      {"Shape", kCopy, kWhole, infer_shape},
      {"Size", kCopy, kWhole, infer_size},
      {"Range", kCopy, kFirst, infer_range},
      {"RandomNormal", kCopy, kStated, infer_random},
      {"RandomUniform", kCopy, kStated, infer_random},
  };
}

}  // namespace corun::inline predictors::onnx_file
