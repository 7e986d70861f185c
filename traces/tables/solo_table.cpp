#include "traces/tables/solo_table.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/input_file.hpp"

namespace corun::inline traces {
namespace {

constexpr double kNeverRuns = std::numeric_limits<double>::infinity();
constexpr NumberRule kStep{"a number of seconds", kLeastSoloS, kLongestSoloS};
constexpr IntegerRule kBatchSize{"a batch size", 1, 1'000'000'000};

/// A table has a cell for each workload and type, whether or not the file has a row for it.
constexpr std::size_t kMostCells = 10'000'000;

/// Memory of the A100 that MISO measured [MiB].
constexpr double kMisoMemoryMib = 40 * 1024;
/// Every slice of an A100 has at least this share of the memory for which it is named: 1g.5gb has 4.75 GiB.
constexpr double kLeastShareOfSlice = 0.95;
constexpr std::string_view kMisoProfile = "miso_a100_profile.csv";

struct SoloForm {
  std::string_view of;                        ///< "Sia's"
  std::array<std::string_view, 4> required;   ///< empty text: none
  std::array<std::string_view, 2> only_here;  ///< one of them tells the form
};
constexpr SoloForm kOwnSolo{
    "corun's own", {"workload", "gpu_type", "time_s"}, {"workload", "time_s"}};
constexpr SoloForm kSiaSolo{
    "Sia's", {"job", "gpu_type", "local_bsz", "step_time_s"}, {"local_bsz", "step_time_s"}};
constexpr SoloForm kMisoSolo{
    "MISO's", {"slice", "job", "batch", "median_step_s"}, {"slice", "median_step_s"}};
constexpr std::array<const SoloForm*, 3> kSoloForms{&kOwnSolo, &kSiaSolo, &kMisoSolo};

std::string columns_of(const SoloForm& form) {
  std::string text;
  for (const std::string_view name : form.required) {
    if (!name.empty()) text.append(text.empty() ? "" : ", ").append(name);
  }
  return text;
}

/// By the columns that only one form has, so that errors are about the missing others.
const SoloForm& recognise_solo(const CsvReader& csv) {
  const SoloForm* found = nullptr;
  bool several = false;
  for (const SoloForm* form : kSoloForms) {
    const bool has = std::ranges::any_of(form->only_here, [&](std::string_view name) {
      return std::ranges::find(csv.header(), name) != csv.header().end();
    });
    several = several || (has && found != nullptr);
    if (has) found = form;
  }
  if (found != nullptr && !several) return *found;
  std::string forms;
  for (const SoloForm* form : kSoloForms) {
    forms.append(forms.empty() ? "" : "; ").append(form->of).append(" ").append(columns_of(*form));
  }
  throw InputError(
      csv.name() + ":1:1",
      std::string(several ? "the header has columns of several forms"
                          : "the header is of no table of solo times") +
          ", expected at least one of these: " + forms +
          (several ? "; remove those of the others" : "; name another file or add them"));
}

CsvReader::Column required_column(CsvReader& csv, const SoloForm& form, std::string_view name) {
  if (std::ranges::find(csv.header(), name) != csv.header().end()) return csv.add_column(name);
  const std::vector<std::string_view> header(csv.header().begin(), csv.header().end());
  const std::string_view near = nearest(name, header);
  throw InputError(csv.name() + ":1:1",
                   "the header has no column '" + std::string(name) + "', expected at least " +
                       columns_of(form) + "; " +
                       (near.empty() ? "add it" : "did you mean it by '" + printable(near) + "'?"));
}

/// nothing if the header lacks the column
std::optional<CsvReader::Column> optional_column(CsvReader& csv, std::string_view name) {
  if (std::ranges::find(csv.header(), name) == csv.header().end()) return std::nullopt;
  return csv.add_column(name);
}

std::string with_batch(std::string_view job, std::int64_t batch) {
  return std::string(job) + " (batch size " + std::to_string(batch) + ")";
}

/// Collects rows, because the number of types is known only at the end.
class SoloRows {
 public:
  struct Row {
    std::size_t workload;
    std::size_t type;
    double time_s;
    double memory_mib;
  };

  explicit SoloRows(const CsvReader& csv) : csv_(&csv) {}

  /// Adds the cell of the current record; `column` is the place of an error, `type` the column of the GPU type.
  void add(CsvReader::Column column, const std::string& workload, CsvReader::Column type_column,
           double time_s, double memory_mib) {
    const std::string type(csv_->text(type_column));
    const Row row{position(names_, name_at_, workload), position(types_, type_at_, type), time_s,
                  memory_mib};
    if (types_.size() > type_places_.size()) type_places_.push_back(csv_->place(type_column));
    const auto [known, is_new] = line_.emplace(std::pair(row.workload, row.type), csv_->line());
    if (!is_new) {
      csv_->fail(column, "'" + printable(workload) + "' on " + printable(type) +
                             " stands on line " + std::to_string(known->second) +
                             ", too, expected each workload once for each GPU type; remove one "
                             "of the two rows");
    }
    rows_.push_back(row);
  }

  const std::vector<std::string>& names() const { return names_; }
  std::size_t position_of(const std::string& workload) const { return name_at_.at(workload); }
  bool has(const std::string& workload) const { return name_at_.contains(workload); }

  /// The table, with `absent` as the time of what has no row.
  SoloTable table(double absent, WorkloadKeys& keys) {
    if (rows_.empty()) {
      throw InputError(csv_->name() + ":1:1",
                       "no rows after the header, expected one for each workload and GPU type; add "
                       "some");
    }
    if (names_.size() > kMostCells / types_.size()) {
      throw InputError(csv_->name() + ":1:1", std::to_string(names_.size()) + " workloads on " +
                                                  std::to_string(types_.size()) +
                                                  " GPU types, expected a table of at most " +
                                                  std::to_string(kMostCells) +
                                                  " cells; split the file");
    }
    SoloTable table;
    table.source = csv_->name();
    for (const std::string& name : names_) table.keys.push_back(keys.of(name));
    table.profiles.resize(names_.size());
    table.time_s.assign(names_.size() * types_.size(), absent);
    table.memory_mib.assign(names_.size() * types_.size(), kNaN);
    for (const Row& row : rows_) {
      table.time_s[row.workload * types_.size() + row.type] = row.time_s;
      table.memory_mib[row.workload * types_.size() + row.type] = row.memory_mib;
    }
    table.names = std::move(names_);
    table.types = std::move(types_);
    table.type_places = std::move(type_places_);
    return table;
  }

 private:
  using Index = std::map<std::string, std::size_t, std::less<>>;

  static std::size_t position(std::vector<std::string>& list, Index& index,
                              const std::string& text) {
    const auto [at, is_new] = index.emplace(text, list.size());
    if (is_new) list.push_back(text);
    return at->second;
  }

  const CsvReader* csv_;
  std::vector<std::string> names_;
  std::vector<std::string> types_;
  std::vector<std::string> type_places_;
  Index name_at_;
  Index type_at_;
  std::vector<Row> rows_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> line_;  ///< by workload and type
};

/// The profile columns of corun's own form.
class SoloProfiles {
 public:
  explicit SoloProfiles(CsvReader& csv) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      columns_[i] = optional_column(csv, kColumns[i].name);
    }
  }

