#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "sim/measurement.hpp"

/// Evaluates models of pairs on larger groups: measured groups of three jobs or more are predicted
/// from measured pairs alone.
namespace corun::inline evaluation {

/// A rule that combines the excesses of pairs into the excess of a job beside several co-runners.
struct GroupRule {
  std::string_view name;
  /// The excess of a job beside all co-runners from `excesses`, the x_ij beside each of them (at
  /// least one).
  double (*combine)(std::span<const double> excesses);
};

/// Sum, norm 1.25 (CoRunnerRule::pooling by time-slicing, without that rule's bound by the load), norm 2, product of
/// slowdowns less 1.
std::span<const GroupRule> group_rules();

struct GroupScore {
  std::string group;  ///< name in its source
  std::size_t jobs = 0;
  double measured = 0;  ///< mean ISD [fraction]
  struct Model {
    std::string name;
    double own = 0;             ///< mean ISD by the model's speeds() [fraction]
    std::vector<double> rules;  ///< by each of group_rules() on predicted pairs [fraction]
  };
  std::vector<Model> models;
};

/// Fits each named model to `pairs` with this effort (models/interference/fits/effort.hpp) and predicts `groups`; models
/// that cannot be fitted are left out. `threads` change speed only. InputError as speed_table().
std::vector<GroupScore> evaluate_groups(std::span<const CorunMeasurement> pairs,
                                        std::span<const CorunMeasurement> groups,
                                        std::span<const std::string_view> models,
                                        double effort = 1, unsigned threads = 1);

/// J_c [s] of each of the jobs with solo times `solo_s` [s] that start together. `speeds(residents,
/// out)` is called at the start and after each departure; it sets one speed per resident. Residents
/// are indices into `solo_s`, ascending.
std::vector<double> group_times(
    std::span<const double> solo_s,
    const std::function<void(std::span<const std::size_t>, std::span<double>)>& speeds);

}  // namespace corun::inline evaluation
