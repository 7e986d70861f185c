#include "traces/phase_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {

namespace {

const std::vector<CsvColumn> kPhaseColumns = {
    {"job"},          {"workload"},      {"solo_s"},       {"share"},       {"as"},
    {"gpu_util_pct"}, {"mem_alloc_pct"}, {"mem_time_pct"}, {"mem_used_mib"}};

constexpr NumberRule kPartOfWork{"a number of seconds", 0, kLongestSoloS, true};
constexpr NumberRule kShareOfWork{"a share of the job's work", 0, 1, true};

struct PhaseRow {
  double part = 0;  ///< [s], or a share
  Profile profile;
  std::string as;
  std::string place;
};

/// The rows of each job or workload, in their order.
struct PhaseRows {
  bool of_workloads = false;
  bool in_seconds = false;
  std::map<std::string, std::vector<PhaseRow>, std::less<>> rows;
};

/// The one of two columns that the header has.
CsvReader::Column one_of(const CsvReader& csv, const char* first, const char* second) {
  const auto a = csv.column(first);
  const auto b = csv.column(second);
  if (csv.has(a) != csv.has(b)) return csv.has(a) ? a : b;
  throw InputError(csv.name() + ":1:1", std::string("found ") +
                                            (csv.has(a) ? "both columns " : "neither column ") +
                                            first + (csv.has(a) ? " and " : " nor ") + second +
                                            ", expected one of the two");
}

PhaseRows read_rows(CsvReader& csv) {
  PhaseRows found;
  const auto name = one_of(csv, "job", "workload");
  const auto part = one_of(csv, "solo_s", "share");
  found.of_workloads = name == csv.column("workload");
  found.in_seconds = part == csv.column("solo_s");
  const auto as = csv.column("as");
  const auto gpu_util = csv.column("gpu_util_pct");
  const auto mem_alloc = csv.column("mem_alloc_pct");
  const auto mem_time = csv.column("mem_time_pct");
  const auto mem_used = csv.column("mem_used_mib");
  while (csv.next()) {
    PhaseRow row;
    const NumberRule& rule = found.in_seconds ? kPartOfWork : kShareOfWork;
    const std::optional<double> value = csv.number(part, rule);
    if (!value) csv.refuse(part, "the phase's part of the work");
    row.part = *value;
    row.profile.gpu_util_pct = csv.number(gpu_util, kShare);
    row.profile.mem_alloc_pct = csv.number(mem_alloc, kReserved);
    row.profile.mem_time_pct = csv.number(mem_time, kShare);
    row.profile.mem_used_mib = csv.number(mem_used, kMib);
    row.as = csv.text(as);
    row.place = csv.place(part);
    found
        .rows[std::string(
            csv.required_text(name, found.of_workloads ? "a workload" : "the name of a job"))]
        .push_back(std::move(row));
  }
  if (found.rows.empty()) {
    throw InputError(csv.name() + ":1:1", "no phases, expected a row for each");
  }
  return found;
}

/// The work of each phase [ns]: the last has what rounding leaves.
std::vector<Duration> works_of(const std::vector<PhaseRow>& rows, const TraceJob& job,
                               bool in_seconds) {
  double sum = 0;
  for (const PhaseRow& row : rows) sum += row.part;
  const double whole_s = to_seconds(job.spec.work);
  const double expected = in_seconds ? whole_s : 1;
  const double tolerance = in_seconds ? std::max(1e-3, 1e-9 * whole_s) : 1e-9;
  if (std::abs(sum - expected) > tolerance) {
    throw InputError(rows.back().place,
                     "the phases of job '" + printable(job.name) + "' add up to " +
                         csv_number(sum) +
                         (in_seconds ? " s, expected its solo_s " : ", expected ") +
                         csv_number(expected) + "; correct one of them");
  }
  std::vector<Duration> works;
  Duration left = job.spec.work;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const bool last = i + 1 == rows.size();
    const Duration work = last ? left : from_seconds(rows[i].part * whole_s / expected);
    if (work <= Duration::zero() || work > left) {
      throw InputError(rows[i].place,
                       "the phase has no work left in whole nanoseconds, expected at "
                       "least one; leave it out");
    }
    works.push_back(work);
    left -= work;
  }
  return works;
}

void give_phases(TraceJob& job, const std::vector<PhaseRow>& rows, bool in_seconds,
                 WorkloadKeys& keys, std::vector<TraceJob>& phases) {
  const std::vector<Duration> works = works_of(rows, job, in_seconds);
  const auto first = static_cast<std::uint32_t>(phases.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    TraceJob phase = job;
    phase.spec.work = works[i];
    Profile& own = phase.spec.profile;
    const Profile& given = rows[i].profile;
    const auto take = [](std::optional<double>& value, const std::optional<double>& other) {
      if (other) value = other;
    };
    take(own.gpu_util_pct, given.gpu_util_pct);
    take(own.mem_alloc_pct, given.mem_alloc_pct);
    take(own.mem_time_pct, given.mem_time_pct);
    take(own.mem_used_mib, given.mem_used_mib);
    if (!rows[i].as.empty()) phase.key = keys.of(rows[i].as);
    const double part =
        static_cast<double>(works[i].count()) / static_cast<double>(job.spec.work.count());
    for (JobOnType& on : phase.on_types) on.solo_s = scaled_solo_s(on.solo_s, part);
    phases.push_back(std::move(phase));
  }
  job.spec.first_phase = first;
  job.spec.phases = static_cast<std::uint32_t>(rows.size());
  job.spec.profile = phases[first].spec.profile;
}

void read_phases(CsvReader& csv, WorkloadKeys& keys, Trace& trace) {
  const PhaseRows read = read_rows(csv);
  std::size_t named = 0;
  std::map<std::string_view, bool> used;
  for (TraceJob& job : trace.jobs) {
    const std::string name = read.of_workloads ? std::string(keys.text(job.key)) : job.name;
    const auto rows = read.rows.find(name);
    if (rows == read.rows.end()) continue;
    used[rows->first] = true;
    ++named;
    if (job.spec.work == Duration::zero()) {
      throw InputError(rows->second.front().place, "job '" + printable(job.name) +
                                                       "' has no work, expected some for its "
                                                       "phases; leave them out");
    }
    give_phases(job, rows->second, read.in_seconds, keys, trace.phases);
  }
  for (const auto& [name, rows] : read.rows) {
    if (used.contains(name) || (read.of_workloads && named > 0)) continue;
    std::vector<std::string_view> known;
    for (const TraceJob& job : trace.jobs) {
      known.push_back(read.of_workloads ? keys.text(job.key) : std::string_view(job.name));
    }
    throw InputError(rows.front().place,
                     std::string(read.of_workloads ? "no job is of the workload '" : "no job '") +
                         printable(name) + "': " + did_you_mean(name, known));
  }
}

}  // namespace

void read_phases(const std::string& path, WorkloadKeys& keys, Trace& trace) {
  CsvReader csv(path, kPhaseColumns);
  read_phases(csv, keys, trace);
}

void read_phases(std::istream& in, const std::string& name, WorkloadKeys& keys, Trace& trace) {
  CsvReader csv(in, name, kPhaseColumns);
  read_phases(csv, keys, trace);
}

}  // namespace corun::inline traces
