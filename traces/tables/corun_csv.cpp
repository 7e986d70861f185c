#include "traces/tables/corun_csv.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>
#include <map>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/tables/faster_together.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kCorunColumns = {
    {"group", true},   {"gpu", true},     {"sharing", true}, {"session"},      {"job", true},
    {"gpu_util_pct"},  {"mem_alloc_pct"}, {"mem_time_pct"},  {"mem_used_mib"}, {"solo_s", true},
    {"corun_s", true}, {"isd"},           {"source"}};

constexpr NumberRule kCorunLength{"a number of seconds", 0, 9e7, true};
/// Co-runners do not slow a job that much: a greater ratio is a mistake of units.
constexpr double kSlowest = 1000;
constexpr NumberRule kIsd{"a slowdown as a fraction", -1};

/// Allowed relative difference of solo_s * (1 + isd) and corun_s: rounding to two digits passes, a
/// percentage in place of a fraction or another session's solo time does not.
constexpr double kIsdTolerance = 0.01;

/// Reads rows and closes a group when the next one begins.
class Builder {
 public:
  Builder(CsvReader& csv, std::string file_name, WorkloadKeys& keys)
      : csv_(csv), file_name_(std::move(file_name)), keys_(keys) {}

  CorunFile read() {
    while (csv_.next()) add_row();
    if (file_.measurements.empty()) {
      throw InputError(csv_.name() + ":1:1",
                       "no rows after the header, expected one per job and group; add "
                       "measurements");
    }
    close_group();
    check_units();
    file_.notes = faster_together_.notes(file_.measurements.size());
    return std::move(file_);
  }

 private:
  /// Profiles are percentages; a column of fractions would put all jobs into the cluster of idle jobs.
  void check_units() const {
    for (const auto& [name, feature] : {std::pair("gpu_util_pct", &Profile::gpu_util_pct),
                                        std::pair("mem_alloc_pct", &Profile::mem_alloc_pct),
                                        std::pair("mem_time_pct", &Profile::mem_time_pct)}) {
      std::vector<double> values;
      for (const CorunMeasurement& group : file_.measurements) {
        for (const CorunMember& member : group.members) {
          if (member.profile.*feature) values.push_back(*(member.profile.*feature));
        }
      }
      if (!looks_like_fractions(values)) continue;
      throw InputError(csv_.name() + ":1:1",
                       "all " + std::to_string(values.size()) + " values of column '" + name +
                           "' lie between 0 and 1, expected percentages: fractions? write percent");
    }
  }

  void add_row() {
    const std::string name(csv_.required_text(group_, "the name of a group"));
    const std::string session(csv_.text(session_));
    if (file_.measurements.empty() || name != file_.groups.back() ||
        session != file_.sessions.back()) {
      open_group(name, session);
    }
    CorunMeasurement& measurement = file_.measurements.back();
    agree(gpu_, measurement.gpu_type, csv_.required_text(gpu_, "a GPU type"));
    agree(sharing_, measurement.sharing, csv_.required_text(sharing_, "a sharing mode"));
    agree(source_, source_of_group_, csv_.text(source_));

    CorunMember member;
    member.workload = keys_.of(csv_.required_text(job_, "the name of a workload"));
    member.profile.gpu_util_pct = csv_.number(gpu_util_, kShare);
    member.profile.mem_alloc_pct = csv_.number(mem_alloc_, kReserved);
    member.profile.mem_time_pct = csv_.number(mem_time_, kShare);
    member.profile.mem_used_mib = csv_.number(mem_used_, kMib);
    member.solo_s = csv_.required_number(solo_, kCorunLength);
    member.corun_s = csv_.required_number(corun_, kCorunLength);
    if (member.corun_s > kSlowest * member.solo_s) {
      csv_.refuse(corun_,
                  "at most " + csv_number(kSlowest) + " times solo_s, which is " +
                      csv_number(member.solo_s),
                  "check the units: both are seconds");
    }
    check_isd(member);
    measurement.members.push_back(member);
  }

  void open_group(const std::string& name, const std::string& session) {
    close_group();
    const auto [first, is_new] = first_line_.emplace(std::pair(session, name), csv_.line());
    if (!is_new) {
      csv_.refuse(group_,
                  "the rows of a group to stand together, and this one began on line " +
                      std::to_string(first->second) + " and was followed by another",
                  "move the rows together, or give each group its own name");
    }
    CorunMeasurement measurement;
    measurement.gpu_type = csv_.required_text(gpu_, "a GPU type");
    measurement.sharing = csv_.required_text(sharing_, "a sharing mode");
    source_of_group_ = csv_.text(source_);
    measurement.source =
        source_of_group_.empty() ? file_name_ + " group " + name : source_of_group_;
    file_.measurements.push_back(std::move(measurement));
    file_.groups.push_back(name);
    file_.sessions.push_back(session);
    place_ = csv_.place(group_);
    line_ = csv_.line();
  }

