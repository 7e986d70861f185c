#pragma once

#include <memory>

#include <pybind11/pybind11.h>

#include "python/bindings/turn.hpp"
#include "sim/cluster_view.hpp"

/// View and Job: what a policy in Python sees. They show what ClusterView and JobView have, and nothing else
/// (DESIGN 4.13).
namespace corun::python {

/// Adds both classes to the module.
void bind_policy_view(py::module_& module);

/// The View of a policy; usable during decide() only.
py::object make_view(std::shared_ptr<Turn> turn);

/// A copy of a job's view.
py::object make_job(const JobView& job, Time now);

}  // namespace corun::python
