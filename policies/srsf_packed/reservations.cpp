#include "policies/srsf_packed/reservations.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "policies/srsf_packed/domains.hpp"

namespace corun::inline policies::srsf {

void Reservations::restart(const ClusterView& view) {
  free_by_s_.assign(running_.gpus(), kNever_s);
  for (const GpuId g : kept_) free_by_s_[index(g)] = 0;
  reservations_ = 0;
  ahead_ = 0;
  ends_s_.clear();
  for (std::uint32_t g = 0; g < running_.gpus(); ++g) {
    double end = 0;
    for (const JobId id : running_.on(GpuId{g}))
      end = std::max(end, running_.end_s(id, running_.at(id)));
    ends_s_.push_back({end, running_.type_on(GpuId{g}), view.gpu(GpuId{g}).node});
  }
  ends_are_sorted_ = false;
}

void Reservations::keep_until(const Entry& entry, double until_s) {
  if (keeper_ != entry.job) return;
  for (const GpuId g : kept_) free_by_s_[index(g)] = until_s;
}

void Reservations::started(const Entry& entry) {
  if (keeper_ != entry.job) return;
  lift(entry);
  keeper_ = kNoJob;
  kept_.clear();
}

double Reservations::wait_s(const ClusterView& view, const JobView& job, double rest) {
  if (!ends_are_sorted_) std::ranges::sort(ends_s_);
  ends_are_sorted_ = true;
  const auto needed = static_cast<std::size_t>(ahead_) + static_cast<std::size_t>(job.gpus);
  if (needed > ends_s_.size()) return kNever_s;
  const Job& j = jobs_.at(job.id);
  const auto delay_s = [&](double end_s, double speed) { return end_s + (rest / speed - rest); };
  if (running_.types().size() == 1 && job.gpus <= running_.smallest_node() && !j.asks_of_node()) {
    const auto& [id, type] = *running_.types().begin();
    return may_run_on(job, *type) ? delay_s(ends_s_[needed - 1].end_s, alone_on(j, id)) : kNever_s;
  }
  const bool wide = is_wide(view, job);
  double least = kNever_s;
  std::map<double, std::size_t> free;  // GPUs that have lost their jobs, by the job's speed on them
  for (const End& end : ends_s_) {
    if (!may_hold(view.cluster().nodes[index(end.node)], job, wide)) continue;
    const double speed = alone_on(j, end.type);
    if (++free[speed] == needed) least = std::min(least, delay_s(end.end_s, speed));
  }
  return least;
}

void Reservations::reserve(const ClusterView& view, const Entry& entry, const JobView& job) {
  if (keeper_ == entry.job) return;
  const Job& j = jobs_.at(entry.job);
  const auto gang = static_cast<std::size_t>(j.gang);
  double first = kNever_s;
  std::vector<GpuId> chosen;
  std::vector<std::pair<double, GpuId>> ready;
  each_domain(view, job, gpus_, [&] {
    ready.clear();
    for (const GpuId g : gpus_) {
      const bool may = may_run_on(job, view.gpu_type(g)) && !view.gpu(g).profiling;
      if (may && free_by_s_[index(g)] == kNever_s) {
        ready.emplace_back(ready_s(view.gpu_type(g), g, j), g);
      }
    }
    if (ready.size() < gang) return;
    std::ranges::sort(ready);
    double at = ready[gang - 1].first;
    if (j.asks_of_node() && gpus_.size() <= running_.node_of(gpus_).gpus.size()) {
      at = std::max(at, node_ready_s(j.pod.request));
    }
    if (at >= first) return;
    first = at;
    chosen.clear();
    for (std::size_t i = 0; i < gang; ++i) chosen.push_back(ready[i].second);
  });
  if (chosen.empty()) return;
  if (!overdue(entry)) ++reservations_;
  const bool keeps = overdue(entry) && keeper_ == kNoJob;
  for (const GpuId g : chosen) free_by_s_[index(g)] = keeps ? 0 : first;
  if (keeps) {
    keeper_ = entry.job;
    kept_ = chosen;
    if (j.asks_of_node() && !is_wide(view, job)) keep_node(chosen.front());
  }
}

void Reservations::keep_node(GpuId gpu) {
  const PodNode& node = running_.ledger().node(running_.ledger().node_of(gpu));
  kept_.clear();
  for (std::uint32_t g = 0; g < node.gpus.size(); ++g) {
    kept_.push_back(GpuId{static_cast<std::uint32_t>(index(node.first)) + g});
    free_by_s_[index(kept_.back())] = 0;
  }
}

/// When the node of the present domain has the CPU and memory, by the expected ends of its jobs [s from now].
double Reservations::node_ready_s(const ResourceRequest& asked) const {
  ResourceRequest left = running_.node_of(gpus_).left;
  std::map<JobId, double> ends;
  for (const GpuId g : gpus_) {
    for (const JobId id : running_.on(g)) ends.emplace(id, running_.end_s(id, running_.at(id)));
  }
  std::vector<std::pair<double, JobId>> sorted;
  for (const auto& [id, end] : ends) sorted.emplace_back(end, id);
  std::ranges::sort(sorted);
  double at = 0;
  for (const auto& [end, id] : sorted) {
    if (can_meet(left, asked)) break;
    at = end;
    left.cpu_milli += jobs_.at(id).pod.request.cpu_milli;
    left.memory_mib += jobs_.at(id).pod.request.memory_mib;
  }
  return at;
}

/// When the GPU has room for the job, by the expected ends of its residents [s from now].
double Reservations::ready_s(const GpuType& type, GpuId g, const Job& j) const {
  struct Resident {
    double end_s = 0;
    double mib = 0;
    int part_milli = 0;  ///< 0: a whole job
  };
  std::vector<Resident> residents;
  double used = 0;
  int parts = 0;
  int wholes = 0;
  for (const JobId id : running_.on(g)) {
    const Job& other = jobs_.at(id);
    residents.push_back({running_.end_s(id, running_.at(id)), jobs_.demand_mib(other, type),
                         other.is_part() ? other.pod.gpu_milli : 0});
    used += residents.back().mib;
    parts += residents.back().part_milli;
    wholes += other.is_part() ? 0 : 1;
  }
  std::ranges::sort(residents, {},
                    [](const Resident& r) { return std::tuple(r.end_s, r.mib, r.part_milli); });
  double at = 0;
  std::size_t left = residents.size();
  for (const Resident& r : residents) {
    if (running_.has_room(type, j, left, parts, wholes, used)) break;
    at = r.end_s;
    --left;
    used -= r.mib;
    parts -= r.part_milli;
    wholes -= r.part_milli == 0 ? 1 : 0;
  }
  return at;
}

}  // namespace corun::inline policies::srsf
