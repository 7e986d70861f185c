# Defines xgboost::xgboost, the C library of gradient boosting and random forests.
#
# Not by find_package: the package file that Debian's libxgboost-dev installs stops the configuration
# unless a program of another package (xgboost) is there as well, QUIET or not. Header and library are
# all that is needed.
find_path(XGBOOST_INCLUDE_DIR xgboost/c_api.h REQUIRED)
find_library(XGBOOST_LIBRARY NAMES xgboost REQUIRED)
add_library(xgboost::xgboost UNKNOWN IMPORTED)
set_target_properties(xgboost::xgboost PROPERTIES
  IMPORTED_LOCATION "${XGBOOST_LIBRARY}"
  INTERFACE_INCLUDE_DIRECTORIES "${XGBOOST_INCLUDE_DIR}")
