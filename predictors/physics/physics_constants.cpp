#include "predictors/physics/physics_constants.hpp"

#include <array>

namespace corun::inline predictors {

namespace {

constexpr std::array<PhysicsConstantEntry, 21> kConstants{{
    {"depth", PhysicsPart::kResidual, &PhysicsConstants::depth, 1, 12},
    {"learning_rate", PhysicsPart::kResidual, &PhysicsConstants::learning_rate, 1e-3, 1},
    {"rows", PhysicsPart::kResidual, &PhysicsConstants::rows, 0.05, 1},
    {"columns", PhysicsPart::kResidual, &PhysicsConstants::columns, 0.05, 1},
    {"leaf_factor", PhysicsPart::kResidual, &PhysicsConstants::leaf_factor, 0.01, 100},
    {"length", PhysicsPart::kResidual, &PhysicsConstants::length, 0.01, 1000},
    {"noise", PhysicsPart::kResidual, &PhysicsConstants::noise, 1e-6, 1},
    {"process_share", PhysicsPart::kResidual, &PhysicsConstants::process_share, 0, 1},
    {"coarse", PhysicsPart::kMemory, &PhysicsConstants::coarse, 0, 1},
    {"coefficient_prior", PhysicsPart::kTime, &PhysicsConstants::coefficient_prior, 1e-3, 100},
    {"soft", PhysicsPart::kTime, &PhysicsConstants::soft, 1e-3, 100},
    {"deviation_factor", PhysicsPart::kTime, &PhysicsConstants::deviation_factor, 0.01, 100},
    {"freedom", PhysicsPart::kTime, &PhysicsConstants::freedom, 0.01, 1000},
    {"stack_probability", PhysicsPart::kProbes, &PhysicsConstants::stack_probability, 1e-6, 0.9},
    {"stack_mib", PhysicsPart::kProbes, &PhysicsConstants::stack_mib, 1, 1e5},
    {"stack_factor", PhysicsPart::kProbes, &PhysicsConstants::stack_factor, 1e-4, 1},
    {"odd_probability", PhysicsPart::kProbes, &PhysicsConstants::odd_probability, 1e-6, 0.9},
    {"far_probability", PhysicsPart::kProbes, &PhysicsConstants::far_probability, 1e-6, 0.9},
    {"missed_share", PhysicsPart::kLimits, &PhysicsConstants::missed_share, 0, 0.5},
    {"margin_of_few", PhysicsPart::kLimits, &PhysicsConstants::margin_of_few, 0.1, 1},
    {"most_false_alarms", PhysicsPart::kLimits, &PhysicsConstants::most_false_alarms, 0, 1},
}};

}  // namespace

double same_stack_probability(const PhysicsConstants& constants) {
  return 1 - constants.stack_probability - kOtherSizeProbability - constants.odd_probability -
         constants.far_probability;
}

std::span<const PhysicsConstantEntry> physics_constants() { return kConstants; }

}  // namespace corun::inline predictors
