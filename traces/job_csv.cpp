#include "traces/job_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <optional>
#include <ostream>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"
#include "traces/input_file.hpp"
#include "traces/trace_builder.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kJobColumns = {{"job"},
                                            {"submit_s", true},
                                            {"solo_s", true},
                                            {"gpus"},
                                            {"priority"},
                                            {"gpu_util_pct"},
                                            {"mem_alloc_pct"},
                                            {"mem_time_pct"},
                                            {"mem_used_mib"},
                                            {"cpu_milli"},
                                            {"memory_mib"},
                                            {"epoch_s"},
                                            {"workload"},
                                            {"cluster"},
                                            {"uncertainty"},
                                            {"imputed"},
                                            {"gpu_milli"},
                                            {"gpu_models"},
                                            {"virtual_cluster"},
                                            {"steps"},
                                            {"packing_label"},
                                            {"zoo"},
                                            {"batch"}};

/// Beginnings of the columns that each GPU type has, before its name.
constexpr std::string_view kSoloOn = "solo_s@";
constexpr std::string_view kMemoryOn = "mem_used_mib@";
constexpr std::array kOnTypes{kSoloOn, kMemoryOn};
constexpr std::string_view kDoesNotRun = "-";

/// The one of these with which the name begins; empty if it is none.
std::string_view beginning_of(std::string_view name) {
  for (const std::string_view beginning : kOnTypes) {
    if (name.starts_with(beginning)) return beginning;
  }
  return {};
}

/// The columns whose numbers a factor of RenamedColumn may convert.
constexpr std::array<std::string_view, 7> kScaledColumns = {
    "submit_s",      "solo_s",       "epoch_s",     "gpu_util_pct",
    "mem_alloc_pct", "mem_time_pct", "mem_used_mib"};

/// Names, in lower case, under which logs of others have our columns, most usual first: for advice only.
struct UsualNames {
  std::string_view ours;
  bool parts;  ///< of names, else whole names
  std::array<std::string_view, 8> theirs;
};
constexpr std::array<UsualNames, 4> kUsualNames = {{
    {"job", false, {"job_id", "jobid", "job_name", "jobname", "id", "name", "uid", "uuid"}},
    {"submit_s",
     true,
     {"submit", "submission", "arrival", "arrive", "queued", "created", "timestamp", "start"}},
    {"solo_s",
     true,
     {"duration", "runtime", "run_time", "elapsed", "service", "exec", "length", "walltime"}},
    {"gpus",
     true,
     {"gpus", "num_gpu", "gpu_num", "ngpu", "gpu_count", "gpu_req", "plan_gpu", "gres"}},
}};

/// Endings of names, in lower case, of times in other units than s: for advice only.
struct UnitEnding {
  std::string_view ending;
  double seconds;
};
constexpr std::array<UnitEnding, 12> kUnitEndings = {{
    {"hours", 3600},
    {"hour", 3600},
    {"_hrs", 3600},
    {"_h", 3600},
    {"days", 86400},
    {"day", 86400},
    {"minutes", 60},
    {"_mins", 60},
    {"_min", 60},
    {"_ms", 1e-3},
    {"millis", 1e-3},
    {"milliseconds", 1e-3},
}};

