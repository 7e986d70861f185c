#include "policies/srsf_packed/placement.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "policies/srsf_packed/domains.hpp"

namespace corun::inline policies::srsf {

namespace {

/// Of placements with equal delays: few hosts, then little room left on the node [job s].
constexpr double kHostPenalty_s = 1e-3;
constexpr double kRoomPenalty_s = 1e-6;

bool same_type(const ClusterView& view, GpuId a, GpuId b) {
  return view.gpu_type(a).id == view.gpu_type(b).id;
}

}  // namespace

/// Adds the GPU, if the job can run there now.
void Placer::look_at(const ClusterView& view, const Job& j, const JobView& job, double rest,
                     GpuId g, std::vector<Spot>& spots) {
  const GpuType& type = view.gpu_type(g);
  const std::vector<JobId>& here = running_.on(g);
  if (here.size() >= running_.most_per_gpu() || !may_run_on(job, type) || view.gpu(g).profiling)
    return;
  Spot spot;
  spot.gpu = g;
  spot.speed = alone_on(j, type.id);
  if (!here.empty()) {
    if (j.alone_only) return;
    spot.host = here.front();
    const Job& host = jobs_.at(spot.host);
    if (host.alone_only || host.is_part() || j.is_part()) return;
    if (jobs_.demand_mib(j, type) + jobs_.demand_mib(host, type) > type.memory_mib) return;
    if (!spots.empty() && spots.back().host == spot.host && same_type(view, spots.back().gpu, g)) {
      const GpuId own = g;
      spot = spots.back();
      spot.gpu = own;
      spots.push_back(spot);
      return;
    }
    const PairSpeeds pair = running_.speeds(job.id, spot.host);
    if (pair.a <= 0 || pair.b <= 0) return;
    // A replica of a service starts alone; a job joins one whose service is believed to keep its goal.
    if (job.service != nullptr) return;
    if (const ServiceView* service = view.job(spot.host).service;
        service != nullptr && !running_.keeps_goal(job.id, spot.host, *service)) {
      return;
    }
    const Run& run = running_.at(spot.host);
    spot.run = &run;
    spot.number = run.number;
    spot.beside = pair.a;
    spot.host_speed = pair.b;
    spot.speed *= pair.a;
    if (!jobs_.pays(j, pair.a, (1 - pair.b) * host.gang)) return;
    spot.delay =
        std::min(rest / spot.speed, running_.end_s(spot.host, run) / pair.b) * (1 - pair.b);
  }
  spot.delay += rest / spot.speed - rest;
  if (rest / spot.speed > reservations_.free_by_s(g)) return;
  spots.push_back(spot);
}

/// The placement on these GPUs, if it is better.
void Placer::consider(const Job& j, double rest, double most_s, std::vector<Spot>& spots,
                      Placement& best) const {
  const auto gang = static_cast<std::size_t>(j.gang);
  if (spots.size() < gang) return;
  std::ranges::stable_sort(spots, [](const Spot& a, const Spot& b) {
    return std::tie(a.delay, a.number) < std::tie(b.delay, b.number);
  });
  double speed = kNever_s;
  double beside = 1;
  double lost = 0;
  const double room = kRoomPenalty_s * static_cast<double>(spots.size() - gang);
  double delay = room;
  bool shares = false;
  running_.begin_scan();
  for (std::size_t i = 0; i < gang; ++i) {
    speed = std::min(speed, spots[i].speed);
    beside = std::min(beside, spots[i].beside);
  }
  for (std::size_t i = 0; i < gang; ++i) {
    const Spot& spot = spots[i];
    if (spot.host == kNoJob || !running_.is_new(*spot.run)) continue;
    shares = true;
    lost += (1 - spot.host_speed) * jobs_.at(spot.host).gang;
    delay += kHostPenalty_s +
             std::min(rest / speed, running_.end_s(spot.host, *spot.run) / spot.host_speed) *
                 (1 - spot.host_speed);
  }
  if (shares && !jobs_.pays(j, beside, lost)) return;
  delay += rest / speed - rest;
  // On GPUs of its own a preemptive policy may move it later.
  const double slack = shares ? 0 : kHostPenalty_s + room;
  if ((shares || !options_.preempts) && delay > most_s + slack) return;
  if (delay >= best.delay) return;
  best.delay = delay;
  best.gpus.clear();
  for (std::size_t i = 0; i < gang; ++i) best.gpus.push_back(spots[i].gpu);
}

/// Whether the job may not join the jobs on the GPU, whatever part of it they leave.
bool Placer::is_closed(const ClusterView& view, const Job& j, double rest, GpuId g) const {
  const GpuType& type = view.gpu_type(g);
  if (view.gpu(g).profiling || rest / alone_on(j, type.id) > reservations_.free_by_s(g))
    return true;
  const std::vector<JobId>& residents = running_.on(g);
  if (residents.empty()) return false;
  double used = jobs_.demand_mib(j, type);
  for (const JobId id : residents) {
    const Job& other = jobs_.at(id);
    if (other.alone_only) return true;
    used += jobs_.demand_mib(other, type);
  }
  return j.alone_only || used > type.memory_mib;
}

/// A part of a GPU, or whole GPUs of its own, where the delay is least, then the growth of fragmentation.
Placement Placer::pod_placement(const ClusterView& view, const Job& j, const JobView& job,
                                double rest) {
  Placement best;
  double least_growth = kNever_s;
  std::optional<PodNode> open;  // the node without its closed GPUs
  each_domain(view, job, gpus_, [&] {
    const std::size_t n = running_.ledger().node_of(gpus_.front());
    const PodNode* node = &running_.ledger().node(n);
    if (!node->has_room(j.pod)) return;
    open.reset();
    for (std::size_t g = 0; g < gpus_.size(); ++g) {
      if (node->gpus[g] == 0 || !is_closed(view, j, rest, gpus_[g])) continue;
      if (!open) open = running_.ledger().node(n);
      open->gpus[g] = 0;
    }
    if (open) {
      if (!open->has_room(j.pod)) return;
      node = &*open;
    }
    const double delay = rest / alone_on(j, view.gpu_type(gpus_.front()).id) - rest;
    if (delay > best.delay) return;
    const Fragmentation::Growth growth =
        open ? running_.ledger().growth_on(*open, j.pod) : running_.ledger().growth(j.kind, n);
    if (delay == best.delay && growth.growth >= least_growth) return;
    best.delay = delay;
    least_growth = growth.growth;
    best.gpus.clear();
    if (j.is_part()) {
      best.gpus.push_back(gpus_[static_cast<std::size_t>(growth.gpu)]);
      return;
    }
    for (std::size_t g = 0; best.gpus.size() < static_cast<std::size_t>(j.gang); ++g) {
      if (node->gpus[g] == kWhole) best.gpus.push_back(gpus_[g]);
    }
  });
  return best;
}

/// Of gpus_, which an elastic job takes several nodes of: as few nodes as can be.
void Placer::idle_nodes_first(const ClusterView& view) {
  std::map<NodeId, int> used;
  for (const GpuId g : gpus_) used[view.gpu(g).node] += running_.on(g).empty() ? 0 : 1;
  std::ranges::stable_sort(gpus_, {}, [&](GpuId g) { return used.at(view.gpu(g).node); });
}

Placement Placer::best(const ClusterView& view, const Entry& entry, const JobView& job,
                       double most_s) {
  const Job& j = jobs_.at(entry.job);
  const double rest = jobs_.rest_s(j);
  reservations_.lift(entry);
  Placement best;
  const bool is_pod = pods_ && !is_wide(view, job);
  if (is_pod) best = pod_placement(view, j, job, rest);
  if (best.gpus.empty() && !j.is_part()) {
    // No job leaves an idle cluster: waiting would bring nothing.
    const bool idle = static_cast<std::size_t>(view.empty_gpus().size()) == view.gpus().size();
    most_s = idle ? kNever_s : std::min(most_s, reservations_.wait_s(view, job, rest));
    const bool wide = j.sized && is_wide(view, job);
    each_domain(view, job, gpus_, [&] {
      if (wide) idle_nodes_first(view);
      if (is_pod && !can_meet(running_.node_of(gpus_).left, j.pod.request)) return;
      spots_.clear();
      for (const GpuId g : gpus_) look_at(view, j, job, rest, g, spots_);
      consider(j, rest, most_s, spots_, best);
    });
  }
  if (best.gpus.empty()) reservations_.put_back(entry);
  std::ranges::sort(best.gpus);
  return best;
}

}  // namespace corun::inline policies::srsf