  void close_group() {
    if (file_.measurements.empty()) return;
    const std::vector<CorunMember>& members = file_.measurements.back().members;
    if (std::ranges::all_of(
            members, [](const CorunMember& m) { return m.solo_s > kFasterTogether * m.corun_s; })) {
      faster_together_.add(place_);
    }
    if (members.size() > 1) return;
    throw InputError(place_, "group '" + printable(file_.groups.back()) +
                                 "' has one row, expected two or more jobs that ran together; a "
                                 "solo measurement does not belong here, remove the row");
  }

  void agree(CsvReader::Column column, const std::string& in_group, std::string_view found) const {
    if (found == in_group) return;
    csv_.refuse(column,
                "'" + printable(in_group) + "' as on line " + std::to_string(line_) +
                    ", where the group begins",
                "correct it, or give the row another group");
  }

  void check_isd(const CorunMember& member) const {
    const std::optional<double> given = csv_.number(isd_, kIsd);
    if (!given) return;
    const double difference_s = member.solo_s * (1 + *given) - member.corun_s;
    if (std::fabs(difference_s) <= kIsdTolerance * member.corun_s) return;
    // Four digits show the reader the right value; more digits were not measured.
    const double isd = (member.corun_s - member.solo_s) / member.solo_s;
    csv_.refuse(isd_,
                "about " + csv_number(std::round(isd * 1e4) / 1e4) +
                    ", the fraction (corun_s - solo_s) / solo_s of this row",
                "correct one of the three or leave isd empty");
  }

  CsvReader& csv_;
  std::string file_name_;
  WorkloadKeys& keys_;
  CorunFile file_;
  std::map<std::pair<std::string, std::string>, std::size_t> first_line_;
  std::string source_of_group_;
  FasterTogether faster_together_;
  std::string place_;  ///< of the first row of the open group
  std::size_t line_ = 0;

  const CsvReader::Column group_ = csv_.column("group");
  const CsvReader::Column gpu_ = csv_.column("gpu");
  const CsvReader::Column sharing_ = csv_.column("sharing");
  const CsvReader::Column session_ = csv_.column("session");
  const CsvReader::Column job_ = csv_.column("job");
  const CsvReader::Column gpu_util_ = csv_.column("gpu_util_pct");
  const CsvReader::Column mem_alloc_ = csv_.column("mem_alloc_pct");
  const CsvReader::Column mem_time_ = csv_.column("mem_time_pct");
  const CsvReader::Column mem_used_ = csv_.column("mem_used_mib");
  const CsvReader::Column solo_ = csv_.column("solo_s");
  const CsvReader::Column corun_ = csv_.column("corun_s");
  const CsvReader::Column isd_ = csv_.column("isd");
  const CsvReader::Column source_ = csv_.column("source");
};

std::string measured(const Profile& profile, const std::optional<double>& value) {
  return value && !profile.imputed ? csv_number(*value) : std::string();
}

}  // namespace

CorunFile read_corun_csv(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, kCorunColumns);
  return Builder(csv, std::filesystem::path(path).filename().string(), keys).read();
}

CorunFile read_corun_csv(std::istream& in, const std::string& name, WorkloadKeys& keys) {
  CsvReader csv(in, name, kCorunColumns);
  return Builder(csv, name, keys).read();
}

void write_corun_csv(std::ostream& out, const CorunFile& file, const WorkloadKeys& keys) {
  for (std::size_t i = 0; i < kCorunColumns.size(); ++i)
    out << (i > 0 ? "," : "") << kCorunColumns[i].name;
  out << '\n';
  for (std::size_t i = 0; i < file.measurements.size(); ++i) {
    const CorunMeasurement& measurement = file.measurements[i];
    const std::string group = file.groups.empty() ? std::to_string(i + 1) : file.groups[i];
    const std::string session = file.sessions.empty() ? std::string() : file.sessions[i];
    for (const CorunMember& member : measurement.members) {
      const Profile& profile = member.profile;
      out << csv_text(group) << ',' << csv_text(measurement.gpu_type) << ','
          << csv_text(measurement.sharing) << ',' << csv_text(session) << ','
          << csv_text(keys.text(member.workload)) << ',' << measured(profile, profile.gpu_util_pct)
          << ',' << measured(profile, profile.mem_alloc_pct) << ','
          << measured(profile, profile.mem_time_pct) << ','
          << measured(profile, profile.mem_used_mib) << ',' << csv_number(member.solo_s) << ','
          << csv_number(member.corun_s) << ','
          << csv_number((member.corun_s - member.solo_s) / member.solo_s) << ','
          << csv_text(measurement.source) << '\n';
    }
  }
}

std::array<double, 2> speeds_of_pair(const CorunMeasurement& pair) {
  const std::size_t i = pair.members[0].corun_s <= pair.members[1].corun_s ? 0 : 1;
  const CorunMember& first = pair.members[i];
  const CorunMember& last = pair.members[1 - i];
  std::array<double, 2> speeds{};
  speeds[i] = first.solo_s / first.corun_s;
  speeds[1 - i] = (last.solo_s - (last.corun_s - first.corun_s)) / first.corun_s;
  return speeds;
}

}  // namespace corun::inline traces
