#include "traces/job_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
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
#include "traces/logs/carried_columns.hpp"
#include "traces/logs/cells.hpp"
#include "traces/logs/column_advice.hpp"
#include "traces/logs/time_columns.hpp"
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
                                            {"batch"},
                                            {"gpus_min"},
                                            {"gpus_max"},
                                            {"parallel_share"},
                                            {"run_nodes"},
                                            {"message_mib"},
                                            {"state"}};

constexpr std::array kOnTypes{kSoloOn, kMemoryOn};

/// The one of these with which the name begins; empty if it is none.
std::string_view beginning_of(std::string_view name) {
  for (const std::string_view beginning : kOnTypes) {
    if (name.starts_with(beginning)) return beginning;
  }
  return {};
}

/// The columns that are no numbers, so that no factor converts them.
constexpr std::array<std::string_view, 7> kTextColumns = {
    "job", "workload", "gpu_models", "virtual_cluster", "zoo", "state", "imputed"};

constexpr NumberRule kDistance{"a distance in percentage points", 0};
constexpr IntegerRule kZooBatch{"a batch size", 1, 1'000'000};
constexpr IntegerRule kCluster{"the number of a cluster", 0, 1'000'000};
constexpr IntegerRule kJobMilli{"thousandths of a GPU", 1, 1000};
constexpr IntegerRule kRunNodes{"a number of nodes", 1, 1'000'000};
constexpr NumberRule kMessage{"a size in MiB", 1e-6, 1e9};
constexpr NumberRule kParallelShare{"a share of the work", 0, 1};
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

/// Reads how many GPUs a job of a log asks for, and which share of each.
class GpuDemands {
 public:
  GpuDemands(const CsvReader& csv, CsvReader::Column gpus, CsvReader::Column milli)
      : gpus_(gpus), milli_(milli), has_gpus_(csv.has(gpus)), has_milli_(csv.has(milli)) {}

  /// False if the job asks for none, or the file does not say it for this job.
  bool read(const CsvReader& csv, JobSpec& spec) {
    double gpus = 1;
    if (has_gpus_) {
      const auto value = csv.value(gpus_, gpus_in_cell, std::string(kExpected));
      if (!value || value->number <= 0) return false;
      gpus = value->number;
    }
    double milli = 1000;
    if (has_milli_) {
      const auto value = csv.number(milli_, kDemandMilli);
      if (!value || *value <= 0) return false;
      milli = *value;
    }
    const double demand = gpus * milli;
    if (demand > 1e9) csv.refuse(gpus_, "a number of GPUs, from 0 to 1000000");
    const std::int64_t whole = std::max<std::int64_t>(1, std::llround(demand));
    rounded_ += whole > 1000 && whole % 1000 != 0 ? 1 : 0;
    ask_for_gpus(spec, whole);
    return true;
  }
  /// The bit of the GPU type that the cell names, 0 for none: a job that Slurm gave GPUs of a type ran on it.
  std::uint32_t type_bit(const CsvReader& csv, TraceBuilder& builder) {
    if (!has_gpus_ || !csv.is_plain(gpus_)) return 0;
    const std::string type = parse_gpu_type(csv.text(gpus_));
    if (type.empty()) return 0;
    const auto bit = builder.gpu_model(type);
    if (!bit) csv.refuse(gpus_, "at most 32 different GPU types in a log");
    typed_in_ = csv.theirs(gpus_);
    return *bit;
  }
  void tell(TraceBuilder& builder) const {
    if (rounded_ > 0) {
      builder.assume(std::to_string(rounded_) + (rounded_ == 1 ? " job asks" : " jobs ask") +
                     " for more than one GPU and a part: rounded up to whole GPUs");
    }
    if (!typed_in_.empty()) {
      const std::string column = printable(typed_in_);
      builder.assume("a job whose " + column +
                     " names one GPU type ran on it, and may run on no other; --columns with " +
                     column + "*1=gpus reads the number alone");
    }
  }

