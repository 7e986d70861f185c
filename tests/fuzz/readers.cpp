#include "tests/fuzz/readers.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <istream>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "sim/error.hpp"
#include "tests/helpers/trace_columns.hpp"
#include "traces/csv_reader.hpp"
#include "traces/elastic/pollux_jobs.hpp"
#include "traces/generated/solo_workload.hpp"
#include "traces/input_file.hpp"
#include "traces/job_csv.hpp"
#include "traces/public_formats/batsim.hpp"
#include "traces/public_formats/gavel_trace.hpp"
#include "traces/public_formats/helios.hpp"
#include "traces/public_formats/lucid_jobs.hpp"
#include "traces/public_formats/muri.hpp"
#include "traces/public_formats/openb.hpp"
#include "traces/public_formats/pai_2020.hpp"
#include "traces/public_formats/pai_simulator.hpp"
#include "traces/public_formats/philly.hpp"
#include "traces/public_formats/standard_workload.hpp"
#include "traces/requests/request_trace.hpp"
#include "traces/requests/service_time_table.hpp"
#include "traces/tables/append_measurements.hpp"
#include "traces/tables/gavel_rates_csv.hpp"
#include "traces/tables/gavel_throughputs.hpp"
#include "traces/tables/lucid_colocation.hpp"
#include "traces/tables/measurements.hpp"
#include "traces/tables/predictions_csv.hpp"
#include "traces/trace_statistics.hpp"

