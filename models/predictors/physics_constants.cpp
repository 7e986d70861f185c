#include "models/predictors/physics_constants.hpp"

#include <array>

namespace corun {

namespace {

constexpr std::array<PhysicsConstantEntry, 18> kConstants{{
    {"depth", &PhysicsConstants::depth, 1, 12},
    {"learning_rate", &PhysicsConstants::learning_rate, 1e-3, 1},
    {"rows", &PhysicsConstants::rows, 0.05, 1},
    {"columns", &PhysicsConstants::columns, 0.05, 1},
    {"leaf_factor", &PhysicsConstants::leaf_factor, 0.01, 100},
    {"length", &PhysicsConstants::length, 0.01, 1000},
    {"noise", &PhysicsConstants::noise, 1e-6, 1},
    {"process_share", &PhysicsConstants::process_share, 0, 1},
    {"coarse", &PhysicsConstants::coarse, 0, 1},
    {"coefficient_prior", &PhysicsConstants::coefficient_prior, 1e-3, 100},
    {"soft", &PhysicsConstants::soft, 1e-3, 100},
    {"deviation_factor", &PhysicsConstants::deviation_factor, 0.01, 100},
    {"freedom", &PhysicsConstants::freedom, 0.01, 1000},
    {"stack_probability", &PhysicsConstants::stack_probability, 1e-6, 0.9},
    {"stack_mib", &PhysicsConstants::stack_mib, 1, 1e5},
    {"stack_factor", &PhysicsConstants::stack_factor, 1e-4, 1},
    {"odd_probability", &PhysicsConstants::odd_probability, 1e-6, 0.9},
    {"far_probability", &PhysicsConstants::far_probability, 1e-6, 0.9},
}};

}  // namespace

std::span<const PhysicsConstantEntry> physics_constants() { return kConstants; }

}  // namespace corun