 private:
  static constexpr std::string_view kExpected =
      "a number of GPUs, from 0 to 1000000, such as 2, 0.5, 50 % or gres/gpu=4";
  static constexpr NumberRule kDemandMilli{"thousandths of a GPU", -1, 1e9};
  static std::optional<CellValue> gpus_in_cell(std::string_view text) {
    if (const auto number = parse_number(text); number && *number < 0) return CellValue{0};
    const auto gpus = parse_gpus(text);
    return gpus ? std::optional(CellValue{*gpus}) : std::nullopt;
  }

  CsvReader::Column gpus_;
  CsvReader::Column milli_;
  bool has_gpus_;
  bool has_milli_;
  std::size_t rounded_ = 0;
  std::string typed_in_;  ///< the column that names types of GPUs; empty: none did
};

/// Reads submit time, run time and GPUs of a row of a log that others wrote; false if it is no job, which is counted.
bool read_request_of_others(const CsvReader& csv, std::array<CsvReader::Column, 2> submit_and_solo,
                            SubmitTimeColumn& submit_times, RunTimeColumn& run_times,
                            GpuDemands& demands, TraceBuilder& builder, JobSpec& spec) {
  const std::size_t line = csv.line();
  if (!demands.read(csv, spec)) {
    builder.skip("without GPUs", line);
    return false;
  }
  const RunTimeColumn::Found ran = run_times.read(csv, submit_and_solo[1], spec.work);
  if (ran == RunTimeColumn::Found::kEndsBeforeStart) {
    builder.skip_backwards(line);
    return false;
  }
  if (ran == RunTimeColumn::Found::kAbsent || spec.work <= Duration::zero()) {
    builder.skip("without run time", line);
    return false;
  }
  const std::optional<Time> submitted = submit_times.read(csv, submit_and_solo[0]);
  if (!submitted) {
    builder.skip_without_submit(line);
    return false;
  }
  spec.submit = *submitted;
  return true;
}

/// Memory of a log [MiB]: a number, or a text with a unit. Nothing if it is absent or negative.
std::optional<double> memory_mib(const CsvReader& csv, CsvReader::Column column) {
  const auto read = [](std::string_view text) -> std::optional<CellValue> {
    if (const auto number = parse_number(text)) return CellValue{*number};
    const auto mib = parse_memory_mib(text);
    return mib ? std::optional(CellValue{*mib}) : std::nullopt;
  };
  const auto value =
      csv.value(column, read, "a number of MiB, 0 or more, or one with its unit such as 80G");
  if (value && value->number > kMib.max) csv.refuse(column, "a number of MiB, up to 1e12");
  return value && value->number >= 0 ? std::optional(value->number) : std::nullopt;
}

/// The column of states of a log that names none as ours: one whose name is usual for it and that `renamed` does not
/// mention.
std::optional<CsvReader::Column> usual_state_column(CsvReader& csv,
                                                    const std::vector<RenamedColumn>& renamed) {
  for (const std::string_view usual :
       {"state", "jobstate", "job_state", "status", "pod_phase", "phase"}) {
    for (const std::string& name : csv.header()) {
      const bool mentioned =
          std::ranges::find(renamed, name, &RenamedColumn::theirs) != renamed.end();
      if (!mentioned && lower_case(name) == usual) return csv.add_column(name);
    }
  }
  return std::nullopt;
}

