#pragma once

#include <array>
#include <vector>

#include "models/interference/interference_model.hpp"
#include "traces/pair_table.hpp"

/// Predicts a table of pairs by a model fitted to another table.
namespace corun {

/// Both speeds and their standard deviations per row of the table, in the order of
/// write_predictions(). InputError, naming the table, if its features differ from those that the
/// model was fitted to.
std::vector<std::array<double, 4>> predict_table(const InterferenceModel& model,
                                                 const PairTable& table);

}  // namespace corun
