# corun_less_optimised(): for the targets of a folder off the engine's path. Commands, files and reports are half of the
# compiled code but take little of the run time. Less optimised, they compile in four fifths of the time; under
# sanitizers, which multiply the code, in two thirds.
macro(corun_less_optimised)
  if(CORUN_SANITIZE)
    add_compile_options(-Og)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Debug")
    add_compile_options(-O0)
  elseif(CMAKE_BUILD_TYPE STREQUAL "Release")
    add_compile_options(-O1)
  endif()
endmacro()
