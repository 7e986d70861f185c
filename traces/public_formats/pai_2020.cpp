#include "traces/public_formats/pai_2020.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <istream>
#include <memory>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/input_file.hpp"

namespace corun::inline traces {
namespace {

namespace fs = std::filesystem;
using Column = CsvReader::Column;

constexpr std::string_view kJobTable = "pai_job_table";
constexpr std::string_view kTaskTable = "pai_task_table";
constexpr std::string_view kInstanceTable = "pai_instance_table";
constexpr NumberRule kTaskInstances{"a number of instances", 0, 1e5};
constexpr NumberRule kPercent{"a percentage", 0, 1e7};
constexpr NumberRule kGigabytes{"a number of GB", 0, 1e9};
constexpr std::int64_t kMostGpuMilli = 1'000'000'000;

std::vector<CsvColumn> job_columns() {
  return {{"job_name", true}, {"start_time", true}, {"status"}};
}

std::vector<CsvColumn> task_columns() {
  return {{"job_name", true}, {"inst_num", true}, {"start_time", true}, {"end_time", true},
          {"plan_gpu", true}, {"plan_cpu"},       {"plan_mem"},         {"gpu_type"}};
}

std::vector<CsvColumn> instance_columns() {
  return {{"job_name", true}, {"start_time", true}, {"end_time", true}};
}

CsvOptions with_header(const PaiTable& table) {
  return {.ignore_unknown = true, .header = table.header, .is_log = true};
}

/// A table and its header file, found and opened.
struct TableFile {
  std::string path;
  std::string header_path;
  std::unique_ptr<std::istream> in;
  PaiTable table;
};

/// The table beside `path`, whose file name contains `own`; nothing if there is none and it is not
/// required.
std::optional<TableFile> open_table(const std::string& path, std::string_view own,
                                    std::string_view table, std::vector<CsvColumn> columns,
                                    bool required) {
  const fs::path given(path);
  const std::string file = given.filename().string();
  const std::size_t at = file.find(own);
  const auto sibling = [&](std::string_view ending) {
    const std::string name = file.substr(0, at) + std::string(table) + std::string(ending);
    return (given.parent_path() / name).string();
  };
  TableFile found;
  std::error_code error;
  for (const std::string_view ending : {".csv", ".csv.gz", ".csv.zst"}) {
    if (!found.path.empty() || !fs::exists(sibling(ending), error)) continue;
    found.path = sibling(ending);
  }
  if (table == own) found.path = path;
  if (found.path.empty()) {
    if (!required) return std::nullopt;
    throw InputError(shown_path(path), "no " + std::string(table) +
                                           ".csv beside it, expected the tables of one trace in "
                                           "one folder; put it there");
  }
  found.header_path = sibling(".header");
  if (!fs::exists(found.header_path, error)) {
    throw InputError(shown_path(found.path),
                     "no " + std::string(table) +
                         ".header beside it, expected a file that names its "
                         "columns; put it there");
  }
  found.in = open_input(found.path, "a CSV file");
  found.table = {found.in.get(), shown_path(found.path),
                 CsvReader(found.header_path, std::move(columns), kAnyColumns).header()};
  return found;
}

struct Span {
  Time begin = kNever;
  Time end{-1};

  void cover(Time from, Time to) {
    begin = std::min(begin, from);
    end = std::max(end, to);
  }
  bool empty() const { return end < Time::zero(); }
};

/// Data of the tables about one job.
struct Job {
  Time submit{0};
  std::uint32_t line = 0;
  std::uint32_t models = 0;
  bool left_out = false;
  bool has_tasks = false;
  bool unfinished = false;
  bool any_model = false;
  std::int64_t gpu_milli = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory_mib = 0;
  Span tasks;
  Span instances;
};

class Pai2020Reader {
 public:
  Pai2020Reader(std::string source, const LogRules& rules) : builder_(std::move(source), rules) {}

  Trace read(const PaiTable& jobs, const PaiTable& tasks, const PaiTable* instances) {
    read_jobs(CsvReader(*jobs.in, jobs.name, job_columns(), with_header(jobs)));
    read_tasks(CsvReader(*tasks.in, tasks.name, task_columns(), with_header(tasks)));
    if (instances != nullptr) {
      read_instances(
          CsvReader(*instances->in, instances->name, instance_columns(), with_header(*instances)));
    }
    for (std::size_t j = 0; j < jobs_.size(); ++j) finish(jobs_[j], std::move(names_[j]));
    Trace trace = builder_.take(jobs.name + ":1:1");
    if (orphans_ > 0) {
      trace.left_out.push_back(
          {(orphans_ == 1 ? "row" : "rows") +
               (" of tasks and instances whose job is not in " + std::string(kJobTable)),
           orphans_, 0, true});
    }
    return trace;
  }

 private:
  void read_jobs(CsvReader&& csv) {
    const Column name = csv.column("job_name");
    const Column start = csv.column("start_time");
    const Column status = csv.column("status");
    while (csv.next()) {
      const std::string_view text = csv.required_text(name, "the name of a job");
      const bool chosen = builder_.keeps_state(csv.text(status), csv.line());
      const auto submit = csv.seconds(start, kSubmitRule);
      if (!chosen) {
        if (index_.find(text, names_)) continue;
        names_.emplace_back(text);  // its tasks and instances are no orphans
        index_.add(text);
        jobs_.emplace_back().left_out = true;
      } else if (!submit) {
        builder_.skip_without_submit(csv.line());
      } else if (index_.find(text, names_)) {
        builder_.skip_incomplete("with a repeated name", csv.line());
      } else {
        names_.emplace_back(text);
        index_.add(text);
        Job& job = jobs_.emplace_back();
        job.submit = *submit;
        job.line = static_cast<std::uint32_t>(std::min<std::size_t>(csv.line(), 0xffffffffU));
      }
    }
  }

