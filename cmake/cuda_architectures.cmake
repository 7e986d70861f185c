# corun_cuda_architectures(CODES WANTED RESULT SENTENCE): chooses the GPUs to compile for.
#
# CODES is the output of `nvcc --list-gpu-code`: sm_75, sm_80, ... WANTED is a list such as "70;90", empty
# for the default. RESULT is set to a value for CMAKE_CUDA_ARCHITECTURES, empty if no architecture is left.
# SENTENCE is set to a message about a wanted architecture that this toolkit does not have (any more, or
# yet), else empty.
#
# Default: machine code for V100 (70), A100 (80) and H100 (90), as far as the toolkit supports them, and PTX
# of its oldest architecture, at least 70. From the PTX the driver compiles for every other GPU of that
# architecture or a later one when the program first runs. Machine code for all would multiply the time of a
# build.
function(corun_cuda_architectures codes wanted result sentence)
  string(REGEX MATCHALL "sm_[0-9]+[a-z]?" known "${codes}")
  list(TRANSFORM known REPLACE "sm_" "")
  set(chosen "")
  set(missing "")
  if(wanted)
    foreach(architecture IN LISTS wanted)
      string(REGEX REPLACE "-(real|virtual)$" "" number "${architecture}")
      if(number IN_LIST known)
        list(APPEND chosen ${architecture})
      else()
        list(APPEND missing ${number})
      endif()
    endforeach()
  else()
    foreach(number IN ITEMS 70 80 90)
      if(number IN_LIST known)
        list(APPEND chosen ${number}-real)
      else()
        list(APPEND missing ${number})
      endif()
    endforeach()
    foreach(number IN LISTS known)
      if(number MATCHES "^[0-9]+$" AND number GREATER_EQUAL 70 AND (NOT oldest OR number LESS oldest))
        set(oldest ${number})
      endif()
    endforeach()
    if(oldest)
      list(APPEND chosen ${oldest}-virtual)
    endif()
  endif()
  set(said "")
  if(missing)
    list(JOIN missing ", " numbers)
    list(JOIN known " " all)
    set(said "This nvcc has no code for architecture ${numbers}: it knows ${all}.")
    if("70" IN_LIST missing)
      string(APPEND said " For 70 (V100) take a CUDA toolkit 12.")
    endif()
  endif()
  set(${result} "${chosen}" PARENT_SCOPE)
  set(${sentence} "${said}" PARENT_SCOPE)
endfunction()
