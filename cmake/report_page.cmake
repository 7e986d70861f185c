# The page of `corun report` (report/web): sets CORUN_REPORT_PAGE to the source file that holds it.
#
# Node.js makes it with the packages of web/package-lock.json (Apache ECharts and esbuild), which npm fetches once into
# CORUN_WEB_PACKAGES; no script of a package runs then. All presets share that folder. Without Node.js, or if npm
# cannot fetch, the program is built without the page, and `corun report` says how to get it (docs/report.md).
set(CORUN_REPORT AUTO CACHE STRING "Page of corun report: AUTO (if Node.js and its packages are there), ON or OFF")
set_property(CACHE CORUN_REPORT PROPERTY STRINGS AUTO ON OFF)
set(CORUN_WEB_PACKAGES ${CMAKE_SOURCE_DIR}/build/web CACHE PATH "Folder of the page's package-lock.json and node_modules")
find_program(CORUN_NODE NAMES node nodejs DOC "Node.js, which makes the page of corun report")
find_program(CORUN_NPM NAMES npm DOC "npm, which fetches the packages of the page of corun report")
mark_as_advanced(CORUN_NODE CORUN_NPM CORUN_WEB_PACKAGES)

set(web ${CMAKE_SOURCE_DIR}/report/web)

# corun_web_packages(REASON): REASON becomes empty if the packages of web/package-lock.json are there, else why not.
function(corun_web_packages reason)
  set(${reason} "they are not in ${CORUN_WEB_PACKAGES}" PARENT_SCOPE)
  foreach(package echarts esbuild)
    if(NOT EXISTS ${CORUN_WEB_PACKAGES}/node_modules/${package}/package.json)
      return()
    endif()
  endforeach()
  # A copy of the lock file, made after npm was done.
  file(SHA256 ${web}/package-lock.json wanted)
  set(found "")
  if(EXISTS ${CORUN_WEB_PACKAGES}/fetched-package-lock.json)
    file(SHA256 ${CORUN_WEB_PACKAGES}/fetched-package-lock.json found)
  endif()
  if(wanted STREQUAL found)
    set(${reason} "" PARENT_SCOPE)
  else()
    set(${reason} "those in ${CORUN_WEB_PACKAGES} are of another package-lock.json" PARENT_SCOPE)
  endif()
endfunction()

function(corun_fetch_web_packages)
  execute_process(COMMAND ${CMAKE_COMMAND} -E make_directory ${CORUN_WEB_PACKAGES} RESULT_VARIABLE failed ERROR_QUIET)
  if(failed)
    return()
  endif()
  file(LOCK ${CORUN_WEB_PACKAGES} DIRECTORY GUARD FUNCTION TIMEOUT 200 RESULT_VARIABLE failed)
  corun_web_packages(missing) # another build may have fetched them just now
  if(failed OR NOT missing)
    return()
  endif()
  message(STATUS "Fetching the packages of the page of corun report by npm (some seconds)")
  file(COPY ${web}/package.json ${web}/package-lock.json DESTINATION ${CORUN_WEB_PACKAGES})
  execute_process(
    COMMAND ${CORUN_NPM} ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --fetch-retries=1
            --fetch-timeout=30000
    WORKING_DIRECTORY ${CORUN_WEB_PACKAGES} RESULT_VARIABLE failed OUTPUT_FILE npm.log ERROR_FILE npm.log TIMEOUT 180)
  if(NOT failed)
    file(COPY_FILE ${web}/package-lock.json ${CORUN_WEB_PACKAGES}/fetched-package-lock.json)
  endif()
endfunction()

set_property(DIRECTORY ${CMAKE_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${web}/package-lock.json)
set(reason "")
if(NOT CORUN_REPORT)
  set(reason "CORUN_REPORT is OFF")
elseif(NOT CORUN_NODE)
  set(reason "Node.js is not there")
else()
  corun_web_packages(missing)
  if(missing AND CORUN_NPM)
    corun_fetch_web_packages()
    corun_web_packages(missing)
    if(missing)
      set(reason "npm could not fetch its packages (${CORUN_WEB_PACKAGES}/npm.log)")
    endif()
  elseif(missing)
    set(reason "npm, which fetches its packages, is not there; ${missing}")
  endif()
endif()

if(reason)
  if(CORUN_REPORT STREQUAL "ON")
    message(FATAL_ERROR "CORUN_REPORT is ON, but the page of corun report cannot be made: ${reason}")
  endif()
  message(STATUS "corun report has no page in this build: ${reason}")
  set(CORUN_REPORT_PAGE report_page_none.cpp)
else()
  set(CORUN_REPORT_PAGE ${CMAKE_BINARY_DIR}/generated/report/report_page.cpp)
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
