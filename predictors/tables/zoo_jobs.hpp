#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>

#include "predictors/graph/computation_graph.hpp"
#include "predictors/tables/job_table.hpp"

/// Jobs whose model is in the zoo (predictors/graph/zoo).
namespace corun::inline predictors {

class ZooJobs {
 public:
  /// The figures and the graph of a step with `batch` samples. `pixels`: the side of an image; 0: as the
  /// model's source has it. A job without figures if the zoo does not have the model. std::invalid_argument for
  /// images that are too small for the model or too large for any.
  PredictorJob job(std::string_view model, double batch, std::int64_t pixels, bool training);
  /// The same for the current row of a table: the exception is an InputError at `column`.
  PredictorJob row(const CsvReader& csv, CsvReader::Column column, std::string_view model,
                   double batch, std::int64_t pixels, bool training);

  /// The family of the model; empty if the zoo does not have it.
  static std::string family(std::string_view model);

 private:
  std::map<std::pair<std::string, std::int64_t>, std::shared_ptr<const ComputationGraph>> graphs_;
};

/// Sets the GPU's figures and the row's group by the GPU's name in a column; the name of an unknown type is an
/// InputError.
void set_gpu_column(JobTableRow& row, const CsvReader& csv, CsvReader::Column column,
                    const GpuTypes& types);

}  // namespace corun::inline predictors
