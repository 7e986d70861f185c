#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <pybind11/pybind11.h>

#include "python/bindings/policy_host.hpp"

/// What errors say of policies in Python. All functions but check_class() need the GIL.
namespace corun::python {

/// The object as Python shows it, cut.
std::string shown(const py::handle& object);

/// The PolicyError of an exception that the policy of this class raised; the host remembers the exception.
[[noreturn]] void refuse_exception(PolicyHost& host, const std::string& policy,
                                   py::error_already_set& error);

/// PolicyError unless there are two words: a module and the name of a class in it.
void check_class(std::string_view policy, const std::vector<std::string>& words);

}  // namespace corun::python
