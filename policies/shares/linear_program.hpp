#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

/// Linear programs, solved by COIN-OR CLP on one thread:
///
///   maximise sum_j cost_j x_j   subject to   low_i <= sum_j a_ij x_j <= high_i,   least_j <= x_j <= most_j
///
/// A program with many more columns than rows is solved by sifting (Bixby et al., Operations Research 40, 1992): a
/// program of some columns is solved, columns whose reduced cost would improve it are added, and so on. The result
/// is that of the whole program.
namespace corun::inline policies {

/// The basis of a solved program, by the keys of its rows and columns. A later program that shares keys starts from
/// it: rows and columns that are new are taken as not restrictive and as 0.
struct ProgramBasis {
  std::unordered_map<std::uint64_t, unsigned char> rows;
  std::unordered_map<std::uint64_t, unsigned char> columns;
};

enum class ProgramStatus : std::uint8_t {
  kOptimal,
  kInfeasible,
  kFailed,  ///< unbounded, or the solver gave up
};

struct ProgramSolution {
  ProgramStatus status = ProgramStatus::kFailed;
  double objective = 0;
  std::vector<double> x;  ///< by column; empty unless optimal
};

class LinearProgram {
 public:
  static constexpr double kInfinite = std::numeric_limits<double>::infinity();
  using Entry = std::pair<std::uint32_t, double>;  ///< row, a_ij

  /// Numbers of rows and columns ascend from 0. Keys of rows must differ, and so must those of columns.
  std::uint32_t add_row(std::uint64_t key, double low, double high);
  /// A column of at least 0 that sifting may leave out at first if it is not `core`. Zeros in `entries` are dropped.
  std::uint32_t add_column(std::uint64_t key, double cost, double most,
                           std::span<const Entry> entries, bool core = true);
  void set_row(std::uint32_t row, double low, double high);
  void set_column(std::uint32_t column, double least, double most);

  /// Starts from `basis` if it is not empty, and leaves the basis of an optimum in it. May be null.
  ProgramSolution maximise(ProgramBasis* basis = nullptr) const;

  std::size_t rows() const { return low_.size(); }
  std::size_t columns() const { return cost_.size(); }

 private:
  class Solver;

  std::vector<std::uint64_t> row_keys_;
  std::vector<double> low_, high_;
  std::vector<std::uint64_t> column_keys_;
  std::vector<double> cost_, least_, most_;
  std::vector<bool> core_;
  std::vector<std::size_t> starts_{0};  ///< of the columns in entries_
  std::vector<Entry> entries_;
};

}  // namespace corun::inline policies