constexpr NumberRule kDistance{"a distance in percentage points", 0};
constexpr IntegerRule kZooBatch{"a batch size", 1, 1'000'000};
constexpr IntegerRule kCluster{"the number of a cluster", 0, 1'000'000};
constexpr IntegerRule kJobMilli{"thousandths of a GPU", 1, 1000};
constexpr IntegerRule kJobSteps{"a whole number of steps", 0, 1'000'000'000'000'000};

/// The bits of "V100M16|V100M32".
std::uint32_t model_bits(const CsvReader& csv, CsvReader::Column column, TraceBuilder& builder) {
  std::uint32_t bits = 0;
  std::string_view rest = csv.text(column);
  while (!rest.empty()) {
    const std::string_view model = rest.substr(0, rest.find('|'));
    const bool last = model.size() == rest.size();
    rest.remove_prefix(model.size() + (last ? 0 : 1));
    if (model.empty() || (!last && rest.empty())) {
      csv.refuse(column, "names of GPU models joined by '|'");
    }
    const auto bit = builder.gpu_model(model);
    if (!bit) csv.refuse(column, "at most 32 different GPU models in a trace");
    bits |= *bit;
  }
  return bits;
}

/// "solo_s@T4" if this is probably what `theirs` means, such as "solo@T4"; else nothing, also for a type
/// whose name --columns cannot give.
std::string near_on_type(std::string_view theirs) {
  const std::size_t at = theirs.find('@');
  if (at == std::string_view::npos || at + 1 == theirs.size()) return "";
  if (theirs.find_first_of(",*=") != std::string_view::npos) return "";
  std::vector<std::string_view> stems;
  for (const std::string_view beginning : kOnTypes) {
    stems.push_back(beginning.substr(0, beginning.size() - 1));
  }
  const std::string_view near = nearest(theirs.substr(0, at), stems);
  return near.empty() ? "" : std::string(near).append(theirs.substr(at));
}

/// Columns of the file that are probably ours under other names: usual names first, then near ones. None of
/// `absent` comes twice.
std::vector<RenamedColumn> guessed(const std::vector<std::string>& header,
                                   const std::vector<std::string>& unknown,
                                   std::vector<std::string_view> absent) {
  std::vector<RenamedColumn> found;
  const auto take = [&](const std::string& theirs, std::string_view ours) {
    RenamedColumn column{theirs, std::string(ours)};
    const std::string name = lower_case(theirs.substr(0, theirs.find('@')));
    for (const UnitEnding& unit : kUnitEndings) {
      if (ours.substr(0, ours.find('@')).ends_with("_s") && name.ends_with(unit.ending))
        column.factor = unit.seconds;
    }
    found.push_back(std::move(column));
    std::erase(absent, ours);
  };
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(found, name, &RenamedColumn::theirs) != found.end();
  };
  for (const UsualNames& usual : kUsualNames) {
    for (const std::string_view theirs : usual.theirs) {
      if (std::ranges::find(absent, usual.ours) == absent.end()) break;
      const auto at = std::ranges::find_if(unknown, [&](const std::string& name) {
        const std::string candidate = lower_case(name);
        return usual.parts ? candidate.find(theirs) != std::string::npos : candidate == theirs;
      });
      if (at != unknown.end() && !is_taken(*at)) take(*at, usual.ours);
    }
  }
  for (const std::string& name : unknown) {
    if (is_taken(name)) continue;
    if (const std::string on_type = near_on_type(name); !on_type.empty()) {
      const bool has = std::ranges::find(header, on_type) != header.end() ||
                       std::ranges::find(found, on_type, &RenamedColumn::ours) != found.end();
      if (!has) take(name, on_type);
    } else if (const std::string_view ours = nearest(name, absent); !ours.empty())
      take(name, ours);
  }
  return found;
}

/// "arrival=submit_s,hours=solo_s*3600", as parse_renamed_columns() takes it.
std::string text_of(const std::vector<RenamedColumn>& columns) {
  std::string text;
  for (const RenamedColumn& c : columns) {
    text += (text.empty() ? "" : ",") + c.theirs + "=" + c.ours +
            (c.factor == 1 ? "" : "*" + csv_number(c.factor));
  }
  return text;
}

/// "column 'a'" or "columns 'a', 'b'".
template <typename Names>
std::string column_list(const Names& names) {
  std::string text;
  for (const auto& name : names) text += (text.empty() ? "'" : ", '") + printable(name) + "'";
  return (names.size() == 1 ? "column " : "columns ") + text;
}

