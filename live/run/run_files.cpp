#include "live/run/run_files.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <set>
#include <tuple>

#include "knowledge/knowledge_catalog.hpp"
#include "knowledge/prefitted_model.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "sim/records/event_log.hpp"
#include "traces/csv_reader.hpp"

namespace corun::live {

namespace fs = std::filesystem;

namespace {

constexpr const char* kAdvice = "corun live run CONFIG makes all files of a run anew";

void check_there(const std::string& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return;
  throw InputError("corun live validate",
                   "no file '" + printable(path, 300) + "'; corun live run CONFIG makes it");
}

std::map<std::string_view, JobId> jobs_by_name(const Trace& queue) {
  std::map<std::string_view, JobId> jobs;
  for (std::size_t j = 0; j < queue.jobs.size(); ++j) {
    jobs[queue.jobs[j].name] = static_cast<JobId>(j);
  }
  return jobs;
}

/// The rows of POLICY.jobs.csv, one after the other.
class JobsCsv {
 public:
  JobsCsv(const std::string& path, const Trace& queue, const SoloOnGpus& alone)
      : csv_(path,
             {{"job", true},
              {"gpu", true},
              {"group", true},
              {"deferred", true},
              {"end", true},
              {"submit_s", true},
              {"start_s", true},
              {"corun_s", true},
              {"solo_s", true},
              {"predicted_isd", true},
              {"predicted_jct_s", true}},
             {.ignore_unknown = true}),
        queue_(queue),
        jobs_(jobs_by_name(queue)),
        alone_(alone),
        gpus_(static_cast<std::int64_t>(alone.gpus())),
        finished_(queue.jobs.size(), false) {}

  bool next() { return csv_.next(); }

  JobsRow row() {
    JobsRow row;
    row.run.job = job();
    const JobSpec& spec = queue_.jobs[index(row.run.job)].spec;
    check_same("submit_s", spec.submit, row.run.job);
    row.run.gpu = static_cast<GpuId>(whole("gpu", {"the number of a GPU", 0, gpus_ - 1}));
    row.solo = alone_.solo(row.run.job, row.run.gpu);
    check_same("solo_s", row.solo, row.run.job);
    row.run.group =
        static_cast<std::uint32_t>(whole("group", {"the number of a group", 0, 0xffffffffU}));
    row.run.deferred = whole("deferred", {"0 or 1", 0, 1}) == 1;
    row.run.start = csv_.required_seconds(csv_.column("start_s"), kAnyTime);
    row.run.exit = row.run.start + csv_.required_seconds(csv_.column("corun_s"), kAnyTime);
    row.finished = csv_.required_text(csv_.column("end"), "how the run ended") == "finished";
    row.predicted_isd = csv_.number(csv_.column("predicted_isd"), kAnyNumber);
    row.predicted_jct_s = csv_.number(csv_.column("predicted_jct_s"), kAnyNumber);
    if (row.finished && finished_[index(row.run.job)]) {
      csv_.fail(csv_.column("job"),
                "job '" + name_of(row.run.job) + "' finishes a second time; " + kAdvice);
    }
    finished_[index(row.run.job)] = finished_[index(row.run.job)] || row.finished;
    return row;
  }

 private:
  static constexpr NumberRule kAnyTime{"a number of seconds", 0, kMaxTimeSeconds};
  static constexpr NumberRule kAnyNumber{"a number"};

  JobId job() {
    const std::string name(csv_.required_text(csv_.column("job"), "the name of a job"));
    const auto found = jobs_.find(name);
    if (found == jobs_.end()) {
      csv_.fail(csv_.column("job"), "job '" + printable(name) + "' is not in " + kQueueFile +
                                        ": the file is of another run; " + kAdvice);
    }
    return found->second;
  }

  std::string name_of(JobId job) const { return printable(queue_.jobs[index(job)].name); }

  void check_same(const char* key, Duration expected, JobId job) {
    const Duration found = csv_.required_seconds(csv_.column(key), kAnyTime);
    // Both were written and read as rounded decimals.
    constexpr Duration kRounding{2};
    if (std::max(found, expected) - std::min(found, expected) <= kRounding) return;
    csv_.fail(csv_.column(key), std::string(key) + " of job '" + name_of(job) + "' is another in " +
                                    kQueueFile + ": the file is of another run; " + kAdvice);
  }

  std::int64_t whole(const char* key, const IntegerRule& rule) {
    const auto value = csv_.integer(csv_.column(key), rule);
    if (!value) csv_.refuse(csv_.column(key), std::string(rule.what));
    return *value;
  }

