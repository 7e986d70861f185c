#include <cstddef>
#include <cstdint>
#include <string>

#include <benchmark/benchmark.h>
#include <onnx/onnx_pb.h>

#include "predictors/onnx/onnx_import.hpp"

/// Reading ONNX files: a chain of convolutions of 104 channels, each followed by an activation. The weights,
/// 0.39 MB a convolution, are in the file.
namespace {

constexpr std::int64_t kChannels = 104;

std::string file_of(std::int64_t layers) {
  onnx::ModelProto model;
  onnx::GraphProto& graph = *model.mutable_graph();
  auto* input = graph.add_input();
  input->set_name("t0");
  auto& shape = *input->mutable_type()->mutable_tensor_type()->mutable_shape();
  for (const std::int64_t size : {std::int64_t{1}, kChannels, std::int64_t{14}, std::int64_t{14}}) {
    shape.add_dim()->set_dim_value(size);
  }
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    auto* node = graph.add_node();
    node->set_op_type(layer % 2 == 0 ? "Conv" : "Relu");
    node->add_input("t" + std::to_string(layer));
    node->add_output("t" + std::to_string(layer + 1));
    if (layer % 2 != 0) continue;
    node->add_input("w" + std::to_string(layer));
    auto* weight = graph.add_initializer();
    weight->set_name(node->input(1));
    weight->set_data_type(onnx::TensorProto::FLOAT);
    for (const std::int64_t size : {kChannels, kChannels, std::int64_t{3}, std::int64_t{3}}) {
      weight->add_dims(size);
    }
    weight->set_raw_data(std::string(std::size_t{kChannels * kChannels * 9 * 4}, '\0'));
    auto* padding = node->add_attribute();
    padding->set_name("pads");
    padding->set_type(onnx::AttributeProto::INTS);
    for (int side = 0; side < 4; ++side) padding->add_ints(1);
  }
  return model.SerializeAsString();
}

void import_file(benchmark::State& state) {
  const std::string bytes = file_of(state.range(0));
  for (auto _ : state) benchmark::DoNotOptimize(corun::import_onnx(bytes));
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

BENCHMARK(import_file)
    ->Name("import_onnx")
    ->ArgName("layers")
    ->Arg(50)
    ->Arg(500)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