namespace corun::fuzz {
namespace {

void require(bool sound, const char* what) {
  if (!sound) throw std::logic_error(what);
}

/// What every trace must be, whatever it was read from.
void check_jobs(const Trace& trace) {
  const auto jobs = test::specs_of(trace);
  require(!jobs.empty(), "a trace without jobs");
  const std::vector<std::string_view> all_names = names_of(trace);
  const std::set<std::string_view> names(all_names.begin(), all_names.end());
  require(names.size() == jobs.size(), "a name stands twice");
  for (const JobSpec& job : jobs) {
    require(job.submit >= Time::zero() && job.submit <= from_seconds(4e9), "a submit time");
    require(job.work > Duration::zero() && job.work <= from_seconds(9e7), "a run time");
    require(job.gpus >= 1 && job.gpus <= 1'000'000, "a gang size");
    require(job.gpu_milli >= 1 && job.gpu_milli <= 1000, "a share");
    require(job.gpu_milli == 1000 || job.gpus == 1, "a gang of shares");
    require((std::uint64_t{job.gpu_models} >> trace.gpu_model_names.size()) == 0, "a GPU model");
    require(job.virtual_cluster < std::max<std::size_t>(1, trace.virtual_clusters.size()),
            "a virtual cluster");
    require(job.request.cpu_milli >= 0 && job.request.memory_mib >= 0, "a request");
    require(job.steps >= 0, "steps");
  }
  for (const TraceJob& job : trace.jobs) {
    require(job.on_types.size() <= trace.measured_types.size(), "measurements of no GPU type");
    for (const auto& [time, mib] : job.on_types) {
      require(!(time < kLeastSoloS) && !(time > kLongestSoloS && std::isfinite(time)), "a time");
      require(!(mib < 0 || std::isinf(mib)), "a demand");
    }
  }
}

/// Whether `b` has the same types, times and demands, less the types on which nothing is known.
bool same_on_types(const Trace& a, const Trace& b) {
  const auto same = [](double x, double y) { return x == y || (std::isnan(x) && std::isnan(y)); };
  const auto is_known = [](double value) { return !std::isnan(value); };
  std::size_t at = 0;
  for (std::size_t t = 0; t < a.measured_types.size(); ++t) {
    const std::vector<double> solo_s = test::solo_s_on(a, t);
    const std::vector<double> memory_mib = test::memory_mib_on(a, t);
    if (std::ranges::none_of(solo_s, is_known) && std::ranges::none_of(memory_mib, is_known)) {
      continue;
    }
    if (at == b.measured_types.size() || a.measured_types[t].name != b.measured_types[at].name ||
        !std::ranges::equal(solo_s, test::solo_s_on(b, at), same) ||
        !std::ranges::equal(memory_mib, test::memory_mib_on(b, at), same)) {
      return false;
    }
    ++at;
  }
  return at == b.measured_types.size();
}

/// corun's own format holds what was read: written and read again it is the same.
void check_round_trip(const Trace& trace, const WorkloadKeys& keys) {
  std::stringstream text;
  write_job_csv(text, trace, keys);
  WorkloadKeys again_keys;
  const Trace again = read_job_csv(text, "written", again_keys);
  require(names_of(again) == names_of(trace), "names changed");
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    const JobSpec& a = trace.jobs[j].spec;
    const JobSpec& b = again.jobs[j].spec;
    require(a.submit == b.submit && a.work == b.work && a.gpus == b.gpus, "a job changed");
    require(a.gpu_milli == b.gpu_milli && a.steps == b.steps, "a demand changed");
    require(trace.virtual_clusters.empty() || trace.virtual_clusters[a.virtual_cluster] ==
                                                  again.virtual_clusters[b.virtual_cluster],
            "a virtual cluster changed");
  }
  require(same_on_types(trace, again), "measurements by GPU type changed");
  std::stringstream swf;
  write_standard_workload(swf, trace);
  require(read_standard_workload(swf, "written").jobs.size() == trace.jobs.size(),
          "jobs lost in swf");
}

void check(const Trace& trace, const WorkloadKeys& keys) {
  check_jobs(trace);
  check_round_trip(trace, keys);
  const TraceStatistics statistics = trace_statistics(trace);
  require(statistics.jobs == trace.jobs.size(), "jobs were not counted");
}

template <Trace (*Read)(std::istream&, const std::string&, const LogRules&)>
void read_plain(std::string_view bytes) {
  std::istringstream file{std::string(bytes)};
  check(Read(*open_input(file, "file"), "file", {}), WorkloadKeys());
}

template <Trace (*Read)(std::istream&, const std::string&, WorkloadKeys&, const LogRules&)>
void read_keyed(std::string_view bytes) {
  std::istringstream file{std::string(bytes)};
  WorkloadKeys keys;
  const Trace trace = Read(*open_input(file, "file"), "file", keys, {});
  check(trace, keys);
}

Trace read_own_jobs(std::istream& in, const std::string& name, WorkloadKeys& keys,
                    const LogRules& rules) {
  return read_job_csv(in, name, keys, {}, rules);
}

/// Their run times follow from other files: here each is a second.
Trace read_elastic_jobs(std::istream& in, const std::string& name, WorkloadKeys& keys,
                        const LogRules& rules) {
  Trace trace = read_pollux_jobs(in, name, std::nullopt, keys, rules);
  for (TraceJob& job : trace.jobs) {
    require(job.spec.work == Duration::zero(), "a run time");
    require(job.batch_size >= job.spec.gpus, "a batch size");
    job.spec.work = std::chrono::seconds{1};
  }
  return trace;
}

/// A log of others: computed columns, states, texts of people.
Trace read_log_of_others(std::istream& in, const std::string& name, WorkloadKeys& keys,
                         const LogRules& rules) {
  static const std::vector<RenamedColumn> columns = parse_renamed_columns(
      "id=job,when=submit_s,stop-when=solo_s,n*each=gpus,mem=mem_used_mib", "--columns");
  return read_job_csv(in, name, keys, columns, rules);
}

void read_nodes(std::string_view bytes) {
  std::istringstream file{std::string(bytes)};
  for (const ListedNode& node : read_openb_nodes(*open_input(file, "file"), "file").nodes) {
    require(node.gpus >= 1 && node.cpu_milli >= 0 && node.memory_mib >= 0, "a node");
  }
}

/// The text of the file, archives unpacked.
std::string text_of(std::string_view packed) {
  std::istringstream file{std::string(packed)};
  const auto in = open_input(file, "file");
  // From the buffer: a stream keeps errors of archives to itself, and its iterators are slow in debug builds.
  std::string all;
  std::array<char, 1 << 16> part{};
  for (std::streamsize got = 0; (got = in->rdbuf()->sgetn(part.data(), part.size())) > 0;) {
    all.append(part.data(), static_cast<std::size_t>(got));
  }
  return all;
}

void read_pai(std::string_view packed) {
  const std::string all = text_of(packed);
  std::string_view bytes = all;
  std::array<std::string, 3> text;
  std::size_t tables = 0;
  while (tables < text.size()) {
    const std::size_t end = std::min(bytes.find(kNextTable), bytes.size());
    text[tables] = bytes.substr(0, end);
    if (!text[tables].empty()) text[tables] += '\n';
    ++tables;
    if (end == bytes.size()) break;
    bytes.remove_prefix(end + kNextTable.size());
  }
  std::istringstream jobs(text[0]), tasks(text[1]), instances(text[2]);
  const PaiTable third{&instances,
                       "instances",
                       {"job_name", "task_name", "inst_name", "worker_name", "inst_id", "status",
                        "start_time", "end_time", "machine"}};
  check(read_pai_2020(
            {&jobs, "jobs", {"job_name", "inst_id", "user", "status", "start_time", "end_time"}},
            {&tasks,
             "tasks",
             {"job_name", "task_name", "inst_num", "status", "start_time", "end_time", "plan_cpu",
              "plan_mem", "plan_gpu", "gpu_type"}},
            tables == 3 ? &third : nullptr),
        WorkloadKeys());
}

void read_gavel(std::string_view bytes) {
  constexpr std::string_view kRates = R"json(
      {"v100": {"('A', 1)": {"null": 2.5, "('A', 1)": [2, 2], "('B', 1)": [0, 0]},
                "('B', 1)": {"null": 7.25, "('A', 1)": [0, 0], "('B', 1)": [1, 1]},
                "('A', 2)": {"null": 4.5}}})json";
  WorkloadKeys keys;
  const GavelThroughputs rates = parse_gavel_throughputs(kRates, "rates", "v100", keys);
  const Trace trace = parse_gavel_trace(text_of(bytes), "file", &rates);
  check_jobs(trace);
  for (const JobSpec& job : test::specs_of(trace)) require(job.steps >= 1, "steps");
}

