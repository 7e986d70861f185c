# Which folder may include which, as a test:  cmake -DROOT=<top folder> -P include_direction_test.cmake
#
#   sim         -> sim and the standard library, nothing else
#   traces      -> traces, sim
#   models      -> models, sim
#   processes   -> processes, sim
#   policies    -> policies, sim, models, processes
#   experiments -> experiments, sim, traces, models, processes, policies
#   python      -> python and all of these
#
# sim/base/ may not include the rest of sim/. Within experiments/ a file may include its own room and the
# rooms before it in the list `rooms` below (experiments/README.md describes them). live/ and models/
# (models/README.md) have such lists of their own; files in models/ itself may include all its rooms.
#
# Some libraries may be included only by certain files (the table of homes below). Each violation is named as
# file:line; include_direction_selftest.cmake shows that each rule can fail.
cmake_minimum_required(VERSION 3.25)

if(NOT DEFINED ROOT OR NOT IS_DIRECTORY "${ROOT}")
  message(FATAL_ERROR "give the top folder: cmake -DROOT=<folder> -P include_direction_test.cmake")
endif()
get_filename_component(ROOT "${ROOT}" REALPATH)

set(checked_folders sim traces models processes policies experiments python)
set(our_folders ${checked_folders} bench tests)

set(sim_may_include sim)
set(traces_may_include traces sim)
set(models_may_include models sim)
set(processes_may_include processes sim)
set(policies_may_include policies sim models processes)
set(experiments_may_include experiments sim traces models processes policies)
set(python_may_include python experiments sim traces models processes policies)

set(rooms base statistics charts config knowledge inputs predictors experiment export results timeline replay sweep report
    evaluation studies live commands)
set(live_rooms session gpu workloads jobs run validation)
set(model_rooms graph onnx formulas vector_units knowledge interference scoring solo predictors prefitted)

# Libraries with a home: <name>_headers matches the included header, <name>_home the including file.
set(homes hdf5 yaml program_options boost_graph cuda lemon xgboost onnx pybind)
set(hdf5_headers "^(hdf5(_hl)?\\.h|H5[A-Za-z]*\\.h|hdf5/.*|highfive/.*)$")
set(hdf5_home "^experiments/")
set(yaml_headers "^yaml-cpp/")
set(yaml_home "^experiments/")
set(program_options_headers "^boost/program_options")
set(program_options_home "^experiments/")
set(boost_graph_headers "^boost/(graph|property_map|pending)/")
set(boost_graph_home "^(models|policies|experiments)/")
set(cuda_headers
    "^(cuda[A-Za-z0-9_]*\\.(h|hpp)|cu(blas|rand|fft|solver|sparse|pti|dnn)[A-Za-z0-9_]*\\.h|(cuda|cub|thrust|cooperative_groups)/.*|cooperative_groups\\.h|device_launch_parameters\\.h|(driver|vector)_(types|functions)\\.h|math_constants\\.h|nvml\\.h|nvrtc\\.h|nvToolsExt\\.h|nvtx3/.*)$")
set(cuda_home "^(models|live)/")
set(lemon_headers "^lemon/")
set(lemon_home "^policies/matching[^/]*\\.cpp$")
set(xgboost_headers "^xgboost/")
set(xgboost_home "^models/knowledge/(boosting|forest|xgboost_library)\\.cpp$")
set(onnx_headers "^(onnx|google/protobuf)/")
set(onnx_home "^predictors/onnx/[^/]*\\.cpp$")
set(pybind_headers "^(pybind11/.*|Python\\.h)$")
set(pybind_home "^python/bindings/")

set(standard_library
    algorithm any array atomic barrier bit bitset cassert ccomplex cctype cerrno cfenv cfloat charconv
    chrono cinttypes climits clocale cmath compare complex concepts condition_variable coroutine
    csetjmp csignal cstdarg cstddef cstdint cstdio cstdlib cstring ctime cuchar cwchar cwctype deque
    exception execution expected filesystem format forward_list fstream functional future
    initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex
    scoped_allocator semaphore set shared_mutex source_location span sstream stack stdexcept
    stop_token streambuf string string_view syncstream system_error thread tuple type_traits typeindex
    typeinfo unordered_map unordered_set utility valarray variant vector version)

set(broken "")
set(includes_seen 0)

