#include "live/run/live_ledger.hpp"

#include <algorithm>

namespace corun::live {

LiveLedger::LiveLedger(const ClusterSpec& spec, const corun::Workload& workload,
                       const JobsOnTypes* on_types)
    : spec_(spec),
      workload_(workload),
      alone_(spec, workload.jobs, on_types),
      state_(spec),
      devices_(static_cast<std::size_t>(spec.gpu_count())),
      records_(workload.jobs.size()),
      recorder_(0, spec.gpu_count()) {
  for (std::size_t j = 0; j < records_.size(); ++j) {
    records_[j] = JobRecord::of(workload.jobs[j]);
    records_[j].end = JobEnd::kFailed;  // until it finishes
  }
}

std::uint32_t LiveLedger::start(std::span<const JobId> jobs, GpuId gpu, Time now) {
  const std::uint32_t group = next_group_++;
  Device& device = devices_[index(gpu)];
  if (state_.gpu(gpu).residents.empty()) {
    device = Device{};
    device.episode.gpu = gpu;
    device.group = group;
  }
  for (const JobId job : jobs) {
    state_.add(gpu, job, false);
    device.episode.jobs.push_back(job);
    JobRecord& record = records_[index(job)];
    record.begin_run(now, gpu, group);  // until end() knows the exact start
    record.run_solo = alone_.solo(job, gpu);
    record.solo = record.run_solo;
    record.whole_solo = record.run_solo;
    record.run_reference_solo = workload_.jobs[index(job)].work;
    record.reference_solo = record.run_reference_solo;
  }
  return group;
}

Report LiveLedger::end(const LiveRun& run) {
  JobRecord& record = records_[index(run.job)];
  record.last_start = run.start;
  if (!record.first_start) record.first_start = run.start;
  Report report{ReportKind::kFinished, run.job};
  const bool finished = run.outcome.end == RunEnd::kFinished;
  if (finished) {
    record.finish_run(run.exit);
  } else if (run.outcome.end == RunEnd::kOutOfMemory) {
    record.run_out_of_memory(run.exit);
    report.kind = ReportKind::kOutOfMemory;
  } else {
    record.fail_run(run.exit);
    report.kind = ReportKind::kFailed;
  }
  const bool again = report.kind == ReportKind::kOutOfMemory && record.ooms <= spec_.oom.retries;
  over_ += again ? 0 : 1;

  Device& device = devices_[index(run.gpu)];
  EpisodeRecord& episode = device.episode;
  // The episode started together only if all its jobs are of one group and none was deferred.
  if (run.deferred || run.group != device.group) episode.together = false;
  episode.start = device.begun ? std::min(episode.start, run.start) : run.start;
  episode.end = std::max(episode.end, run.exit);
  device.begun = true;
  if (finished) {
    episode.solo_sum += record.run_solo;
  } else {
    std::erase(episode.jobs, run.job);
    ++episode.unfinished;
  }
  if (const auto source = alone_.source(run.job, run.gpu)) {
    recorder_.usage().solo_s[static_cast<std::size_t>(*source)] += to_seconds(run.exit - run.start);
  }
  state_.remove(run.gpu, run.job);
  if (state_.gpu(run.gpu).residents.empty()) {
    recorder_.usage().busy += episode.end - episode.start;
    recorder_.add(episode);
    device = Device{};
  }
  return report;
}

RunRecord LiveLedger::take_record() {
  RunRecord record = recorder_.take();
  record.jobs = std::move(records_);
  return record;
}

}  // namespace corun::live
