#include "policies/shares/allox.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>

namespace corun::inline policies {

namespace {

/// Stands for a type on which a job does not run: above all real costs, and finite.
constexpr double kNowhere_s = 1e15;

/// The state of a matching by shortest augmenting paths, with dual prices of rows and columns.
class AugmentingPaths {
 public:
  AugmentingPaths(std::size_t rows, std::size_t columns, std::span<const double> cost)
      : columns_(columns),
        cost_(cost),
        row_price_(rows, 0.0),
        column_price_(columns, 0.0),
        column_of_(rows, kNone),
        row_of_(columns, kNone),
        from_row_(columns, kNone),
        distance_(columns),
        row_seen_(rows),
        column_seen_(columns) {}

  void match(std::size_t row) {
    double length = 0;
    std::size_t column = shortest_path(row, length);
    update_prices(row, length);
    // Along the path every column takes the row before it.
    for (std::size_t next = kNone; next != row;) {
      next = from_row_[column];
      row_of_[column] = next;
      std::swap(column_of_[next], column);
    }
  }

  const std::vector<std::size_t>& column_of() const { return column_of_; }

 private:
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

  /// The free column that is nearest to the row by reduced costs.
  std::size_t shortest_path(std::size_t row, double& length) {
    row_seen_.assign(row_seen_.size(), false);
    column_seen_.assign(columns_, false);
    distance_.assign(columns_, std::numeric_limits<double>::infinity());
    open_.resize(columns_);
    for (std::size_t i = 0; i < columns_; ++i) open_[i] = columns_ - 1 - i;
    for (;;) {
      row_seen_[row] = true;
      std::size_t nearest = kNone;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t i = 0; i < open_.size(); ++i) {
        const std::size_t c = open_[i];
        const double reached =
            length + cost_[row * columns_ + c] - row_price_[row] - column_price_[c];
        if (reached < distance_[c]) {
          distance_[c] = reached;
          from_row_[c] = row;
        }
        if (distance_[c] < least || (distance_[c] == least && row_of_[c] == kNone)) {
          least = distance_[c];
          nearest = i;
        }
      }
      length = least;
      const std::size_t column = open_[nearest];
      column_seen_[column] = true;
      open_[nearest] = open_.back();
      open_.pop_back();
      if (row_of_[column] == kNone) return column;
      row = row_of_[column];
    }
  }

  void update_prices(std::size_t first, double length) {
    row_price_[first] += length;
    for (std::size_t r = 0; r < row_seen_.size(); ++r) {
      if (row_seen_[r] && r != first) row_price_[r] += length - distance_[column_of_[r]];
    }
    for (std::size_t c = 0; c < columns_; ++c) {
      if (column_seen_[c]) column_price_[c] -= length - distance_[c];
    }
  }

  std::size_t columns_;
  std::span<const double> cost_;
  std::vector<double> row_price_, column_price_;
  std::vector<std::size_t> column_of_, row_of_, from_row_;
  std::vector<double> distance_;
  std::vector<bool> row_seen_, column_seen_;
  std::vector<std::size_t> open_;
};

}  // namespace

std::vector<std::size_t> least_cost_matching(std::size_t rows, std::size_t columns,
                                             std::span<const double> cost) {
  AugmentingPaths paths(rows, columns, cost);
  for (std::size_t r = 0; r < rows; ++r) paths.match(r);
  return paths.column_of();
}

std::vector<AlloXStart> allox_starts(const ShareProblem& waiting, std::span<const int> free) {
  std::vector<std::size_t> type_of;  // by GPU
  for (std::size_t t = waiting.types(); t-- > 0;) {
    type_of.insert(type_of.end(), static_cast<std::size_t>(std::max(free[t], 0)), t);
  }
  std::vector<std::size_t> jobs;
  for (std::size_t j = 0; j < waiting.jobs.size(); ++j) {
    bool runs = false;
    for (std::size_t t = 0; t < waiting.types(); ++t) runs |= waiting.rate(j, t).a > 0;
    if (runs && waiting.jobs[j].gpus == 1) jobs.push_back(j);
  }
  const std::size_t gpus = type_of.size();
  if (gpus == 0 || jobs.empty()) return {};
  // No GPU has more jobs behind each other than there are jobs.
  const std::size_t columns = gpus * jobs.size();
  std::vector<double> cost(jobs.size() * columns);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const ShareJob& job = waiting.jobs[jobs[i]];
    for (std::size_t c = 0; c < columns; ++c) {
      const double rate = waiting.rate(jobs[i], type_of[c % gpus]).a;
      const double runtime = rate > 0 ? job.steps_left / rate : kNowhere_s;
      const std::size_t position = c / gpus + 1;
      cost[i * columns + c] = runtime * static_cast<double>(position) + job.age_s;
    }
  }
  const std::vector<std::size_t> column_of = least_cost_matching(jobs.size(), columns, cost);
  std::vector<std::optional<std::size_t>> first(gpus);  // place in `jobs`, by GPU
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::optional<std::size_t>& of_gpu = first[column_of[i] % gpus];
    if (!of_gpu || column_of[i] > column_of[*of_gpu]) of_gpu = i;
  }
  std::vector<AlloXStart> starts;
  for (std::size_t g = 0; g < gpus; ++g) {
    if (!first[g] || !(waiting.rate(jobs[*first[g]], type_of[g]).a > 0)) continue;
    starts.push_back({jobs[*first[g]], type_of[g]});
  }
  return starts;
}

}  // namespace corun::inline policies
