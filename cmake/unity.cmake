# corun_unity(TARGET ["FOLDER..."...]): with CORUN_UNITY, the sources of each folder are compiled as one
# file. The FOLDERs of one argument are compiled together, with all folders below them. "." is only the
# target's own folder; the last argument with a folder takes it. Shared headers are then parsed once and
# their templates instantiated once, which nearly halves the time of a first build of the program and saves
# two thirds of that of the tests. Grouping is by folder, not by number, so that a new file moves no other.
# A file's UNITY_GROUP, set before, is kept; files with their own options are compiled by themselves.
function(corun_unity target)
  if(NOT CORUN_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(folder ${source} DIRECTORY)
    if(NOT folder)
      set(folder .)
    endif()
    set(group ${folder})
    foreach(folders IN LISTS ARGN)
      string(REPLACE " " ";" members "${folders}")
      foreach(member IN LISTS members)
        string(FIND "${folder}/" "${member}/" at)
        if(at EQUAL 0)
          set(group "${folders}")
        endif()
      endforeach()
    endforeach()
    string(MAKE_C_IDENTIFIER "${target}_${group}" group)
    get_source_file_property(given ${source} UNITY_GROUP)
    if(NOT given)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()
