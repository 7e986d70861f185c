#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include "python/bindings/turn.hpp"

/// Belief: the expected costs of co-runs that a policy in Python may ask for, in batches.
namespace corun::python {

/// Adds the class to the module.
void bind_policy_belief(py::module_& module);

/// None if the policy has no belief.
py::object make_belief(std::shared_ptr<Turn> turn);

}  // namespace corun::python
