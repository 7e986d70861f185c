#include "predictors/tables/job_table.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/checksum.hpp"
#include "traces/input_file.hpp"

namespace corun::inline predictors {

namespace {

std::vector<const JobTableForm*> job_table_forms() {
  return {&timm_memory_table(), &gpumemnet_table(), &iteration_times_table(), &cnn_times_table(),
          &own_job_table()};
}

bool has_all(const std::vector<std::string>& header, std::span<const std::string_view> names) {
  return std::ranges::all_of(names, [&](std::string_view name) {
    return std::ranges::find(header, name) != header.end();
  });
}

const JobTableForm* form_of(const std::vector<std::string>& header) {
  for (const JobTableForm* form : job_table_forms()) {
    if (has_all(header, form->recognised_by())) return form;
  }
  return nullptr;
}

/// The first 64 bits of the SHA-256 of a name; 0 for none.
std::uint64_t digest_of(const std::string& name) {
  if (name.empty()) return 0;
  return std::stoull(sha256_of_text(name).substr(0, 16), nullptr, 16);
}

const JobTableForm& recognise_form(const CsvReader& csv, Target target) {
  const JobTableForm* form = form_of(csv.header());
  if (form == nullptr) {
    std::string forms;
    for (const JobTableForm* known : job_table_forms()) {
      forms += fmt::format("{}{} ({})", forms.empty() ? "" : "; ", known->name(),
                           fmt::join(known->recognised_by(), ", "));
    }
    throw InputError(csv.name() + ":1:1",
                     "the header is of no known table of jobs, expected one with these columns: " +
                         forms + "; rename yours as docs/predictors.md says");
  }
  if (!form->serves(target)) {
    throw InputError(csv.name() + ":1:1",
                     fmt::format("{} has no {} of jobs, expected a table that has; name another "
                                 "file or another --target",
                                 form->name(), name_of(target)));
  }
  return *form;
}

}  // namespace

std::string_view name_of(JobGroup group) {
  constexpr std::array<std::string_view, kJobGroups> kNames{"model", "family", "gpu", "host"};
  return kNames.at(static_cast<std::size_t>(group));
}

std::optional<CsvReader::Column> column_if_there(CsvReader& csv, std::string_view name) {
  if (std::ranges::find(csv.header(), name) == csv.header().end()) return std::nullopt;
  return csv.add_column(name);
}

double number_or_nan(const CsvReader& csv, std::optional<CsvReader::Column> column,
                     const NumberRule& rule) {
  return column ? csv.number(*column, rule).value_or(kNaN) : kNaN;
}

std::vector<MeasuredJob> JobTable::measured() const {
  std::vector<MeasuredJob> jobs;
  for (const JobTableRow& row : rows) {
    if (!row.counts || (std::isnan(row.value) && std::isnan(row.at_least))) continue;
    jobs.push_back({row.job, row.value, row.at_least});
  }
  return jobs;
}

bool has_job_table_header(const std::string& path) {
  try {
    const CsvReader csv(path, {}, kAnyColumns);
    return form_of(csv.header()) != nullptr;
  } catch (const InputError&) {
    return false;
  }
}

JobTable read_job_table(const std::string& path, Target target, const GpuTypes& types,
                        bool keep_fields) {
  CsvReader csv(path, {}, kAnyColumns);
  JobTable table;
  table.source = shown_path(path);
  table.target = target;
  table.header = csv.header();
  table.form = &recognise_form(csv, target);
  const auto reader = table.form->open(csv, target, types);
  std::vector<CsvReader::Column> all;
  for (const std::string& name : table.header) all.push_back(csv.add_column(name));
  while (csv.next()) {
    JobTableRow row = reader->row();
    JobGroups& groups = row.job.groups;
    groups.model = digest_of(row.names[0]);
    groups.family = digest_of(row.names[1]);
    groups.gpu = digest_of(row.names[2]);
    groups.host = digest_of(row.names[3]);
    const GpuSpec* type = row.names[2].empty() ? nullptr : types.find(row.names[2]);
    if (type != nullptr) groups.architecture = digest_of(type->architecture);
    table.rows.push_back(std::move(row));
    if (!keep_fields) continue;
    std::vector<std::string>& fields = table.fields.emplace_back();
    for (const CsvReader::Column column : all) fields.emplace_back(csv.text(column));
  }
  return table;
}

}  // namespace corun::inline predictors
