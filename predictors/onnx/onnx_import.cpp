#include "predictors/onnx/onnx_import.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "predictors/onnx/importer.hpp"
#include "predictors/onnx/patterns.hpp"

namespace corun::inline predictors {

namespace {

bool has_zeros(const onnx_file::Graph& graph) {
  return std::ranges::any_of(graph.inputs, [](const onnx_file::Statement& input) {
    return input.shape && std::ranges::any_of(*input.shape, [](const onnx_file::Dimension& d) {
             return d.size == 0;
           });
  });
}

bool writes_elements(const OnnxModel& model) {
  return std::ranges::none_of(model.outputs, [](const OnnxOutput& output) {
    return std::ranges::find(output.shape, 0) != output.shape.end();
  });
}

OnnxModel import_file(const onnx_file::Model& file, const OnnxOptions& options) {
  const auto with_zeros = [&](bool open) { return onnx_file::Importer(file, options, open).run(); };
  if (!has_zeros(file.graph)) return with_zeros(true);
  const auto without_elements = [&](bool need_outputs) -> std::optional<OnnxModel> {
    try {
      OnnxModel model = with_zeros(false);
      if (need_outputs && !writes_elements(model)) return std::nullopt;
      model.notes.emplace_back("dimensions of 0 in the file are taken as they are");
      return model;
    } catch (const std::invalid_argument&) {
      return std::nullopt;
    }
  };
  try {
    return with_zeros(true);
  } catch (const MissingSize&) {
    if (auto model = without_elements(true)) return std::move(*model);
    throw;
  } catch (const std::invalid_argument&) {
    if (auto model = without_elements(false)) return std::move(*model);
    throw;
  }
}

}  // namespace

int OnnxModel::unknown_count() const {
  return std::accumulate(unknown_operators.begin(), unknown_operators.end(), 0,
                         [](int sum, const auto& entry) { return sum + entry.second; });
}

OnnxModel import_onnx(std::string_view bytes, const OnnxOptions& options) {
  onnx_file::Model file =
      onnx_file::read_model(bytes, ComputationGraph::kMostOperations, options.most_memory);
  onnx_file::remove_dead_nodes(file);
  onnx_file::join_patterns(file.graph);
  for (auto& [name, function] : file.functions) onnx_file::join_patterns(function.body);
  return import_file(file, options);
}

}  // namespace corun::inline predictors
