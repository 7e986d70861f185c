#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "sim/cluster_spec.hpp"
#include "sim/ids.hpp"
#include "sim/time.hpp"

/// Who occupies what, kept by the backend and read by everybody else.
namespace corun {

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

struct GpuState {
  NodeId node{};
  std::vector<JobId> residents;  ///< ascending
  bool profiling = false;        ///< the only resident is being profiled: no company allowed
};

class ClusterState {
 public:
  explicit ClusterState(const ClusterSpec& spec) : spec_(&spec), empty_(spec.gpu_count()) {
    for (std::size_t n = 0; n < spec.nodes.size(); ++n) {
      for (int g = 0; g < spec.nodes[n].gpus; ++g) {
        empty_.insert(GpuId{static_cast<std::uint32_t>(gpus_.size())});
        gpus_.push_back({NodeId{static_cast<std::uint32_t>(n)}, {}, false});
      }
    }
  }

  const ClusterSpec& spec() const { return *spec_; }
  const std::vector<GpuState>& gpus() const { return gpus_; }
  const GpuState& gpu(GpuId g) const { return gpus_[index(g)]; }
  const GpuType& gpu_type(GpuId g) const { return spec_->nodes[index(gpu(g).node)].gpu; }
  const GpuSet& empty_gpus() const { return empty_; }

  void add(GpuId g, JobId job, bool profiling);
  void remove(GpuId g, JobId job);

 private:
  const ClusterSpec* spec_;
  std::vector<GpuState> gpus_;
  GpuSet empty_;
};

}  // namespace corun
