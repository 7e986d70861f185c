#include "live/run/recorded_backend.hpp"

#include <algorithm>

namespace corun::live {

RecordedBackend::RecordedBackend(const ClusterSpec& spec, const corun::Workload& workload,
                                 const JobsOnTypes* on_types, const EventLog& log,
                                 std::span<const LiveRun> runs)
    : log_(log), runs_(runs), ledger_(spec, workload, on_types) {}

bool RecordedBackend::advance(std::vector<Report>& out) {
  ledger_.next_instant();
  if (next_entry_ == log_.size()) return false;
  if (now_ == log_[next_entry_].at && now_ != Time{0})
    differs("nothing");  // a recorded start was left out
  now_ = log_[next_entry_].at;
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (; next_entry_ < log_.size() && log_[next_entry_].at == now_; ++next_entry_) {
    const LogEntry& entry = log_[next_entry_];
    if (entry.kind == LogKind::kStart) break;
    if (entry.kind == LogKind::kArrive) {
      out.push_back({ReportKind::kArrived, entry.job});
    } else if (next_run_ < runs_.size()) {
      out.push_back(ledger_.end(runs_[next_run_++]));
    }
  }
  // An instant without arrivals and ends is one at which a timer woke the policy.
  if (out.end() - out.begin() == first) out.push_back({ReportKind::kTimer, kNoJob});
  std::stable_sort(out.begin() + first, out.end(),
                   [](const Report& a, const Report& b) { return a.kind < b.kind; });
  return true;
}

void RecordedBackend::start_group(std::span<const JobId> jobs, std::span<const GpuId> gpus) {
  for (const JobId job : jobs) {
    const LogEntry wanted{now_, LogKind::kStart, job, {gpus.begin(), gpus.end()}};
    if (next_entry_ == log_.size() || !log_[next_entry_].is_same_event(wanted)) {
      differs("job " + std::to_string(index(job)) + " on GPU " +
              std::to_string(index(gpus.front())));
    }
    ++next_entry_;
  }
  ledger_.start(jobs, gpus.front(), now_);
}

Preempted RecordedBackend::preempt(JobId) { differs("to preempt"); }

void RecordedBackend::differs(const std::string& wanted) const {
  throw DecisionDiffers("at " + std::to_string(to_seconds(now_)) + " s the policy wants " + wanted +
                        ", which is not what it did");
}

}  // namespace corun::live
