#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "models/scoring/cost_tiles.hpp"
#include "models/vector_units/top_lists.hpp"

/// The cheapest co-runners of jobs, computed on the processor. Threads compute tiles of costs and offer each
/// cost to the lists of both jobs of the pair. Results do not depend on the number of threads
/// (top_lists.hpp).
namespace corun::inline models {

class CpuCoRunnerSearch {
 public:
  /// `k` (1 to jobs - 1) co-runners for each of `jobs` jobs. `prices`: one entry per job, or empty. `costs`
  /// and `prices` must outlive this object.
  CpuCoRunnerSearch(const CostTiles& costs, std::size_t jobs, std::size_t k,
                    std::span<const double> prices, int threads);

  /// jobs x k entries, row-major: for each job its co-runners, the cheapest first. Call of_all() or of()
  /// once.
  std::vector<CoRunner> of_all();
  /// rows x k entries: for each of these jobs, in this order.
  std::vector<CoRunner> of(std::span<const std::uint32_t> rows);

 private:
  /// The lock on a block's lists.
  struct Owned {
    std::mutex guard;
    bool is_clear = false;
  };

  /// Block b has the jobs [first, second).
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

}  // namespace corun::inline models
