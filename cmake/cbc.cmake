# Defines corun_cbc: COIN-OR CBC, which solves integer programs, and what it needs besides CLP.
find_path(CBC_INCLUDE_DIR CbcModel.hpp PATH_SUFFIXES coin REQUIRED)
find_library(CBC_LIBRARY NAMES Cbc REQUIRED)
find_library(CGL_LIBRARY NAMES Cgl REQUIRED)
find_library(OSI_CLP_LIBRARY NAMES OsiClp REQUIRED)
find_library(OSI_LIBRARY NAMES Osi REQUIRED)
add_library(corun_cbc INTERFACE)
target_include_directories(corun_cbc SYSTEM INTERFACE ${CBC_INCLUDE_DIR})
target_link_libraries(corun_cbc INTERFACE ${CBC_LIBRARY} ${CGL_LIBRARY} ${OSI_CLP_LIBRARY} ${OSI_LIBRARY} corun_clp)