  CsvReader csv_;
  const Trace& queue_;
  std::map<std::string_view, JobId> jobs_;
  const SoloOnGpus& alone_;
  std::int64_t gpus_;
  std::vector<bool> finished_;  ///< by job: in an earlier row
};

std::vector<JobsRow> read_jobs_csv(const std::string& path, const Trace& queue,
                                   const SoloOnGpus& alone) {
  check_there(path);
  JobsCsv csv(path, queue, alone);
  std::vector<JobsRow> rows;
  while (csv.next()) rows.push_back(csv.row());
  return rows;
}

/// Throws InputError if the two files of a run contradict each other: one of them is incomplete then.
void check_log(const std::string& log_path, const std::string& jobs_path,
               const std::vector<JobsRow>& rows, const Trace& queue) {
  check_there(log_path);
  const std::map<std::string_view, JobId> jobs = jobs_by_name(queue);
  std::ifstream in(log_path);
  const EventLog log = read_event_log(in, log_path, [&](const std::string& name) {
    const auto job = jobs.find(name);
    return job == jobs.end() ? std::nullopt : std::optional(job->second);
  });
  std::set<std::pair<JobId, GpuId>> started;
  std::set<JobId> finished;
  for (const JobsRow& row : rows) {
    if (row.finished) finished.insert(row.run.job);
  }
  const auto name = [&](JobId j) { return "job '" + printable(queue.jobs[index(j)].name) + "'"; };
  for (const LogEntry& entry : log) {
    if (entry.kind == LogKind::kStart && entry.gpus.size() == 1) {
      started.emplace(entry.job, entry.gpus.front());
    }
    if (entry.kind == LogKind::kFinish && !finished.contains(entry.job)) {
      throw InputError(jobs_path, "does not have that " + name(entry.job) + " finished, which " +
                                      fs::path(log_path).filename().string() +
                                      " has: it is cut off or of another run; " + kAdvice);
    }
  }
  for (const JobsRow& row : rows) {
    if (started.contains({row.run.job, row.run.gpu})) continue;
    throw InputError(log_path, "does not have that " + name(row.run.job) + " started on GPU " +
                                   std::to_string(index(row.run.gpu)) + ", which " +
                                   fs::path(jobs_path).filename().string() +
                                   " has: it is cut off or of another run; " + kAdvice);
  }
}

}  // namespace

std::string policy_file(const std::string& directory, const std::string& label,
                        const std::string& ending) {
  std::string name = label;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '-' && c != '_' && c != '.')
      c = '_';
  }
  return directory + "/" + name + ending;
}

Config seen_from(Config config, const std::string& directory) {
  const auto renew = [&](std::string& path) {
    if (is_prefitted(path)) return;
    std::error_code error;
    const fs::path file = fs::path(config.directory) / path;
    if (!fs::is_regular_file(file, error)) return;
    const fs::path whole = fs::weakly_canonical(file, error);
    const fs::path near = whole.lexically_relative(fs::weakly_canonical(directory, error));
    path = !near.empty() && *near.begin() != ".." ? near.string() : whole.string();
  };
  for (std::optional<std::string>* path :
       {&config.workload.path, &config.workload.labels, &config.workload.solo_times,
        &config.cluster.gpu_types, &config.world.path, &config.belief.overrides}) {
    if (*path) renew(**path);
  }
  if (find_knowledge(config.belief.initial) == nullptr) renew(config.belief.initial);
  config.directory = directory;
  return config;
}

std::vector<JobsRow> read_run(const std::string& directory, const std::string& label,
                              const Trace& queue, const SoloOnGpus& alone) {
  const std::string jobs = policy_file(directory, label, ".jobs.csv");
  std::vector<JobsRow> rows = read_jobs_csv(jobs, queue, alone);
  check_log(policy_file(directory, label, ".events.csv"), jobs, rows, queue);
  return rows;
}

std::map<std::string, double> read_prediction(const std::string& directory,
                                              const std::string& metric) {
  const std::string path = directory + "/" + kPredictionFile;
  check_there(path);
  CsvReader csv(path, {{"policy", true}, {"metric", true}, {"predicted", true}});
  std::map<std::string, double> values;
  while (csv.next()) {
    const auto value = csv.number(csv.column("predicted"), NumberRule{"a number"});
    if (csv.text(csv.column("metric")) != metric || !value) continue;
    values[std::string(csv.required_text(csv.column("policy"), "the label of a policy"))] = *value;
  }
  return values;
}

}  // namespace corun::live
