#include "live/validation/validation.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <tuple>

#include "sim/base/summary.hpp"
#include "sim/engine/control_loop.hpp"
#include "sim/engine/simulated_backend.hpp"

namespace corun::live {

namespace {

bool overlap(const RecordedRun& a, const RecordedRun& b) {
  return a.gpu == b.gpu && a.start < b.exit && b.start < a.exit;
}

/// Simulates these runs with the recorded decisions; returns one job record per run, in their order.
std::vector<JobRecord> replay(const Experiment& experiment, const Trace& queue,
                              std::span<const RecordedRun> runs) {
  std::vector<RecordedRun> numbered(runs.begin(), runs.end());
  Trace part = without_jobs(queue);  // its job i is the job of runs[i]
  std::vector<JobId> number(queue.jobs.size(), kNoJob);
  for (std::size_t i = 0; i < numbered.size(); ++i) {
    const std::size_t j = index(runs[i].job);
    number[j] = numbered[i].job = static_cast<JobId>(i);
    part.jobs.push_back(queue.jobs[j]);
  }
  const std::unique_ptr<World> world = experiment.make_world(part);
  std::vector<JobId> arrivals;
  for (const JobId job : experiment.arrivals(queue, 0)) {
    if (number[index(job)] != kNoJob) arrivals.push_back(number[index(job)]);
  }
  // The jobs fitted into memory when they ran.
  for (TraceJob& job : part.jobs) job.spec.profile.mem_used_mib.reset();
  const corun::Workload workload = workload_of(part, arrivals);
  SimulationOptions options;
  if (experiment.config().world.noise) options.noise_seed = experiment.seed_of(0);
  SimulatedBackend backend(experiment.cluster(), workload, *world, options);
  RecordedPolicy policy(recorded_starts(numbered, workload), workload.jobs.size(),
                        static_cast<std::size_t>(experiment.cluster().gpu_count()));
  JobSource jobs(workload.jobs.size(), 1, false,
                 [&](JobId job) { return job_view_of(job, workload.jobs[index(job)]); });
  ControlLoop(backend, {policy, "the record", RecordedPolicy::kTraits}, std::move(jobs), {}).run();
  return backend.take_record().jobs;
}

/// Times of the jobs of one group on a GPU, recorded or simulated.
struct Span {
  Time first{kNever};
  Time last{0};
  Duration longest{0};
  void add(Time start, Time end) {
    first = std::min(first, start);
    last = std::max(last, end);
    longest = std::max(longest, end - start);
  }
  double ps(Duration solo_sum, bool together) const {
    const Duration length = together ? longest : last - first;
    return to_seconds(solo_sum - length) / to_seconds(solo_sum);
  }
};

/// nullopt if there are no values.
std::optional<double> mean_of(std::span<const double> values) {
  return values.empty() ? std::nullopt : std::optional(mean(values));
}

/// Errors measured[i] - said[i]; nullopt if there are none.
std::optional<ValidationError> error_of(std::span<const double> measured,
                                        std::span<const double> said) {
  if (measured.empty()) return std::nullopt;
  std::vector<double> differences;
  std::vector<double> sizes;
  for (std::size_t i = 0; i < measured.size(); ++i) {
    differences.push_back(measured[i] - said[i]);
    sizes.push_back(std::abs(differences.back()));
  }
  return ValidationError{differences.size(), mean_interval(differences), mean_interval(sizes)};
}

Validated compared(const std::vector<ValidatedJob>& jobs, double JobFigures::*figure) {
  std::vector<double> measured;
  std::vector<double> replayed;
  std::vector<double> measured_of_predicted;
  std::vector<double> predicted;
  for (const ValidatedJob& j : jobs) {
    measured.push_back(j.measured.*figure);
    replayed.push_back(j.replayed.*figure);
    if (!j.predicted) continue;
    measured_of_predicted.push_back(j.measured.*figure);
    predicted.push_back((*j.predicted).*figure);
  }
  return {mean_of(measured), mean_of(predicted), mean_of(replayed),
          error_of(measured_of_predicted, predicted), error_of(measured, replayed)};
}

using RecordOf = std::function<const JobRecord&(JobId)>;

/// `in_order`: by GPU, in order of start. Groups in which a run ended badly are left out.
std::vector<ValidatedGroup> groups_of(std::span<const JobsRow* const> in_order,
                                      const RecordOf& record_of) {
  std::vector<ValidatedGroup> groups;
  for (std::size_t i = 0, end = 0; i < in_order.size(); i = end) {
    const RecordedRun& first = in_order[i]->run;
    ValidatedGroup group;
    group.together = true;
    Span measured;
    Span again;
    Duration solo_sum{0};
    bool whole = true;
    for (end = i; end < in_order.size() && in_order[end]->run.gpu == first.gpu &&
                  (end == i || in_order[end]->run.start < measured.last);
         ++end) {
      const JobsRow& row = *in_order[end];
      measured.add(row.run.start, row.run.exit);
      group.together &= row.run.group == first.group && !row.run.deferred;
      whole &= row.finished;
      if (!whole) continue;
      group.jobs.push_back(row.run.job);
      solo_sum += row.solo;
      again.add(record_of(row.run.job).last_start, record_of(row.run.job).finish);
    }
    if (!whole) continue;
    std::ranges::sort(group.jobs);
    group.together |= group.jobs.size() == 1;
    group.measured_ps = measured.ps(solo_sum, group.together);
    group.replayed_ps = again.ps(solo_sum, group.together);
    groups.push_back(std::move(group));
  }
  return groups;
}

std::vector<const JobsRow*> by_gpu_and_start(const std::vector<JobsRow>& rows) {
  std::vector<const JobsRow*> in_order;
  for (const JobsRow& row : rows) in_order.push_back(&row);
  std::ranges::stable_sort(in_order, {}, [](const JobsRow* row) {
    return std::tuple(row->run.gpu, row->run.start, row->run.group);
  });
  return in_order;
}

/// One entry per job: its finished run if there is one, else its last; null if it was not run.
std::vector<const JobsRow*> last_runs(const std::vector<JobsRow>& rows, std::size_t jobs) {
  std::vector<const JobsRow*> last_of(jobs, nullptr);
  for (const JobsRow& row : rows) {
    const JobsRow*& last = last_of[index(row.run.job)];
    if (last == nullptr || !last->finished) last = &row;
  }
  return last_of;
}

/// Figures of a finished job; nullopt if a co-runner ended badly. `again`: the job's record in the replay.
std::optional<ValidatedJob> validated_job(const JobsRow& row,
                                          std::span<const JobsRow* const> all_runs,
                                          const JobSpec& spec, const JobRecord& again) {
  const RecordedRun& run = row.run;
  ValidatedJob job;
  job.job = run.job;
  job.gpu = run.gpu;
  for (const JobsRow* other : all_runs) {
    if (other->run.job == run.job || !overlap(run, other->run)) continue;
    if (!other->finished) return std::nullopt;
    job.co_runners.push_back(other->run.job);
  }
  std::ranges::sort(job.co_runners);
  job.measured = {individual_slowdown(run.exit - run.start, row.solo),
                  to_seconds(run.exit - spec.submit)};
  if (row.predicted_isd && row.predicted_jct_s) {
    job.predicted = {*row.predicted_isd, *row.predicted_jct_s};
  }
  job.replayed = {again.isd(), to_seconds(again.finish - again.submit)};
  return job;
}

Validated compared_ps(const std::vector<ValidatedGroup>& groups,
                      std::optional<double> predicted_ps) {
  std::vector<double> measured;
  std::vector<double> again;
  for (const ValidatedGroup& g : groups) {
    measured.push_back(g.measured_ps);
    again.push_back(g.replayed_ps);
  }
  return {mean_of(measured), predicted_ps, mean_of(again), std::nullopt, error_of(measured, again)};
}

}  // namespace

PolicyValidation validate(const Experiment& experiment, const Trace& queue,
                          const std::string& label, const std::vector<JobsRow>& rows,
                          std::optional<double> predicted_ps) {
  PolicyValidation result;
  result.label = label;
  const std::vector<const JobsRow*> in_order = by_gpu_and_start(rows);
  const std::vector<const JobsRow*> last_of = last_runs(rows, queue.jobs.size());

  std::vector<RecordedRun> finished;
  std::vector<std::size_t> position(queue.jobs.size(), 0);  // of a job's run in `finished`
  for (std::size_t j = 0; j < last_of.size(); ++j) {
    if (last_of[j] == nullptr || !last_of[j]->finished) {
      ++(last_of[j] == nullptr ? result.not_run : result.failed);
      continue;
    }
    position[j] = finished.size();
    finished.push_back(last_of[j]->run);
  }
  if (finished.empty()) return result;
  const std::vector<JobRecord> replayed = replay(experiment, queue, finished);
  const auto record_of = [&](JobId j) -> const JobRecord& { return replayed[position[index(j)]]; };

  for (const RecordedRun& run : finished) {
    const std::size_t j = index(run.job);
    auto job = validated_job(*last_of[j], in_order, queue.jobs[j].spec, record_of(run.job));
    if (job) {
      result.jobs.push_back(std::move(*job));
    } else {
      ++result.beside;
    }
  }
  result.groups = groups_of(in_order, record_of);
  result.isd = compared(result.jobs, &JobFigures::isd);
  result.jct_s = compared(result.jobs, &JobFigures::jct_s);
  result.ps = compared_ps(result.groups, predicted_ps);
  return result;
}

}  // namespace corun::live
