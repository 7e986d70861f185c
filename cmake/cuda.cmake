# Finds the CUDA toolkit, which may be installed without being on PATH, and makes its language ready.
# Sets CORUN_HAVE_CUDA.
include(${CMAKE_CURRENT_LIST_DIR}/cuda_architectures.cmake)
set(CORUN_CUDA_ARCHITECTURES "" CACHE STRING
    "GPU architectures to compile for, such as 70;80;90 (empty: see cmake/cuda_architectures.cmake)")

set(CORUN_HAVE_CUDA OFF)
set(no_cuda "")  # why not
if(NOT CORUN_CUDA STREQUAL "OFF")
  if(NOT CUDAToolkit_ROOT AND EXISTS /usr/local/cuda/bin/nvcc)
    set(CUDAToolkit_ROOT /usr/local/cuda)
  endif()
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT TARGET CUDA::cudart_static OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    set(no_cuda "no CUDA toolkit was found; install one or point CUDAToolkit_ROOT at it")
  elseif(CUDAToolkit_VERSION VERSION_LESS 12)
    set(no_cuda "CUDA ${CUDAToolkit_VERSION} does not know C++20; toolkit 12 does, and builds for "
                "V100 and newer")
    string(CONCAT no_cuda ${no_cuda})
  else()
    execute_process(COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} --list-gpu-code
      OUTPUT_VARIABLE codes ERROR_QUIET)
    corun_cuda_architectures("${codes}" "${CORUN_CUDA_ARCHITECTURES}" architectures sentence)
    if(sentence AND CORUN_CUDA_ARCHITECTURES)
      message(FATAL_ERROR "CORUN_CUDA_ARCHITECTURES=${CORUN_CUDA_ARCHITECTURES}: ${sentence}")
    endif()
    if(NOT CORUN_CUDA_ARCHITECTURES AND NOT CORUN_CUDA STREQUAL "ON" AND NOT EXISTS /dev/nvidiactl)
      # No GPU is here to run machine code, and one architecture compiles sooner than all.
      list(FILTER architectures INCLUDE REGEX "virtual")
    endif()
    set(CMAKE_CUDA_COMPILER ${CUDAToolkit_NVCC_EXECUTABLE})
    set(CMAKE_CUDA_ARCHITECTURES ${architectures})
    include(CheckLanguage)
    check_language(CUDA)
    if(NOT architectures)
      set(no_cuda "nvcc lists no GPU that can be compiled for. ${sentence}")
    elseif(NOT CMAKE_CUDA_COMPILER)
      set(no_cuda "nvcc ${CUDAToolkit_VERSION} cannot compile here; it may not know "
                  "${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}")
      string(CONCAT no_cuda ${no_cuda})
    else()
      enable_language(CUDA)
      # CMake 3.25.1 does not know the flag.
      if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
        set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
        set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
      endif()
      set(CMAKE_CUDA_STANDARD 20)
      set(CMAKE_CUDA_STANDARD_REQUIRED ON)
      set(CMAKE_CUDA_EXTENSIONS OFF)
      # As for the processor: product and sum are not contracted to one rounding unless a formula asks for
      # it.
      target_compile_options(corun_options INTERFACE
        $<$<COMPILE_LANGUAGE:CUDA>:-fmad=false -Xcompiler=-ffp-contract=off>)
      set(CORUN_HAVE_CUDA ON)
      message(STATUS "CUDA ${CUDAToolkit_VERSION} found, compiling for ${architectures}")
      if(sentence)
        message(STATUS "${sentence}")
      endif()
    endif()
  endif()
  if(no_cuda AND CORUN_CUDA STREQUAL "ON")
    message(FATAL_ERROR "CORUN_CUDA=ON, but ${no_cuda}. Or configure with -DCORUN_CUDA=AUTO.")
  elseif(no_cuda)
    message(STATUS "Building for the CPU alone: ${no_cuda}")
  endif()
endif()
