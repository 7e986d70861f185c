#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "traces/tables/measurements.hpp"

/// Predicts a table of pairs or groups by a model that may have been fitted to tables of other forms.
namespace corun::inline evaluation {

/// The jobs of a table with the features of a model, found by name and scale. Features that the model does not have
/// are left out; NaN stands for those that the table does not have.
class JobsForModel {
 public:
  JobsForModel(const InterferenceModel& model, const SpeedTable& table);
  JobsForModel(const JobsForModel&) = delete;  // jobs_ points into values_
  JobsForModel& operator=(const JobsForModel&) = delete;

  std::span<const PairJob> jobs() const { return jobs_; }

 private:
  std::vector<double> values_;
  std::vector<PairJob> jobs_;
};

/// How the features of the table differ from those that the model was fitted to, for the user; empty if they are the
/// same. InputError naming the table if it has no known value of any of them and no job that the model has seen, or
/// not one of the feature that its model cannot do without.
std::vector<std::string> check_features(const InterferenceModel& model, const SpeedTable& table,
                                        const std::string& source);

/// Both speeds of these rows of a table, a beside b and then b beside a, each on the GPU type and with the sharing mode
/// of the row. `jobs`: of the table, for this model.
std::vector<SpeedPrediction> predict_pairs(const std::shared_ptr<const InterferenceModel>& model,
                                           std::span<const PairJob> jobs, const SpeedTable& table,
                                           std::span<const std::size_t> rows);

/// The predictions of a table, in the order of write_predictions(): both speeds and their standard deviations per row;
/// for a table of groups, speed and standard deviation per line. Larger groups combine by the rule of their sharing mode,
/// which the model has learnt or has by default. InputError as check_features().
std::vector<std::vector<double>> predict_table(
    const std::shared_ptr<const InterferenceModel>& model, const Measurements& table);

}  // namespace corun::inline evaluation
