#pragma once

#include "models/interference/interference_model.hpp"
#include "sim/speed_table.hpp"

/// What models of pairs learn from measured groups of three jobs and more (SpeedTable::groups): pairs that were not
/// measured, and how the excesses of pairs combine (models/formulas/co_runner_rule.hpp).
namespace corun::inline models {

/// The table, and for each job that was measured in groups with copies of itself only and in no pair with itself a row
/// for this pair: the speed at which the rule without measured groups (kCoRunnerRules) gives the group's, or their
/// geometric mean over its groups. The table itself if there is no such job. std::invalid_argument for a group of a
/// job that is not there, of fewer than three jobs, or with other than one speed per job, NaN or above 0.
SpeedTable with_pairs_of_groups(const SpeedTable& table);

/// The sharing mode of the table, the rule of each mode, and the saturations of its jobs (saturations.hpp), unless the
/// model uses features only. A rule is learnt from the table's groups if there are at least ten of its mode of which pairs
/// tell no saturation: the one of a small grid with the least mean absolute error of the excesses, if it is better than
/// kCoRunnerRules beyond chance (Student's t, 97.5 %), where families of jobs are what is drawn. Its scatter is such that
/// 90 % intervals hold 90 % of all groups of its mode, if there are ten. Speeds of pairs are those of the model.
InterferenceModel::Groups learnt_groups(const InterferenceModel& model, const SpeedTable& table);

}  // namespace corun::inline models
