# Defines xgboost::xgboost, the C library of gradient boosting and random forests.
#
# Not by find_package: the package file of Debian's libxgboost-dev stops the configuration unless a program
# of another package (xgboost) is installed, QUIET or not. Only header and library are needed.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
find_library(XGBOOST_LIBRARY NAMES xgboost REQUIRED)
add_library(xgboost::xgboost UNKNOWN IMPORTED)
set_target_properties(xgboost::xgboost PROPERTIES
  IMPORTED_LOCATION "${XGBOOST_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${XGBOOST_INCLUDE_DIR}")
