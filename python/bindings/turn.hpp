#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include "sim/belief.hpp"
#include "sim/cluster_view.hpp"
#include "sim/ids.hpp"

/// What the objects that a policy in Python holds may reach at present.
namespace corun::python {

namespace py = pybind11;

/// Shared by one policy and its objects in Python. A Python program may keep those for ever; what they refer to lives
/// as long as a call of the policy. Only the thread that runs the policy, with the GIL, changes and uses it: a batch
/// of questions runs without the GIL, and would outlast a call that another thread ends.
struct Turn {
  const ClusterView* view = nullptr;  ///< during decide()
  const Belief* belief = nullptr;     ///< during each call of the policy, if it has one
  unsigned long thread = 0;           ///< that of the call
  bool believes = false;
  bool joins = false;      ///< it may place jobs beside running ones
  std::uint64_t seed = 0;  ///< of the replication
  std::vector<std::uint8_t>
      in_system{};  ///< by JobId: it has arrived, and neither finished nor failed

  /// py::value_error if another thread than that of the call asks.
  void check_thread() const {
    if (thread == PyThread_get_thread_ident()) return;
    throw py::value_error("view and belief answer only the thread that corun calls its policy on");
  }

  bool knows(std::int64_t job) const {
    return job >= 0 && static_cast<std::size_t>(job) < in_system.size() &&
           in_system[static_cast<std::size_t>(job)] != 0;
  }
};

using Numbers = py::array_t<std::int64_t, py::array::c_style>;

/// Whole numbers of a list or an array in one dimension; py::type_error that begins with `what` for anything else:
/// fractions, NaN and truth values are none.
inline Numbers whole_numbers(const py::object& given, const char* what) {
  const py::array found = py::array::ensure(given);
  if (!found) PyErr_Clear();
  const bool whole =
      found && (found.size() == 0 || found.dtype().kind() == 'i' || found.dtype().kind() == 'u');
  if (!whole || found.ndim() > 1) {
    const std::string type =
        found ? std::string(py::str(found.dtype())) : std::string(py::str(py::type::of(given)));
    throw py::type_error(
        std::string(what) + ": found " +
        (found && found.ndim() > 1 ? std::to_string(found.ndim()) + " dimensions" : type) +
        ", expected whole numbers in one dimension");
  }
  return Numbers(found.attr("astype")("int64"));
}

}  // namespace corun::python
