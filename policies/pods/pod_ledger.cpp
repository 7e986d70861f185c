#include "policies/pods/pod_ledger.hpp"

#include <limits>

namespace corun::inline policies {

PodLedger::PodLedger(const ClusterView& view)
    : limit_(view.max_jobs_per_gpu(std::numeric_limits<int>::max())) {
  for (std::size_t n = 0; n < view.cluster().nodes.size(); ++n) {
    const NodeSpec& spec = view.cluster().nodes[n];
    nodes_.push_back(
        PodNode::of(spec, view.state().first_gpu(NodeId{static_cast<std::uint32_t>(n)})));
    node_of_.insert(node_of_.end(), static_cast<std::size_t>(spec.gpus), n);
  }
  versions_.assign(nodes_.size(), 1);
  worths_.resize(nodes_.size());
}

std::uint32_t PodLedger::submitted(const PodKind& pod) {
  const auto [at, is_new] = ids_.try_emplace(pod, static_cast<std::uint32_t>(kinds_.size()));
  if (is_new) {
    kinds_.push_back({pod, 0});
    on_.emplace_back(nodes_.size());
  }
  kinds_[at->second].submitted += 1;
  submitted_ += 1;
  return at->second;
}

void PodLedger::learn() {
  if (!fragmentation_.learn(kinds_, submitted_)) return;
  for (std::uint32_t& version : versions_) ++version;
}

void PodLedger::book(std::uint32_t kind, const std::vector<GpuId>& gpus, int sign) {
  const PodKind& pod = kinds_[kind].pod;
  const std::size_t first = node_of(gpus.front());
  bool spans = false;
  for (const GpuId gpu : gpus) spans |= node_of(gpu) != first;
  if (!spans) {
    ++versions_[first];
    nodes_[first].book(pod, gpus, sign, limit_);
    return;
  }
  PodKind part = pod;
  part.request = {};
  for (const GpuId gpu : gpus) {
    ++versions_[node_of(gpu)];
    nodes_[node_of(gpu)].book(part, {gpu}, sign, limit_);
  }
}

Fragmentation::Growth PodLedger::growth(std::uint32_t kind, std::size_t n) {
  Cached<double>& worth = worths_[n];
  if (worth.version != versions_[n]) worth = {fragmentation_.of(nodes_[n]), versions_[n]};
  Cached<Fragmentation::Growth>& cached = on_[kind][n];
  if (cached.version != versions_[n]) {
    cached = {fragmentation_.with(nodes_[n], kinds_[kind].pod, worth.value), versions_[n]};
  }
  return cached.value;
}

}  // namespace corun::inline policies
