#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/ids.hpp"
#include "sim/time.hpp"

/// Which jobs occupy which GPUs: kept by the backend, read by control loop and policies.
namespace corun::inline sim {

/// A set of GPUs as a bitmap: O(1) insert and erase, fast scan in ascending order.
class GpuSet {
 public:
  explicit GpuSet(int gpus) : words_((static_cast<std::size_t>(gpus) + 63) / 64) {}

  void insert(GpuId g) {
    auto& word = words_[index(g) / 64];
    const auto bit = std::uint64_t{1} << (index(g) % 64);
    size_ += (word & bit) == 0;
    word |= bit;
  }
  void erase(GpuId g) {
    auto& word = words_[index(g) / 64];
    const auto bit = std::uint64_t{1} << (index(g) % 64);
    size_ -= (word & bit) != 0;
    word &= ~bit;
  }
  bool contains(GpuId g) const { return (words_[index(g) / 64] >> (index(g) % 64)) & 1U; }
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }

  /// Calls f(GpuId) in ascending order until it returns false.
  template <typename F>
  void each(F&& f) const {
    for (std::size_t w = 0; w < words_.size(); ++w) {
      for (std::uint64_t word = words_[w]; word != 0; word &= word - 1) {
        if (!f(GpuId{static_cast<std::uint32_t>(w * 64 + std::countr_zero(word))})) return;
      }
    }
  }

 private:
  std::vector<std::uint64_t> words_;
  int size_ = 0;
};

inline constexpr std::uint32_t kAllTypes = 0xffffffff;

/// Nodes by their number of free GPUs: one bitmap of nodes per number, so that a change costs O(1)
/// and a search a few words.
class NodesByFree {
 public:
  /// Of the nodes of these GPU types (bits GpuType::id).
  explicit NodesByFree(const ClusterSpec& spec, std::uint32_t types = kAllTypes)
      : free_(spec.nodes.size(), 0), words_((spec.nodes.size() + 63) / 64) {
    for (const NodeSpec& node : spec.nodes) {
      if ((types >> node.gpu.id & 1U) != 0) most_ = std::max(most_, node.gpus);
    }
    bits_.resize(words_ * (static_cast<std::size_t>(most_) + 1));
    nodes_.resize(static_cast<std::size_t>(most_) + 1);
    for (std::size_t n = 0; n < free_.size(); ++n) flip(n, 0, 1);
  }

  int free(NodeId n) const { return free_[index(n)]; }
  /// GPUs of the largest node.
  int most() const { return most_; }

  /// `change` more GPUs of this node become free (negative: fewer).
  void change(NodeId n, int change) {
    flip(index(n), free_[index(n)], -1);
    flip(index(n), free_[index(n)] += change, 1);
  }

  /// Calls f(NodeId) for the nodes with exactly `count` free GPUs, ascending, until it returns false.
  template <typename F>
  void each(int count, F&& f) const {
    if (nodes_[static_cast<std::size_t>(count)] == 0) return;
    const std::uint64_t* const row = bits_.data() + static_cast<std::size_t>(count) * words_;
    for (std::size_t w = 0; w < words_; ++w) {
      for (std::uint64_t word = row[w]; word != 0; word &= word - 1) {
        if (!f(NodeId{static_cast<std::uint32_t>(w * 64 + std::countr_zero(word))})) return;
      }
    }
  }

 private:
  void flip(std::size_t node, int count, int more) {
    bits_[static_cast<std::size_t>(count) * words_ + node / 64] ^= std::uint64_t{1} << (node % 64);
    nodes_[static_cast<std::size_t>(count)] += more;
  }

  std::vector<int> free_;  ///< by node
  std::size_t words_;      ///< of one bitmap
  int most_ = 0;
  std::vector<std::uint64_t> bits_;  ///< count x node
  std::vector<int> nodes_;           ///< by count: how many nodes
};

/// The GPUs without residents, by GPU and by node. A policy plans on a copy: which GPUs would be
/// free without some jobs.
class FreeGpus {
 public:
  /// For GPUs of these types (bits GpuType::id) only.
  explicit FreeGpus(const ClusterSpec& spec, std::uint32_t types = kAllTypes)
      : gpus_(spec.gpu_count()), nodes_(spec, types) {}

  void insert(GpuId g, NodeId node) {
    if (gpus_.contains(g)) return;
    gpus_.insert(g);
    nodes_.change(node, 1);
  }
  void erase(GpuId g, NodeId node) {
    if (!gpus_.contains(g)) return;
    gpus_.erase(g);
    nodes_.change(node, -1);
  }
  const GpuSet& gpus() const { return gpus_; }
  const NodesByFree& nodes() const { return nodes_; }

 private:
  GpuSet gpus_;
  NodesByFree nodes_;
};

struct GpuState {
  NodeId node{};
  std::vector<JobId> residents;  ///< ascending
  bool profiling = false;        ///< the only resident is being profiled: no co-runners allowed
};

class ClusterState {
 public:
  explicit ClusterState(const ClusterSpec& spec) : spec_(&spec), empty_(spec) {
    for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
      const NodeId node{static_cast<std::uint32_t>(n)};
      first_gpus_.push_back(GpuId{static_cast<std::uint32_t>(gpus_.size())});
      for (int g = 0; g < spec.nodes[n].gpus; ++g) {
        empty_.insert(GpuId{static_cast<std::uint32_t>(gpus_.size())}, node);
        gpus_.push_back({node, {}, false});
      }
    }
  }

  const ClusterSpec& spec() const { return *spec_; }
  const std::vector<GpuState>& gpus() const { return gpus_; }
  const GpuState& gpu(GpuId g) const { return gpus_[index(g)]; }
  const GpuType& gpu_type(GpuId g) const { return spec_->nodes[index(gpu(g).node)].gpu; }
  const GpuSet& empty_gpus() const { return empty_.gpus(); }
  const FreeGpus& empty() const { return empty_; }
  /// The first GPU of a node; its other GPUs have the next numbers.
  GpuId first_gpu(NodeId n) const { return first_gpus_[index(n)]; }

  void add(GpuId g, JobId job, bool profiling);
  void remove(GpuId g, JobId job);

 private:
  const ClusterSpec* spec_;
  std::vector<GpuState> gpus_;
  std::vector<GpuId> first_gpus_;  ///< by node
  FreeGpus empty_;
};

}  // namespace corun::inline sim