/// Throws InputError for missing columns, and for unknown ones that are probably absent ones. One suggestion
/// repairs all.
void check_header(const CsvReader& csv, std::vector<RenamedColumn> renamed) {
  constexpr std::size_t kLongest = 300;  // bytes of a list in the message
  std::vector<std::string_view> absent;
  std::vector<std::string_view> missing;
  for (const CsvColumn& column : kJobColumns) {
    if (csv.has(csv.column(column.name))) continue;
    absent.push_back(column.name);
    if (column.required) missing.push_back(column.name);
  }
  const std::vector<RenamedColumn> guesses = guessed(csv.header(), csv.unknown(), absent);
  if (missing.empty() && guesses.empty()) return;
  renamed.insert(renamed.end(), guesses.begin(), guesses.end());
  for (const std::string_view name : missing) {  // no column of the file looks like it
    if (std::ranges::find(guesses, name, &RenamedColumn::ours) == guesses.end()) {
      renamed.push_back({"THEIRS", std::string(name)});
    }
  }
  std::string advice = "--columns " + printable(text_of(renamed), kLongest);
  if (!guesses.empty()) advice += " (NAME= leaves a column out)";
  if (missing.empty()) {
    std::vector<std::string> names;
    for (const RenamedColumn& guess : guesses) names.push_back(guess.theirs);
    throw InputError(csv.name() + ":1:1", "unknown " + column_list(names) + ", which may be " +
                                              printable(text_of(guesses), kLongest) +
                                              "; rename or decide: " + advice);
  }
  std::string header;
  for (const std::string& name : csv.header()) header += (header.empty() ? "" : ", ") + name;
  throw InputError(csv.name() + ":1:1", "the header has no " + column_list(missing) +
                                            ", expected at least submit_s, solo_s; it has " +
                                            printable(header, kLongest) + "; name yours: " +
                                            (guesses.empty() ? "" : "perhaps ") + advice);
}

/// Reads submit times: numbers or dates, the same form in all rows.
class SubmitTimes {
 public:
  Time read(const CsvReader& csv, CsvReader::Column column) {
    std::string text(csv.text(column));
    if (text.size() > kDate && text[kDate] == 'T') text[kDate] = ' ';
    const auto date = parse_date_time(text);
    if (is_first_) dates_ = date.has_value();
    is_first_ = false;
    if (!dates_) return csv.required_seconds(column, kSubmitRule);
    if (!date) csv.refuse(column, "a date such as 2020-06-09 18:41:01, as in the rows before");
    return *date;
  }
  bool are_dates() const { return dates_; }

 private:
  static constexpr std::size_t kDate = 10;  ///< characters of "2020-06-09"
  bool is_first_ = true;
  bool dates_ = false;
};

/// Seconds of "HH:MM:SS" or "D-HH:MM:SS", as Slurm prints them; nothing for any other text.
std::optional<Duration> parse_clock(std::string_view text) {
  std::int64_t days = 0;
  if (const std::size_t dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = parse_integer(text.substr(0, dash));
    if (!value || *value < 0 || *value > 9999) return std::nullopt;
    days = *value;
    text.remove_prefix(dash + 1);
  }
  constexpr std::size_t kLength = 8;
  if (text.size() != kLength || text[2] != ':' || text[5] != ':') return std::nullopt;
  const auto part = [&](std::size_t at, std::int64_t end) {
    const auto value = parse_integer(text.substr(at, 2));
    return value && *value >= 0 && *value < end ? value : std::nullopt;
  };
  const auto hours = part(0, 100), minutes = part(3, 60), seconds = part(6, 60);
  if (!hours || !minutes || !seconds) return std::nullopt;
  return std::chrono::seconds(((days * 24 + *hours) * 60 + *minutes) * 60 + *seconds);
}

/// The run time of a job of a log: 0 if it did not run.
Duration run_time(const CsvReader& csv, CsvReader::Column column) {
  if (const auto clock = parse_clock(csv.text(column))) return *clock;
  return csv.seconds(column, kRunTimeRule).value_or(Duration::zero());
}

