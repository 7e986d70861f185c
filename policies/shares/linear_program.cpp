#include "policies/shares/linear_program.hpp"

#include <algorithm>
#include <cmath>

#include <ClpSimplex.hpp>

namespace corun::inline policies {

namespace {

/// Violations that count as none, of rows and of reduced costs. The programs are scaled so that shares and objectives
/// are about 1.
constexpr double kProgramTolerance = 1e-9;
/// Sifting begins with this many columns more than the core has, at least, and adds so many at a time, per row.
constexpr std::size_t kSiftedPerRow = 2;

}  // namespace

/// CLP with some of the columns of a program.
class LinearProgram::Solver {
 public:
  explicit Solver(const LinearProgram& program) : program_(program) {
    clp_.setLogLevel(0);
    clp_.setOptimizationDirection(-1);  // maximise
    clp_.setPrimalTolerance(kProgramTolerance);
    clp_.setDualTolerance(kProgramTolerance);
    const auto rows = static_cast<int>(program.rows());
    clp_.resize(rows, 0);
    for (int r = 0; r < rows; ++r) {
      const auto row = static_cast<std::size_t>(r);
      clp_.setRowBounds(r, bound(program.low_[row]), bound(program.high_[row]));
    }
  }

  void add(std::span<const std::uint32_t> columns) {
    std::vector<CoinBigIndex> starts{0};
    std::vector<int> rows;
    std::vector<double> elements;
    std::vector<double> least;
    std::vector<double> most;
    std::vector<double> cost;
    for (const std::uint32_t c : columns) {
      for (std::size_t e = program_.starts_[c]; e < program_.starts_[c + 1]; ++e) {
        const auto& [row, a] = program_.entries_[e];
        rows.push_back(static_cast<int>(row));
        elements.push_back(a);
      }
      starts.push_back(static_cast<CoinBigIndex>(rows.size()));
      least.push_back(program_.least_[c]);
      most.push_back(bound(program_.most_[c]));
      cost.push_back(program_.cost_[c]);
      held_.push_back(c);
    }
    clp_.addColumns(static_cast<int>(columns.size()), least.data(), most.data(), cost.data(),
                    starts.data(), rows.data(), elements.data());
  }

  void start_from(const ProgramBasis& basis) {
    clp_.createStatus();  // all columns at 0, all rows basic
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const auto at = basis.columns.find(program_.column_keys_[held_[i]]);
      if (at == basis.columns.end()) continue;
      clp_.setColumnStatus(static_cast<int>(i), static_cast<ClpSimplex::Status>(at->second));
    }
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      const auto at = basis.rows.find(program_.row_keys_[r]);
      if (at == basis.rows.end()) continue;
      clp_.setRowStatus(static_cast<int>(r), static_cast<ClpSimplex::Status>(at->second));
    }
  }

  ProgramStatus solve(bool from_basis) {
    if (from_basis) {
      clp_.primal(1);
    } else {
      clp_.dual();
    }
    if (clp_.status() != 0 && clp_.status() != 1) clp_.primal();
    if (clp_.status() == 0) return ProgramStatus::kOptimal;
    return clp_.status() == 1 ? ProgramStatus::kInfeasible : ProgramStatus::kFailed;
  }

  /// By how much a unit of a column that is not held would raise the objective.
  double gain(std::uint32_t column) const {
    const double* duals = clp_.dualRowSolution();
    double gain = program_.cost_[column];
    for (std::size_t e = program_.starts_[column]; e < program_.starts_[column + 1]; ++e) {
      const auto& [row, a] = program_.entries_[e];
      gain -= duals[row] * a;
    }
    return gain;
  }

  void read(ProgramSolution& solution) const {
    solution.objective = clp_.objectiveValue();
    solution.x.assign(program_.columns(), 0.0);
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const std::uint32_t c = held_[i];
      solution.x[c] =
          std::clamp(clp_.primalColumnSolution()[i], program_.least_[c], program_.most_[c]);
    }
  }

  void keep(ProgramBasis& basis) const {
    basis.rows.clear();
    basis.columns.clear();
    for (std::size_t r = 0; r < program_.rows(); ++r) {
      basis.rows[program_.row_keys_[r]] =
          static_cast<unsigned char>(clp_.getRowStatus(static_cast<int>(r)));
    }
    for (std::size_t i = 0; i < held_.size(); ++i) {
      const ClpSimplex::Status status = clp_.getColumnStatus(static_cast<int>(i));
      if (status == ClpSimplex::atLowerBound) continue;  // as new ones
      basis.columns[program_.column_keys_[held_[i]]] = static_cast<unsigned char>(status);
    }
  }

 private:
  static double bound(double value) {
    if (value == kInfinite) return COIN_DBL_MAX;
    return value == -kInfinite ? -COIN_DBL_MAX : value;
  }

  const LinearProgram& program_;
  ClpSimplex clp_;
  std::vector<std::uint32_t> held_;  ///< columns of the program, in CLP's order
};

