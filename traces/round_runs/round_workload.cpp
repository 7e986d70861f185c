#include "traces/round_runs/round_workload.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/round_runs/round_columns.hpp"

namespace corun::inline traces {

namespace {

constexpr IntegerRule kGang{"a number of GPUs", 1, 100'000};
constexpr IntegerRule kCount{"a count, 1 or more", 1, 1'000'000'000'000};
constexpr IntegerRule kEpoch{"an epoch, counted from 0", 0, 1'000'000'000};
constexpr NumberRule kArrival{"a number of seconds", 0, kMaxTimeSeconds};
constexpr NumberRule kDeclared{"a number of seconds", 0, kMaxTimeSeconds, true};
constexpr NumberRule kStepRate{"a number of steps per second", 0, 1e12};

std::string in(const std::string& directory, const char* name) {
  return (std::filesystem::path(directory) / name).string();
}

std::vector<RoundJob> read_jobs(const std::string& path) {
  CsvReader csv(path,
                {{"job", true},
                 {"arrival_s", true},
                 {"model", true},
                 {"samples_per_epoch", true},
                 {"initial_batch_size", true},
                 {"gpus", true},
                 {"mode", true},
                 {"steps_at_initial_batch", true},
                 {"epochs", true},
                 {"adapted_duration_s", true}},
                kAnyColumns);
  const auto number = csv.column("job");
  const auto arrival = csv.column("arrival_s");
  std::vector<RoundJob> jobs;
  while (csv.next()) {
    if (required_integer(csv, number, kRoundJobNumber) != static_cast<std::int64_t>(jobs.size())) {
      csv.refuse(number, std::to_string(jobs.size()),
                 "number the jobs from 0 in the order of rows");
    }
    RoundJob job;
    job.arrival_s = csv.required_number(arrival, kArrival);
    if (!jobs.empty() && job.arrival_s < jobs.back().arrival_s) {
      csv.refuse(arrival, "no arrival before that of the row above", "sort the rows by arrival");
    }
    job.model = csv.required_text(csv.column("model"), "the name of a model");
    job.mode = csv.required_text(csv.column("mode"), "a mode such as static");
    job.samples_per_epoch = required_integer(csv, csv.column("samples_per_epoch"), kCount);
    job.initial_batch_size = required_integer(csv, csv.column("initial_batch_size"), kGlobalBatch);
    job.gpus = static_cast<int>(required_integer(csv, csv.column("gpus"), kGang));
    job.steps = required_integer(csv, csv.column("steps_at_initial_batch"), kCount);
    job.epochs = required_integer(csv, csv.column("epochs"), kCount);
    job.declared_s = csv.required_number(csv.column("adapted_duration_s"), kDeclared);
    jobs.push_back(std::move(job));
  }
  if (jobs.empty()) throw InputError(path, "no job, expected one row per job");
  return jobs;
}

StepRates read_step_rates(const std::string& path) {
  CsvReader csv(path,
                {{"worker_type"},
                 {"model", true},
                 {"batch_size", true},
                 {"gpus", true},
                 {"steps_per_s", true}},
                kAnyColumns);
  const auto type = csv.column("worker_type");
  const auto model = csv.column("model");
  const auto batch = csv.column("batch_size");
  const auto gpus = csv.column("gpus");
  StepRates rates;
  std::string first_type;
  while (csv.next()) {
    // Rows of another placement or GPU type than the first are for clusters that have it.
    const std::string found(csv.text(type));
    if (first_type.empty()) first_type = found;
    if (found != first_type) continue;
    const std::string name(csv.required_text(model, "the name of a model"));
    const std::int64_t size = required_integer(csv, batch, kGlobalBatch);
    const int gang = static_cast<int>(required_integer(csv, gpus, kGang));
    if (rates.find(name, size, gang)) {
      csv.fail(model, "'" + printable(name) + "' with batch size " + std::to_string(size) + " on " +
                          std::to_string(gang) +
                          " GPUs stands twice, expected one rate; remove one of the two rows");
    }
    const double rate = csv.required_number(csv.column("steps_per_s"), kStepRate);
    if (rate > 0) rates.set(name, size, gang, rate);  // 0: does not run
  }
  return rates;
}

/// Rows [from_epoch, to_epoch_exclusive) of each job: together all of its epochs, each with a known rate.
void read_declared(const std::string& path, RoundWorkload& workload) {
  CsvReader csv(
      path,
      {{"job", true}, {"from_epoch", true}, {"to_epoch_exclusive", true}, {"batch_size", true}},
      kAnyColumns);
  const auto number = csv.column("job");
  const auto from = csv.column("from_epoch");
  const auto to = csv.column("to_epoch_exclusive");
  const auto batch = csv.column("batch_size");
  std::vector<std::int64_t> covered(workload.jobs.size(), 0);
  while (csv.next()) {
    const std::size_t j = required_job(csv, number, workload.jobs.size());
    RoundJob& job = workload.jobs[j];
    std::int64_t& end = covered[j];
    const std::int64_t begins = required_integer(csv, from, kEpoch);
    if (begins != end) {
      csv.refuse(from, std::to_string(end) + ", where the job's rows above end",
                 "list each job's epochs without gaps, from 0");
    }
    const std::int64_t ends = required_integer(csv, to, kEpoch);
    if (ends <= begins || ends > job.epochs) {
      csv.refuse(to, "an epoch after " + std::to_string(begins) + " and at most " +
                         std::to_string(job.epochs) + ", the epochs of the job");
    }
    const std::int64_t size = required_integer(csv, batch, kGlobalBatch);
    if (!workload.rates.find(job.model, size, job.gpus)) {
      csv.refuse(batch, "a batch size for which throughput_oracle.csv has a rate of '" +
                            printable(job.model) + "' on " + std::to_string(job.gpus) + " GPUs");
    }
    job.declared.push_back({begins, size});
    end = ends;
  }
  for (std::size_t j = 0; j < covered.size(); ++j) {
    if (covered[j] == workload.jobs[j].epochs) continue;
    throw InputError(path, "job " + std::to_string(j) + " has batch sizes for " +
                               std::to_string(covered[j]) + " epochs, expected " +
                               std::to_string(workload.jobs[j].epochs) + " as in trace.csv");
  }
}

void read_targets(const std::string& path, std::vector<RoundJob>& jobs) {
  CsvReader csv(path, {{"job", true}, {"from_completed_epochs", true}, {"target_batch_size", true}},
                kAnyColumns);
  const auto number = csv.column("job");
  const auto from = csv.column("from_completed_epochs");
  const auto batch = csv.column("target_batch_size");
  while (csv.next()) {
    RoundJob& job = jobs[required_job(csv, number, jobs.size())];
    const BatchChange change{required_integer(csv, from, kEpoch),
                             required_integer(csv, batch, kGlobalBatch)};
    const bool first = job.target.empty();
    if (first ? change.from_epoch != 0 : change.from_epoch <= job.target.back().from_epoch) {
      csv.refuse(from, first ? "0 in the first row of a job" : "more than in the job's row above");
    }
    job.target.push_back(change);
  }
}

}  // namespace

void StepRates::set(const std::string& model, std::int64_t batch_size, int gpus,
                    double steps_per_s) {
  rates_[{model, batch_size, gpus}] = steps_per_s;
  std::int64_t& largest = largest_[model];
  largest = std::max(largest, batch_size);
}

std::optional<double> StepRates::find(const std::string& model, std::int64_t batch_size,
                                      int gpus) const {
  const auto found = rates_.find({model, batch_size, gpus});
  if (found == rates_.end()) return std::nullopt;
  return found->second;
}

std::int64_t StepRates::largest_batch(const std::string& model) const {
  const auto found = largest_.find(model);
  return found == largest_.end() ? 0 : found->second;
}

std::int64_t batch_at(const std::vector<BatchChange>& changes, std::int64_t epoch) {
  const auto after = std::ranges::upper_bound(changes, epoch, {}, &BatchChange::from_epoch);
  return (after == changes.begin() ? after : std::prev(after))->batch_size;
}

RoundWorkload read_round_workload(const std::string& directory) {
  RoundWorkload workload;
  const std::string trace = in(directory, "trace.csv");
  workload.jobs = read_jobs(trace);
  workload.rates = read_step_rates(in(directory, "throughput_oracle.csv"));
  for (std::size_t j = 0; j < workload.jobs.size(); ++j) {
    const RoundJob& job = workload.jobs[j];
    if (workload.rates.find(job.model, job.initial_batch_size, job.gpus)) continue;
    throw InputError(trace, "job " + std::to_string(j) +
                                ": throughput_oracle.csv has no rate of '" + printable(job.model) +
                                "' with batch size " + std::to_string(job.initial_batch_size) +
                                " on " + std::to_string(job.gpus) + " GPUs; add the row");
  }
  read_declared(in(directory, "batch_schedule_predicted.csv"), workload);
  const std::string rule = in(directory, "batch_rule_simulated.csv");
  std::error_code error;
  if (std::filesystem::exists(rule, error)) read_targets(rule, workload.jobs);
  return workload;
}

}  // namespace corun::inline traces
