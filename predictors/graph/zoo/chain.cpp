#include "predictors/graph/zoo/chain.hpp"

#include <fmt/format.h>

namespace corun::inline predictors {

std::string Chain::name(const char* kind) const {
  return fmt::format("{}{}", kind, graph_->graph().size());
}

Chain Chain::of_images(GraphBuilder& graph, std::int64_t pixels) {
  return {graph, graph.input("image", {graph.graph().samples(), 3, pixels, pixels})};
}

Chain& Chain::conv(std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                   std::int64_t groups, bool bias, std::int64_t padding) {
  const ConvolutionLayer layer{.channels = channels,
                               .kernel = {kernel},
                               .stride = {stride},
                               .padding = {padding < 0 ? kernel / 2 : padding},
                               .dilation = {1},
                               .groups = groups,
                               .bias = bias};
  at_ = graph_->convolution(name("conv"), at_, layer);
  return *this;
}

Chain& Chain::norm() {
  at_ = graph_->batch_norm(name("norm"), at_);
  return *this;
}

Chain& Chain::relu() {
  at_ = graph_->relu(name("relu"), at_);
  return *this;
}

Chain& Chain::smooth() {
  at_ = graph_->smooth_activation(name("activation"), at_);
  return *this;
}

Chain& Chain::conv_norm(std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                        std::int64_t groups) {
  return conv(channels, kernel, stride, groups).norm();
}

Chain& Chain::conv_norm_relu(std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                             std::int64_t groups) {
  return conv(channels, kernel, stride, groups).norm().relu();
}

Chain& Chain::conv_norm_relu6(std::int64_t channels, std::int64_t kernel, std::int64_t stride,
                              std::int64_t groups) {
  return conv(channels, kernel, stride, groups).norm().smooth();
}

Chain& Chain::max_pool(std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                       bool round_up) {
  at_ = graph_->pooling(name("pool"), at_, {{kernel}, {stride}, {padding}, {1}, round_up, false});
  return *this;
}

Chain& Chain::mean_pool(std::int64_t kernel, std::int64_t stride) {
  at_ = graph_->pooling(name("pool"), at_, {{kernel}, {stride}, {0}, {1}, false, true});
  return *this;
}

Chain& Chain::global_pool() {
  at_ = graph_->global_pooling(name("pool"), at_);
  return *this;
}

Chain& Chain::adaptive_pool(std::int64_t size) {
  at_ = graph_->adaptive_pooling(name("pool"), at_, size, size);
  return *this;
}

Chain& Chain::flatten() {
  at_ = graph_->flatten(name("flatten"), at_);
  return *this;
}

Chain& Chain::dropout() {
  at_ = graph_->dropout(name("dropout"), at_);
  return *this;
}

Chain& Chain::linear(std::int64_t features) {
  at_ = graph_->linear(name("linear"), at_, features, true);
  return *this;
}

Chain& Chain::classify(std::int64_t classes) { return global_pool().flatten().linear(classes); }

Chain& Chain::add(const Chain& other) {
  at_ = graph_->sum_in_place(name("sum"), at_, other.at_);
  return *this;
}

Chain& Chain::multiply(const Chain& other) {
  at_ = graph_->product(name("product"), at_, other.at_);
  return *this;
}

Chain Chain::join(std::initializer_list<Chain> branches) {
  return join(std::vector<Chain>(branches));
}

Chain Chain::join(const std::vector<Chain>& branches) {
  Chain joined = branches.at(0);
  std::vector<Node> nodes;
  for (const Chain& branch : branches) nodes.push_back(branch.at_);
  joined.at_ = joined.graph_->concatenation(joined.name("concat"), nodes, 1);
  return joined;
}

Chain& Chain::first_channels(std::int64_t channels) {
  Operation part;
  part.name = name("split");
  part.kind = OperationKind::kView;
  part.output = graph_->shape(at_);
  part.output.at(1) = channels;
  part.in_place = true;
  part.forward_kernels = 0;
  part.backward_kernels = 0;
  at_ = graph_->add(std::move(part), {at_});
  return *this;
}

Chain& Chain::shuffle() {
  at_ = graph_->copy(name("shuffle"), at_, graph_->shape(at_));
  return *this;
}

Chain& Chain::pad_channels(std::int64_t channels) {
  Shape shape = graph_->shape(at_);
  if (shape.at(1) == channels) return *this;
  shape.at(1) = channels;
  at_ = graph_->copy(name("pad"), at_, std::move(shape));
  return *this;
}

}  // namespace corun::inline predictors
