# The page of `corun report` (experiments/report/web): sets CORUN_REPORT_PAGE to the source file that holds it.
#
# It is made by Node.js with the packages that `npm ci` fetches into CORUN_WEB_PACKAGES (`./run build` does). A build
# fetches nothing. Without Node.js or these packages, or with packages of another package-lock.json, the program is
# built without the page, and `corun report` says how to get it.
set(CORUN_WEB_PACKAGES ${CMAKE_SOURCE_DIR}/build/web CACHE PATH "Folder of the page's package-lock.json and node_modules")
find_program(CORUN_NODE NAMES node nodejs DOC "Node.js, which makes the page of corun report")
mark_as_advanced(CORUN_NODE)

set(web ${CMAKE_SOURCE_DIR}/experiments/report/web)
set(reason "")
if(NOT CORUN_NODE)
  set(reason "Node.js is not there")
elseif(NOT EXISTS ${CORUN_WEB_PACKAGES}/package-lock.json OR NOT EXISTS ${CORUN_WEB_PACKAGES}/node_modules/echarts
       OR NOT EXISTS ${CORUN_WEB_PACKAGES}/node_modules/esbuild)
  set(reason "its packages are not in ${CORUN_WEB_PACKAGES}; ./run build fetches them")
else()
  file(SHA256 ${web}/package-lock.json wanted)
  file(SHA256 ${CORUN_WEB_PACKAGES}/package-lock.json found)
  if(NOT wanted STREQUAL found)
    set(reason "the packages in ${CORUN_WEB_PACKAGES} are of another package-lock.json; ./run build renews them")
  endif()
endif()

if(reason)
  message(STATUS "corun report is left out: ${reason}")
  set(CORUN_REPORT_PAGE report/report_page_none.cpp)
else()
  set(CORUN_REPORT_PAGE ${CMAKE_BINARY_DIR}/generated/experiments/report/report_page.cpp)
  file(GLOB_RECURSE page_sources CONFIGURE_DEPENDS ${web}/src/*)
  add_custom_command(
    OUTPUT ${CORUN_REPORT_PAGE}
    BYPRODUCTS ${CMAKE_BINARY_DIR}/report_page.html
    COMMAND ${CORUN_NODE} ${web}/build.mjs --packages ${CORUN_WEB_PACKAGES} --out ${CMAKE_BINARY_DIR}/report_page.html
            --cpp ${CORUN_REPORT_PAGE}
    DEPENDS ${web}/build.mjs ${web}/package-lock.json ${page_sources}
    COMMENT "Making the page of corun report" VERBATIM)
  # One long text, in a file by itself.
  set_source_files_properties(${CORUN_REPORT_PAGE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON
    COMPILE_OPTIONS -Wno-overlength-strings)
endif()
