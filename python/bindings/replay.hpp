#pragma once

#include <pybind11/pybind11.h>

/// replay(): what `corun replay --output` does, with policies in Python.
namespace corun::python {

namespace py = pybind11;

void bind_replay(py::module_& module);

}  // namespace corun::python
