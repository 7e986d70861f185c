#include "experiments/live/run/live_ledger.hpp"

#include <algorithm>

namespace corun::live {

LiveLedger::LiveLedger(const ClusterSpec& spec, const corun::Workload& workload)
    : spec_(spec),
      workload_(workload),
      state_(spec),
      devices_(static_cast<std::size_t>(spec.gpu_count())),
      records_(workload.jobs.size()) {
  for (std::size_t j = 0; j < records_.size(); ++j) {
    records_[j].submit = workload.jobs[j].submit;
    records_[j].work = workload.jobs[j].work;
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
    record.last_start = now;  // until it is known to the nanosecond
    record.gpu = gpu;
    record.group = group;
    record.run_solo = workload_.jobs[index(job)].work;
    record.solo = record.run_solo;
    record.whole_solo = record.run_solo;
  }
  return group;
}

Report LiveLedger::end(const LiveRun& run) {
  JobRecord& record = records_[index(run.job)];
  record.last_start = run.start;
  record.finish = run.exit;
  if (!record.first_start) record.first_start = run.start;
  Report report{ReportKind::kFinished, run.job};
  const bool finished = run.outcome.end == RunEnd::kFinished;
  if (finished) {
    record.end = JobEnd::kFinished;
  } else {
    record.solo -= record.run_solo;
    record.run_solo = Duration::zero();
    const bool memory = run.outcome.end == RunEnd::kOutOfMemory;
    record.ooms += memory ? 1 : 0;
    report.kind = memory ? ReportKind::kOutOfMemory : ReportKind::kFailed;
  }
  const bool again = report.kind == ReportKind::kOutOfMemory && record.ooms <= spec_.oom.retries;
  over_ += again ? 0 : 1;

  Device& device = devices_[index(run.gpu)];
  EpisodeRecord& episode = device.episode;
  // Its group is a co-run only if everybody in it started at one instant.
  if (run.deferred || run.group != device.group) episode.together = false;
  episode.start = device.begun ? std::min(episode.start, run.start) : run.start;
  episode.end = std::max(episode.end, run.exit);
  device.begun = true;
  if (finished) {
    episode.solo_sum += record.run_solo;
  } else {
    std::erase(episode.jobs, run.job);
  }
  state_.remove(run.gpu, run.job);
  if (state_.gpu(run.gpu).residents.empty()) {
    busy_ += episode.end - episode.start;
    if (!episode.jobs.empty()) episodes_.push_back(episode);
    device = Device{};
  }
  return report;
}

void LiveLedger::next_instant() {
  for (EpisodeRecord& e : episodes_) kept_episodes_.push_back(std::move(e));
  episodes_.clear();
}

RunRecord LiveLedger::take_record() {
  next_instant();
  RunRecord record;
  record.jobs = std::move(records_);
  record.episodes = std::move(kept_episodes_);
  record.gpu_count = spec_.gpu_count();
  record.usage.busy = busy_;
  return record;
}

}  // namespace corun::live