/// Whether the name is that of a job's step in Slurm's words: "7301.batch", "7301.extern", "7301.interactive", and
/// "7301.0" if `is_job` knows 7301.
template <typename IsJob>
bool is_step(std::string_view name, const IsJob& is_job) {
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos || dot == 0) return false;
  const std::string_view step = name.substr(dot + 1);
  const bool digit = name.front() >= '0' && name.front() <= '9';
  if (step == "batch" || step == "extern" || step == "interactive") return digit;
  const auto number = parse_integer(step);
  return digit && number && *number >= 0 && is_job(name.substr(0, dot));
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
      } else if (csv.cell(c.column) == kDoesNotRun) {
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

/// Reads between how many GPUs an elastic job may run on.
void read_elastic(const CsvReader& csv, std::array<CsvReader::Column, 2> limits, JobSpec& spec) {
  const auto least = csv.integer(limits[0], kGpusRule);
  const auto most = csv.integer(limits[1], kGpusRule);
  if (!least && !most) return;
  const auto own = static_cast<std::int64_t>(spec.gpus);
  spec.gpus_min = static_cast<int>(least.value_or(own));
  spec.gpus_max = static_cast<int>(most.value_or(own));
  if (spec.gpus_min > own) {
    csv.refuse(limits[0], "at most the job's " + std::to_string(own) + " GPUs");
  }
  if (spec.gpus_max < own) {
    csv.refuse(limits[1], "at least the job's " + std::to_string(own) + " GPUs");
  }
  if (spec.gpu_milli < 1000) csv.refuse(limits[0], "nothing for a job on a share of a GPU");
}

Trace read_job_csv(CsvReader& csv, const std::string& source, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed, const LogRules& rules) {
  check_job_header(csv, kJobColumns, renamed);
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
  const auto gpus_min = csv.column("gpus_min");
  const auto gpus_max = csv.column("gpus_max");
  const auto parallel_share = csv.column("parallel_share");
  const auto run_nodes = csv.column("run_nodes");
  const auto message = csv.column("message_mib");
  const bool has_names = csv.has(job);
  const bool has_virtual_clusters = csv.has(virtual_cluster);
  CsvReader::Column state = csv.column("state");
  if (!csv.has(state) && of_others) state = usual_state_column(csv, renamed).value_or(state);

  std::vector<std::string> unread = csv.unknown();
  if (csv.has(state)) std::erase(unread, csv.theirs(state));
  std::vector<std::string> to_carry = unread;
  if (csv.has(state) && csv.is_plain(state)) to_carry.push_back(csv.theirs(state));
  for (const RenamedColumn& column : renamed) {
    if (column.ours == kCarriedOnly) to_carry.push_back(column.theirs);
  }
  CarriedColumns carried(csv, to_carry);

  TraceBuilder builder(source, rules);
  const OnTypes on_types(csv, builder);
  SubmitTimeColumn submit_times;
  RunTimeColumn run_times;
  GpuDemands demands(csv, gpus, gpu_milli);
  std::string last;  // job that is no step
  for (std::size_t row = 1; csv.next(); ++row) {
    TraceJob found;
    if (!has_names) {
      found.name = std::to_string(row);
    } else if (of_others) {
      found.name = name_or_row(csv.text(job), row);
    } else {
      found.name = csv.required_text(job, "the name of a job");
    }
    if (of_others) {
      const auto is_job = [&](std::string_view name) {
        return name == last || builder.line_of(name);
      };
      if (is_step(found.name, is_job)) {
        builder.skip_step(csv.line());
        continue;
      }
      last = found.name;
    }
    if (csv.has(state) && !builder.keeps_state(csv.text(state), csv.line())) continue;
    const auto line = builder.line_of(found.name);
    if (line && of_others) found.name += "#" + std::to_string(row);
    if (line && !of_others) {
      csv.refuse(job, "names that differ, and line " + std::to_string(*line) + " has this one",
                 "rename one of the two");
    }
    JobSpec& spec = found.spec;
    if (of_others) {
      if (!read_request_of_others(csv, {submit, solo}, submit_times, run_times, demands, builder,
                                  spec)) {
        continue;
      }
    } else {
      const auto submitted = submit_times.read(csv, submit);
      spec.submit = submitted ? *submitted : csv.required_seconds(submit, kSubmitRule);
      spec.work = csv.required_seconds(solo, kWorkRule);
      spec.gpus = static_cast<int>(csv.integer(gpus, kGpusRule).value_or(1));
      spec.gpu_milli = static_cast<int>(csv.integer(gpu_milli, kJobMilli).value_or(1000));
      if (spec.gpu_milli < 1000 && spec.gpus > 1) {
        csv.refuse(gpu_milli, "1000 or nothing for a gang of several GPUs");
      }
    }
    spec.priority = static_cast<int>(csv.integer(priority, kPriority).value_or(0));
    spec.profile.gpu_util_pct = csv.number(gpu_util, kShare);
    spec.profile.mem_alloc_pct = csv.number(mem_alloc, kReserved);
    spec.profile.mem_time_pct = csv.number(mem_time, kShare);
    spec.profile.mem_used_mib = of_others ? memory_mib(csv, mem_used) : csv.number(mem_used, kMib);
    spec.profile.imputed = csv.integer(imputed, kFlag).value_or(0) == 1;
    spec.request.cpu_milli = csv.integer(cpu, kRequestRule).value_or(0);
    spec.request.memory_mib = of_others ? std::llround(memory_mib(csv, memory).value_or(0))
                                        : csv.integer(memory, kRequestRule).value_or(0);
    spec.epoch = csv.seconds(epoch, kWorkRule);
    spec.gpu_models = model_bits(csv, gpu_models, builder);
    if (of_others && !csv.has(gpu_models)) spec.gpu_models = demands.type_bit(csv, builder);
    if (has_virtual_clusters) {
      spec.virtual_cluster = builder.virtual_cluster(csv.text(virtual_cluster));
    }
    spec.steps = csv.integer(steps, kJobSteps).value_or(0);
    if (const auto value = csv.integer(label, kPackingLabelRule)) {
      spec.profile.packing_label = static_cast<int>(*value);
    }
    if (!csv.text(zoo).empty()) {
      found.zoo_run = std::make_shared<const ZooRun>(
          ZooRun{std::string(csv.text(zoo)),
                 static_cast<double>(csv.integer(batch, kZooBatch).value_or(1)), csv.place(zoo)});
    }
    read_elastic(csv, {gpus_min, gpus_max}, spec);
    found.parallel_share = csv.number(parallel_share, kParallelShare).value_or(1);
    found.run_nodes = static_cast<int>(csv.integer(run_nodes, kRunNodes).value_or(0));
    found.message_mib = csv.number(message, kMessage).value_or(0);
    if (found.message_mib > 0 && spec.steps == 0) {
      csv.refuse(message, "'steps' beside it", "give the steps, or leave it empty");
    }
    if (found.message_mib > 0) {
      found.step_s = to_seconds(spec.work) / static_cast<double>(spec.steps);
    }
    found.on_types = on_types.read(csv);
    found.key = keys.of(csv.text(workload));
    found.cluster = static_cast<int>(csv.integer(cluster, kCluster).value_or(kUnknownCluster));
    found.uncertainty = csv.number(uncertainty, kDistance).value_or(kUnknownUncertainty);
    found.carried = carried.read(csv);
    builder.add(std::move(found), csv.line());
  }
  if (of_others) {
    submit_times.tell(csv, submit, builder);
    run_times.tell(csv, solo, builder);
  }
  demands.tell(builder);
  if (const std::string instances = uncounted_instances(csv, renamed); !instances.empty()) {
    const std::string theirs = csv.theirs(gpus);
    builder.assume(printable(theirs) +
                   " is taken as the GPUs of a whole job; if it counts those of one of its " +
                   printable(instances) + ", write " + printable(theirs) + "*" +
                   printable(instances) + "=gpus");
  }
  const std::string place = csv.name() + ":1:1";
  Trace trace =
      submit_times.are_dates() ? builder.take_from_first_submit(place) : builder.take(place);
  trace.unread_columns = std::move(unread);
  trace.carried = carried.take();
  return trace;
}

CsvOptions options_of(std::vector<RenamedColumn> renamed) {
  for (RenamedColumn& column : renamed) {
    if (column.ours == kCarriedOnly) column.ours.clear();
  }
  const bool is_log = !renamed.empty();
  return {.ignore_unknown = true,
          .renamed = std::move(renamed),
          .has_columns_option = true,
          .is_log = is_log,
          .beginnings = {kOnTypes.begin(), kOnTypes.end()}};
}

/// Refuses what sacct prints without -P: columns separated by blanks, above a line of dashes.
void refuse_blank_separated(std::string_view head, const std::string& name) {
  const std::string_view header = first_line(head);
  const std::size_t at = head.find(header);
  const std::string_view second =
      first_line(head.substr(std::min(head.size(), at + header.size())));
  const bool dashes = second.size() >= 3 &&
                      second.find_first_not_of("- \t") == std::string_view::npos &&
                      second.find(' ') != std::string_view::npos;
  if (!dashes || header.find_first_of(",;\t|") != std::string_view::npos) return;
  throw InputError(
      name + ":2:1",
      "found a line of dashes below columns separated by spaces, as sacct prints tables, expected "
      "a "
      "separator between columns; print the log with sacct -P (and -X to leave out job steps)");
}

/// The last place of `c` that is not between double quotes; npos if there is none.
std::size_t last_outside_quotes(std::string_view text, char c) {
  std::size_t found = std::string_view::npos;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (text[i] == c && !quoted) found = i;
  }
  return found;
}

