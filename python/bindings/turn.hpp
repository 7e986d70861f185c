#pragma once

#include <cstdint>
#include <optional>
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

/// A whole number of Python or numpy; nothing for anything else, such as NaN, True, 1.0 or one beyond 64 bits.
inline std::optional<std::int64_t> as_whole(const py::handle& value) {
  if (PyBool_Check(value.ptr()) || PyIndex_Check(value.ptr()) == 0) return std::nullopt;
  int overflow = 0;
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
  const long long found = number ? PyLong_AsLongLongAndOverflow(number.ptr(), &overflow) : -1;
  if (!number || overflow != 0 || PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;
  }
  return found;
}

/// The argument `name`, a whole number; py::type_error for anything else.
inline std::int64_t whole_number(const py::object& given, const char* name) {
  const auto found = as_whole(given);
  if (found) return *found;
  throw py::type_error(std::string(name) + ": found " +
                       std::string(py::str(py::type::of(given).attr("__name__"))) +
                       ", expected a whole number of 64 bits");
}

/// The same from 0 to 2^64 - 1; py::value_error for a whole number outside.
inline std::uint64_t count_of(const py::object& given, const char* name) {
  if (PyIndex_Check(given.ptr()) == 0 || PyBool_Check(given.ptr())) whole_number(given, name);
  const py::object number = py::reinterpret_steal<py::object>(PyNumber_Index(given.ptr()));
  const std::uint64_t found = number ? PyLong_AsUnsignedLongLong(number.ptr()) : 0;
  if (number && PyErr_Occurred() == nullptr) return found;
  PyErr_Clear();
  throw py::value_error(std::string(name) + ": expected a whole number from 0 to 2^64 - 1");
}

}  // namespace corun::python
