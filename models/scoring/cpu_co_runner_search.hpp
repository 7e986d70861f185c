#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "models/scoring/cost_tiles.hpp"
#include "models/vector_units/top_lists.hpp"

/// The cheapest co-runners of jobs on the processor: tiles of costs are worked out on several threads and
/// offered to the lists of both jobs of a pair. Results do not depend on threads (top_lists.hpp).
namespace corun {

class CpuCoRunnerSearch {
 public:
  /// `k` co-runners of each of `jobs` jobs, 1 or more; `prices`: none, or one of each job; `costs` must stay as
  /// they are.
  CpuCoRunnerSearch(const CostTiles& costs, std::size_t jobs, std::size_t k,
                    std::span<const double> prices, int threads);

  /// Of every job, job by job. Once only.
  std::vector<CoRunner> of_all();
  /// Of some, in the order asked. Once only.
  std::vector<CoRunner> of(std::span<const std::uint32_t> rows);

 private:
  /// Of a block's lists.
  struct Owned {
    std::mutex guard;
    bool is_clear = false;
  };

  /// Jobs [first, second) of a block.
  std::pair<std::size_t, std::size_t> block(std::size_t b) const;
  std::unique_lock<std::mutex> lock_lists(std::size_t b);
  void offer(const PairTile& tile, const CostTiles::Scratch& scratch) const;
  void look_at_tile(std::size_t row, std::size_t column, CostTiles::Scratch& scratch);
  void look_at_job(std::size_t i, CostTiles::Scratch& scratch);
  void offer_to(std::size_t i, std::size_t from, std::size_t to, const PairTile& tile,
                CostTiles::Scratch& scratch) const;

  const CostTiles& costs_;
  std::size_t jobs_;
  std::size_t k_;
  std::vector<double> no_prices_;
  const double* prices_;
  int threads_;
  std::size_t block_size_;
  std::size_t blocks_;
  std::vector<Owned> owned_;
  TopLists lists_;
  TopListsView view_;
};

}  // namespace corun