/// One "THEIRS=OURS*FACTOR".
RenamedColumn parse_renamed_column(std::string_view text, const std::string& place) {
  const auto refuse = [&](const std::string& message) {
    throw InputError(place, "found '" + printable(text) + "': " + message);
  };
  const std::size_t equals = last_outside_quotes(text, '=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse("expected THEIRS=OURS, such as arrival=submit_s; THEIRS= leaves a column out");
  }
  RenamedColumn renamed{std::string(trimmed(text.substr(0, equals))),
                        std::string(trimmed(text.substr(equals + 1)))};
  const std::string& quoted = renamed.theirs;
  if (quoted.size() > 2 && quoted.find('"', 1) == quoted.size() - 1 && quoted.front() == '"') {
    renamed.theirs = quoted.substr(1, quoted.size() - 2);
  }
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
  if (std::ranges::find(kTextColumns, renamed.ours) != kTextColumns.end()) {
    refuse("a factor is for numbers, and " + renamed.ours + " is a text; leave it out");
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
    std::size_t to = from;  // the comma outside quotes
    for (bool quoted = false; to < text.size() && (quoted || text[to] != ','); ++to) {
      if (text[to] == '"') quoted = !quoted;
    }
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
                   const std::vector<RenamedColumn>& renamed, const LogRules& rules) {
  CsvOptions options = options_of(renamed);
  std::error_code error;
  if (std::filesystem::is_regular_file(path, error)) {  // a pipe can be read only once
    const std::string head = first_bytes(path, "a CSV file");
    refuse_blank_separated(head, shown_path(path));
    options.separator = separator_of(first_line(head));
  }
  CsvReader csv(path, kJobColumns, options);
  return read_job_csv(csv, std::filesystem::path(path).filename().string(), keys, renamed, rules);
}

Trace read_job_csv(std::istream& in, const std::string& name, WorkloadKeys& keys,
                   const std::vector<RenamedColumn>& renamed, const LogRules& rules) {
  CsvReader csv(in, name, kJobColumns, options_of(renamed));
  return read_job_csv(csv, name, keys, renamed, rules);
}

std::vector<std::string_view> job_csv_columns() {
  std::vector<std::string_view> names;
  for (const CsvColumn& column : kJobColumns) names.push_back(column.name);
  return names;
}

bool looks_like_job_csv(const TraceHead& head) { return has_columns(head, {"submit_s", "solo_s"}); }

}  // namespace corun::inline traces
