#include "models/scoring/cost_tiles.hpp"

#include <variant>

namespace corun::inline models {

void SpeedTile::fill(const SpeedSource& source, const PairTile& tile,
                     SpeedSource::Scratch& scratch) {
  const std::size_t rows = tile.rows();
  const std::size_t columns = tile.columns();
  for (auto* numbers : {&row_speed_, &row_sd_, &column_speed_, &column_sd_}) {
    numbers->resize(rows * columns);
  }
  turned_.resize(2 * rows * columns);
  source.speeds(tile, scratch, row_speed_.data(), row_sd_.data());
  double* const speed = turned_.data();
  double* const sd = turned_.data() + rows * columns;
  source.speeds({tile.j0, tile.j1, tile.i0, tile.i1}, scratch, speed, sd);
  for (std::size_t i = 0; i < rows; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      column_speed_[i * columns + j] = speed[j * rows + i];
      column_sd_[i * columns + j] = sd[j * rows + i];
    }
  }
}

SpeedTileView SpeedTile::view(const PairTile& tile) const {
  return {tile.i0,           tile.j0,        tile.columns(),
          row_speed_.data(), row_sd_.data(), column_speed_.data(),
          column_sd_.data()};
}

void CostTiles::operator()(const PairTile& tile, Scratch& scratch) const {
  if (source != nullptr) {
    scratch.speeds.fill(*source, tile, scratch.source);
    kernels.speed_tile.costs(scratch.speeds.view(tile), solo, rule, tile, scratch.costs.data());
    return;
  }
  std::visit(
      [&]<class Jobs>(const Jobs& jobs) {
        if constexpr (ShortFormula<Jobs>) {
          kernels.of<Jobs>().costs(view_of(jobs), solo, rule, tile, scratch.costs.data());
        }
      },
      formula->jobs);
}

}  // namespace corun::inline models
