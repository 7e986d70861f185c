#pragma once

#include <memory>

#include "policies/catalog.hpp"
#include "python/bindings/policy_host.hpp"

/// A policy whose decisions a Python object makes: as `external` (policies/external/external.cpp), but in the same process and
/// without a protocol.
///
/// Each run has its own object, on its own thread, and holds the GIL for each call. So a replay has the same bytes at
/// any number of threads, as long as the object's decisions depend on what corun shows it alone.
///
/// An exception of the object, an answer that is no list of decisions and too many wake-ups end the run with a
/// PolicyError that names the class. The control loop checks the decisions by the rules of all policies.
namespace corun::python {

/// Needs the GIL. The host must outlive the policy, which must be destroyed by the thread that made it.
std::unique_ptr<Policy> make_python_policy(PolicyContext context, PolicyHost& host);

}  // namespace corun::python
