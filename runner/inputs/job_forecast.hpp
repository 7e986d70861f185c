#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "predictors/catalog.hpp"
#include "predictors/graph/computation_graph.hpp"
#include "sim/gpu_spec.hpp"
#include "sim/profile.hpp"

/// What a model needs on a GPU type: predictions of all targets, and the largest batch that fits.
namespace corun::inline runner {

struct JobPredictors {
  std::array<std::shared_ptr<const Predictor>, kTargets> by_target;

  const Predictor& of(Target target) const {
    return *by_target.at(static_cast<std::size_t>(target));
  }
};

struct JobQuestion {
  std::shared_ptr<const ComputationGraph> graph;
  std::int64_t batch = 1;
  bool training = true;
};

struct JobForecast {
  const GpuSpec* gpu = nullptr;
  Prediction memory_mib, step_ms, utilisation_pct;
  std::optional<bool> fits;  ///< into the GPU's memory; nothing if it is not known
  std::int64_t largest_batch =
      0;  ///< not expected to run out of memory; 0: none is, or the GPU's memory is not known
};

JobForecast forecast(const JobPredictors& predictors, const JobQuestion& question,
                     const GpuSpec& gpu);

/// The same for one job, without the largest batch.
JobForecast forecast(const JobPredictors& predictors, const PredictorJob& job, const GpuSpec& gpu);

/// The profile that a scheduler sees of such a job: medians of utilisation and memory.
Profile profile_of(const JobForecast& forecast);

/// A co-run of the model beside a job of a queue.
struct SharingAdvice {
  std::string job;
  double isd_of_model = 0, isd_of_job = 0, ps = 0;  ///< expected, fractions
  bool fits = true;  ///< the predicted memory and the job's, as far as it is known
};

/// The jobs of a queue file (queue_file.hpp), those that fit first, then by the sum of both ISDs. `kb`: a
/// knowledge base of `corun list knowledge` or a file. InputError as these readers.
std::vector<SharingAdvice> advise_sharing(const JobForecast& forecast, const std::string& queue,
                                          const std::string& kb);

}  // namespace corun::inline runner
