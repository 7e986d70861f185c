#include "report/report.hpp"

#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include <fmt/format.h>

#include "report/report_page.hpp"
#include "report/report_replay.hpp"
#include "report/report_source.hpp"
#include "report/report_sweep.hpp"
#include "results/results_header.hpp"
#include "runner/sweep/sweep_results.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/build_info.hpp"

namespace corun::inline report {

namespace {

constexpr int kFormat = 1;  ///< FORMAT of web/src/data.js
constexpr const char* kReplayKind = "corun results";

void check_schema(const ReportSource& source, int expected) {
  const std::int64_t schema = hdf5::read_integer_attribute(source.root(), "schema_version");
  if (schema == expected) return;
  throw InputError(source.path(),
                   fmt::format("has schema version {}, this corun reads {}", schema, expected));
}

Json read(const std::string& path, const ReportLimits& limits) {
  Json out;
  out["format"] = kFormat;
  {
    const std::lock_guard lock(hdf5::hdf5_mutex());
    hdf5::silence_hdf5();
    const ReportSource source(path);
    const bool sweep = source.kind() == kSweepResultsKind;
    if (!sweep && source.kind() != kReplayKind) {
      throw InputError(path, "holds '" + printable(source.kind()) +
                                 "', expected the results of corun replay, live run or sweep");
    }
    check_schema(source, sweep ? kSweepSchemaVersion : kResultsSchemaVersion);
    out["kind"] = sweep ? "sweep" : source.measured_on().empty() ? "replay" : "live";
    out["source"] = source.header();
    out["warnings"] = source.warnings();
    out["metrics"] = metrics_json();
    if (!sweep) {
      add_replay(source, limits, out);
      return out;
    }
  }
  add_sweep(path, out);
  return out;
}

}  // namespace

Json report_json(const std::string& path, const ReportLimits& limits) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    throw InputError(
        path,
        "no such file, expected the results of corun replay, live run or sweep; check the path");
  }
  try {
    return read(path, limits);
  } catch (const std::runtime_error& e) {
    if (dynamic_cast<const InputError*>(&e) != nullptr) throw;
    // The library's words about a table or column that is not there.
    throw InputError(
        path, fmt::format("{}; it is not as corun writes it, or of another version", e.what()));
  }
}

std::string_view required_report_page(const std::string& place) {
  const std::string_view page = report_page();
  if (page.empty()) {
    throw InputError(place,
                     "this corun was built without the page of reports, which Node.js makes: "
                     "apt-get install nodejs npm, then ./run build (docs/report.md)");
  }
  return page;
}

Json validation_report_json(Json validation, const std::string& title, std::uint64_t seed) {
  Json out;
  out["format"] = kFormat;
  out["kind"] = "validation";
  out["source"] = {{"file", title},
                   {"workload", title},
                   {"corun", version()},
                   {"commit", commit()},
                   {"seed", fmt::format("{}", seed)},
                   {"replications", 1}};
  out["validation"] = std::move(validation);
  return out;
}

std::string report_html(std::string_view page, const Json& data) {
  constexpr std::string_view kMark = "@DATA@";
  const std::size_t at = page.find(kMark);
  if (at == std::string_view::npos)
    throw std::logic_error("the page of reports has no mark for its data");
  const std::string json = json_line(data);
  std::string out(page.substr(0, at));
  out.reserve(page.size() + json.size() + json.size() / 64);
  for (const char c : json) {
    if (c == '<') {
      out += "\\u003c";
    } else {
      out += c;
    }
  }
  out += page.substr(at + kMark.size());
  return out;
}

}  // namespace corun::inline report