  Job* job_of(const CsvReader& csv, Column name) {
    const auto found = index_.find(csv.required_text(name, "the name of a job"), names_);
    if (!found) ++orphans_;
    return found ? &jobs_[*found] : nullptr;
  }

  void read_tasks(CsvReader&& csv) {
    const Column name = csv.column("job_name");
    const Column inst_num = csv.column("inst_num");
    const Column start = csv.column("start_time");
    const Column end = csv.column("end_time");
    const Column plan_gpu = csv.column("plan_gpu");
    const Column plan_cpu = csv.column("plan_cpu");
    const Column plan_mem = csv.column("plan_mem");
    const Column gpu_type = csv.column("gpu_type");
    while (csv.next()) {
      Job* job = job_of(csv, name);
      if (job == nullptr) continue;
      job->has_tasks = true;
      cover(csv, start, end, job->tasks, job->unfinished);
      const double instances = csv.number(inst_num, kTaskInstances).value_or(1);
      const double gpu_milli = csv.number(plan_gpu, kPercent).value_or(0) * 10;
      job->gpu_milli += std::llround(instances * gpu_milli);
      if (job->gpu_milli > kMostGpuMilli) csv.refuse(plan_gpu, "at most 1000000 GPUs in all");
      job->cpu_milli = std::max<std::int64_t>(
          job->cpu_milli, std::llround(csv.number(plan_cpu, kPercent).value_or(0) * 10));
      job->memory_mib = std::max<std::int64_t>(
          job->memory_mib, std::llround(csv.number(plan_mem, kGigabytes).value_or(0) * 1024));
      if (gpu_milli > 0) add_model(csv, gpu_type, *job);
    }
  }

  void add_model(const CsvReader& csv, Column gpu_type, Job& job) {
    const std::string_view type = csv.text(gpu_type);
    if (type.empty() || type == "MISC") {
      job.any_model = true;
      return;
    }
    const auto bit = builder_.gpu_model(type);
    if (!bit) csv.refuse(gpu_type, "at most 32 different GPU models in a trace");
    job.models |= *bit;
  }

  void read_instances(CsvReader&& csv) {
    const Column name = csv.column("job_name");
    const Column start = csv.column("start_time");
    const Column end = csv.column("end_time");
    bool unfinished = false;  // the table of tasks shows whether the job has ended
    while (csv.next()) {
      Job* job = job_of(csv, name);
      if (job != nullptr) cover(csv, start, end, job->instances, unfinished);
    }
  }

  static void cover(const CsvReader& csv, Column start, Column end, Span& span, bool& unfinished) {
    const auto from = csv.seconds(start, kSubmitRule);
    const auto to = csv.seconds(end, kSubmitRule);
    if (from && to) {
      span.cover(*from, *to);
    } else {
      unfinished = true;
    }
  }

  void finish(const Job& job, std::string name) {
    if (job.left_out) return;
    constexpr Duration kLongest = std::chrono::seconds{90'000'000};
    const Span& span = job.instances.empty() ? job.tasks : job.instances;
    if (!job.has_tasks) return builder_.skip("without tasks", job.line);
    if (job.unfinished || span.empty()) return builder_.skip("without an end", job.line);
    if (span.end - span.begin > kLongest) {
      return builder_.skip("that ran for more than 90000000 s", job.line);
    }
    TraceJob found;
    found.name = std::move(name);
    found.spec.submit = job.submit;
    found.spec.work = span.end - span.begin;
    found.spec.gpus = 0;
    if (job.gpu_milli > 0) ask_for_gpus(found.spec, job.gpu_milli);
    found.spec.gpu_models = job.any_model ? 0 : job.models;
    found.spec.request = {job.cpu_milli, job.memory_mib};
    builder_.add_or_skip(std::move(found), job.line);
  }

  std::vector<std::string> names_;  ///< of all jobs of the job table
  NameIndex index_;
  std::vector<Job> jobs_;
  TraceBuilder builder_;
  std::size_t orphans_ = 0;
};

/// The table that a path names.
std::string_view table_of(const std::string& path) {
  const std::string file = fs::path(path).filename().string();
  for (const std::string_view table : {kJobTable, kTaskTable}) {
    if (file.find(table) != std::string::npos) return table;
  }
  return {};
}

}  // namespace

Trace read_pai_2020(const std::string& path, const LogRules& rules) {
  const std::string_view own = table_of(path);
  if (own.empty()) {
    throw InputError(shown_path(path),
                     "is not called pai_job_table.csv or pai_task_table.csv, expected one of these "
                     "with its .header file beside it; keep the names of the trace");
  }
  const TableFile jobs = *open_table(path, own, kJobTable, job_columns(), true);
  const TableFile tasks = *open_table(path, own, kTaskTable, task_columns(), true);
  const auto instances = open_table(path, own, kInstanceTable, instance_columns(), false);
  Trace trace = Pai2020Reader(fs::path(path).filename().string(), rules)
                    .read(jobs.table, tasks.table, instances ? &instances->table : nullptr);
  const auto beside = [&](const TableFile& file) {
    if (file.path != path) trace.files_beside.push_back(file.path);
    trace.files_beside.push_back(file.header_path);
  };
  beside(jobs);
  beside(tasks);
  if (instances) beside(*instances);
  return trace;
}

Trace read_pai_2020(const PaiTable& jobs, const PaiTable& tasks, const PaiTable* instances,
                    const LogRules& rules) {
  return Pai2020Reader(jobs.name, rules).read(jobs, tasks, instances);
}

bool looks_like_pai_2020(const TraceHead& head) { return !table_of(head.path).empty(); }

}  // namespace corun::inline traces
