# Defines corun_curl_headers: libcurl's declarations. The library itself is loaded when a store in a bucket is opened.
find_path(CURL_INCLUDE_DIR curl/curl.h REQUIRED)
add_library(corun_curl_headers INTERFACE)
target_include_directories(corun_curl_headers SYSTEM INTERFACE ${CURL_INCLUDE_DIR})
