#include "live/run/recorded_policy.hpp"

#include <algorithm>
#include <tuple>

namespace corun::live {

std::vector<RecordedStart> recorded_starts(std::span<const RecordedRun> runs,
                                           const Workload& workload) {
  std::vector<RecordedRun> sorted(runs.begin(), runs.end());
  std::ranges::sort(
      sorted, {}, [](const RecordedRun& r) { return std::tuple(r.gpu, r.start, r.group, r.job); });
  std::vector<RecordedStart> starts;
  std::size_t gpu_from = 0;  // the first run on this GPU
  for (std::size_t i = 0, end = 0; i < sorted.size(); i = end) {
    const RecordedRun& first = sorted[i];
    if (i > 0 && sorted[i - 1].gpu != first.gpu) gpu_from = i;
    // Members of a group start one shortly after the other.
    for (end = i + 1; end < sorted.size() && sorted[end].gpu == first.gpu &&
                      sorted[end].group == first.group && !first.deferred &&
                      !sorted[end].deferred;) {
      ++end;
    }
    RecordedStart start;
    start.gpu = first.gpu;
    Time ready = i > gpu_from ? sorted[i - 1].start : Time{0};
    for (std::size_t m = i; m < end; ++m) {
      start.jobs.push_back(sorted[m].job);
      ready = std::max(ready, workload.jobs[index(sorted[m].job)].submit);
    }
    for (std::size_t e = gpu_from; e < i; ++e) {
      if (sorted[e].exit > first.start) continue;
      start.after.push_back(sorted[e].job);
      ready = std::max(ready, sorted[e].exit);
    }
    start.delay = std::max(first.start - ready, Duration{0});
    starts.push_back(std::move(start));
  }
  return starts;
}

RecordedPolicy::RecordedPolicy(std::vector<RecordedStart> starts, std::size_t jobs,
                               std::size_t gpus)
    : lines_(gpus), gone_(jobs, false) {
  for (RecordedStart& s : starts) lines_[index(s.gpu)].starts.push_back(std::move(s));
}

void RecordedPolicy::decide(const ClusterView& view, std::vector<Decision>& out) {
  for (Line& line : lines_) {
    if (line.next == line.starts.size()) continue;
    const RecordedStart& start = line.starts[line.next];
    if (!line.due) {
      // Its last condition became true at this instant: because its jobs wait, there was a pass at every
      // instant since the first of them was submitted.
      if (!nothing_missing(start, view)) continue;
      line.due = later(view.now(), start.delay);
      if (*line.due > view.now()) out.emplace_back(WakeAt{*line.due});
    }
    if (*line.due > view.now()) continue;
    out.emplace_back(StartGroup{start.jobs, {start.gpu}});
    ++line.next;
    line.due.reset();
  }
}

void RecordedPolicy::departed(JobId job, LogKind how, Time) {
  if (how == LogKind::kFinish) gone_[index(job)] = true;
}

bool RecordedPolicy::nothing_missing(const RecordedStart& start, const ClusterView& view) const {
  const auto waits = [&](JobId j) {
    return std::ranges::find(view.waiting(), j) != view.waiting().end();
  };
  return std::ranges::all_of(start.jobs, waits) &&
         std::ranges::all_of(start.after, [&](JobId j) { return gone_[index(j)]; });
}

}  // namespace corun::live