/// Reads the columns of single GPU types.
class OnTypes {
 public:
  OnTypes(const CsvReader& csv, TraceBuilder& builder) {
    for (const auto& [column, name] : csv.begun_columns()) {
      csv.text(column);  // refuses line breaks in the header
      const std::string_view beginning = beginning_of(name);
      const std::string_view type = name.substr(beginning.size());
      if (type.empty()) {
        csv.fail(column, "column '" + printable(csv.text(column)) +
                             "' names no GPU type, expected one after '@'; write " +
                             std::string(beginning) + "T4, or leave the column out");
      }
      columns_.push_back({column, builder.gpu_type(type, csv.place(column)), beginning == kSoloOn});
      types_ = std::max(types_, columns_.back().type + 1);
    }
  }

  std::vector<JobOnType> read(const CsvReader& csv) const {
    std::vector<JobOnType> found(types_);
    for (const TypeColumn& c : columns_) {
      if (!c.is_solo) {
        found[c.type].memory_mib = csv.number(c.column, kMib).value_or(kNaN);
      } else if (csv.text(c.column) == kDoesNotRun) {
        found[c.type].solo_s = std::numeric_limits<double>::infinity();
      } else {
        found[c.type].solo_s = csv.number(c.column, kSoloOnType).value_or(kNaN);
      }
    }
    return found;
  }

 private:
  struct TypeColumn {
    CsvReader::Column column;
    std::size_t type;
    bool is_solo;
  };

  std::vector<TypeColumn> columns_;
  std::size_t types_ = 0;
};

Trace read_job_csv(CsvReader& csv, const std::string& source, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed) {
  check_header(csv, renamed);
  const bool of_others = !renamed.empty();
  const auto job = csv.column("job");
  const auto submit = csv.column("submit_s");
  const auto solo = csv.column("solo_s");
  const auto gpus = csv.column("gpus");
  const auto priority = csv.column("priority");
  const auto gpu_util = csv.column("gpu_util_pct");
  const auto mem_alloc = csv.column("mem_alloc_pct");
  const auto mem_time = csv.column("mem_time_pct");
  const auto mem_used = csv.column("mem_used_mib");
  const auto cpu = csv.column("cpu_milli");
  const auto memory = csv.column("memory_mib");
  const auto epoch = csv.column("epoch_s");
  const auto workload = csv.column("workload");
  const auto cluster = csv.column("cluster");
  const auto uncertainty = csv.column("uncertainty");
  const auto imputed = csv.column("imputed");

  const auto gpu_milli = csv.column("gpu_milli");
  const auto gpu_models = csv.column("gpu_models");
  const auto virtual_cluster = csv.column("virtual_cluster");
  const auto steps = csv.column("steps");
  const auto label = csv.column("packing_label");
  const auto zoo = csv.column("zoo");
  const auto batch = csv.column("batch");
  const bool has_names = csv.has(job);
  const bool has_virtual_clusters = csv.has(virtual_cluster);

  TraceBuilder builder(source);
  const OnTypes on_types(csv, builder);
  SubmitTimes submit_times;
  for (std::size_t row = 1; csv.next(); ++row) {
    TraceJob found;
    found.name = has_names ? csv.required_text(job, "the name of a job") : std::to_string(row);
    const auto line = builder.line_of(found.name);
    if (line && of_others) found.name += "#" + std::to_string(row);
    if (line && !of_others) {
      csv.refuse(job, "names that differ, and line " + std::to_string(*line) + " has this one",
                 "rename one of the two");
    }
    JobSpec& spec = found.spec;
    spec.submit = submit_times.read(csv, submit);
    if (of_others) {
      spec.work = run_time(csv, solo);
      spec.gpus = static_cast<int>(csv.integer(gpus, kGpusOrNoneRule).value_or(1));
    } else {
      spec.work = csv.required_seconds(solo, kWorkRule);
      spec.gpus = static_cast<int>(csv.integer(gpus, kGpusRule).value_or(1));
    }
    spec.priority = static_cast<int>(csv.integer(priority, kPriority).value_or(0));
    spec.profile.gpu_util_pct = csv.number(gpu_util, kShare);
    spec.profile.mem_alloc_pct = csv.number(mem_alloc, kReserved);
    spec.profile.mem_time_pct = csv.number(mem_time, kShare);
    spec.profile.mem_used_mib = csv.number(mem_used, kMib);
    spec.profile.imputed = csv.integer(imputed, kFlag).value_or(0) == 1;
    spec.request.cpu_milli = csv.integer(cpu, kRequestRule).value_or(0);
    spec.request.memory_mib = csv.integer(memory, kRequestRule).value_or(0);
    spec.epoch = csv.seconds(epoch, kWorkRule);
    spec.gpu_milli = static_cast<int>(csv.integer(gpu_milli, kJobMilli).value_or(1000));
    if (spec.gpu_milli < 1000 && spec.gpus > 1) {
      csv.refuse(gpu_milli, "1000 or nothing for a gang of several GPUs");
    }
    spec.gpu_models = model_bits(csv, gpu_models, builder);
    if (has_virtual_clusters) {
      spec.virtual_cluster = builder.virtual_cluster(csv.text(virtual_cluster));
    }
    spec.steps = csv.integer(steps, kJobSteps).value_or(0);
    if (const auto value = csv.integer(label, kPackingLabelRule)) {
      spec.profile.packing_label = static_cast<int>(*value);
    }
    if (!csv.text(zoo).empty()) {
      found.zoo_run = {std::string(csv.text(zoo)),
                       static_cast<double>(csv.integer(batch, kZooBatch).value_or(1)),
                       csv.place(zoo)};
    }
    found.on_types = on_types.read(csv);
    found.key = keys.of(csv.text(workload));
    found.cluster = static_cast<int>(csv.integer(cluster, kCluster).value_or(kUnknownCluster));
    found.uncertainty = csv.number(uncertainty, kDistance).value_or(kUnknownUncertainty);
    if (of_others) {
      builder.add_or_skip(std::move(found), csv.line());
    } else {
      builder.add(std::move(found), csv.line());
    }
  }
  const std::string place = csv.name() + ":1:1";
  Trace trace =
      submit_times.are_dates() ? builder.take_from_first_submit(place) : builder.take(place);
  trace.unread_columns = csv.unknown();
  return trace;
}

