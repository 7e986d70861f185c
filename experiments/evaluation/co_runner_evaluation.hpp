#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "sim/measurement.hpp"

/// How well models of pairs say what larger groups cost: the measured groups of three jobs or more,
/// predicted from the measured pairs alone.
namespace corun {

/// One way from the excesses of pairs to that of a job beside several.
struct CoRunnerRule {
  std::string_view name;
  /// `excesses` x_ij of one job beside each other resident, at least one; its excess beside all.
  double (*combine)(std::span<const double> excesses);
};

/// sum, norm 1.25 (InterferenceModel::predict_co_runners), norm 2, product (of slowdowns).
std::span<const CoRunnerRule> co_runner_rules();

struct GroupScore {
  std::string group;  ///< as its source calls it
  std::size_t jobs = 0;
  double measured = 0;  ///< mean ISD [fraction]
  struct Model {
    std::string name;
    double own = 0;             ///< mean ISD by its own predict_co_runners()
    std::vector<double> rules;  ///< by each of co_runner_rules() on its pairs
  };
  std::vector<Model> models;
};

/// Fits each model named on `pairs` and predicts `groups`; models that cannot be fitted are left out.
std::vector<GroupScore> evaluate_groups(std::span<const CorunMeasurement> pairs,
                                        std::span<const CorunMeasurement> groups,
                                        std::span<const std::string_view> models);

/// J_c of each of some jobs that start together: `speeds(residents, out)` is asked whenever one has
/// left; residents are positions in `solo_s`, ascending.
std::vector<double> group_times(
    std::span<const double> solo_s,
    const std::function<void(std::span<const std::size_t>, std::span<double>)>& speeds);

}  // namespace corun
