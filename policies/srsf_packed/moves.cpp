#include "policies/srsf_packed/moves.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "policies/srsf_packed/domains.hpp"

namespace corun::inline policies::srsf {

/// What the completion times of a running job and of those beside it gain [job s], if it goes on alone on GPUs where
/// it takes so long; a tenth of that time is taken off.
double Moves::gain(JobId id, const Run& run, double there_s) {
  const double here = running_.end_s(id, run);
  double gained = here - kHysteresis * there_s;
  std::set<JobId> others;
  for (const GpuId g : run.gpus) others.insert(running_.on(g).begin(), running_.on(g).end());
  others.erase(id);
  for (const JobId other : others) {
    const Run& host = running_.at(other);
    const double without = running_.speed_without(id, other, host);
    gained += std::min(here, running_.end_s(other, host)) * (1 - host.speed / without);
  }
  return gained;
}

/// The highest speed alone that the job has on idle GPUs, which it may take; 0 if it finds too few.
double Moves::idle_speed(const ClusterView& view, const JobView& job, const Job& j, double rest) {
  const auto gang = static_cast<std::size_t>(j.gang);
  double most = 0;
  each_domain(view, job, gpus_, [&] {
    idle_.clear();
    for (const GpuId g : gpus_) {
      const GpuType& type = view.gpu_type(g);
      if (!running_.on(g).empty() || !may_run_on(job, type) || view.gpu(g).profiling) continue;
      const double speed = alone_on(j, type.id);
      if (rest / speed <= reservations_.free_by_s(g)) idle_.push_back(speed);
    }
    if (idle_.size() < gang) return;
    std::ranges::sort(idle_, std::greater<>{});
    most = std::max(most, idle_[gang - 1]);
  });
  return most;
}

JobId Moves::best(const ClusterView& view) {
  bool is_idle = false;
  for (std::uint32_t g = 0; g < running_.gpus(); ++g) is_idle |= running_.on(GpuId{g}).empty();
  if (!is_idle) return kNoJob;
  JobId mover = kNoJob;
  double most = 0;
  for (const auto& [id, run] : running_.all()) {
    const Job& j = jobs_.at(id);
    if (!preemption_.may_preempt(id, run) || j.is_part() || j.asks_of_node()) continue;
    if (run.speed >= running_.fastest(j)) continue;
    const double rest = running_.rest_s(id, run) + preemption_.cost_s(run) + j.start_cost_s;
    const double speed = idle_speed(view, jobs_.view(view, id), j, rest);
    if (speed <= run.speed) continue;
    const double gained = gain(id, run, rest / speed);
    if (gained <= 0 || gained < most) continue;
    if (gained == most && run.number > running_.at(mover).number) continue;
    most = gained;
    mover = id;
  }
  return mover;
}

}  // namespace corun::inline policies::srsf
