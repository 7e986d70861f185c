#include <pybind11/pybind11.h>

#include "python/bindings/policy_belief.hpp"
#include "python/bindings/policy_view.hpp"
#include "python/bindings/replay.hpp"
#include "support/build_info.hpp"

/// The compiled part of the Python package; its users import `corun` (python/corun/).
PYBIND11_MODULE(_corun, module) {
  module.attr("version") = std::string(corun::version());
  module.attr("commit") = std::string(corun::commit());
  corun::python::bind_policy_belief(module);
  corun::python::bind_policy_view(module);
  corun::python::bind_replay(module);
}
