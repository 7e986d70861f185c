#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>

#include "policies/catalog.hpp"

/// The classes of one replay that are policies in Python, and what became of their calls. All functions but entry()
/// and shares_entry() need the GIL.
namespace corun::python {

namespace py = pybind11;

class PolicyHost {
 public:
  /// `factories`: dictionary from (module, name) to a callable that makes a policy. `find`: does so for a class that
  /// is not among them.
  PolicyHost(py::dict factories, py::object find)
      : factories_(std::move(factories)), find_(std::move(find)) {}

  /// The catalogue entries `python` and `python-shares`. This must outlive them and their policies.
  PolicyEntry entry();
  PolicyEntry shares_entry();

  /// The callable for `class: [module, name]`. Throws error_already_set if there is none.
  py::object factory(const std::vector<std::string>& words) const;

  /// Remembers the exception behind an error with this text.
  void remember(std::string text, py::object exception);
  /// The exception whose text is part of `error`; None if there is none.
  py::object cause_of(const std::string& error) const;

  /// A thread of Python is in a call of a policy, or has left it. After interrupt() the call is interrupted, too.
  void enter(unsigned long thread);
  void leave(unsigned long thread) { inside_.erase(thread); }
  /// Raises KeyboardInterrupt in each of them, and in those that enter from now on.
  void interrupt();

 private:
  struct Raised {
    std::string text;
    py::object exception;
  };

  py::dict factories_;
  py::object find_;
  std::vector<Raised> raised_;
  std::set<unsigned long> inside_;
  bool interrupted_ = false;
};

}  // namespace corun::python
