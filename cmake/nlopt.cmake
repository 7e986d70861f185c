# Defines corun_nlopt: NLopt, which finds local minima within bounds.
find_path(NLOPT_INCLUDE_DIR nlopt.h REQUIRED)
find_library(NLOPT_LIBRARY NAMES nlopt REQUIRED)
add_library(corun_nlopt INTERFACE)
target_include_directories(corun_nlopt SYSTEM INTERFACE ${NLOPT_INCLUDE_DIR})
target_link_libraries(corun_nlopt INTERFACE ${NLOPT_LIBRARY})
