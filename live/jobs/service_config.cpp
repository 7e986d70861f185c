#include "live/jobs/service_config.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <vector>

#include <fmt/format.h>

#include "live/jobs/yaml_fields.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/requests/request_trace.hpp"

namespace corun::live {

namespace {

constexpr double kMostPerSecond = 1e5;
constexpr double kMostServiceSeconds = 1e6;

/// A number, or [[0, 10], [20, 50]]: 10 requests per second, and 50 from 20 s on.
StepFunction rate_of(const YamlNode& node) {
  const std::string what = "a number of requests per second";
  if (node.kind != YamlNode::Kind::kSequence) {
    return StepFunction(number_of(node, 0, kMostPerSecond, what));
  }
  std::vector<Step> steps;
  for (const YamlNode& child : node.children) {
    if (child.kind != YamlNode::Kind::kSequence || child.children.size() != 2) {
      refuse(child, "[SECONDS, REQUESTS_PER_SECOND]");
    }
    const double begin_s =
        number_of(child.children[0], 0, kMostServiceSeconds, "a number of seconds");
    if (steps.empty() ? begin_s != 0 : from_seconds(begin_s) <= steps.back().begin) {
      refuse(child.children[0], steps.empty() ? "0, the begin of the load"
                                              : "a later time than that of the rate before");
    }
    steps.push_back({from_seconds(begin_s), number_of(child.children[1], 0, kMostPerSecond, what)});
  }
  if (steps.empty()) refuse(node, what + ", or a list of [SECONDS, REQUESTS_PER_SECOND]");
  return StepFunction(std::move(steps));
}

void read_trace(const YamlNode& map, const YamlNode& file, const std::string& directory,
                LiveService& service) {
  const std::filesystem::path path = line_of(file, "a trace of requests");
  std::error_code error;
  const std::filesystem::path beside = std::filesystem::path(directory) / path;
  service.trace_file = std::filesystem::exists(beside, error) ? beside.string() : path.string();
  double factor = 1;
  if (const YamlNode* given = map.find("rate_factor")) {
    factor = number_of(*given, 1e-6, 1e6, "a factor");
    if (factor < 1e-6) refuse(*given, "a factor of 0.000001 or more");
  }
  TraceRequests source(read_request_trace(service.trace_file).arrivals, factor);
  const Time last = source.last();
  const YamlNode* seconds = map.find("seconds");
  for (std::vector<Time> piece(4096);;) {
    const std::size_t got = source.next(piece);
    service.trace.insert(service.trace.end(), piece.begin(),
                         piece.begin() + static_cast<std::ptrdiff_t>(got));
    if (got < piece.size()) break;
  }
  if (seconds == nullptr) {
    // Repeated, the first request comes as long after the last one as requests come on average.
    const auto gaps = static_cast<std::int64_t>(std::max<std::size_t>(service.trace.size(), 2) - 1);
    service.load.end = last + std::max(last / gaps, Duration{std::chrono::milliseconds{1}});
    return;
  }
  std::erase_if(service.trace, [&](Time t) { return t >= service.load.end; });
  if (service.trace.empty()) {
    refuse(*seconds, fmt::format("more than {:g} s, the first arrival of {}", to_seconds(last),
                                 printable(service.trace_file)));
  }
}

std::string path_of(const YamlNode& node) {
  std::string path = line_of(node, "a path, such as /predict");
  const auto plain = [](unsigned char c) { return c > ' ' && c < 127; };
  if (!path.starts_with('/') || path.size() > 2000 || !std::ranges::all_of(path, plain)) {
    refuse(node, "a path that begins with '/', of ASCII characters without spaces");
  }
  return path;
}

}  // namespace

LiveService read_live_service(const YamlNode& map, const std::string& directory) {
  check_keys(map, "a map: {rate_per_s: 20, seconds: 30, goal_ms: 100}",
             {"rate_per_s", "spacing", "requests", "rate_factor", "seconds", "goal_ms",
              "percentile", "path", "body", "port", "timeout_ms", "ready_s", "open"});
  LiveService service;
  const auto missing = [&](const std::string& key, const std::string& example) {
    throw InputError(map.key_place(), "a service without " + key + "; add " + example);
  };
  const YamlNode* rate = map.find("rate_per_s");
  const YamlNode* trace = map.find("requests");
  if ((rate == nullptr) == (trace == nullptr)) {
    missing("a load", "either rate_per_s: 20, or requests: FILE, a trace of requests");
  }
  if (const YamlNode* seconds = map.find("seconds")) {
    const double s = number_of(*seconds, 0, kMostServiceSeconds, "a number of seconds");
    if (s < 1e-3) refuse(*seconds, "a number of seconds above 0.001");
    service.load.end = from_seconds(s);
  } else if (rate != nullptr) {
    missing("a length", "seconds: 30, the length of its load");
  }
  if (rate != nullptr) {
    service.load.per_s = rate_of(*rate);
    if (const YamlNode* given = map.find("rate_factor")) {
      throw InputError(given->key_place(), "is for a trace, `requests`; leave it out");
    }
    if (const YamlNode* spacing = map.find("spacing")) {
      const std::string text = line_of(*spacing, "poisson or even");
      if (text != "poisson" && text != "even") refuse(*spacing, "poisson or even");
      service.spacing = text == "even" ? Spacing::kEven : Spacing::kPoisson;
    }
    const double requests = mean_rate(service.load) * to_seconds(service.load.end);
    if (requests > static_cast<double>(kMostLiveRequests)) {
      throw InputError(rate->place(),
                       fmt::format("gives {:.3g} requests, expected {} at most; lower the rate, or "
                                   "the seconds",
                                   requests, kMostLiveRequests));
    }
    if (requests == 0) refuse(*rate, "a rate above 0");
  } else {
    if (const YamlNode* given = map.find("spacing")) {
      throw InputError(given->key_place(),
                       "is for rate_per_s: a trace has its times; leave it out");
    }
    read_trace(map, *trace, directory, service);
  }
  const YamlNode* goal = map.find("goal_ms");
  if (goal == nullptr) missing("a goal", "goal_ms: 100, the latency that its requests should have");
  const auto milliseconds = [](const YamlNode& node) {
    const double ms = number_of(node, 0, 1e9, "a number of ms");
    if (ms < 1e-3) refuse(node, "a number of ms above 0.001");
    return from_seconds(ms * 1e-3);
  };
  service.goal = milliseconds(*goal);
  if (const YamlNode* node = map.find("percentile")) {
    service.percentile = number_of(*node, 0, 100, "a percentile");
  }
  if (const YamlNode* node = map.find("path")) service.path = path_of(*node);
  if (const YamlNode* node = map.find("body")) {
    service.body = line_of(*node, "the text of a request, in one line");
  }
  const auto whole = [](const YamlNode& node, double min, double max, const std::string& what) {
    const double value = number_of(node, min, max, what);
    if (value != std::floor(value)) refuse(node, what + ", whole");
    return static_cast<int>(value);
  };
  if (const YamlNode* node = map.find("port")) {
    service.port = whole(*node, 1, 65535, "the number of a port");
  }
  if (const YamlNode* node = map.find("timeout_ms")) service.timeout = milliseconds(*node);
  if (const YamlNode* node = map.find("ready_s")) {
    service.ready = from_seconds(number_of(*node, 0, 1e6, "a number of seconds"));
  }
  if (const YamlNode* node = map.find("open")) {
    service.most_open = whole(*node, 1, 10'000, "a number of requests");
  }
  return service;
}

}  // namespace corun::live
