#include "support/objects/s3_store.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <new>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "support/objects/curl_library.hpp"
#include "support/objects/s3_answer.hpp"

namespace corun::inline support {

namespace {

constexpr std::string_view kScheme = "s3://";
/// Of an answer [bytes]: more than any chunk has.
constexpr std::size_t kAnswerMax = std::size_t{1} << 30U;

/// Where a bucket is, and who asks.
struct S3Access {
  std::string endpoint;  ///< "https://HOST:PORT"
  std::string region;
  std::string key;
  std::string secret;
  std::string token;  ///< of temporary credentials; else empty
  std::string bucket;
  std::string prefix;  ///< before the names of objects: empty or ends with '/'
};

std::string environment(std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const char* value = std::getenv(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return "";
}

S3Access access_to(const std::string& place, const std::string& flag) {
  S3Access access;
  const std::string rest = place.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  access.bucket = rest.substr(0, slash);
  access.prefix = rest.substr(std::min(slash + 1, rest.size()));
  if (!access.prefix.empty() && !access.prefix.ends_with('/')) access.prefix += '/';
  const auto in_name = [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == '_';
  };
  constexpr std::size_t kPrefixMax = 900;  // an object's whole name has at most 1024 bytes
  const std::string segments = "/" + access.prefix;
  if (access.bucket.empty() || !std::ranges::all_of(access.bucket, in_name) ||
      access.prefix.size() > kPrefixMax ||
      find_bad_text(access.prefix, false) != access.prefix.size() ||
      segments.find("/./") != std::string::npos || segments.find("/../") != std::string::npos ||
      (!access.prefix.empty() && segments.find("//") != std::string::npos)) {
    throw InputError(
        flag, "found '" + printable(place) + "', expected s3://BUCKET or s3://BUCKET/PREFIX");
  }
  access.region = environment({"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (access.region.empty()) access.region = "us-east-1";
  if (!std::ranges::all_of(access.region, in_name)) {
    throw InputError("AWS_REGION", "found '" + printable(access.region) +
                                       "', expected a name of letters, digits and '-'");
  }
  access.endpoint = environment({"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (access.endpoint.empty()) access.endpoint = "https://s3." + access.region + ".amazonaws.com";
  while (access.endpoint.ends_with('/')) access.endpoint.pop_back();
  const bool has_scheme =
      access.endpoint.starts_with("http://") || access.endpoint.starts_with("https://");
  if (!has_scheme || access.endpoint.find_first_of(" ?#@") != std::string::npos ||
      find_bad_text(access.endpoint, false) != access.endpoint.size()) {
    throw InputError("AWS_ENDPOINT_URL", "found '" + printable(access.endpoint) +
                                             "', expected a URL such as http://127.0.0.1:9000");
  }
  access.key = environment({"AWS_ACCESS_KEY_ID"});
  access.secret = environment({"AWS_SECRET_ACCESS_KEY"});
  access.token = environment({"AWS_SESSION_TOKEN"});
  if (access.key.empty() || access.secret.empty()) {
    throw InputError(flag,
                     "a bucket needs credentials; set the environment variables AWS_ACCESS_KEY_ID "
                     "and AWS_SECRET_ACCESS_KEY");
  }
  return access;
}

struct S3Request {
  const char* method = "GET";
  std::string name = {};   ///< of the object, without the prefix; empty: of the bucket
  std::string query = {};  ///< sorted and encoded
  std::string_view body = {};
  bool only_if_new = false;
  const char* done = "read";  ///< for messages: "cannot be read"
};

struct S3Reply {
  long status = 0;  ///< of HTTP; 0 if there was no answer
  std::string body;
  std::string reason;  ///< why there was none
  bool again = false;  ///< another attempt may succeed
  int attempts = 0;
};

std::size_t take_bytes(char* data, std::size_t size, std::size_t count, void* into) {
  auto& body = *static_cast<std::string*>(into);
  if (body.size() + size * count > kAnswerMax) return 0;
  try {
    body.append(data, size * count);
  } catch (const std::bad_alloc&) {
    return 0;  // an exception may not pass through libcurl
  }
  return size * count;
}

bool may_pass(CURLcode code) {
  constexpr std::array kPassing{CURLE_COULDNT_RESOLVE_PROXY,
                                CURLE_COULDNT_RESOLVE_HOST,
                                CURLE_COULDNT_CONNECT,
                                CURLE_OPERATION_TIMEDOUT,
                                CURLE_SEND_ERROR,
                                CURLE_RECV_ERROR,
                                CURLE_GOT_NOTHING,
                                CURLE_PARTIAL_FILE,
                                CURLE_SSL_CONNECT_ERROR,
                                CURLE_HTTP2,
                                CURLE_HTTP2_STREAM};
  return std::ranges::find(kPassing, code) != kPassing.end();
}

/// A handle of libcurl keeps its connection open, and may be used by one thread at a time.
class CurlHandles {
 public:
  explicit CurlHandles(const CurlLibrary& curl) : curl_(curl) {}
  ~CurlHandles() {
    for (CURL* handle : idle_) curl_.easy_cleanup(handle);
  }
  CurlHandles(const CurlHandles&) = delete;
  CurlHandles& operator=(const CurlHandles&) = delete;

  CURL* take() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return curl_.easy_init();
    CURL* handle = idle_.back();
    idle_.pop_back();
    return handle;
  }
  void give_back(CURL* handle) {
    if (handle == nullptr) return;
    const std::lock_guard lock(mutex_);
    idle_.push_back(handle);
  }

 private:
  const CurlLibrary& curl_;
  std::mutex mutex_;
  std::vector<CURL*> idle_;
};

class S3Store final : public ObjectStore {
 public:
  S3Store(std::string place, S3Access access, const CurlLibrary& curl)
      : place_(std::move(place)), access_(std::move(access)), curl_(curl), handles_(curl) {
    while (place_.ends_with('/')) place_.pop_back();
  }

  const std::string& place() const override { return place_; }

  void check() { static_cast<void>(page("", "", 1)); }

  std::vector<std::string> list(std::string_view prefix) override {
    std::vector<std::string> names;
    std::string next;
    do {
      constexpr int kPage = 1000;  // the most that a server gives
      S3Listing listing = page(prefix, next, kPage);
      for (std::string& key : listing.keys) {
        if (!key.starts_with(access_.prefix)) continue;
        key.erase(0, access_.prefix.size());
        // As in a folder: what lies deeper is not of this store.
        if (key.find('/') == std::string::npos) names.push_back(std::move(key));
      }
      next = std::move(listing.next);
    } while (!next.empty());
    std::ranges::sort(names);
    return names;
  }

  std::optional<std::string> get(const std::string& name) override {
    const S3Request request{.name = name};
    S3Reply reply = send(request);
    if (reply.status == kOk) return std::move(reply.body);
    if (reply.status == kMissing && s3_element(reply.body, "Code") != "NoSuchBucket") {
      return std::nullopt;
    }
    throw error_of(request, reply);
  }

  bool has(const std::string& name) override {
    const S3Request request{.method = "HEAD", .name = name};
    const S3Reply reply = send(request);
    if (reply.status == kOk) return true;
    if (reply.status == kMissing) return false;
    throw error_of(request, reply);
  }

  bool put_once(const std::string& name, std::string_view bytes) override {
    // A look first, for servers that ignore the condition.
    if (has(name)) return false;
    if (is_conditional_) {
      const S3Request request{
          .method = "PUT", .name = name, .body = bytes, .only_if_new = true, .done = "written"};
      const S3Reply reply = send(request);
      if (reply.status == kOk) return true;
      if (reply.status == kThereIsOne) {
        // The answer to an earlier attempt may have been lost: then the object is this one.
        return reply.attempts > 1 && get(name) == bytes;
      }
      if (reply.status != kNotImplemented && reply.status != kBadRequest) {
        throw error_of(request, reply);
      }
      is_conditional_ = false;
    }
    put(name, bytes);
    return true;
  }

  void put(const std::string& name, std::string_view bytes) override {
    const S3Request request{.method = "PUT", .name = name, .body = bytes, .done = "written"};
    const S3Reply reply = send(request);
    if (reply.status != kOk) throw error_of(request, reply);
  }

  void remove(const std::string& name) override {
    const S3Request request{.method = "DELETE", .name = name, .done = "removed"};
    const S3Reply reply = send(request);
    if (reply.status == kOk || reply.status == kRemoved || reply.status == kMissing) return;
    throw error_of(request, reply);
  }

 private:
  static constexpr long kOk = 200;
  static constexpr long kRemoved = 204;
  static constexpr long kBadRequest = 400;
  static constexpr long kForbidden = 403;
  static constexpr long kMissing = 404;
  static constexpr long kConflict = 409;
  static constexpr long kThereIsOne = 412;
  static constexpr long kTooMany = 429;
  static constexpr long kServerError = 500;
  static constexpr long kNotImplemented = 501;

  /// A page of the names, prefixes included.
  S3Listing page(std::string_view prefix, const std::string& next, int most) {
    S3Request request{.done = "listed"};
    if (!next.empty()) request.query += "continuation-token=" + s3_encoded(next, false) + "&";
    request.query += fmt::format("list-type=2&max-keys={}", most);
    const std::string whole = access_.prefix + std::string(prefix);
    if (!whole.empty()) request.query += "&prefix=" + s3_encoded(whole, false);
    const S3Reply reply = send(request);
    if (reply.status != kOk) throw error_of(request, reply);
    std::optional<S3Listing> listing = s3_listing(reply.body);
    if (!listing || (!next.empty() && listing->next == next)) {
      throw InputError(place_, "cannot be listed: the answer of " + access_.endpoint +
                                   " is no listing; does AWS_ENDPOINT_URL name an S3 server?");
    }
    return std::move(*listing);
  }

  /// Attempts a request until it does not fail by fault of the way or the server.
  S3Reply send(const S3Request& request) {
    constexpr int kAttempts = 8;
    constexpr int kAttemptsAtFirst = 3;
    constexpr std::chrono::duration<double> kFirstWait{0.2};
    // Workers that failed together shall not come back together.
    std::minstd_rand draw(std::random_device{}());
    std::uniform_real_distribution<double> share(0.5, 1.0);
    auto wait = kFirstWait;
    for (int attempt = 1;; ++attempt) {
      S3Reply reply = attempt_of(request);
      reply.attempts = attempt;
      if (reply.status != 0 && !reply.again) answered_ = true;
      const int most = answered_ ? kAttempts : kAttemptsAtFirst;
      if (!reply.again || attempt >= most) return reply;
      std::this_thread::sleep_for(wait * share(draw));
      wait *= 2;
    }
  }

  S3Reply attempt_of(const S3Request& request) {
    CURL* handle = handles_.take();
    if (handle == nullptr) throw std::bad_alloc();
    S3Reply reply;
    curl_slist* headers = nullptr;
    const auto add = [&](const std::string& line) {
      headers = curl_.slist_append(headers, line.c_str());
    };
    add("x-amz-content-sha256: " + sha256_of_text(request.body));
    if (!access_.token.empty()) add("x-amz-security-token: " + access_.token);
    if (request.only_if_new) add("If-None-Match: *");
    curl_.easy_reset(handle);
    std::string url = access_.endpoint + "/" + access_.bucket;
    if (!request.name.empty()) url += "/" + s3_encoded(access_.prefix + request.name, true);
    if (!request.query.empty()) url += "?" + request.query;
    const std::string scope = "aws:amz:" + access_.region + ":s3";
    constexpr long kConnect_s = 10;
    constexpr long kStalled_s = 30;
    curl_.set(handle, CURLOPT_URL, url.c_str());
    curl_.set(handle, CURLOPT_AWS_SIGV4, scope.c_str());
    curl_.set(handle, CURLOPT_USERNAME, access_.key.c_str());
    curl_.set(handle, CURLOPT_PASSWORD, access_.secret.c_str());
    curl_.set(handle, CURLOPT_NOSIGNAL, 1L);
    curl_.set(handle, CURLOPT_CONNECTTIMEOUT, kConnect_s);
    curl_.set(handle, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_.set(handle, CURLOPT_LOW_SPEED_TIME, kStalled_s);
    curl_.set(handle, CURLOPT_WRITEFUNCTION, &take_bytes);
    curl_.set(handle, CURLOPT_WRITEDATA, &reply.body);
    const std::string_view method = request.method;
    if (method == "HEAD") {
      curl_.set(handle, CURLOPT_NOBODY, 1L);
    } else if (method == "PUT") {
      add("Content-Type: application/octet-stream");
      curl_.set(handle, CURLOPT_CUSTOMREQUEST, request.method);
      curl_.set(handle, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
      curl_.set(handle, CURLOPT_POSTFIELDS, request.body.data());
    } else if (method == "DELETE") {
      curl_.set(handle, CURLOPT_CUSTOMREQUEST, request.method);
    }
    curl_.set(handle, CURLOPT_HTTPHEADER, headers);
    const CURLcode code = curl_.easy_perform(handle);
    if (code == CURLE_OK) {
      curl_.get(handle, CURLINFO_RESPONSE_CODE, &reply.status);
      reply.again = reply.status == kConflict || reply.status == kTooMany ||
                    (reply.status >= kServerError && reply.status != kNotImplemented);
    } else {
      reply.reason = curl_.easy_strerror(code);
      reply.again = may_pass(code);
    }
    curl_.slist_free_all(headers);
    handles_.give_back(handle);
    return reply;
  }

  InputError error_of(const S3Request& request, const S3Reply& reply) const {
    const std::string where = place_ + (request.name.empty() ? "" : "/" + request.name);
    std::string text = fmt::format("cannot be {}: ", request.done);
    if (reply.status == 0) {
      text +=
          fmt::format("{} ({}, {} attempt{}); check AWS_ENDPOINT_URL and the network", reply.reason,
                      printable(access_.endpoint), reply.attempts, reply.attempts == 1 ? "" : "s");
      return {where, text};
    }
    const std::string code = s3_element(reply.body, "Code");
    const std::string message = s3_element(reply.body, "Message");
    text += fmt::format("the server answers {}", reply.status);
    if (!code.empty()) text += " " + printable(code);
    if (!message.empty()) text += " (" + printable(message, 200) + ")";
    if (reply.status == kForbidden) {
      text +=
          "; check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_REGION and this machine's clock";
    } else if (code == "NoSuchBucket") {
      text += "; make the bucket first";
    } else if (reply.status / 100 == 3) {
      text += "; set AWS_REGION or AWS_ENDPOINT_URL to the bucket's";
    } else if (reply.again) {
      text += fmt::format(", in {} attempts; try again later", reply.attempts);
    }
    return {where, text};
  }

  std::string place_;
  S3Access access_;
  const CurlLibrary& curl_;
  CurlHandles handles_;
  std::atomic<bool> answered_{false};       ///< the server has, once
  std::atomic<bool> is_conditional_{true};  ///< the server has conditional puts, or ignores them
};

}  // namespace

bool is_s3_place(std::string_view place) { return place.starts_with(kScheme); }

std::unique_ptr<ObjectStore> open_s3_store(const std::string& place, const std::string& flag) {
  auto store = std::make_unique<S3Store>(place, access_to(place, flag), CurlLibrary::loaded(flag));
  store->check();
  return store;
}

}  // namespace corun::inline support
