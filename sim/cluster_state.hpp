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
  /// GPUs that are all different; one step where they are neighbours in ascending order, such as all of a node.
  void insert(std::span<const GpuId> gpus) {
    each_mask(gpus, [this](std::size_t w, std::uint64_t mask, int count) {
      size_ += (words_[w] & mask) == 0 ? count : std::popcount(mask & ~words_[w]);
      words_[w] |= mask;
    });
  }
  void erase(std::span<const GpuId> gpus) {
    each_mask(gpus, [this](std::size_t w, std::uint64_t mask, int count) {
      size_ -= (~words_[w] & mask) == 0 ? count : std::popcount(mask & words_[w]);
      words_[w] &= ~mask;
    });
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
  /// Calls f(word, bits in it, number of bits) for these GPUs.
  template <typename F>
  static void each_mask(std::span<const GpuId> gpus, F&& f) {
    if (gpus.empty()) return;
    const std::size_t first = index(gpus.front());
    const bool gapless = index(gpus.back()) - first == gpus.size() - 1;
    if (gapless && std::ranges::is_sorted(gpus) && first / 64 == index(gpus.back()) / 64) {
      f(first / 64, (~std::uint64_t{0} >> (64 - gpus.size())) << (first % 64),
        static_cast<int>(gpus.size()));
      return;
    }
    for (const GpuId g : gpus) f(index(g) / 64, std::uint64_t{1} << (index(g) % 64), 1);
  }

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
/// free without some jobs. Several GPUs of one node are one change of the node.
class FreeGpus {
 public:
  /// For GPUs of these types (bits GpuType::id) only.
  explicit FreeGpus(const ClusterSpec& spec, std::uint32_t types = kAllTypes)
      : gpus_(spec.gpu_count()), nodes_(spec, types) {}

  void insert(std::span<const GpuId> gpus, NodeId node) {
    const int before = gpus_.size();
    gpus_.insert(gpus);
    if (gpus_.size() != before) nodes_.change(node, gpus_.size() - before);
  }
  void insert(GpuId g, NodeId node) { insert({&g, 1}, node); }
  void erase(std::span<const GpuId> gpus, NodeId node) {
    const int before = gpus_.size();
    gpus_.erase(gpus);
    if (gpus_.size() != before) nodes_.change(node, gpus_.size() - before);
  }
  void erase(GpuId g, NodeId node) { erase({&g, 1}, node); }
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

  /// Calls f(NodeId, GPUs) for each run of neighbours in `gpus` that are on one node.
  template <typename F>
  void each_node(std::span<const GpuId> gpus, F&& f) const {
    for (std::size_t first = 0; first < gpus.size();) {
      const NodeId node = gpu(gpus[first]).node;
      const std::size_t lowest = index(first_gpus_[index(node)]);
      const auto gpus_of_node = static_cast<std::size_t>(spec_->nodes[index(node)].gpus);
      std::size_t end = first + 1;
      while (end < gpus.size() && index(gpus[end]) - lowest < gpus_of_node) ++end;
      f(node, gpus.subspan(first, end - first));
      first = end;
    }
  }

  void add(GpuId g, JobId job, bool profiling);
  void remove(GpuId g, JobId job);
  /// As add() and remove() for each: for a gang on GPUs that it has to itself. O(gang), with little for each GPU.
  void add_alone(std::span<const GpuId> gpus, JobId job);
  void remove_alone(std::span<const GpuId> gpus);

 private:
  const ClusterSpec* spec_;
  std::vector<GpuState> gpus_;
  std::vector<GpuId> first_gpus_;  ///< by node
  FreeGpus empty_;
};

}  // namespace corun::inline sim