CsvOptions options_of(const std::vector<RenamedColumn>& renamed) {
  return {.ignore_unknown = true,
          .renamed = renamed,
          .has_columns_option = true,
          .beginnings = {kOnTypes.begin(), kOnTypes.end()}};
}

/// The separator of a header: ',' if it has one, else the first of ';', tab and '|' that it has.
char separator_of(std::string_view header) {
  if (header.find(',') != std::string_view::npos) return ',';
  const std::size_t at = header.find_first_of(";\t|");
  return at == std::string_view::npos ? ',' : header[at];
}

/// One "THEIRS=OURS*FACTOR".
RenamedColumn parse_renamed_column(std::string_view text, const std::string& place) {
  const auto refuse = [&](const std::string& message) {
    throw InputError(place, "found '" + printable(text) + "': " + message);
  };
  const std::size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse("expected THEIRS=OURS, such as arrival=submit_s; THEIRS= leaves a column out");
  }
  RenamedColumn renamed{std::string(text.substr(0, equals)), std::string(text.substr(equals + 1))};
  const std::size_t star = renamed.ours.find('*');
  std::optional<std::string> factor;
  if (star != std::string::npos) {
    factor = renamed.ours.substr(star + 1);
    renamed.ours.resize(star);
  }
  if (renamed.ours.empty() && !factor) return renamed;
  std::vector<std::string_view> known;
  for (const CsvColumn& column : kJobColumns) known.push_back(column.name);
  const std::string_view beginning = beginning_of(renamed.ours);
  if (!beginning.empty()) {
    const std::string_view type = std::string_view(renamed.ours).substr(beginning.size());
    if (type.empty() || find_bad_text(type, false) != type.size()) {
      refuse("expected the name of a GPU type after '@', such as " + std::string(beginning) + "T4");
    }
  } else if (std::ranges::find(known, renamed.ours) == known.end()) {
    if (renamed.ours.find('/') != std::string::npos) {
      refuse("expected a factor after '*', such as solo_s*0.001 for milliseconds");
    }
    refuse("no column '" + printable(renamed.ours) + "' of corun; " +
           did_you_mean(renamed.ours, known));
  }
  if (!factor) return renamed;
  if (beginning.empty() &&
      std::ranges::find(kScaledColumns, renamed.ours) == kScaledColumns.end()) {
    refuse("a factor is for times, percentages and mem_used_mib; leave it out");
  }
  constexpr double kLeast = 1e-12, kMost = 1e12;
  const auto value = parse_number(*factor);
  if (!value || *value < kLeast || *value > kMost) {
    refuse("expected a factor from 1e-12 to 1e12 after '*', such as solo_s*60 for minutes");
  }
  renamed.factor = *value;
  return renamed;
}

}  // namespace

