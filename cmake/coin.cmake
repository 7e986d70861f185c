# Defines corun_clp and corun_cbc: COIN-OR CLP, which solves linear programs, and CBC, which solves integer programs, with
# what they need. Programs link them statically, as HDF5 (cmake/hdf5.cmake): the shared libraries take a millisecond of each
# start. The Python module takes the shared ones.
find_path(CLP_INCLUDE_DIR ClpSimplex.hpp PATH_SUFFIXES coin REQUIRED)
find_path(CBC_INCLUDE_DIR CbcModel.hpp PATH_SUFFIXES coin REQUIRED)

# coin_library(NAME): ${NAME}_ANY, the static library for programs where there is one, else the shared one.
function(coin_library name)
  find_library(${name}_SHARED NAMES ${name} REQUIRED)
  find_library(${name}_STATIC NAMES lib${name}.a)
  set(programs ${${name}_SHARED})
  if(${name}_STATIC AND LAPACK_LIBRARY AND BZ2_LIBRARY)
    set(programs ${${name}_STATIC})
  endif()
  set(${name}_ANY "$<IF:$<BOOL:$<TARGET_PROPERTY:CORUN_SHARED_LIBRARIES>>,${${name}_SHARED},${programs}>" PARENT_SCOPE)
endfunction()

# What the static libraries need beside one another.
find_library(LAPACK_LIBRARY NAMES lapack)
find_library(BZ2_LIBRARY NAMES bz2)
foreach(name Cbc Cgl OsiClp Clp Osi CoinUtils)
  coin_library(${name})
endforeach()
set(others)
if(LAPACK_LIBRARY AND BZ2_LIBRARY)
  set(others ${LAPACK_LIBRARY} ${BZ2_LIBRARY} ZLIB::ZLIB)
endif()
add_library(corun_clp INTERFACE)
target_include_directories(corun_clp SYSTEM INTERFACE ${CLP_INCLUDE_DIR})
target_link_libraries(corun_clp INTERFACE ${Clp_ANY} ${CoinUtils_ANY} ${others})
add_library(corun_cbc INTERFACE)
target_include_directories(corun_cbc SYSTEM INTERFACE ${CBC_INCLUDE_DIR})
target_link_libraries(corun_cbc INTERFACE ${Cbc_ANY} ${Cgl_ANY} ${OsiClp_ANY} ${Clp_ANY} ${Osi_ANY} ${CoinUtils_ANY} ${others})
