#pragma once

#include <string>

#include <curl/curl.h>

/// libcurl at run time: the calls that corun uses. It is loaded when a store in a bucket is opened: linked, its thirty
/// libraries would take half of the time of a small replay.
namespace corun::inline support {

struct CurlLibrary {
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_reset) easy_reset = nullptr;
  decltype(&::curl_easy_setopt) set = nullptr;
  decltype(&::curl_easy_perform) easy_perform = nullptr;
  decltype(&::curl_easy_getinfo) get = nullptr;
  decltype(&::curl_easy_cleanup) easy_cleanup = nullptr;
  decltype(&::curl_easy_strerror) easy_strerror = nullptr;
  decltype(&::curl_slist_append) slist_append = nullptr;
  decltype(&::curl_slist_free_all) slist_free_all = nullptr;

  /// Loads it once and keeps it. InputError, which begins with `flag`, if it is not installed or older than 7.75, the first
  /// that signs requests.
  static const CurlLibrary& loaded(const std::string& flag);
};

}  // namespace corun::inline support