std::vector<RenamedColumn> parse_renamed_columns(const std::string& text,
                                                 const std::string& place) {
  std::vector<RenamedColumn> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(',', from), text.size());
    const std::string_view part = trimmed(std::string_view(text).substr(from, to - from));
    const RenamedColumn renamed = parse_renamed_column(part, place);
    for (const RenamedColumn& other : all) {
      const bool same =
          other.theirs == renamed.theirs || (!renamed.ours.empty() && other.ours == renamed.ours);
      if (!same) continue;
      throw InputError(place, "found '" + printable(other.theirs + "=" + other.ours) + "' and '" +
                                  printable(renamed.theirs + "=" + renamed.ours) +
                                  "', expected each column once; remove one of them");
    }
    all.push_back(renamed);
    from = to + 1;
  }
  return all;
}

Trace read_job_csv(const std::string& path, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed) {
  CsvOptions options = options_of(renamed);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {  // a pipe can be read only once
    options.separator = separator_of(first_line(first_bytes(path, "a CSV file")));
  }
  CsvReader csv(path, kJobColumns, options);
  return read_job_csv(csv, std::filesystem::path(path).filename().string(), keys, renamed);
}

Trace read_job_csv(std::istream& in, const std::string& name, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed) {
  CsvReader csv(in, name, kJobColumns, options_of(renamed));
  return read_job_csv(csv, name, keys, renamed);
}

bool looks_like_job_csv(const TraceHead& head) { return has_columns(head, {"submit_s", "solo_s"}); }

namespace {

std::string model_names(const Trace& trace, std::uint32_t bits) {
  std::string names;
  for (std::size_t i = 0; i < trace.gpu_models.size(); ++i) {
    if ((bits >> i & 1U) == 0) continue;
    names += (names.empty() ? "" : "|") + trace.gpu_models[i];
  }
  return names;
}

/// Which of the rare columns are written.
struct RareColumns {
  bool gpu_milli = false;
  bool gpu_models = false;
  bool virtual_cluster = false;
  bool steps = false;
  bool packing_label = false;
  bool zoo = false;             ///< both columns
  std::vector<bool> solo_on;    ///< by type of Trace::on_types
  std::vector<bool> memory_on;  ///< the same

  bool writes(std::string_view column) const {
    if (column == "gpu_milli") return gpu_milli;
    if (column == "gpu_models") return gpu_models;
    if (column == "virtual_cluster") return virtual_cluster;
    if (column == "steps") return steps;
    if (column == "packing_label") return packing_label;
    if (column == "zoo" || column == "batch") return zoo;
    return true;
  }
};

}  // namespace