void check_rates(const GavelThroughputs& rates) {
  const SpeedTable& table = rates.pairs.speeds;
  require(rates.alone.size() == table.jobs.size(), "rates alone");
  for (const double rate : rates.alone) require(!(rate < 0), "a rate alone");
  for (const SpeedTable::Row& row : table.rows) {
    require(row.a < table.jobs.size() && row.b < table.jobs.size(), "a pair");
    require(!(row.speed_a <= 0) && !(row.speed_b <= 0), "a speed");
  }
}

void read_gavel_rates(std::string_view bytes) {
  WorkloadKeys keys;
  check_rates(parse_gavel_throughputs(text_of(bytes), "file", "v100", keys));
}

/// A trace with its jobs' rates; behind kNextTable, where it stands, those of pairs.
void read_rates_beside_jobs(std::string_view packed) {
  const std::string all = text_of(packed);
  const std::size_t end = std::min(all.find(kNextTable), all.size());
  std::istringstream trace(all.substr(0, end));
  std::optional<std::istringstream> pairs;
  if (end < all.size()) pairs.emplace(all.substr(end + kNextTable.size()));
  for (const std::string_view gpu : kGavelGpuTypes) {
    trace.clear();
    trace.seekg(0);
    if (pairs) {
      pairs->clear();
      pairs->seekg(0);
    }
    WorkloadKeys keys;
    check_rates(read_rates_of_trace(trace, pairs ? &*pairs : nullptr, gpu, keys));
  }
}

/// Lucid's table of pairs; behind kNextTable, where it stands, that of single jobs. What is written reads as
/// so many pairs.
void read_lucid_colocation(std::string_view packed) {
  const std::string all = text_of(packed);
  const std::size_t end = std::min(all.find(kNextTable), all.size());
  std::istringstream pairs(all.substr(0, end));
  std::optional<LucidSolo> solo;
  if (end < all.size()) {
    std::istringstream jobs(all.substr(end + kNextTable.size()));
    solo = read_lucid_solo(jobs, "jobs");
  }
  std::stringstream written;
  const std::size_t rows = write_lucid_pairs(written, pairs, "pairs", solo ? &*solo : nullptr);
  CsvReader again(written, "written", {{"job_a", true}, {"norm_b", true}}, kAnyColumns);
  std::size_t found = 0;
  while (again.next()) ++found;
  require(found == rows, "pairs changed");
}

/// A table of solo times; behind kNextTable, where it stands, MISO's second file. Jobs drawn from it are a
/// trace.
void read_solo(std::string_view packed) {
  const std::string all = text_of(packed);
  const std::size_t end = std::min(all.find(kNextTable), all.size());
  std::istringstream times(all.substr(0, end));
  std::optional<std::istringstream> profiles;
  if (end < all.size()) profiles.emplace(all.substr(end + kNextTable.size()));
  WorkloadKeys keys;
  const SoloTable table = read_solo_table(times, "file", keys, profiles ? &*profiles : nullptr);
  require(!table.names.empty() && !table.types.empty(), "an empty table");
  require(table.time_s.size() == table.names.size() * table.types.size(), "cells");
  const bool can_draw = std::ranges::any_of(table.keys, [&, w = std::size_t{0}](auto) mutable {
    return std::isfinite(table.time(w++, 0));
  });
  if (can_draw) check(solo_workload_trace(table, std::nullopt, 20, 10.0, 1), keys);
}