  static bool is_column(std::string_view name) {
    return std::ranges::find(kColumns, name, &ProfileColumn::name) != kColumns.end();
  }

  /// The current record's values of a workload; InputError if they are not those of its other rows.
  void read(const CsvReader& csv, std::size_t workload, const std::string& name) {
    if (workload >= known_.size()) known_.resize(workload + 1);
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      if (!columns_[i]) continue;
      const std::optional<double> value = csv.number(*columns_[i], *kColumns[i].rule);
      if (!value) continue;
      Known& known = known_[workload];
      std::optional<double>& of_profile = known.profile.*kColumns[i].value;
      if (of_profile && *of_profile != *value) {
        csv.refuse(*columns_[i],
                   csv_number(of_profile) + ", which workload '" + printable(name) +
                       "' has on line " + std::to_string(known.line[i]),
                   "correct one of the two");
      }
      if (!of_profile) known.line[i] = csv.line();
      of_profile = value;
    }
  }

  void give(SoloTable& table) const {
    for (std::size_t w = 0; w < known_.size(); ++w) table.profiles[w] = known_[w].profile;
  }

 private:
  struct ProfileColumn {
    std::string_view name;
    std::optional<double> Profile::*value;
    const NumberRule* rule;
  };
  static constexpr std::array<ProfileColumn, 3> kColumns{
      {{"gpu_util_pct", &Profile::gpu_util_pct, &kShare},
       {"mem_alloc_pct", &Profile::mem_alloc_pct, &kReserved},
       {"mem_time_pct", &Profile::mem_time_pct, &kShare}}};
  struct Known {
    Profile profile;
    std::array<std::size_t, kColumns.size()> line{};
  };

  std::array<std::optional<CsvReader::Column>, kColumns.size()> columns_;
  std::vector<Known> known_;  ///< by workload; may end early
};