void write_job_csv(std::ostream& out, const Trace& trace, const WorkloadKeys& keys) {
  const auto& jobs = trace.workload.jobs;
  RareColumns rare;
  rare.gpu_milli = std::ranges::any_of(jobs, [](const JobSpec& j) { return j.gpu_milli < 1000; });
  rare.gpu_models = std::ranges::any_of(jobs, [](const JobSpec& j) { return j.gpu_models != 0; });
  rare.virtual_cluster = !trace.virtual_clusters.empty();
  rare.steps = std::ranges::any_of(jobs, [](const JobSpec& j) { return j.steps != 0; });
  rare.packing_label = std::ranges::any_of(
      jobs, [](const JobSpec& j) { return j.profile.packing_label.has_value(); });
  rare.zoo = !trace.zoo_runs.empty();
  const auto is_known = [](double value) { return !std::isnan(value); };
  for (const MeasuredOnType& type : trace.on_types) {
    rare.solo_on.push_back(std::ranges::any_of(type.solo_s, is_known));
    rare.memory_on.push_back(std::ranges::any_of(type.memory_mib, is_known));
  }
  std::string separator;
  for (const CsvColumn& column : kJobColumns) {
    if (rare.writes(column.name)) out << std::exchange(separator, ",") << column.name;
  }
  for (std::size_t t = 0; t < trace.on_types.size(); ++t) {
    const std::string& type = trace.on_types[t].gpu_type;
    if (rare.solo_on[t]) out << ',' << csv_text(std::string(kSoloOn) + type);
    if (rare.memory_on[t]) out << ',' << csv_text(std::string(kMemoryOn) + type);
  }
  out << '\n';
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobSpec& job = jobs[i];
    const Profile& profile = job.profile;
    out << csv_text(trace.names[i]) << ',' << csv_seconds(job.submit) << ','
        << csv_seconds(job.work) << ',' << std::to_string(job.gpus) << ','
        << std::to_string(job.priority) << ',' << csv_number(profile.gpu_util_pct) << ','
        << csv_number(profile.mem_alloc_pct) << ',' << csv_number(profile.mem_time_pct) << ','
        << csv_number(profile.mem_used_mib) << ',' << std::to_string(job.request.cpu_milli) << ','
        << std::to_string(job.request.memory_mib) << ','
        << (job.epoch ? csv_seconds(*job.epoch) : std::string()) << ','
        << csv_text(keys.text(trace.keys[i])) << ','
        << (trace.clusters[i] == kUnknownCluster ? std::string()
                                                 : std::to_string(trace.clusters[i]))
        << ',' << csv_number(trace.uncertainties[i]) << ',' << (profile.imputed ? '1' : '0');
    if (rare.gpu_milli) {
      out << ',' << (job.gpu_milli < 1000 ? std::to_string(job.gpu_milli) : std::string());
    }
    if (rare.gpu_models) out << ',' << csv_text(model_names(trace, job.gpu_models));
    if (rare.virtual_cluster) out << ',' << csv_text(trace.virtual_clusters[job.virtual_cluster]);
    if (rare.steps) out << ',' << std::to_string(job.steps);
    if (rare.packing_label) {
      out << ','
          << (profile.packing_label ? std::to_string(*profile.packing_label) : std::string());
    }
    if (rare.zoo) {
      const auto run = trace.zoo_runs.find(i);
      out << ',' << (run == trace.zoo_runs.end() ? std::string() : csv_text(run->second.model))
          << ',' << (run == trace.zoo_runs.end() ? std::string() : csv_number(run->second.batch));
    }
    for (std::size_t t = 0; t < trace.on_types.size(); ++t) {
      const double solo_s = trace.on_types[t].solo_s[i];
      if (rare.solo_on[t]) {
        out << ',' << (std::isinf(solo_s) ? std::string(kDoesNotRun) : csv_number(solo_s));
      }
      if (rare.memory_on[t]) out << ',' << csv_number(trace.on_types[t].memory_mib[i]);
    }
    out << '\n';
  }
}

}  // namespace corun::inline traces
