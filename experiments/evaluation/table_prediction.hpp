#pragma once

#include <array>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "traces/pair_table.hpp"

/// A table of pairs predicted by a model that was fitted on another.
namespace corun {

/// For every row of the table both speeds and their standard deviations, in the order of
/// write_predictions(). InputError, naming the table, where its features are not those that the model
/// was fitted on.
std::vector<std::array<double, 4>> predict_table(const InterferenceModel& model,
                                                 const PairTable& table);

}  // namespace corun
