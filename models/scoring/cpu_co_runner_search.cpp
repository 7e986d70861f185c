#include "models/scoring/cpu_co_runner_search.hpp"

#include <algorithm>

#include "sim/base/parallel_for.hpp"

namespace corun::inline models {

CpuCoRunnerSearch::CpuCoRunnerSearch(const CostTiles& costs, std::size_t jobs, std::size_t k,
                                     std::span<const double> prices, int threads)
    : costs_(costs),
      jobs_(jobs),
      k_(k),
      no_prices_(prices.empty() ? jobs : 0, 0.0),
      prices_(prices.empty() ? no_prices_.data() : prices.data()),
      threads_(threads),
      block_size_(costs.block()),
      blocks_((jobs + block_size_ - 1) / block_size_),
      owned_(blocks_),
      lists_(jobs, k),
      view_(lists_.view()) {}

std::vector<CoRunner> CpuCoRunnerSearch::of_all() {
  // The tiles on and above the diagonal cover every pair once. They are ordered diagonal by diagonal, so that
  // tiles computed at the same time seldom need the same lists.
  std::vector<std::pair<std::uint32_t, std::uint32_t>> tiles;
  tiles.reserve(blocks_ * (blocks_ + 1) / 2);
  for (std::size_t distance = 0; distance < blocks_; ++distance) {
    for (std::size_t row = 0; row + distance < blocks_; ++row) {
      tiles.emplace_back(static_cast<std::uint32_t>(row),
                         static_cast<std::uint32_t>(row + distance));
    }
  }
  parallel_for_with<CostTiles::Scratch>(tiles.size(), threads_,
                                        [&](std::size_t at, CostTiles::Scratch& scratch) {
                                          look_at_tile(tiles[at].first, tiles[at].second, scratch);
                                        });
  std::vector<CoRunner> out;
  out.reserve(jobs_ * k_);
  for (std::size_t i = 0; i < jobs_; ++i) lists_.take(i, out);
  return out;
}

std::vector<CoRunner> CpuCoRunnerSearch::of(std::span<const std::uint32_t> rows) {
  std::vector<std::uint32_t> each(rows.begin(), rows.end());
  std::sort(each.begin(), each.end());
  each.erase(std::unique(each.begin(), each.end()), each.end());
  parallel_for_with<CostTiles::Scratch>(
      each.size(), threads_,
      [&](std::size_t at, CostTiles::Scratch& scratch) { look_at_job(each[at], scratch); });
  std::vector<CoRunner> out;
  out.reserve(rows.size() * k_);
  for (const std::uint32_t row : rows) lists_.take(row, out);
  return out;
}

std::pair<std::size_t, std::size_t> CpuCoRunnerSearch::block(std::size_t b) const {
  return {b * block_size_, std::min(jobs_, (b + 1) * block_size_)};
}

/// Locks the lists of a block and clears them at the first call.
std::unique_lock<std::mutex> CpuCoRunnerSearch::lock_lists(std::size_t b) {
  std::unique_lock lock(owned_[b].guard);
  const auto [from, to] = block(b);
  if (!std::exchange(owned_[b].is_clear, true)) lists_.clear(from, to);
  return lock;
}

/// Offers the costs of the pairs i < j of a tile to the lists of both jobs.
void CpuCoRunnerSearch::offer(const PairTile& tile, const CostTiles::Scratch& scratch) const {
  for (std::size_t i = tile.i0; i < tile.i1; ++i) {
    const std::size_t from = std::max(i + 1, tile.j0);
    if (from >= tile.j1) continue;
    const double* const row =
        scratch.costs.data() + (i - tile.i0) * tile.columns() + (from - tile.j0);
    costs_.kernels.offer(row, i, from, tile.j1 - from, prices_, view_);
  }
}

/// Computes and offers the pairs of two blocks, row <= column.
void CpuCoRunnerSearch::look_at_tile(std::size_t row, std::size_t column,
                                     CostTiles::Scratch& scratch) {
  const auto [i0, i1] = block(row);
  const auto [j0, j1] = block(column);
  const PairTile tile{i0, i1, j0, j1};
  costs_(tile, scratch);
  const std::unique_lock first = lock_lists(row);
  std::unique_lock<std::mutex> second;
  if (column != row) second = lock_lists(column);
  offer(tile, scratch);
}

/// Computes the pairs of job i with all others. Costs are computed with the lower position first: job i and
/// the jobs behind it are a tile of one row; job i and the jobs before it are a tile of one column.
void CpuCoRunnerSearch::look_at_job(std::size_t i, CostTiles::Scratch& scratch) {
  lists_.clear(i, i + 1);
  for (std::size_t b = 0; b < blocks_; ++b) {
    const auto [from, to] = block(b);
    const std::size_t before = std::min(to, i);
    if (from < before) offer_to(i, from, before, {from, before, i, i + 1}, scratch);
    const std::size_t behind = std::max(from, i + 1);
    if (behind < to) offer_to(i, behind, to, {i, i + 1, behind, to}, scratch);
  }
}

/// Computes a tile of job i with jobs from .. to - 1, and offers these jobs to the list of job i.
void CpuCoRunnerSearch::offer_to(std::size_t i, std::size_t from, std::size_t to,
                                 const PairTile& tile, CostTiles::Scratch& scratch) const {
  costs_(tile, scratch);
  for (std::size_t j = from; j < to; ++j) {
    view_.offer(i, scratch.costs[j - from] - prices_[j], static_cast<std::uint32_t>(j));
  }
}

}  // namespace corun::inline models
