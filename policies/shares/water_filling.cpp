#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "policies/shares/max_min.hpp"

namespace corun::inline policies {

namespace {

constexpr double kRise = 1.0001;
/// A 0/1 variable counts as whole this close to a whole number.
constexpr double kWhole = 1e-6;
/// Rows that must keep a level keep it but for this share of it: the level itself has the solver's tolerance. The next
/// one is taken where the solver finds no solution.
constexpr std::array kKept{1 - 1e-10, 1 - 1e-8, 1 - 1e-6};

struct Levels {
  std::vector<double> level;  ///< by job, scaled
  std::vector<bool> rated;    ///< it runs somewhere
  std::vector<bool> open;     ///< it is not yet final
};

constexpr auto kFreeShares = [](std::size_t, std::size_t) { return 0.0; };

ShareProgram program_at(const ShareProblem& problem, std::span<const double> scale,
                        const Levels& levels, double kept) {
  ShareProgram shape(problem, scale, levels.rated, kFreeShares);
  for (std::size_t j = 0; j < levels.level.size(); ++j) {
    if (!levels.rated[j]) continue;
    shape.program().set_row(shape.rate_row(j), levels.level[j] * kept, LinearProgram::kInfinite);
  }
  return shape;
}

/// The 0/1 program: which open jobs can rise from their levels by kRise together, as many as possible. By branch and
/// bound on the first job that the relaxed program lets rise in part.
class MostRising {
 public:
  struct Answer {
    std::vector<std::size_t> jobs;
    std::vector<double> x;
  };

  /// Starts from `basis`, and leaves that of its last program in it.
  MostRising(const ShareProblem& problem, std::span<const double> scale, const Levels& levels,
             double kept, ProgramBasis& basis)
      : shape_(program_at(problem, scale, levels, kept)), basis_(basis) {
    for (std::size_t j = 0; j < levels.level.size(); ++j) {
      if (!levels.open[j]) continue;
      const LinearProgram::Entry rise{shape_.rate_row(j), -(kRise - 1) * levels.level[j]};
      jobs_.push_back(j);
      columns_.push_back(
          shape_.add_variable(problem.jobs[j].id | std::uint64_t{1} << 63U, 1, 1, {&rise, 1}));
    }
  }

  /// Nothing if the solver gave up. After kMostPrograms programs the best answer so far.
  std::optional<Answer> solve() {
    branch();
    return std::move(best_);
  }

 private:
  static constexpr int kMostPrograms = 500;

  void branch() {
    if (++programs_ > kMostPrograms) return;
    const ProgramSolution relaxed = shape_.program().maximise(&basis_);
    if (relaxed.status != ProgramStatus::kOptimal) return;
    const double bound = std::floor(relaxed.objective + kWhole);
    if (best_ && bound <= static_cast<double>(best_->jobs.size())) return;
    std::vector<std::size_t> rising;
    std::optional<std::uint32_t> part;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const double z = relaxed.x[columns_[i]];
      if (z >= 1 - kWhole) {
        rising.push_back(jobs_[i]);
      } else if (z > kWhole && !part) {
        part = columns_[i];
      }
    }
    // Those that rise whole do so even if the others stay.
    if (!best_ || rising.size() > best_->jobs.size()) {
      best_ = Answer{std::move(rising), shape_.shares(relaxed)};
    }
    if (!part || bound <= static_cast<double>(best_->jobs.size())) return;
    for (const double value : {1.0, 0.0}) {
      shape_.program().set_column(*part, value, value);
      branch();
    }
    shape_.program().set_column(*part, 0, 1);
  }

  ShareProgram shape_;
  ProgramBasis& basis_;
  std::vector<std::size_t> jobs_;
  std::vector<std::uint32_t> columns_;
  std::optional<Answer> best_;
  int programs_ = 0;
};

}  // namespace

WaterFilling water_filling(const ShareProblem& problem, ProgramBasis* basis) {
  const std::vector<double> scale = fair_scales(problem);
  const std::size_t jobs = problem.jobs.size();
  Levels levels{std::vector<double>(jobs, 0.0), {}, {}};
  for (const double s : scale) levels.rated.push_back(s > 0);
  levels.open = levels.rated;
  WaterFilling filled;
  filled.shares.x.assign(problem.units.size() * problem.types(), 0.0);
  // The first program starts from that of the last call, each other one from the one of its kind before it.
  ProgramBasis raising;
  ProgramBasis rising;
  if (basis != nullptr) raising = *basis;
  while (std::ranges::find(levels.open, true) != levels.open.end()) {
    ProgramSolution raised;
    for (const double kept : kKept) {
      ShareProgram shape = program_at(problem, scale, levels, kept);
      std::vector<LinearProgram::Entry> rise;
      for (std::size_t j = 0; j < jobs; ++j) {
        if (levels.open[j]) rise.emplace_back(shape.rate_row(j), -1.0);
      }
      shape.add_variable(ShareProgram::kLevelKey, 1, LinearProgram::kInfinite, rise);
      raised = shape.program().maximise(&raising);
      if (raised.status != ProgramStatus::kOptimal) continue;
      filled.shares.x = shape.shares(raised);
      break;
    }
    if (raised.status != ProgramStatus::kOptimal) break;
    if (basis != nullptr && filled.objectives.empty()) *basis = raising;
    filled.shares.objective = raised.objective;
    filled.objectives.push_back(raised.objective);
    for (std::size_t j = 0; j < jobs; ++j) {
      if (levels.open[j]) levels.level[j] += raised.objective;
    }
    std::optional<MostRising::Answer> most;
    for (const double kept : kKept) {
      if (!most) most = MostRising(problem, scale, levels, kept, rising).solve();
    }
    if (!most) break;
    filled.objectives.push_back(static_cast<double>(most->jobs.size()));
    const auto open_before = std::ranges::count(levels.open, true);
    levels.open.assign(jobs, false);
    for (const std::size_t j : most->jobs) levels.open[j] = true;
    // Only rounding can let all rise from the highest common level.
    if (static_cast<std::ptrdiff_t>(most->jobs.size()) == open_before) break;
  }
  return filled;
}

}  // namespace corun::inline policies
