#include "predictors/tables/zoo_jobs.hpp"

#include <stdexcept>

#include "predictors/graph/zoo/zoo.hpp"

namespace corun::inline predictors {

PredictorJob ZooJobs::job(std::string_view model, double batch, std::int64_t pixels,
                          bool training) {
  PredictorJob job;
  const ZooEntry* entry = find_zoo_model(model);
  if (entry == nullptr) return job;
  auto& graph = graphs_[{std::string(model), pixels}];
  if (!graph) {
    ZooInput input;
    if (pixels > 0) input.pixels = pixels;
    graph = std::make_shared<const ComputationGraph>(build_zoo_model(*entry, input));
  }
  job.graph = graph;
  set_graph(job.figures, *graph, batch, training);
  return job;
}

PredictorJob ZooJobs::row(const CsvReader& csv, CsvReader::Column column, std::string_view model,
                          double batch, std::int64_t pixels, bool training) {
  try {
    return job(model, batch, pixels, training);
  } catch (const std::invalid_argument& e) {
    csv.refuse(column, "a size of images that " + std::string(model) + " takes", e.what());
  }
}

std::string ZooJobs::family(std::string_view model) {
  const ZooEntry* entry = find_zoo_model(model);
  return entry == nullptr ? "" : std::string(entry->family);
}

void set_gpu_column(JobTableRow& row, const CsvReader& csv, CsvReader::Column column,
                    const GpuTypes& types) {
  const std::string name(csv.required_text(column, "the name of a GPU type"));
  const GpuSpec* type = types.find(name);
  if (type == nullptr) csv.refuse(column, "the name of a GPU type", types.advice(name));
  row.names[2] = type->name;
  set_gpu(row.job.figures, *type);
}

}  // namespace corun::inline predictors
