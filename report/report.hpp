#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "support/json.hpp"

/// `corun report`: one HTML file from one results file (docs/report.md).
namespace corun::inline report {

/// Bounds of what a report holds, so that its file stays below 20 MB. What they cut is summed up, and the report says so.
struct ReportLimits {
  std::size_t timeline_bytes =
      11'500'000;  ///< of bars and figures of jobs; other policies are shown as shades
  std::size_t name_bytes = 2'500'000;  ///< of all job names; else jobs are numbers
  std::size_t points = 1500;           ///< of a scatter, per policy
  std::size_t curve_points = 400;      ///< of a distribution, per policy
  std::size_t group_rows =
      4'000'000;  ///< of /runs that groups of jobs are made of, whole replications
};

/// The data of a report, as web/src/data.js documents them. `path` is a results file of `corun replay`, `corun live
/// run` or `corun sweep`. Throws InputError, which begins with the path, if it is none, is damaged, is of another
/// schema version or contradicts itself.
Json report_json(const std::string& path, const ReportLimits& limits = {});

/// The data of a report of `corun validate`. `validation`: its JSON with the jobs of each run (web/src/sections/validation.js);
/// `title`: the runs' directory.
Json validation_report_json(Json validation, const std::string& title, std::uint64_t seed);

/// report_page(). InputError at `place` if this program was built without it.
std::string_view required_report_page(const std::string& place);

/// The page with the data in the place of its mark. The data are JSON in which "<" is written as an escape, so no text
/// of theirs can end the element that holds them. std::logic_error if the page has no mark.
std::string report_html(std::string_view page, const Json& data);

}  // namespace corun::inline report