/// A table of groups; what is written with predictions reads as the same groups.
void read_groups(std::string_view packed) {
  std::istringstream in(text_of(packed));
  WorkloadKeys keys;
  const Measurements table = read_measurements(in, "file", keys);
  if (table.lines.empty()) return;  // of another form
  require(table.lines.size() == table.fields.size(), "lines");
  if (std::ranges::find(table.header, "pred_norm") != table.header.end()) return;
  if (std::ranges::find(table.header, "pred_sd") != table.header.end()) return;
  std::ostringstream written;
  write_predictions(written, table,
                    std::vector<std::vector<double>>(table.lines.size(), {0.5, 0.1}));
  std::istringstream again_in(written.str());
  WorkloadKeys more;
  const Measurements again = read_measurements(again_in, "written", more);
  require(again.speeds.rows.size() == table.speeds.rows.size() &&
              again.speeds.groups.size() == table.speeds.groups.size() &&
              again.names == table.names,
          "groups changed");
}

/// A table of pairs, which is sound; what is written with predictions reads as the same pairs.
void read_pairs(std::string_view packed) {
  std::istringstream in(text_of(packed));
  WorkloadKeys keys;
  const Measurements table = read_measurements(in, "file", keys);
  if (!table.lines.empty()) return;  // groups
  const SpeedTable& speeds = table.speeds;
  require(!speeds.rows.empty() && table.scored.size() == speeds.rows.size(), "rows");
  require(speeds.values.size() == speeds.jobs.size() * speeds.features.size(), "values");
  require(!speeds.campaigns.empty() && speeds.campaigns.size() == table.forms.size(), "campaigns");
  for (const SpeedTable::Row& row : speeds.rows) {
    require(row.a < speeds.jobs.size() && row.b < speeds.jobs.size(), "a pair");
    require(row.campaign < speeds.campaigns.size(), "a campaign");
    require(!(row.speed_a <= 0) && !(row.speed_b <= 0), "a speed");
  }
  Measurements twice = table;
  append(twice, table, keys);
  require(twice.speeds.jobs == speeds.jobs && twice.speeds.campaigns == speeds.campaigns &&
              twice.speeds.rows.size() == 2 * speeds.rows.size(),
          "a table beside itself");
  if (table.header.empty()) return;
  for (const char* name : {"pred_norm_a", "pred_norm_b", "pred_sd_a", "pred_sd_b"}) {
    if (std::ranges::find(table.header, name) != table.header.end()) return;
  }
  std::ostringstream written;
  write_predictions(written, table,
                    std::vector<std::vector<double>>(speeds.rows.size(), {0.5, 0.6, 0.1, 0.1}));
  std::istringstream again_in(written.str());
  WorkloadKeys more;
  const Measurements again = read_measurements(again_in, "written", more);
  require(again.names == table.names && again.speeds.campaigns == speeds.campaigns &&
              again.speeds.rows.size() == speeds.rows.size(),
          "pairs changed");
}

void read_requests(std::string_view bytes) {
  std::istringstream in(text_of(bytes));
  const RequestTrace trace = read_request_trace(in, "file");
  require(!trace.arrivals.empty() && std::ranges::is_sorted(trace.arrivals), "requests");
  require(trace.arrivals.front() >= Time::zero(), "a time");
}

/// Every row can be chosen, alone or among the rows of its batch sizes.
void read_times_of_batches(std::string_view bytes) {
  std::istringstream in(text_of(bytes));
  const std::vector<MeasuredServiceTime> table = read_service_times(in, "file");
  require(!table.empty(), "an empty table");
  for (const MeasuredServiceTime& row : table) {
    require(row.batch >= 1 && row.mean_s > 0 && row.processes >= 1, "a row");
  }
  const MeasuredServiceTime& last = table.back();
  const ServiceTimeChoice choice{last.model, last.gpu_type, last.slice, last.processes,
                                 last.sequence_tokens};
  require(!chosen_times(table, choice).empty(), "a choice");
}

constexpr std::array<Reader, 22> kReaders{{
    {"batsim", read_plain<read_batsim>},
    {"csv", read_keyed<read_own_jobs>},
    {"gavel", read_gavel},
    {"gavel-rates", read_gavel_rates},
    {"gavel-rates-csv", read_rates_beside_jobs},
    {"groups", read_groups},
    {"helios", read_plain<read_helios>},
    {"log", read_keyed<read_log_of_others>},
    {"lucid", read_keyed<read_lucid_jobs>},
    {"lucid-colocation", read_lucid_colocation},
    {"philly", read_plain<read_philly>},
    {"pai-2020", read_pai},
    {"pai-simulator", read_plain<read_pai_simulator>},
    {"openb", read_plain<read_openb_pods>},
    {"openb-nodes", read_nodes},
    {"muri", read_keyed<read_muri>},
    {"pairs", read_pairs},
    {"requests", read_requests},
    {"service-times", read_times_of_batches},
    {"pollux", read_keyed<read_elastic_jobs>},
    {"solo-table", read_solo},
    {"swf", read_plain<read_standard_workload>},
}};

}  // namespace

std::span<const Reader> readers() { return kReaders; }

}  // namespace corun::fuzz
