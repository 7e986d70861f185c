#pragma once

#include <array>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "traces/group_table.hpp"
#include "traces/pair_table.hpp"

/// Predicts a table of pairs by a model fitted to another table.
namespace corun {

/// InputError, naming the table, unless it has the features that the model was fitted to.
void check_features(const InterferenceModel& model, const SpeedTable& table,
                    const std::string& source);

/// Both speeds and their standard deviations per row of the table, in the order of
/// write_predictions(). InputError as check_features().
std::vector<std::array<double, 4>> predict_table(const InterferenceModel& model,
                                                 const PairTable& table);

/// Speed and standard deviation per line of a table of groups, in the order of write_predictions(). Pairs are those of
/// predict(); larger groups combine by the rule of their sharing mode, which the model has learnt or has by default.
/// InputError as check_features().
std::vector<std::array<double, 2>> predict_groups(const InterferenceModel& model,
                                                  const GroupTable& table);

}  // namespace corun
