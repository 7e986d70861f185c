#include "support/objects/curl_library.hpp"

#include <optional>

#include <dlfcn.h>

#include "sim/error.hpp"

namespace corun::inline support {

namespace {

constexpr unsigned kSignsSince = 0x074B00;  // 7.75.0

/// Nothing if there is none that signs requests.
std::optional<CurlLibrary> load_curl() {
  void* library = nullptr;
  for (const char* file : {"libcurl.so.4", "libcurl-gnutls.so.4"}) {
    if (library == nullptr) library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) return std::nullopt;
  CurlLibrary curl;
  bool all = true;
  const auto find = [&](auto& function, const char* symbol) {
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, symbol));
    all = all && function != nullptr;
  };
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_version_info) version_info = nullptr;
  find(global_init, "curl_global_init");
  find(version_info, "curl_version_info");
  find(curl.easy_init, "curl_easy_init");
  find(curl.easy_reset, "curl_easy_reset");
  find(curl.set, "curl_easy_setopt");
  find(curl.easy_perform, "curl_easy_perform");
  find(curl.get, "curl_easy_getinfo");
  find(curl.easy_cleanup, "curl_easy_cleanup");
  find(curl.easy_strerror, "curl_easy_strerror");
  find(curl.slist_append, "curl_slist_append");
  find(curl.slist_free_all, "curl_slist_free_all");
  if (!all || global_init(CURL_GLOBAL_ALL) != CURLE_OK) return std::nullopt;
  if (version_info(CURLVERSION_NOW)->version_num < kSignsSince) return std::nullopt;
  return curl;
}

}  // namespace

const CurlLibrary& CurlLibrary::loaded(const std::string& flag) {
  static const std::optional<CurlLibrary> curl = load_curl();
  if (curl) return *curl;
  throw InputError(
      flag,
      "a store in a bucket needs libcurl 7.75 or newer, which cannot be loaded; install "
      "it (Debian: libcurl4)");
}

}  // namespace corun::inline support
