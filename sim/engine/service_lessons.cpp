#include "sim/engine/service_lessons.hpp"

#include <algorithm>

namespace corun::inline sim {

void ServiceLessons::started(std::span<const JobId> jobs, std::span<const GpuId> gpus,
                             const ClusterBackend& backend, const JobSlots<JobView>& views) {
  for (const GpuId g : gpus) {
    const auto& residents = backend.state().gpu(g).residents;
    for (const JobId j : residents) watched_.erase(j);
    if (gpus.size() != 1 || residents.size() != 2) continue;
    const bool first_serves = views[residents[0]].service != nullptr;
    const JobId replica = residents[first_serves ? 0 : 1];
    const JobId job = residents[first_serves ? 1 : 0];
    const ServiceView* service = views[replica].service;
    if (service == nullptr || views[job].service != nullptr) continue;
    if (std::ranges::find(jobs, job) == jobs.end()) continue;
    watched_[job] = {replica, *service, backend.replica_work(replica)};
  }
}

std::optional<ProbeOutcome> ServiceLessons::left(JobId job, bool finished,
                                                 const ClusterBackend& backend,
                                                 const JobSlots<JobView>& views) {
  const auto at = watched_.find(job);
  if (at == watched_.end()) {
    std::erase_if(watched_, [job](const auto& one) { return one.second.replica == job; });
    return std::nullopt;
  }
  const Watched before = at->second;
  watched_.erase(at);
  const JobView* replica = views.find(before.replica);
  if (!finished || replica == nullptr) return std::nullopt;
  const ServiceView& service = *replica->service;
  const double replica_s = service.replica_s - before.service.replica_s;
  const ReplicaWork work = backend.replica_work(before.replica);
  const double on_s = work.on_s - before.work.on_s;
  if (service.intervals - before.service.intervals < kFewestIntervals || replica_s <= 0 ||
      on_s <= 0) {
    return std::nullopt;
  }
  const double busy = std::min((service.busy_s - before.service.busy_s) / replica_s, 1.0);
  if (busy < kLeastBusy) return std::nullopt;
  const JobRecord& record = backend.record(job);
  const auto speed = speed_beside_working(record.run_solo, record.finish - record.last_start, busy);
  if (!speed) return std::nullopt;
  return ProbeOutcome{job, before.replica, *speed, (work.worked_s - before.work.worked_s) / on_s,
                      record.finish};
}

std::optional<double> speed_beside_working(Duration solo, Duration corun, double busy) {
  constexpr double kLeastSpeed = 0.05;  // a load that was observed by intervals may fit none
  if (solo <= Duration::zero() || corun <= Duration::zero()) return std::nullopt;
  const double speed = 1 - (1 - to_seconds(solo) / to_seconds(corun)) / busy;
  if (speed < kLeastSpeed) return std::nullopt;
  return speed;
}

}  // namespace corun::inline sim
