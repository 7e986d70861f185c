#pragma once

#include <span>
#include <vector>

/// How long a replica needs for a batch of requests.
namespace corun::inline services {

struct MeasuredBatch {
  int batch = 1;      ///< requests
  double mean_s = 0;  ///< [s] for all of them together, alone on the GPU or slice
};

/// Means by batch size: linear between two measured sizes; below the smallest measured size its time, because
/// nothing says that a smaller batch is faster. Larger batches than the largest measured one have no time.
class ServiceTimes {
 public:
  /// InputError unless there is a batch, sizes are 1 to 1e6 and ascend, and times are finite and above 0.
  explicit ServiceTimes(std::vector<MeasuredBatch> measured);
  /// 1 <= batch <= largest().
  double mean_s(int batch) const { return mean_s_[static_cast<std::size_t>(batch - 1)]; }
  int largest() const { return static_cast<int>(mean_s_.size()); }
  std::span<const MeasuredBatch> measured() const { return measured_; }

 private:
  std::vector<MeasuredBatch> measured_;
  std::vector<double> mean_s_;  ///< by batch size - 1
};

enum class ServiceVariation {
  kConstant,     ///< each batch takes the mean of its size
  kExponential,  ///< exponentially distributed with that mean
};

}  // namespace corun::inline services
