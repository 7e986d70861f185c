#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "traces/csv_reader.hpp"
#include "traces/trace_builder.hpp"
#include "traces/workload_names.hpp"

/// Logs whose columns differ from corun's own job trace in names and units only: each is a row of
/// log_profiles.csv, which is compiled in, so a new log needs no C++.
///
///   name     of the format, for --format-name and workload.source
///   has      columns by which it is known, joined by commas: a file with all of them in its header and without
///            those after '!'
///   columns  as --columns takes them (parse_renamed_columns(), traces/job_csv.hpp)
///   title    the data set, units and zone, for `corun list traces`
namespace corun::inline traces {

struct LogProfile {
  std::string name;
  std::vector<std::string> has;
  std::vector<RenamedColumn> columns;
  std::string title;
};

/// InputError for a file of another form, for a name that comes twice, and for columns that --columns refuses.
std::vector<LogProfile> parse_log_profiles(std::istream& in, const std::string& name);

/// The built-in profiles, then those of the file that the environment variable CORUN_LOG_PROFILES names, which may
/// not repeat a name. Read at the first call; InputError for a wrong file.
std::span<const LogProfile> log_profiles();

bool looks_like_log(const TraceHead& head, const LogProfile& profile);

/// read_job_csv() with the profile's columns, without those that the file lacks but submit_s, solo_s and gpus. `own`: of
/// the user; they replace the profile's columns of the same meaning or name.
Trace read_log(const std::string& path, const LogProfile& profile, WorkloadKeys& keys,
               const LogRules& rules, const std::vector<RenamedColumn>& own = {});

/// The profile of a known log of which the user names some columns and not both times; else nullptr.
const LogProfile* profile_beside(const std::string& path, const std::vector<RenamedColumn>& own);

}  // namespace corun::inline traces
