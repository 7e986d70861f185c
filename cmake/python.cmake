# Finds what the Python package needs: Debian's interpreter with its headers, and pybind11. Sets CORUN_HAVE_PYTHON,
# and CORUN_NO_PYTHON to the reason why not.
set(CORUN_HAVE_PYTHON OFF)
set(CORUN_NO_PYTHON "")
if(CORUN_PYTHON STREQUAL "OFF")
  set(CORUN_NO_PYTHON "CORUN_PYTHON is OFF")
elseif(CORUN_SANITIZE)
  set(CORUN_NO_PYTHON "Python does not load a module with sanitizers")
else()
  if(NOT Python3_EXECUTABLE AND EXISTS /usr/bin/python3)
    set(Python3_EXECUTABLE /usr/bin/python3)  # not another one on the PATH: its packages are Debian's
  endif()
  find_package(Python3 3.9 QUIET COMPONENTS Interpreter Development.Module)
  # Within pip, the package pybind11 says where it is.
  if(Python3_Interpreter_FOUND AND NOT pybind11_DIR)
    execute_process(COMMAND ${Python3_EXECUTABLE} -m pybind11 --cmakedir
      OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
    if(NOT failed)
      set(pybind11_DIR ${folder})
    endif()
  endif()
  set(PYBIND11_NOPYTHON ON)  # no search of its own
  find_package(pybind11 2.9 QUIET CONFIG)
  if(NOT Python3_Development.Module_FOUND)
    set(CORUN_NO_PYTHON "the headers of Python 3 are missing (Debian: python3-dev)")
  elseif(NOT pybind11_FOUND)
    set(CORUN_NO_PYTHON "pybind11 is missing (Debian: pybind11-dev)")
  else()
    set(CORUN_HAVE_PYTHON ON)
  endif()
endif()
if(CORUN_HAVE_PYTHON)
  message(STATUS "pybind11 ${pybind11_VERSION} found, building the package for Python ${Python3_VERSION}")
  # All libraries go into a shared module. Calls within a file stay direct, and may be inlined: nothing is
  # interposed.
  set(CMAKE_POSITION_INDEPENDENT_CODE ON)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(corun_options INTERFACE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-semantic-interposition>)
  endif()
elseif(CORUN_PYTHON STREQUAL "ON")
  message(FATAL_ERROR "CORUN_PYTHON=ON, but ${CORUN_NO_PYTHON}. Or configure with -DCORUN_PYTHON=AUTO.")
else()
  message(STATUS "Building without the Python package: ${CORUN_NO_PYTHON}")
endif()
