# corun_sources(VARIABLE [EXCEPT REGEX]): the .cpp files of this folder and those below it, so that a new
# file needs no list. Files whose path matches REGEX are left out. A build looks again for added and removed
# files.
function(corun_sources variable)
  cmake_parse_arguments(PARSE_ARGV 1 given "" "EXCEPT" "")
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} *.cpp)
  if(given_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "${given_EXCEPT}")
  endif()
  set(${variable} ${sources} PARENT_SCOPE)
endfunction()