std::uint32_t LinearProgram::add_row(std::uint64_t key, double low, double high) {
  row_keys_.push_back(key);
  low_.push_back(low);
  high_.push_back(high);
  return static_cast<std::uint32_t>(low_.size() - 1);
}

std::uint32_t LinearProgram::add_column(std::uint64_t key, double cost, double most,
                                        std::span<const Entry> entries, bool core) {
  column_keys_.push_back(key);
  cost_.push_back(cost);
  least_.push_back(0);
  most_.push_back(most);
  core_.push_back(core);
  for (const Entry& entry : entries) {
    if (entry.second != 0) entries_.push_back(entry);
  }
  starts_.push_back(entries_.size());
  return static_cast<std::uint32_t>(cost_.size() - 1);
}

void LinearProgram::set_row(std::uint32_t row, double low, double high) {
  low_[row] = low;
  high_[row] = high;
}

void LinearProgram::set_column(std::uint32_t column, double least, double most) {
  least_[column] = least;
  most_[column] = most;
}

ProgramSolution LinearProgram::maximise(ProgramBasis* basis) const {
  const bool warm = basis != nullptr && !basis->rows.empty();
  const std::size_t few = kSiftedPerRow * rows();
  std::vector<std::uint32_t> held;
  std::vector<std::uint32_t> others;
  for (std::uint32_t c = 0; c < columns(); ++c) {
    const bool wanted = core_[c] || (warm && basis->columns.contains(column_keys_[c]));
    (wanted ? held : others).push_back(c);
  }
  if (others.size() <= 2 * few) {
    held.insert(held.end(), others.begin(), others.end());
    std::ranges::sort(held);
    others.clear();
  }
  Solver solver(*this);
  solver.add(held);
  if (warm) solver.start_from(*basis);
  ProgramSolution solution;
  solution.status = solver.solve(warm);
  // An infeasible program of few columns may be feasible with more of them: then take all.
  if (solution.status == ProgramStatus::kInfeasible && !others.empty()) {
    solver.add(others);
    others.clear();
    solution.status = solver.solve(false);
  }
  std::vector<std::pair<double, std::uint32_t>> gains;  // negative: the greatest comes first
  while (solution.status == ProgramStatus::kOptimal && !others.empty()) {
    gains.clear();
    for (const std::uint32_t c : others) {
      if (const double gain = solver.gain(c); gain > kProgramTolerance)
        gains.emplace_back(-gain, c);
    }
    if (gains.empty()) break;
    const std::size_t taken = std::min(gains.size(), few);
    std::partial_sort(gains.begin(), gains.begin() + static_cast<std::ptrdiff_t>(taken),
                      gains.end());
    std::vector<std::uint32_t> added;
    for (std::size_t i = 0; i < taken; ++i) added.push_back(gains[i].second);
    std::ranges::sort(added);
    std::erase_if(others, [&](std::uint32_t c) { return std::ranges::binary_search(added, c); });
    solver.add(added);
    solution.status = solver.solve(true);
  }
  if (solution.status != ProgramStatus::kOptimal) return solution;
  solver.read(solution);
  if (basis != nullptr) solver.keep(*basis);
  return solution;
}

}  // namespace corun::inline policies
