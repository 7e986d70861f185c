#include "python/bindings/policy_errors.hpp"

#include <algorithm>
#include <cstddef>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::python {

namespace {

constexpr std::size_t kShown = 160;  ///< bytes of what a policy said

/// "ValueError: too late, at policy.py:12 in decide"
std::string told(const py::error_already_set& error) {
  const auto name_of = [](const py::object& type) {
    return std::string(py::str(type.attr("__name__")));
  };
  std::string text = printable(name_of(error.type()), kShown);
  const py::object message = py::reinterpret_steal<py::object>(PyObject_Str(error.value().ptr()));
  if (!message) PyErr_Clear();
  if (message && py::len(message) > 0) {
    std::string said = py::str(message);
    said.resize(std::min(said.size(), said.find(". The following argument types are supported")));
    text += ": " + printable(said, kShown);
  }
  py::object at = error.trace();
  while (at && !at.is_none() && !at.attr("tb_next").is_none()) at = at.attr("tb_next");
  if (!at || at.is_none()) return text;
  const py::object code = at.attr("tb_frame").attr("f_code");
  const std::string file = py::str(code.attr("co_filename"));
  return text + ", at " + printable(file.substr(file.rfind('/') + 1), kShown) + ":" +
         std::string(py::str(at.attr("tb_lineno"))) + " in " +
         printable(std::string(py::str(code.attr("co_name"))), kShown);
}

}  // namespace

std::string shown(const py::handle& object) {
  const py::object text = py::reinterpret_steal<py::object>(PyObject_Repr(object.ptr()));
  if (!text) {
    PyErr_Clear();
    return "an object that cannot be shown";
  }
  return printable(std::string(py::str(text)), kShown);
}

void refuse_exception(PolicyHost& host, const std::string& policy, py::error_already_set& error) {
  const std::string found = "it raised " + told(error);
  if (error.trace()) PyException_SetTraceback(error.value().ptr(), error.trace().ptr());
  host.remember(found, error.value());
  throw PolicyError(policy, "no exception", found);
}

void check_class(std::string_view policy, const std::vector<std::string>& words) {
  if (words.size() == 2) return;
  throw PolicyError(std::string(policy), "class",
                    "found " + std::to_string(words.size()) +
                        " words, expected a module and the name of a class in it");
}

}  // namespace corun::python