# order(FOLDER LIST FILE TARGET_PATH): sets `problem` if FILE, in a subfolder of FOLDER, includes
# TARGET_PATH in a subfolder that comes later in LIST, or if either is in none of them. With a last
# argument OPEN_TOP, a file in FOLDER itself may include all of them.
function(order folder list file target_path)
  if(NOT file MATCHES "^${folder}/" OR NOT target_path MATCHES "^${folder}/")
    return()
  endif()
  if("OPEN_TOP" IN_LIST ARGN AND file MATCHES "^${folder}/[^/]+$")
    return()
  endif()
  set(places "")
  foreach(path IN ITEMS "${file}" "${target_path}")
    set(place -1)
    if(path MATCHES "^${folder}/([^/]+)/")
      list(FIND ${list} "${CMAKE_MATCH_1}" place)
    endif()
    if(place EQUAL -1)
      set(problem "'${path}' lies in no folder of ${folder}/ that the list names" PARENT_SCOPE)
      return()
    endif()
    list(APPEND places ${place})
  endforeach()
  list(GET places 0 from)
  list(GET places 1 to)
  if(to GREATER from)
    list(GET ${list} ${from} own)
    list(GET ${list} ${to} other)
    set(problem "${folder}/${own}/ may not include ${folder}/${other}/, which comes after it" PARENT_SCOPE)
  endif()
endfunction()

# check(file line_number quote header): `file` is relative to ROOT, `quote` is < or ".
function(check file line_number quote header)
  string(REGEX MATCH "^[^/]+" folder "${file}")
  set(where "${file}:${line_number}")

  # The repository's folder that has the header: relative to the including file, or from the top.
  set(target "")
  set(target_path "")
  if(quote STREQUAL "\"")
    get_filename_component(beside "${file}" DIRECTORY)
    get_filename_component(beside "${ROOT}/${beside}/${header}" ABSOLUTE)
    if(EXISTS "${beside}")
      file(RELATIVE_PATH beside "${ROOT}" "${beside}")
      string(REGEX MATCH "^[^/]+" target "${beside}")
      set(target_path "${beside}")
    endif()
  endif()
  if(target STREQUAL "")
    string(REGEX REPLACE "^(\\./|\\.\\./)+" "" plain "${header}")
    if(plain MATCHES "^([^/]+)/" AND CMAKE_MATCH_1 IN_LIST our_folders)
      set(target "${CMAKE_MATCH_1}")
      set(target_path "${plain}")
    endif()
  endif()

  set(problem "")
  if(NOT target STREQUAL "")
    if(NOT target IN_LIST ${folder}_may_include)
      string(REPLACE ";" ", " allowed "${${folder}_may_include}")
      set(problem "${folder}/ may include only: ${allowed}")
    elseif(file MATCHES "^sim/base/" AND NOT target_path MATCHES "^sim/base/")
      set(problem "sim/base/ may include only itself and the standard library")
    else()
      order(experiments rooms "${file}" "${target_path}")
      order(live live_rooms "${file}" "${target_path}")
      order(models model_rooms "${file}" "${target_path}" OPEN_TOP)
    endif()
  elseif(folder STREQUAL "sim")
    if(NOT header IN_LIST standard_library)
      set(problem "sim/ may include only itself and the standard library")
    endif()
  else()
    foreach(library IN LISTS homes)
      if(header MATCHES "${${library}_headers}" AND NOT file MATCHES "${${library}_home}")
        set(problem "the ${library} headers belong to files matching ${${library}_home}")
      endif()
    endforeach()
  endif()

  if(NOT problem STREQUAL "")
    list(APPEND broken "${where}: includes ${header}, but ${problem}")
    set(broken "${broken}" PARENT_SCOPE)
  endif()
endfunction()

foreach(folder IN LISTS checked_folders)
  foreach(extension hpp h cpp cc cu cuh inl ipp inc)
    file(GLOB_RECURSE files RELATIVE "${ROOT}" "${ROOT}/${folder}/*.${extension}")
    foreach(file IN LISTS files)
      file(READ "${ROOT}/${file}" text)
      # One list element per line: the text must not contain characters with a meaning in CMake's lists.
      string(REGEX REPLACE "[][;\\\\]" " " text "${text}")
      string(REPLACE "\n" ";" text "${text}")
      set(line_number 0)
      foreach(line IN LISTS text)
        math(EXPR line_number "${line_number} + 1")
        if(line MATCHES "^[ \t]*#[ \t]*include[ \t]*([<\"])([^>\"]+)[>\"]")
          math(EXPR includes_seen "${includes_seen} + 1")
          check("${file}" ${line_number} "${CMAKE_MATCH_1}" "${CMAKE_MATCH_2}")
        endif()
      endforeach()
    endforeach()
  endforeach()
endforeach()

if(includes_seen EQUAL 0)
  message(FATAL_ERROR "no include found under ${ROOT}: nothing was checked")
endif()
if(NOT broken STREQUAL "")
  list(LENGTH broken count)
  list(JOIN broken "\n" report)
  message("${report}")
  message(FATAL_ERROR "${count} includes go the wrong way (named above)")
endif()
message(STATUS "${includes_seen} includes, all in the allowed direction")
