# corun_precompile(TARGET [HEADER...]): the headers of the standard library, and these, are parsed once for all files of the
# target (CORUN_PRECOMPILE: builds of single files, where a file then compiles in half of the time), or once for all targets
# with the options of its folder (CORUN_UNITY: a sixth less to compile).
set(corun_headers <algorithm> <array> <chrono> <cmath> <cstdint> <filesystem> <fstream> <functional> <map> <memory>
  <numeric> <optional> <set> <span> <sstream> <stdexcept> <string> <string_view> <tuple> <unordered_map> <unordered_set>
  <utility> <variant> <vector>)
set(corun_shared_headers <nlohmann/json.hpp>)
set(corun_shared_links corun_options)  # whose macros the shared headers see
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)  # without it ccache does not keep what used them
endif()

function(corun_precompile target)
  if(CORUN_UNITY)
    get_property(options DIRECTORY PROPERTY COMPILE_OPTIONS)
    string(MAKE_C_IDENTIFIER "corun_precompiled_${options}" shared)
    if(NOT TARGET ${shared})
      file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp CONTENT "")
      add_library(${shared} OBJECT ${CMAKE_BINARY_DIR}/generated/precompiled.cpp)
      target_link_libraries(${shared} PRIVATE ${corun_shared_links})
      target_precompile_headers(${shared} PRIVATE ${corun_headers} ${corun_shared_headers})
    endif()
    target_precompile_headers(${target} REUSE_FROM ${shared})
  elseif(CORUN_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE ${corun_headers} ${ARGN})
  endif()
endfunction()
