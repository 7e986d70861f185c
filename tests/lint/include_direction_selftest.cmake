# Shows that include_direction_test.cmake can fail:  cmake -P include_direction_selftest.cmake
#
# A small tree that keeps every rule must pass; the same tree with one forbidden include must fail
# and name that file and line, for each rule in turn. -DWORK=<folder>: the place of the trees
# (default: a folder of its own among the temporary files).
cmake_minimum_required(VERSION 3.25)

set(script "${CMAKE_CURRENT_LIST_DIR}/include_direction_test.cmake")
if(NOT DEFINED WORK)
  set(parent "$ENV{TMPDIR}")
  if(parent STREQUAL "")
    set(parent "/tmp")
  endif()
  string(RANDOM LENGTH 12 name)
  set(WORK "${parent}/include_direction_${name}")
endif()
set(tree "${WORK}/tree")

# file|include
set(allowed
    "sim/a.hpp|<vector>"
    "sim/a.cpp|\"sim/a.hpp\""
    "sim/b.cpp|\"a.hpp\""
    "traces/a.hpp|\"sim/a.hpp\""
    "traces/a.cpp|<zlib.h>"
    "traces/b.cpp|<fmt/format.h>"
    "models/a.hpp|\"sim/a.hpp\""
    "models/a.cpp|<boost/graph/adjacency_list.hpp>"
    "models/b.cpp|\"models/a.hpp\""
    "models/b.hpp|\"models/scoring/a.hpp\""
    "models/formulas/a.hpp|\"sim/a.hpp\""
    "models/formulas/b.hpp|\"models/formulas/a.hpp\""
    "models/vector_units/a.hpp|\"models/formulas/a.hpp\""
    "models/knowledge/a.hpp|\"models/formulas/a.hpp\""
    "models/interference/a.hpp|\"models/formulas/a.hpp\""
    "models/interference/b.cpp|\"../vector_units/a.hpp\""
    "models/interference/gp/a.cpp|\"models/interference/a.hpp\""
    "models/scoring/a.hpp|\"models/interference/a.hpp\""
    "models/scoring/a.cu|<cuda_runtime.h>"
    "models/knowledge/forest.cpp|<xgboost/c_api.h>"
    "predictors/onnx/a.cpp|<onnx/onnx_pb.h>"
    "predictors/onnx/a.cpp|\"predictors/graph/a.hpp\""
    "processes/a.hpp|\"sim/a.hpp\""
    "processes/a.cpp|<sys/prctl.h>"
    "policies/a.hpp|\"models/a.hpp\""
    "policies/b.cpp|\"processes/a.hpp\""
    "policies/a.cpp|<boost/graph/graph_traits.hpp>"
    "policies/matching.cpp|<lemon/matching.h>"
    "policies/matching_lemon.cpp|<lemon/smart_graph.h>"
    "experiments/a.hpp|\"traces/a.hpp\""
    "experiments/b.hpp|\"policies/a.hpp\""
    "experiments/a.cpp|<hdf5.h>"
    "experiments/b.cpp|<yaml-cpp/yaml.h>"
    "experiments/c.cpp|<boost/program_options.hpp>"
    "live/a.cpp|<cuda_runtime.h>"
    "sim/base/a.hpp|<span>"
    "sim/base/b.hpp|\"sim/base/a.hpp\""
    "sim/c.hpp|\"sim/base/a.hpp\""
    "support/a.hpp|\"sim/base/a.hpp\""
    "support/a.cpp|\"support/a.hpp\""
    "runner/replay/a.hpp|\"support/a.hpp\""
    "live/session/a.hpp|\"runner/replay/a.hpp\""
    "live/run/a.hpp|\"live/session/a.hpp\""
    "cli/a.cpp|\"live/run/a.hpp\""
    "python/bindings/a.hpp|\"cli/a.hpp\""
    "python/bindings/a.cpp|\"python/bindings/a.hpp\""
    "python/bindings/b.cpp|<pybind11/pybind11.h>")