SoloTable read_own(CsvReader& csv, WorkloadKeys& keys) {
  const auto workload = required_column(csv, kOwnSolo, "workload");
  const auto type = required_column(csv, kOwnSolo, "gpu_type");
  const auto time = required_column(csv, kOwnSolo, "time_s");
  const auto memory = optional_column(csv, "memory_mib");
  SoloProfiles profiles(csv);
  for (const std::string& name : csv.header()) {
    const bool is_ours = std::ranges::find(kOwnSolo.required, name) != kOwnSolo.required.end() ||
                         name == "memory_mib" || SoloProfiles::is_column(name);
    if (is_ours && !name.empty()) continue;
    csv.fail(csv.add_column(name),
             "unknown column '" + printable(name) + "', expected columns among " +
                 columns_of(kOwnSolo) +
                 ", memory_mib, gpu_util_pct, mem_alloc_pct, mem_time_pct; rename or remove it");
  }
  SoloRows rows(csv);
  while (csv.next()) {
    const std::string name(csv.required_text(workload, "the name of a workload"));
    csv.required_text(type, "the name of a GPU type");
    const double memory_mib = memory ? csv.number(*memory, kMib).value_or(kNaN) : kNaN;
    const bool runs = csv.text(time) != "-";
    const double time_s = runs ? csv.number(time, kSoloOnType).value_or(kNaN) : kNeverRuns;
    if (std::isnan(time_s) && std::isnan(memory_mib)) {
      csv.refuse(time, "a time, '-' (does not run there), or a memory_mib without time",
                 "fill one in, or remove the row");
    }
    rows.add(workload, name, type, time_s, memory_mib);
    profiles.read(csv, rows.position_of(name), name);
  }
  SoloTable table = rows.table(kNaN, keys);
  profiles.give(table);
  return table;
}

SoloTable read_sia(CsvReader& csv, WorkloadKeys& keys) {
  const auto job = required_column(csv, kSiaSolo, "job");
  const auto type = required_column(csv, kSiaSolo, "gpu_type");
  const auto batch = required_column(csv, kSiaSolo, "local_bsz");
  const auto step = required_column(csv, kSiaSolo, "step_time_s");
  struct Workload {
    std::string job;
    std::int64_t batch;
  };
  std::vector<Workload> workloads;                                      // of the table
  std::map<std::pair<std::string, std::string>, std::int64_t> largest;  // by job and type
  SoloRows rows(csv);
  while (csv.next()) {
    const std::string name(csv.required_text(job, "the name of a job"));
    const std::string gpu(csv.required_text(type, "the name of a GPU type"));
    const auto size = csv.integer(batch, kBatchSize);
    if (!size) csv.refuse(batch, "a batch size, 1 or more");
    rows.add(job, with_batch(name, *size), type, csv.required_number(step, kStep), kNaN);
    if (rows.names().size() > workloads.size()) workloads.push_back({name, *size});
    std::int64_t& most = largest[{name, gpu}];
    most = std::max(most, *size);
  }
  SoloTable table = rows.table(kNaN, keys);
  for (std::size_t w = 0; w < workloads.size(); ++w) {
    for (std::size_t t = 0; t < table.types.size(); ++t) {
      const auto limit = largest.find({workloads[w].job, table.types[t]});
      if (limit == largest.end() || workloads[w].batch <= limit->second) continue;
      table.time_s[w * table.types.size() + t] = kNeverRuns;
    }
  }
  return table;
}

/// Memory that a slice such as "2g.10gb" has at least [MiB]; nothing for other names.
std::optional<double> slice_memory_mib(std::string_view name) {
  const std::size_t dot = name.find('.');
  if (dot == std::string_view::npos) return std::nullopt;
  const std::string_view rest = name.substr(dot + 1);
  const std::size_t unit = rest.find("gb");
  if (unit == std::string_view::npos) return std::nullopt;
  const auto gigabytes = parse_integer(rest.substr(0, unit));
  if (!gigabytes || *gigabytes < 1) return std::nullopt;
  return kLeastShareOfSlice * static_cast<double>(*gigabytes) * 1024;
}

