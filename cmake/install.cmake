# `cmake --install build/release --prefix DIR` gives a tree that can be moved; cpack makes a Debian package of the same tree.
# The program is in bin, the Python package in lib/python3/dist-packages. Public data sets go into share/corun/data.
install(TARGETS corun RUNTIME DESTINATION bin)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/examples DESTINATION share/corun)
install(FILES ${CMAKE_SOURCE_DIR}/LICENSE ${CMAKE_SOURCE_DIR}/NOTICE ${CMAKE_SOURCE_DIR}/CITATION.cff
        ${CMAKE_SOURCE_DIR}/CHANGELOG.md
        DESTINATION share/doc/corun)

# For libraries of policies (policies/plugin.hpp): headers and find_package(corun).
set(CMAKE_INSTALL_INCLUDEDIR include)
set(CMAKE_INSTALL_BINDIR bin)
install(DIRECTORY ${CMAKE_SOURCE_DIR}/sim ${CMAKE_SOURCE_DIR}/policies DESTINATION include/corun
        FILES_MATCHING PATTERN "*.hpp")
include(CMakePackageConfigHelpers)
configure_package_config_file(${CMAKE_SOURCE_DIR}/cmake/corunConfig.cmake.in ${CMAKE_BINARY_DIR}/corunConfig.cmake
  INSTALL_DESTINATION lib/cmake/corun PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/corunConfigVersion.cmake COMPATIBILITY ExactVersion)
install(FILES ${CMAKE_BINARY_DIR}/corunConfig.cmake ${CMAKE_BINARY_DIR}/corunConfigVersion.cmake
        DESTINATION lib/cmake/corun)

if(CORUN_HAVE_PYTHON)
  install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/corun DESTINATION lib/python3/dist-packages
          FILES_MATCHING PATTERN "*.py")
  install(TARGETS corun_python LIBRARY DESTINATION lib/python3/dist-packages/corun OPTIONAL)
endif()

# Manual pages and completion are what the program prints: the target makes them, and they are installed if they are there.
add_custom_target(corun_manual
  COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/scripts/manual.py $<TARGET_FILE:corun> ${CMAKE_BINARY_DIR}/manual
  DEPENDS corun VERBATIM)
set(manual ${CMAKE_BINARY_DIR}/manual)
install(DIRECTORY ${manual}/man1 DESTINATION share/man OPTIONAL)
install(FILES ${manual}/completion/corun DESTINATION share/bash-completion/completions OPTIONAL)
install(FILES ${manual}/completion/_corun DESTINATION share/zsh/vendor-completions OPTIONAL)
install(FILES ${manual}/completion/corun.fish DESTINATION share/fish/vendor_completions.d OPTIONAL)

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_DIRECTORY ${CMAKE_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_PACKAGE_CONTACT "The corun authors <corun@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# The Python package is built for the Python of the distribution. libcurl is for sweeps in buckets.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "libcurl4, python3, python3-numpy, python3-pandas, python3-h5py, python3-matplotlib")
include(CPack)
