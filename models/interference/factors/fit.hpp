#pragma once

#include "models/interference/factors/options.hpp"
#include "models/interference/factors/state.hpp"
#include "sim/speed_table.hpp"

/// The fit of a FactorModel: it standardises the log slowdowns of a table, describes its jobs by their basis,
/// and draws from the posterior by Gibbs chains. Each chain has a random stream of its own, so the samples do
/// not depend on the number of threads. Equation, priors and source: factor_model.hpp, gibbs_chain.hpp.
namespace corun::inline models::factors {

/// The state without residual_sigma. std::invalid_argument as FactorModel::fit().
FactorState fit(const SpeedTable& table, const FactorOptions& options);

}  // namespace corun::inline models::factors