/// MISO's second file: peaks of memory and profiles on the whole GPU.
void add_miso_profiles(CsvReader& csv, const SoloRows& rows,
                       std::map<std::size_t, double>& peaks_mib,
                       std::map<std::size_t, Profile>& profiles) {
  const auto job = csv.column("job");
  const auto batch = csv.column("batch");
  const auto peak = csv.column("peak_mem_mib");
  const auto sm_util = csv.column("sm_util_pct");
  const auto mem_util = csv.column("mem_util_pct");
  std::map<std::string, std::size_t> lines;
  while (csv.next()) {
    const std::string_view of = csv.required_text(job, "the name of a job");
    const auto size = csv.integer(batch, kBatchSize);
    if (!size) csv.refuse(batch, "a batch size, 1 or more");
    const std::string name = with_batch(of, *size);
    const auto [known, is_new] = lines.emplace(name, csv.line());
    if (!is_new) {
      csv.fail(job, "'" + printable(name) + "' stands on line " + std::to_string(known->second) +
                        ", too, expected each job once with each batch size; remove one of the two "
                        "rows");
    }
    Profile profile;
    profile.gpu_util_pct = csv.number(sm_util, kShare);
    profile.mem_time_pct = csv.number(mem_util, kShare);
    const std::optional<double> mib = csv.number(peak, kMib);
    if (!rows.has(name)) continue;
    const std::size_t workload = rows.position_of(name);
    if (mib) {
      peaks_mib[workload] = *mib;
      profile.mem_alloc_pct = std::min(100.0, 100 * *mib / kMisoMemoryMib);
    }
    profiles[workload] = profile;
  }
}

SoloTable read_miso(CsvReader& csv, WorkloadKeys& keys, CsvReader* profile) {
  const auto slice = required_column(csv, kMisoSolo, "slice");
  const auto job = required_column(csv, kMisoSolo, "job");
  const auto batch = required_column(csv, kMisoSolo, "batch");
  const auto step = required_column(csv, kMisoSolo, "median_step_s");
  SoloRows rows(csv);
  while (csv.next()) {
    const std::string_view name = csv.required_text(job, "the name of a job");
    const auto size = csv.integer(batch, kBatchSize);
    if (!size) csv.refuse(batch, "a batch size, 1 or more");
    csv.required_text(slice, "the name of a slice");
    rows.add(job, with_batch(name, *size), slice, csv.number(step, kStep).value_or(kNeverRuns),
             kNaN);
  }
  std::map<std::size_t, double> peaks_mib;
  std::map<std::size_t, Profile> profiles;
  if (profile != nullptr) add_miso_profiles(*profile, rows, peaks_mib, profiles);
  SoloTable table = rows.table(kNeverRuns, keys);
  for (const auto& [workload, known] : profiles) table.profiles[workload] = known;
  for (const auto& [workload, peak] : peaks_mib) {
    for (std::size_t t = 0; t < table.types.size(); ++t) {
      if (table.time(workload, t) == kNeverRuns) continue;
      table.memory_mib[workload * table.types.size() + t] =
          std::min(peak, slice_memory_mib(table.types[t]).value_or(peak));
    }
  }
  return table;
}

SoloTable read_form(CsvReader& csv, const SoloForm& form, WorkloadKeys& keys, CsvReader* profile) {
  if (&form == &kOwnSolo) return read_own(csv, keys);
  if (&form == &kSiaSolo) return read_sia(csv, keys);
  return read_miso(csv, keys, profile);
}

std::vector<CsvColumn> profile_columns() {
  return {
      {"job", true}, {"batch", true}, {"peak_mem_mib", true}, {"sm_util_pct"}, {"mem_util_pct"}};
}

}  // namespace

SoloTable read_solo_table(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, {}, kAnyColumns);
  const SoloForm& form = recognise_solo(csv);
  const std::string beside = std::filesystem::path(path).replace_filename(kMisoProfile).string();
  std::error_code error;
  std::optional<CsvReader> profile;
  if (&form == &kMisoSolo && std::filesystem::is_regular_file(beside, error)) {
    profile.emplace(beside, profile_columns(), kAnyColumns);
  }
  SoloTable table = read_form(csv, form, keys, profile ? &*profile : nullptr);
  table.source = std::filesystem::path(path).filename().string();
  if (profile) table.files_beside.push_back(beside);
  return table;
}

SoloTable read_solo_table(std::istream& in, const std::string& name, WorkloadKeys& keys,
                          std::istream* profile) {
  CsvReader csv(in, name, {}, kAnyColumns);
  const SoloForm& form = recognise_solo(csv);
  std::optional<CsvReader> second;
  if (&form == &kMisoSolo && profile != nullptr) {
    second.emplace(*profile, std::string(kMisoProfile), profile_columns(), kAnyColumns);
  }
  return read_form(csv, form, keys, second ? &*second : nullptr);
}

bool looks_like_solo_table(const TraceHead& head) {
  return has_columns(head, {"workload", "gpu_type", "time_s"}) ||
         has_columns(head, {"job", "gpu_type", "local_bsz", "step_time_s"}) ||
         has_columns(head, {"slice", "job", "batch", "median_step_s"});
}

}  // namespace corun::inline traces
