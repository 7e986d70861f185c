#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "predictors/catalog.hpp"
#include "predictors/tables/job_table.hpp"

/// Cross-validation of predictors on a table of measured jobs. Each job is predicted by a predictor that was
/// fitted without it, and without its whole group if groups are held out.
namespace corun::inline predictors {

/// What is held out.
enum class JobSplit : std::uint8_t {
  kRandom,
  kModel,
  kFamily,
  kGpu,           ///< type
  kArchitecture,  ///< of the GPU type
  /// Jobs of an unseen family on an unseen GPU type; those without which fewer than twenty measured jobs are left to a
  /// fit are not scored.
  kFamilyAndGpu,
};
/// "random", "model", "family", "gpu", "architecture", "family+gpu"
std::string_view name_of(JobSplit split);

/// The splits that the table allows: those of which it has two groups.
std::vector<JobSplit> job_splits(const JobTable& table);

/// Predicted and measured jobs of one split and predictor, by position in `rows`.
struct HeldOutPredictions {
  std::vector<std::size_t> rows;  ///< of the table
  std::vector<Prediction> predictions;
  std::vector<std::vector<bool>>
      runs_out;  ///< by capacity, then by position: Predictor::runs_out()
};

struct PredictionScore {
  std::size_t jobs = 0;      ///< with a value and a prediction
  double mape = kNaN;        ///< mean of |predicted / measured - 1| [%]
  double median_ape = kNaN;  ///< their median [%]
  double p95_ape = kNaN;     ///< their 95 % quantile [%]
  double mae = kNaN;         ///< mean absolute error, in the target's unit
  double rmsle = kNaN;       ///< root mean square of ln(1 + predicted) - ln(1 + measured)
  double coverage = kNaN;    ///< share of measured values within lo to hi [%]
  double width = kNaN;       ///< mean of (hi - lo) / predicted [%]
  // Of the groups held out that have twenty scored jobs: how many, and the least and the greatest of their coverages [%].
  std::size_t groups = 0;
  double least_coverage = kNaN, most_coverage = kNaN;
};

/// Jobs that do not fit into a GPU's memory.
struct OomScore {
  double capacity_mib = 0;
  std::size_t too_large = 0;  ///< jobs above the capacity, crashed ones included
  std::size_t fitting = 0;
  double caught = kNaN;            ///< share of the jobs too large that runs_out() says [%]
  double false_alarms = kNaN;      ///< share of the fitting jobs that it says [%]
  double caught_by_median = kNaN;  ///< likewise, if the median is above
  double false_alarms_by_median = kNaN;
};

struct PredictorEvaluation {
  JobSplit split = JobSplit::kRandom;
  std::size_t known = 0;  ///< jobs of a group held out that were known
  std::string predictor;
  PredictionScore score;
  std::vector<OomScore> oom;  ///< for memory
};

struct PredictorEvaluationOptions {
  std::vector<const PredictorEntry*> predictors;
  std::vector<JobSplit> splits;
  std::vector<std::size_t> known{0};  ///< only for splits by groups
  int draws = 20;                     ///< of the known jobs, if there are any
  std::vector<double> capacities_mib;
  std::uint64_t seed = 1;
  int threads = 1;
  bool intervals = true;       ///< PredictorOptions
  PhysicsConstants constants;  ///< PredictorOptions
};

/// One entry per split, number of known jobs and predictor. `on_fit(done, of)` follows the fits. InputError,
/// naming the table, if a predictor cannot be fitted or the table has fewer than two measured jobs.
std::vector<PredictorEvaluation> evaluate_predictors(
    const JobTable& table, const PredictorEvaluationOptions& options,
    const std::function<void(std::size_t, std::size_t)>& on_fit = {});

/// The figures of the predictions for rows of a table.
PredictionScore score_of(const JobTable& table, const HeldOutPredictions& predictions);
/// Adds the coverage of the groups that `split` held out.
void score_groups(const JobTable& table, const HeldOutPredictions& predictions, JobSplit split,
                  PredictionScore& score);
/// `which`: position of the capacity in `predictions.runs_out`.
OomScore oom_score(const JobTable& table, const HeldOutPredictions& predictions, std::size_t which,
                   double capacity_mib);

}  // namespace corun::inline predictors
