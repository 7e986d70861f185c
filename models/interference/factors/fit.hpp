#pragma once

#include "models/interference/factors/options.hpp"
#include "models/interference/factors/state.hpp"
#include "sim/speed_table.hpp"

/// A FactorModel's fit: a table's log slowdowns are standardised, its jobs described by their basis, and the
/// posterior drawn from by Gibbs chains, each with a stream of draws of its own, so that the samples are
/// the same at any number of threads. Equation, priors and source: factor_model.hpp, gibbs_chain.hpp.
namespace corun::factors {

/// All of a state but the scatter around the model. std::invalid_argument as FactorModel::fit().
FactorState fit(const SpeedTable& table, const FactorOptions& options);

}  // namespace corun::factors
