# Defines corun_clp: COIN-OR CLP, which solves linear programs, and what it needs.
find_path(CLP_INCLUDE_DIR ClpSimplex.hpp PATH_SUFFIXES coin REQUIRED)
find_library(CLP_LIBRARY NAMES Clp REQUIRED)
find_library(COINUTILS_LIBRARY NAMES CoinUtils REQUIRED)
add_library(corun_clp INTERFACE)
target_include_directories(corun_clp SYSTEM INTERFACE ${CLP_INCLUDE_DIR})
target_link_libraries(corun_clp INTERFACE ${CLP_LIBRARY} ${COINUTILS_LIBRARY})
