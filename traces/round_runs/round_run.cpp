#include "traces/round_runs/round_run.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/round_runs/round_columns.hpp"

namespace corun::inline traces {

namespace {

namespace fs = std::filesystem;
constexpr IntegerRule kRoundNumber{"the number of a round", 0, 10'000'000};
constexpr NumberRule kCompletion{"a number of seconds", 0, kMaxTimeSeconds, true};
constexpr NumberRule kRunTime{"a number of GPU seconds", 0, 1e15};
constexpr NumberRule kLeaseRate{"a number of steps per second", 0, 1e12};
constexpr std::int64_t kMostWorkers = 1'000'000;

std::vector<RunJob> read_run_jobs(const std::string& path, const RoundWorkload& workload) {
  CsvReader csv(path, {{"job", true}, {"jct_s", true}, {"gpu_run_s", true}}, kAnyColumns);
  const auto number = csv.column("job");
  std::vector<RunJob> jobs;
  while (csv.next()) {
    const std::size_t j = required_job(csv, number, workload.jobs.size());
    if (j != jobs.size()) {
      csv.refuse(number, std::to_string(jobs.size()), "list every job of trace.csv once, in order");
    }
    RunJob job;
    job.jct_s = csv.required_number(csv.column("jct_s"), kCompletion);
    job.finish_s = workload.jobs[j].arrival_s + job.jct_s;
    job.run_s = csv.required_number(csv.column("gpu_run_s"), kRunTime) / workload.jobs[j].gpus;
    jobs.push_back(job);
  }
  if (jobs.size() != workload.jobs.size()) {
    throw InputError(path, std::to_string(jobs.size()) + " jobs, expected " +
                               std::to_string(workload.jobs.size()) + " as in trace.csv");
  }
  return jobs;
}

std::vector<int> workers_of(const CsvReader& csv, CsvReader::Column column) {
  std::vector<int> workers;
  const std::string_view text = csv.required_text(column, "worker numbers joined by blanks");
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const auto worker = parse_integer(text.substr(at, end - at));
    if (!worker || *worker < 0 || *worker >= kMostWorkers) {
      csv.refuse(column, "worker numbers from 0, joined by single blanks");
    }
    workers.push_back(static_cast<int>(*worker));
    at = end + 1;
  }
  return workers;
}

void read_rounds(const std::string& path, const RoundWorkload& workload, RoundRun& run) {
  CsvReader csv(path, {{"round", true}, {"job", true}, {"workers", true}}, kAnyColumns);
  const auto round = csv.column("round");
  const auto number = csv.column("job");
  const auto where = csv.column("workers");
  run.rounds_of.resize(workload.jobs.size());
  std::set<int> busy;
  while (csv.next()) {
    const auto k = static_cast<std::size_t>(required_integer(csv, round, kRoundNumber));
    if (k != run.rounds.size() && k + 1 != run.rounds.size()) {
      csv.refuse(round,
                 run.rounds.empty() ? "0 in the first row" : "that of the row above or the next",
                 "sort the rows by round; a round in which nobody ran is not supported");
    }
    if (k == run.rounds.size()) {
      run.rounds.emplace_back();
      busy.clear();
    }
    Placed placed{required_job(csv, number, workload.jobs.size()), workers_of(csv, where)};
    const int gang = workload.jobs[placed.job].gpus;
    if (static_cast<int>(placed.workers.size()) != gang) {
      csv.refuse(where, std::to_string(gang) + " workers, the GPUs of job " +
                            std::to_string(placed.job) + " in trace.csv");
    }
    for (const int worker : placed.workers) {
      if (!busy.insert(worker).second) {
        csv.refuse(where, "workers that are free in this round, and " + std::to_string(worker) +
                              " is not");
      }
    }
    std::vector<std::size_t>& ran = run.rounds_of[placed.job];
    if (!ran.empty() && ran.back() == k) {
      csv.refuse(number, "a job once a round", "remove one of the two rows");
    }
    ran.push_back(k);
    run.rounds.back().push_back(std::move(placed));
  }
  for (std::size_t j = 0; j < run.rounds_of.size(); ++j) {
    if (run.rounds_of[j].empty()) {
      throw InputError(path, "job " + std::to_string(j) +
                                 " never runs, expected every job of trace.csv in some round");
    }
  }
}

void read_measured_rates(const std::string& path, const RoundWorkload& workload, RoundRun& run) {
  CsvReader csv(path, {{"round", true}, {"job", true}, {"batch_size", true}, {"steps_per_s", true}},
                kAnyColumns);
  const auto round = csv.column("round");
  const auto number = csv.column("job");
  while (csv.next()) {
    MeasuredRate rate;
    rate.round = static_cast<std::size_t>(required_integer(csv, round, kRoundNumber));
    rate.job = required_job(csv, number, workload.jobs.size());
    if (!std::ranges::binary_search(run.rounds_of[rate.job], rate.round)) {
      csv.refuse(round, "a round in which job " + std::to_string(rate.job) + " ran by rounds.csv");
    }
    if (!run.rates.empty() && rate.round < run.rates.back().round) {
      csv.refuse(round, "no round before that of the row above", "sort the rows by round");
    }
    rate.batch_size = required_integer(csv, csv.column("batch_size"), kGlobalBatch);
    rate.steps_per_s = csv.required_number(csv.column("steps_per_s"), kLeaseRate);
    run.rates.push_back(rate);
  }
}

}  // namespace

RoundRun read_round_run(const std::string& directory, const std::string& name,
                        const RoundWorkload& workload) {
  RoundRun run;
  run.name = name;
  const fs::path folder = fs::path(directory) / name;
  run.policy = folder.filename().string();
  run.jobs = read_run_jobs((folder / "jobs.csv").string(), workload);
  read_rounds((folder / "rounds.csv").string(), workload, run);
  read_measured_rates((folder / "throughput.csv").string(), workload, run);
  return run;
}

std::vector<std::string> list_round_runs(const std::string& directory, const std::string& kind) {
  std::vector<std::string> names;
  std::error_code error;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(directory) / kind, error)) {
    std::error_code missing;
    if (fs::exists(entry.path() / "jobs.csv", missing)) {
      names.push_back(kind + "/" + entry.path().filename().string());
    }
  }
  std::ranges::sort(names);
  return names;
}

bool continues(const RoundRun& run, std::size_t round, const Placed& placed) {
  return round > 0 &&
         std::ranges::find(run.rounds[round - 1], placed) != run.rounds[round - 1].end();
}

}  // namespace corun::inline traces
