#include "policies/pods/pod_policy.hpp"

#include <algorithm>
#include <utility>

namespace corun::inline policies {

PodNode PodNode::of(const NodeSpec& spec, GpuId first) {
  const auto gpus = static_cast<std::size_t>(spec.gpus);
  PodNode node;
  node.model = std::uint32_t{1} << spec.gpu.id;
  node.left = {spec.cpu_milli, spec.memory_mib};
  node.gpus.assign(gpus, 1000);
  node.used.assign(gpus, 0);
  node.residents.assign(gpus, 0);
  node.first = first;
  node.spec = &spec;
  return node;
}

void PodNode::book(const PodKind& pod, const std::vector<GpuId>& taken, int sign, int limit) {
  left.cpu_milli -= sign * pod.request.cpu_milli;
  left.memory_mib -= sign * pod.request.memory_mib;
  for (const GpuId gpu : taken) {
    const std::size_t g = index(gpu) - index(first);
    used[g] += sign * pod.gpu_milli;
    residents[g] += sign;
    gpus[g] = residents[g] < limit ? std::max(1000 - used[g], 0) : 0;
  }
}

int PodNode::gpu_milli_left() const {
  int sum = 0;
  for (const int g : gpus) sum += g;
  return sum;
}

bool PodNode::has_room(const PodKind& pod) const {
  const auto within = [](std::int64_t asked, std::int64_t have) {
    return asked == 0 || asked <= have;
  };
  if (pod.gpu_models != 0 && (pod.gpu_models & model) == 0) return false;
  if (!within(pod.request.cpu_milli, left.cpu_milli)) return false;
  if (!within(pod.request.memory_mib, left.memory_mib)) return false;
  const auto fitting =
      std::count_if(gpus.begin(), gpus.end(), [&](int milli) { return milli >= pod.gpu_milli; });
  return fitting >= pod.gpus;
}

void PodPolicy::decide(const ClusterView& view, std::vector<Decision>& out) {
  if (nodes_.empty()) look_at(view);
  if (std::exchange(pods_have_come_, false)) {
    for (Waiting& w : waiting_) w.scores.resize(nodes_.size());  // of new kinds
    if (learn(kinds_, submitted_)) {
      for (std::uint32_t& version : versions_) ++version;
    }
  }
  for (const std::uint32_t node : freed_) {
    for (std::uint32_t kind = 0; kind < kinds_.size(); ++kind) {
      const Waiting& w = waiting_[kind];
      if (!w.open && !w.pods.empty() && nodes_[node].has_room(kinds_[kind].pod)) open(kind);
    }
  }
  freed_.clear();
  while (!open_.empty()) {
    const auto first = *open_.begin();
    const std::uint32_t kind = first.second;
    open_.erase(open_.begin());
    const PodKind& pod = kinds_[kind].pod;
    std::size_t best = 0;
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const double s = score(kind, n);
      if (s < least) {
        least = s;
        best = n;
      }
    }
    Waiting& w = waiting_[kind];
    if (least == std::numeric_limits<double>::infinity()) {
      w.open = false;
      continue;
    }
    const PodNode& node = nodes_[best];
    std::vector<GpuId> gpus;
    const auto take = [&](std::size_t g) {
      gpus.push_back(GpuId{static_cast<std::uint32_t>(index(node.first) + g)});
    };
    if (pod.is_share()) {
      take(static_cast<std::size_t>(fit(node, pod, worth_of(best)).gpu));
    } else {
      for (std::size_t g = 0; gpus.size() < static_cast<std::size_t>(pod.gpus); ++g) {
        if (node.gpus[g] == 1000) take(g);
      }
    }
    const JobId job = w.pods.front().second;
    w.pods.pop_front();
    book(best, pod, gpus, 1);
    placed_[job] = {kind, static_cast<std::uint32_t>(best), gpus};
    out.push_back(StartGroup{{job}, std::move(gpus)});
    w.open = !w.pods.empty();
    if (w.open) open_.insert({w.pods.front().first, kind});
  }
}

void PodPolicy::departed(JobId job, LogKind, Time) {
  const auto at = placed_.find(job);
  if (at == placed_.end()) return;
  const Placed& placed = at->second;
  book(placed.node, kinds_[placed.kind].pod, placed.gpus, -1);
  freed_.push_back(placed.node);
  placed_.erase(at);
}

void PodPolicy::look_at(const ClusterView& view) {
  limit_ = view.max_jobs_per_gpu(limit_);
  for (std::size_t n = 0; n < view.cluster().nodes.size(); ++n) {
    const NodeSpec& spec = view.cluster().nodes[n];
    most_cpu_ = std::max(most_cpu_, static_cast<double>(spec.cpu_milli));
    most_gpu_ = std::max(most_gpu_, 1000.0 * spec.gpus);
    nodes_.push_back(
        PodNode::of(spec, view.state().first_gpu(NodeId{static_cast<std::uint32_t>(n)})));
  }
  versions_.assign(nodes_.size(), 1);
  worths_.resize(nodes_.size());
}

void PodPolicy::arrived(const JobView& job, Time) {
  const PodKind pod{job.gpus, job.gpu_milli, job.gpu_models, job.request};
  const auto [at, is_new] = kind_ids_.try_emplace(pod, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) {
    kinds_.push_back({pod, 0});
    waiting_.emplace_back();
  }
  kinds_[at->second].submitted += 1;
  submitted_ += 1;
  Waiting& w = waiting_[at->second];
  w.pods.emplace_back(next_place_++, job.id);
  // If pods of this kind wait already, there is no room for this one either.
  if (w.pods.size() == 1) open(at->second);
  pods_have_come_ = true;
}

void PodPolicy::open(std::uint32_t kind) {
  Waiting& w = waiting_[kind];
  w.open = true;
  open_.insert({w.pods.front().first, kind});
}

double PodPolicy::score(std::uint32_t kind, std::size_t node) {
  Cached& cached = waiting_[kind].scores[node];
  if (cached.version != versions_[node]) {
    const PodKind& pod = kinds_[kind].pod;
    cached.version = versions_[node];
    cached.value = nodes_[node].has_room(pod) ? fit(nodes_[node], pod, worth_of(node)).score
                                              : std::numeric_limits<double>::infinity();
  }
  return cached.value;
}

double PodPolicy::worth_of(std::size_t node) {
  Cached& cached = worths_[node];
  if (cached.version != versions_[node]) {
    cached.version = versions_[node];
    cached.value = worth(nodes_[node]);
  }
  return cached.value;
}

void PodPolicy::book(std::size_t n, const PodKind& pod, const std::vector<GpuId>& gpus, int sign) {
  ++versions_[n];
  nodes_[n].book(pod, gpus, sign, limit_);
}

int PodPolicy::tightest_gpu(const PodNode& node, const PodKind& pod) {
  int best = -1;
  for (std::size_t g = 0; g < node.gpus.size(); ++g) {
    if (node.gpus[g] < pod.gpu_milli) continue;
    if (best < 0 || node.gpus[g] < node.gpus[static_cast<std::size_t>(best)]) {
      best = static_cast<int>(g);
    }
  }
  return best;
}

}  // namespace corun::inline policies
