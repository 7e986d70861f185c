#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/batch/batch_run.hpp"

/// Replications of a batch experiment on a GPU, one for each thread, without anything of CUDA in sight.
///
/// The processor plans the groups and draws what their companies cost (the library's exp and log are
/// part of a draw's bits), the GPU runs the events and the metrics, and the processor takes the
/// logarithms of the entropies: every bit is that of BatchEngine.
namespace corun {

/// Replications lie in blocks of so many: element i of replication r is at
/// (r / kLanes * elements + i) * kLanes + r % kLanes. So the threads of a warp read whole lines, and what
/// the processor writes of one replication is close together.
inline constexpr std::size_t kLanes = 32;

/// Element i of one replication.
template <typename T>
CORUN_HOST_DEVICE Strided<T> lane(T* data, std::size_t elements, std::size_t replication) {
  return {data + replication / kLanes * elements * kLanes + replication % kLanes, kLanes};
}
/// What a list of `elements` takes up for so many replications.
CORUN_HOST_DEVICE constexpr std::size_t lane_size(std::size_t elements, std::size_t replications) {
  return (replications + kLanes - 1) / kLanes * kLanes * elements;
}

/// How large the lists of each replication are.
struct BatchShape {
  std::uint32_t jobs = 0;
  std::uint32_t gpus = 0;
  std::uint32_t groups = 0;  ///< at most
  std::uint32_t widest = 0;  ///< jobs of a group at most, kMostOnGpu

  /// A group of more has too many companies to draw beforehand: 2^members of them.
  static constexpr std::uint32_t kMostOnGpu = 4;

  /// Companies of a group that have speeds of their own; of two jobs there is but one.
  CORUN_HOST_DEVICE constexpr std::uint32_t companies() const {
    return widest == 2 ? 1 : 1U << widest;
  }
  CORUN_HOST_DEVICE constexpr std::uint32_t company_at(std::uint32_t company) const {
    return widest == 2 ? 0 : company;
  }
  /// The groups' first members, one more, and the members; provenances.
  CORUN_HOST_DEVICE constexpr std::size_t first_size() const { return groups + std::size_t{1}; }
  CORUN_HOST_DEVICE constexpr std::size_t provenance_size() const {
    return std::size_t{groups} * companies();
  }
  CORUN_HOST_DEVICE constexpr std::size_t speed_size() const {
    return std::size_t{groups} * companies() * widest;
  }
};

/// One replication as the GPU is given it. `count[0]` groups; 0: nothing is to be done here.
struct BatchInput {
  Strided<std::uint32_t> count, first, members, provenance;
  Strided<double> speed;  ///< group x company x member, 1 where somebody is not there
};

/// One replication as it comes back.
struct BatchOutput {
  Strided<std::int64_t> counted;  ///< groups, 0 where it was not done; passes; busy_ns
  Strided<double> sums;           ///< util_s, util_known_s, mem_s, mem_known_s, corun_s[4]
  Strided<double> metrics;        ///< kMetricCount, without the entropies
  Strided<double> isd, ps;        ///< sorted

  static constexpr std::size_t kCounted = 3;
  static constexpr std::size_t kSums = 8;
};

class BatchGpu {
 public:
  virtual ~BatchGpu() = default;

  using Fill = std::function<void(unsigned thread, std::size_t replication, const BatchInput&)>;
  using Take = std::function<void(unsigned thread, std::size_t replication, const BatchOutput&)>;

  /// What changes speed only.
  struct Options {
    unsigned threads = 1;
    std::size_t tile = 0;  ///< replications at once; 0: as many as fit into free memory
  };

  /// fill() writes and take() reads replications 0 to `replications` - 1, each once, from several threads
  /// (`thread` below options.threads) and in any order; while the GPU works on one tile the next one is
  /// filled. `lists` is on the processor. Throws DeviceError: no driver, no memory, a device that went
  /// away; what was taken before is good, nothing else is. Throws what fill() and take() throw.
  virtual void run(const BatchWorkload& lists, const BatchShape& shape, std::size_t replications,
                   const Fill& fill, const Take& take, const Options& options) const = 0;
};

/// nullptr: built without the CUDA toolkit.
const BatchGpu* cuda_batch();

}  // namespace corun
