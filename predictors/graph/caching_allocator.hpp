#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <vector>

/// PyTorch's caching allocator for GPU memory, simulated: what a process holds is not what its tensors need, because
/// freed memory stays with the process and is cut into pieces.
///
/// Sizes are rounded to 512 bytes. A request takes the smallest free block that fits; the rest of a block stays
/// free if it is large enough (512 bytes in the small pool, more than 1 MiB in the large one). If no block fits, a
/// segment is reserved: 2 MiB in the small pool, which serves requests of up to 1 MiB; in the large pool 20 MiB for
/// requests below 10 MiB, else the request rounded to 2 MiB. Freed blocks join free neighbours; segments are
/// never given back. (PyTorch's documentation, "CUDA semantics: memory management", and its source's constants.)
namespace corun::inline predictors {

class CachingAllocator {
 public:
  using Handle = std::size_t;

  /// 0 bytes count as 1.
  Handle allocate(double bytes);
  void free(Handle handle);

  double live_bytes() const { return live_; }
  double peak_live_bytes() const { return peak_live_; }
  double reserved_bytes() const { return reserved_; }

 private:
  struct Block {
    double size = 0;
    std::size_t previous = kNone, next = kNone;  ///< neighbours in the segment
    bool free = false;
    bool large = false;
  };
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  std::size_t add_block(const Block& block);

  std::vector<Block> blocks_;
  std::vector<std::size_t> unused_;                              ///< places in blocks_
  std::set<std::tuple<bool, double, std::size_t>> free_blocks_;  ///< pool, size, block
  double live_ = 0, peak_live_ = 0, reserved_ = 0;
};

}  // namespace corun::inline predictors
