cmake_minimum_required(VERSION 3.25)

# The choice of cmake/cuda_architectures.cmake for the toolkits 11.8, 12.4 and 13.0, none of which needs to be
# installed.
include(${ROOT}/cmake/cuda_architectures.cmake)

set(codes_11 "sm_35\nsm_37\nsm_50\nsm_52\nsm_60\nsm_61\nsm_70\nsm_72\nsm_75\nsm_80\nsm_86\nsm_87\nsm_89\nsm_90\n")
set(codes_12 "sm_50\nsm_52\nsm_53\nsm_60\nsm_61\nsm_62\nsm_70\nsm_72\nsm_75\nsm_80\nsm_86\nsm_87\nsm_89\nsm_90\nsm_90a\n")
set(codes_13 "sm_75\nsm_80\nsm_86\nsm_87\nsm_88\nsm_89\nsm_90\nsm_100\nsm_103\nsm_110\nsm_120\nsm_121\n")

# expect(CODES WANTED ARCHITECTURES PATTERN): the sentence must match PATTERN; empty: no sentence.
function(expect codes wanted architectures pattern)
  corun_cuda_architectures("${codes}" "${wanted}" found sentence)
  if(NOT "${found}" STREQUAL "${architectures}")
    message(SEND_ERROR "wanted '${wanted}': found '${found}', expected '${architectures}'")
  endif()
  if(pattern AND NOT "${sentence}" MATCHES "${pattern}")
    message(SEND_ERROR "wanted '${wanted}': '${sentence}' does not say '${pattern}'")
  elseif(NOT pattern AND NOT "${sentence}" STREQUAL "")
    message(SEND_ERROR "wanted '${wanted}': unexpected sentence '${sentence}'")
  endif()
endfunction()

expect("${codes_11}" "" "70-real;80-real;90-real;70-virtual" "")
expect("${codes_12}" "" "70-real;80-real;90-real;70-virtual" "")
expect("${codes_13}" "" "80-real;90-real;75-virtual" "no code for architecture 70.*V100.*toolkit 12")
expect("${codes_13}" "90;120-virtual" "90;120-virtual" "")
expect("${codes_13}" "70" "" "no code for architecture 70")
expect("${codes_12}" "70-real;120" "70-real" "no code for architecture 120: it knows 50 52")
expect("${codes_12}" "90a" "90a" "")
expect("" "" "" "no code for architecture 70, 80, 90")
