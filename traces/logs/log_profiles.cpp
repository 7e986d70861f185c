#include "traces/logs/log_profiles.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>

#include "log_profiles_text.hpp"  // made from log_profiles.csv
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/input_file.hpp"
#include "traces/job_csv.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kColumns = {
    {"name", true}, {"has", true}, {"columns", true}, {"title", true}};

void add(std::istream& in, const std::string& name, std::vector<LogProfile>& profiles) {
  CsvReader csv(in, name, kColumns);
  const auto profile_name = csv.column("name");
  const auto has = csv.column("has");
  const auto columns = csv.column("columns");
  const auto title = csv.column("title");
  while (csv.next()) {
    LogProfile profile;
    profile.name = csv.required_text(profile_name, "the name of a format");
    if (std::ranges::find(profiles, profile.name, &LogProfile::name) != profiles.end()) {
      csv.refuse(profile_name, "names that differ", "rename it");
    }
    std::istringstream names{std::string(csv.required_text(has, "names of columns"))};
    for (std::string column; std::getline(names, column, ',');) {
      profile.has.emplace_back(trimmed(column));
    }
    profile.columns = parse_renamed_columns(
        std::string(csv.required_text(columns, "columns as --columns takes them")),
        csv.place(columns));
    profile.title = csv.text(title);
    profiles.push_back(std::move(profile));
  }
}

std::vector<LogProfile> all_profiles() {
  std::vector<LogProfile> profiles;
  std::istringstream built_in{std::string(kLogProfilesText)};
  add(built_in, "log_profiles.csv", profiles);
  if (const char* path = std::getenv("CORUN_LOG_PROFILES"); path != nullptr && *path != '\0') {
    const auto in = open_input(path, "a file of log profiles (CORUN_LOG_PROFILES)");
    add(*in, shown_path(path), profiles);
  }
  return profiles;
}

}  // namespace

std::vector<LogProfile> parse_log_profiles(std::istream& in, const std::string& name) {
  std::vector<LogProfile> profiles;
  add(in, name, profiles);
  return profiles;
}

std::span<const LogProfile> log_profiles() {
  static const std::vector<LogProfile> profiles = all_profiles();
  return profiles;
}

bool looks_like_log(const TraceHead& head, const LogProfile& profile) {
  const std::string_view line = first_line(head.text);
  const std::vector<std::string> names = names_in(line, separator_of(line));
  return std::ranges::all_of(profile.has, [&](const std::string& column) {
    const bool lacks = column.starts_with('!');
    return (std::ranges::find(names, column.substr(lacks ? 1 : 0)) != names.end()) != lacks;
  });
}

const LogProfile* profile_beside(const std::string& path, const std::vector<RenamedColumn>& own) {
  const auto names = [&](std::string_view ours) {
    return std::ranges::find(own, ours, &RenamedColumn::ours) != own.end();
  };
  std::error_code error;
  if (own.empty() || (names("submit_s") && names("solo_s")) ||
      !std::filesystem::is_regular_file(path, error)) {
    return nullptr;
  }
  const TraceHead head{path, first_bytes(path, "a CSV file")};
  for (const LogProfile& profile : log_profiles()) {
    if (looks_like_log(head, profile)) return &profile;
  }
  return nullptr;
}

Trace read_log(const std::string& path, const LogProfile& profile, WorkloadKeys& keys,
               const LogRules& rules, const std::vector<RenamedColumn>& own) {
  std::vector<RenamedColumn> columns = profile.columns;
  std::erase_if(columns, [&](const RenamedColumn& c) {
    return std::ranges::any_of(own, [&](const RenamedColumn& mine) {
      return mine.ours == c.ours || mine.theirs == c.theirs;
    });
  });
  // Columns that the profile does not name mean nothing here, whatever their names resemble: jobs carry them.
  const auto carry = [&](const std::vector<std::string>& names) {
    std::vector<bool> used(names.size(), false);
    for (const RenamedColumn& c : columns) {
      std::string problem;
      const auto expression = ColumnExpression::parse(c.theirs, names, problem);
      for (std::size_t i = 0; i < names.size(); ++i) {
        used[i] = used[i] || names[i] == c.theirs ||
                  (expression &&
                   std::ranges::find(expression->fields(), i) != expression->fields().end());
      }
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!used[i] && !names[i].empty()) columns.push_back({names[i], std::string(kCarriedOnly)});
    }
  };
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {  // a pipe can be read only once
    const std::string head = first_bytes(path, "a CSV file");
    const std::string_view line = first_line(head);
    const std::vector<std::string> names = names_in(line, separator_of(line));
    std::erase_if(columns, [&](const RenamedColumn& c) {
      std::string problem;
      const bool required = c.ours == "submit_s" || c.ours == "solo_s" || c.ours == "gpus";
      return !required && std::ranges::find(names, c.theirs) == names.end() &&
             !ColumnExpression::parse(c.theirs, names, problem);
    });
    columns.insert(columns.end(), own.begin(), own.end());
    carry(names);
  }
  return read_job_csv(path, keys, columns, rules);
}

}  // namespace corun::inline traces