set(forbidden
    "sim/bad.cpp|\"traces/a.hpp\""
    "sim/bad.cpp|\"models/a.hpp\""
    "sim/bad.cpp|\"policies/a.hpp\""
    "sim/bad.cpp|\"experiments/a.hpp\""
    "sim/bad.cpp|\"tests/helpers/a.hpp\""
    "sim/bad.cpp|\"bench/a.hpp\""
    "sim/bad.cpp|\"../models/a.hpp\""
    "sim/bad.cpp|<models/a.hpp>"
    "sim/bad.cpp|<fmt/format.h>"
    "sim/bad.cpp|<unistd.h>"
    "sim/bad.cpp|<boost/graph/adjacency_list.hpp>"
    "sim/bad.cpp|\"hdf5.h\""
    "sim/bad.cpp|<cuda_runtime.h>"
    "traces/bad.hpp|\"models/a.hpp\""
    "traces/bad.hpp|\"policies/a.hpp\""
    "traces/bad.hpp|\"experiments/a.hpp\""
    "traces/bad.hpp|<hdf5.h>"
    "traces/bad.hpp|<yaml-cpp/yaml.h>"
    "traces/bad.hpp|<boost/program_options/options_description.hpp>"
    "traces/bad.hpp|<boost/graph/adjacency_list.hpp>"
    "traces/bad.hpp|<cuda_runtime.h>"
    "traces/bad.hpp|<lemon/matching.h>"
    "models/bad.cpp|\"traces/a.hpp\""
    "models/bad.cpp|\"policies/a.hpp\""
    "models/bad.cpp|\"experiments/a.hpp\""
    "models/bad.cpp|<H5Cpp.h>"
    "models/bad.cpp|<yaml-cpp/yaml.h>"
    "models/bad.cpp|<boost/program_options.hpp>"
    "models/bad.cpp|<lemon/matching.h>"
    "models/knowledge/bad.cpp|<xgboost/c_api.h>"
    "models/knowledge/forest.hpp|<xgboost/c_api.h>"
    "experiments/bad.cpp|<xgboost/c_api.h>"
    "predictors/onnx/bad.hpp|<onnx/onnx_pb.h>"
    "experiments/bad.cpp|<google/protobuf/message.h>"
    "predictors/graph/bad.cpp|\"predictors/onnx/a.hpp\""
    "models/scoring/bad.cu|\"../../policies/a.hpp\""
    "models/formulas/bad.hpp|\"models/vector_units/a.hpp\""
    "models/formulas/bad.hpp|\"models/interference/a.hpp\""
    "models/formulas/bad.hpp|\"models/scoring/a.hpp\""
    "models/formulas/bad.hpp|\"models/a.hpp\""
    "models/vector_units/bad.hpp|\"models/interference/a.hpp\""
    "models/knowledge/bad.hpp|\"models/interference/a.hpp\""
    "models/interference/bad.hpp|\"models/scoring/a.hpp\""
    "models/interference/gp/bad.hpp|\"models/scoring/a.hpp\""
    "models/scoring/bad.hpp|\"models/b.hpp\""
    "models/somewhere/bad.hpp|\"models/formulas/a.hpp\""
    "sim/bad.cpp|\"processes/a.hpp\""
    "models/bad.cpp|\"processes/a.hpp\""
    "processes/bad.hpp|\"models/a.hpp\""
    "processes/bad.hpp|\"policies/a.hpp\""
    "processes/bad.hpp|\"experiments/a.hpp\""
    "policies/bad.cpp|\"traces/a.hpp\""
    "policies/bad.cpp|\"experiments/a.hpp\""
    "policies/bad.cpp|<hdf5_hl.h>"
    "policies/bad.cpp|<yaml-cpp/yaml.h>"
    "policies/bad.cpp|<boost/program_options.hpp>"
    "policies/bad.cpp|<cuda.h>"
    "policies/bad.cpp|<thrust/sort.h>"
    "policies/bad.cpp|<lemon/matching.h>"
    "policies/matching.hpp|<lemon/matching.h>"
    "sim/bad.cpp|\"python/bindings/a.hpp\""
    "policies/bad.cpp|\"python/bindings/a.hpp\""
    "cli/bad.cpp|\"python/bindings/a.hpp\""
    "policies/bad.cpp|<pybind11/pybind11.h>"
    "experiments/bad.cpp|<Python.h>"
    "python/bindings/bad.cpp|<hdf5.h>"
    "python/bindings/bad.cpp|\"tests/helpers/a.hpp\""
    "experiments/bad.cpp|\"tests/helpers/a.hpp\""
    "experiments/bad.cpp|\"bench/a.hpp\""
    "experiments/bad.cpp|<lemon/matching.h>"
    "experiments/bad.cpp|<cuda_runtime_api.h>"
    "experiments/bad.cpp|<nvml.h>"
    "sim/base/bad.hpp|\"sim/a.hpp\""
    "support/bad.cpp|\"runner/replay/a.hpp\""
    "results/bad.hpp|\"runner/replay/a.hpp\""
    "runner/replay/bad.cpp|\"cli/cli.hpp\""
    "runner/replay/bad.cpp|\"../live/run/a.hpp\""
    "live/session/bad.hpp|\"live/run/a.hpp\""
    "live/gpu/bad.hpp|\"cli/a.hpp\""
    "runner/replay/bad.cpp|\"experiments/somewhere/a.hpp\""
    "experiments/somewhere/bad.cpp|\"support/a.hpp\"")

