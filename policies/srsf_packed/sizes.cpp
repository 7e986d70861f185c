#include "policies/srsf_packed/sizes.hpp"

#include <algorithm>
#include <queue>

namespace corun::inline policies::srsf {

void Sizes::arrived(const JobView& job, Job& j) {
  if (belief_ == nullptr) return;
  if (job.gpus_max == 0) {
    rigid_.insert(job.id);
    return;
  }
  j.sized = job;
  j.start_cost_s = to_seconds(job.expected_start_cost);
  elastic_.push_back(job.id);
}

void Sizes::ended(JobId job) {
  std::erase(elastic_, job);
  rigid_.erase(job);
  known_.erase(job);
}

bool Sizes::any_runs() const {
  return std::ranges::any_of(elastic_, [this](JobId id) { return running_.contains(id); });
}

void Sizes::read_cluster(const ClusterView& view) {
  for (const NodeSpec& node : view.cluster().nodes) {
    if (node.gpu.id >= gpus_of_type_.size()) {
      gpus_of_type_.resize(node.gpu.id + 1U, 0);
      node_of_type_.resize(node.gpu.id + 1U, 0);
    }
    int& smallest = node_of_type_[node.gpu.id];
    smallest = smallest == 0 ? node.gpus : std::min(smallest, node.gpus);
    gpus_of_type_[node.gpu.id] += node.gpus;
  }
}

/// What a running job has measured by now.
void Sizes::observe(const ClusterView& view, JobId id) {
  const JobView& job = view.job(id);
  const Run& run = running_.at(id);
  if (fitted_ != nullptr && job.started && view.now() - *job.started > job.start_cost) {
    std::vector<int> on_nodes;
    view.state().each_node(run.gpus, [&](NodeId, std::span<const GpuId> own) {
      on_nodes.push_back(static_cast<int>(own.size()));
    });
    fitted_->observe(job, {static_cast<int>(run.gpus.size()), static_cast<int>(on_nodes.size()), 1,
                           view.gpu_type(run.gpus.front()).id, on_nodes});
  }
}

double Sizes::goodput(const JobView& job, std::uint32_t type, int gpus) const {
  const int nodes = (gpus + node_of_type_[type] - 1) / node_of_type_[type];
  return belief_->goodput(job, {gpus, nodes, 1, type, {}});
}

/// Over that on the GPUs that the job asks for, of the first type on which it may run; where nothing is known of these, over 1.
double Sizes::speed(const JobView& job, std::uint32_t type, int gpus) {
  Known& known = known_[job.id];
  if (known.phase != job.phase) known = {job.phase, {}};
  const auto [at, is_new] = known.speeds.try_emplace({type, gpus}, 0.0);
  if (!is_new) return at->second;
  std::uint32_t first = 0;
  while (job.gpu_models != 0 && (job.gpu_models >> first & 1U) == 0) ++first;
  const double reference = goodput(job, first, job.gpus);
  return at->second = goodput(job, type, gpus) / (reference > 0 ? reference : 1);
}

std::vector<int> Sizes::sizes_on(const JobView& job, std::uint32_t type) const {
  std::vector<int> sizes;
  if (gpus_of_type_[type] == 0 || (job.gpu_models != 0 && (job.gpu_models >> type & 1U) == 0))
    return sizes;
  const int most = std::min({job.gpus_max, belief_->most_gpus(job), gpus_of_type_[type]});
  const int node = node_of_type_[type];
  const auto add = [&](int n) {
    if (n >= job.gpus_min && n <= most) sizes.push_back(n);
  };
  for (int n = 1; n < node; n *= 2) add(n);
  for (int n = node; n <= most; n += node) add(n);
  return sizes;
}

double Sizes::completions(const ClusterView& view, const Claim& claim, int gpus) {
  return speed(view.job(claim.id), claim.type, gpus) / claim.rest_s;
}

/// Step 1. `free`: GPUs by type, which lose what is claimed.
std::vector<Sizes::Claim> Sizes::claims(const ClusterView& view, std::vector<int>& free) {
  struct Place {
    double service = 0;
    JobId id = kNoJob;
    bool elastic = false;
  };
  std::vector<Place> order;
  const auto add = [&](JobId id, bool elastic) {
    const bool runs = running_.contains(id);
    if (runs && !elastic) return;
    const Job& j = jobs_.at(id);
    const double rest = runs ? running_.rest_s(id, running_.at(id)) : jobs_.rest_s(j);
    order.push_back({overdue(j.entry) && !runs ? -1 : rest * j.gpus(), id, elastic});
  };
  for (const JobId id : elastic_) add(id, true);
  for (const JobId id : rigid_) add(id, false);
  std::ranges::stable_sort(order, {}, &Place::service);
  std::vector<Claim> claims;
  for (const Place& place : order) {
    const JobView& job = view.job(place.id);
    const Job& j = jobs_.at(place.id);
    Claim claim{
        .id = place.id, .type = 0, .sizes = {}, .at = 0, .rest_s = 0, .waits = true, .held = 0};
    if (running_.contains(place.id)) {
      const Run& run = running_.at(place.id);
      claim.type = static_cast<std::uint32_t>(running_.type_on(run.gpus.front()));
      claim.waits = false;
      claim.held = static_cast<int>(run.gpus.size());
      claim.rest_s = running_.rest_s(place.id, run);
      claim.sizes = sizes_on(job, claim.type);
      if (claim.sizes.empty()) claim.sizes = {claim.held};
    } else {
      claim.rest_s = jobs_.rest_s(j);
      double fastest = 0;
      for (std::uint32_t t = 0; t < free.size(); ++t) {
        std::vector<int> sizes = place.elastic ? sizes_on(job, t) : std::vector<int>{job.gpus};
        if (sizes.empty() || free[t] < sizes.front()) continue;
        if (!place.elastic && job.gpu_models != 0 && (job.gpu_models >> t & 1U) == 0) continue;
        const double s = place.elastic ? speed(job, t, sizes.front()) : 1;
        if (s <= fastest) continue;
        fastest = s;
        claim.type = t;
        claim.sizes = std::move(sizes);
      }
      if (claim.sizes.empty()) {  // it waits on, as small as it may be
        for (std::uint32_t t = 0; place.elastic && t < free.size() && claim.sizes.empty(); ++t) {
          claim.type = t;
          claim.sizes = sizes_on(job, t);
        }
        if (!claim.sizes.empty()) claim.sizes.resize(1);
        if (!claim.sizes.empty()) set_size(view, claim.id, claim.type, claim.gpus());
        continue;
      }
    }
    free[claim.type] -= claim.gpus();
    claims.push_back(std::move(claim));
  }
  return claims;
}

/// Step 2.
void Sizes::grow(const ClusterView& view, std::vector<Claim>& claims, std::vector<int>& free) {
  struct Rise {
    double by = 0;  ///< completions per second and GPU
    std::size_t claim = 0;
    bool operator<(const Rise& other) const {
      return by != other.by ? by < other.by : claim > other.claim;
    }
  };
  std::priority_queue<Rise> rises;
  const auto offer = [&](std::size_t c) {
    const Claim& claim = claims[c];
    const JobView& job = view.job(claim.id);
    const double least = speed(job, claim.type, claim.sizes.front()) / claim.sizes.front();
    const double now = speed(job, claim.type, claim.gpus());
    const int more =
        claim.at + 1 < claim.sizes.size() ? claim.sizes[claim.at + 1] - claim.gpus() : 0;
    if (more == 0) return;
    const double rise = speed(job, claim.type, claim.gpus() + more) - now;
    if (rise <= 0 || rise < options_.gain * more * least) return;
    rises.push({rise / claim.rest_s / more, c});
  };
  for (std::size_t c = 0; c < claims.size(); ++c) {
    if (claims[c].sizes.size() > 1) offer(c);
  }
  while (!rises.empty()) {
    const std::size_t c = rises.top().claim;
    rises.pop();
    Claim& claim = claims[c];
    const int more = claim.sizes[claim.at + 1] - claim.gpus();
    if (more > free[claim.type]) continue;
    free[claim.type] -= more;
    ++claim.at;
    offer(c);
  }
}

void Sizes::set_size(const ClusterView& view, JobId id, std::uint32_t type, int gpus) {
  Job& j = jobs_.at(id);
  const JobView& job = view.job(id);
  j.gang = gpus;
  j.sized = job;
  j.sized->gpus = gpus;
  j.speeds.assign(gpus_of_type_.size(), 0);
  for (std::uint32_t t = 0; t < j.speeds.size(); ++t) {
    if (t == type || !sizes_on(job, t).empty()) j.speeds[t] = speed(job, t, gpus);
  }
  // A gang of several nodes is of one type.
  if (gpus > node_of_type_[type]) j.sized->gpu_models = std::uint32_t{1} << type;
}

std::vector<JobId> Sizes::plan(const ClusterView& view) {
  std::vector<JobId> restarts;
  if (elastic_.empty()) return restarts;
  if (gpus_of_type_.empty()) read_cluster(view);
  std::vector<int> free = gpus_of_type_;
  std::vector<int> idle(free.size(), 0);
  const auto is_elastic = [&](JobId id) { return jobs_.at(id).sized.has_value(); };
  for (std::uint32_t g = 0; g < running_.gpus(); ++g) {
    const std::vector<JobId>& here = running_.on(GpuId{g});
    const std::size_t type = running_.type_on(GpuId{g});
    if (here.empty()) ++idle[type];
    if (!std::ranges::all_of(here, is_elastic)) --free[type];
  }
  for (const JobId id : elastic_) {
    if (!running_.contains(id)) continue;
    observe(view, id);
    if (learns_) known_.erase(id);
    const Run& run = running_.at(id);
    const auto type = static_cast<std::uint32_t>(running_.type_on(run.gpus.front()));
    running_.set_alone(id, speed(view.job(id), type, static_cast<int>(run.gpus.size())));
  }
  std::vector<Claim> all = claims(view, free);
  grow(view, all, free);

  std::vector<int> wanted(free.size(), 0);  // by waiting jobs
  for (const Claim& claim : all) {
    if (claim.waits) wanted[claim.type] += claim.gpus();
  }
  const auto may_resize = [&](const Claim& claim) {
    if (claim.waits || !options_.preempts) return false;
    const JobView& job = view.job(claim.id);
    const Run& run = running_.at(claim.id);
    if (!job.started || view.now() - *job.started <= job.start_cost || run.start == view.now())
      return false;
    return std::ranges::all_of(run.gpus, [&](GpuId g) { return running_.on(g).size() == 1; });
  };

  // Step 3.
  std::vector<std::pair<double, std::size_t>> losers;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const Claim& claim = all[c];
    if (!may_resize(claim) || claim.gpus() >= claim.held) continue;
    losers.emplace_back(
        (completions(view, claim, claim.held) - completions(view, claim, claim.gpus())) /
            (claim.held - claim.gpus()),
        c);
  }
  std::ranges::sort(losers);
  std::vector<bool> resized(all.size(), false);
  for (const auto& [loss, c] : losers) {
    const Claim& claim = all[c];
    if (wanted[claim.type] <= idle[claim.type]) continue;
    idle[claim.type] += claim.held - claim.gpus();
    resized[c] = true;
    restarts.push_back(claim.id);
  }
  // Step 4.
  std::vector<std::pair<double, std::size_t>> winners;
  for (std::size_t c = 0; c < all.size(); ++c) {
    const Claim& claim = all[c];
    if (!may_resize(claim) || claim.gpus() <= claim.held) continue;
    winners.emplace_back(
        (completions(view, claim, claim.held) - completions(view, claim, claim.gpus())) /
            (claim.gpus() - claim.held),
        c);
  }
  std::ranges::sort(winners);
  for (const auto& [rise, c] : winners) {
    Claim& claim = all[c];
    const JobView& job = view.job(claim.id);
    const double here_s = claim.rest_s / std::max(speed(job, claim.type, claim.held), kLeastSpeed);
    const double cost_s = loss_s_ + jobs_.at(claim.id).start_cost_s;
    for (; claim.gpus() > claim.held; --claim.at) {
      const int more = claim.gpus() - claim.held;
      const double there_s =
          claim.rest_s / std::max(speed(job, claim.type, claim.gpus()), kLeastSpeed);
      if (more > idle[claim.type] - wanted[claim.type] ||
          here_s <= kHysteresis * (there_s + cost_s)) {
        if (claim.at == 0) break;
        continue;
      }
      idle[claim.type] -= more;
      resized[c] = true;
      restarts.push_back(claim.id);
      break;
    }
  }
  for (std::size_t c = 0; c < all.size(); ++c) {
    const Claim& claim = all[c];
    if (!is_elastic(claim.id)) continue;
    set_size(view, claim.id, claim.type, claim.waits || resized[c] ? claim.gpus() : claim.held);
  }
  return restarts;
}

bool Sizes::shrink(const ClusterView& view, JobId id) {
  const Job& j = jobs_.at(id);
  if (!j.sized || j.speeds.empty()) return false;
  const JobView& job = view.job(id);
  int smaller = 0;
  std::uint32_t on = 0;
  for (std::uint32_t t = 0; t < gpus_of_type_.size(); ++t) {
    for (const int n : sizes_on(job, t)) {
      if (n >= j.gang || n <= smaller) continue;
      smaller = n;
      on = t;
    }
  }
  if (smaller == 0) return false;
  set_size(view, id, on, smaller);
  return true;
}

}  // namespace corun::inline policies::srsf