# put(case): writes the file of one case, its include on line 4, after text that the test must ignore.
function(put case)
  string(REGEX MATCH "^([^|]+)\\|(.+)$" whole "${case}")
  set(path "${CMAKE_MATCH_1}")
  set(header "${CMAKE_MATCH_2}")
  file(WRITE "${tree}/${path}"
       "// #include \"experiments/comment.hpp\"; [x]\n#define LONG(a) \\\n  a[0];\n#include ${header}\n")
endfunction()

function(check_tree status_name output_name)
  execute_process(COMMAND "${CMAKE_COMMAND}" "-DROOT=${tree}" -P "${script}"
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE errors)
  set(${status_name} "${status}" PARENT_SCOPE)
  set(${output_name} "${output}${errors}" PARENT_SCOPE)
endfunction()

set(wrong "")

# An empty tree must fail.
file(REMOVE_RECURSE "${tree}")
file(MAKE_DIRECTORY "${tree}")
check_tree(status output)
if(status EQUAL 0)
  list(APPEND wrong "a tree without sources passed")
endif()

foreach(case IN LISTS allowed)
  put("${case}")
endforeach()
check_tree(status output)
if(NOT status EQUAL 0)
  list(APPEND wrong "the tree that keeps the rules did not pass: ${output}")
endif()

foreach(case IN LISTS forbidden)
  string(REGEX MATCH "^[^|]+" path "${case}")
  put("${case}")
  check_tree(status output)
  file(REMOVE "${tree}/${path}")
  if(status EQUAL 0)
    list(APPEND wrong "passed, though forbidden: ${case}")
  else()
    string(FIND "${output}" "${path}:4: " position)
    if(position EQUAL -1)
      list(APPEND wrong "failed without naming ${path}:4: ${case}")
    endif()
    if(NOT output MATCHES "1 includes go the wrong way")
      list(APPEND wrong "named more than the one violation: ${case}: ${output}")
    endif()
  endif()
endforeach()

file(REMOVE_RECURSE "${WORK}")
if(NOT wrong STREQUAL "")
  list(JOIN wrong "\n" report)
  message(FATAL_ERROR "the include-direction test is not to be trusted:\n${report}")
endif()
list(LENGTH allowed allowed_count)
list(LENGTH forbidden forbidden_count)
message(STATUS "${allowed_count} allowed includes pass, each of ${forbidden_count} forbidden ones fails")
