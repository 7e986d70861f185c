#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policies/shares/linear_program.hpp"

/// Which share of its time each job, or each pair of jobs on the same GPUs, spends on each GPU type: the input and
/// the answer of the policies of Gavel (Narayanan et al., OSDI 2020). Plain numbers, without a cluster or an engine.
///
/// A share x of unit k on type t satisfies
///
///   x_kt >= 0,   sum_k g_k x_kt <= N_t for each type,   sum over the units of a job and over types x_kt <= 1
///
/// with g_k the GPUs that the unit occupies and N_t the GPUs of the type.
namespace corun::inline policies {

/// A job as a program sees it.
struct ShareJob {
  std::uint64_t id = 0;               ///< tells it from others in later problems
  int gpus = 1;                       ///< gang
  double weight = 1;                  ///< above 0
  double steps_left = 1;              ///< above 0, in the unit of the rates
  double age_s = 0;                   ///< since its submission
  std::optional<double> time_left_s;  ///< until its deadline (max_throughput()); above 0
  double isolated_s = 0;  ///< time that its steps so far would have taken on an equal share
};

/// A job by itself, or two jobs of equal gangs beside each other; by positions in ShareProblem::jobs.
struct ShareUnit {
  std::uint32_t a = 0;
  std::optional<std::uint32_t> b;  ///< the other one of a pair; above a
};

/// What a unit does on a type [steps/s]; 0: it does not run there.
struct UnitRates {
  double a = 0;
  double b = 0;  ///< of the second job of a pair
};

struct ShareProblem {
  std::vector<int> gpus;  ///< N_t by type
  std::vector<ShareJob> jobs;
  std::vector<ShareUnit> units;  ///< unit i is job i by itself for i < jobs.size(); then pairs
  std::vector<UnitRates> rates;  ///< by unit and type, row after row

  std::size_t types() const { return gpus.size(); }
  const UnitRates& rate(std::size_t unit, std::size_t type) const {
    return rates[unit * types() + type];
  }
  int total_gpus() const;
  bool packed() const { return units.size() > jobs.size(); }
};

struct Shares {
  std::vector<double> x;  ///< by unit and type, row after row; empty: no solution
  double objective = 0;   ///< of the program, in the unit that it names
};

/// What is wrong with shares that are not this program's own: "found ..., expected ..." of the first constraint above that
/// they break by more than 1e-6; empty: none. `x` has a value per unit and type.
std::string share_fault(const ShareProblem& problem, std::span<const double> x);

/// The steps per second of each job under the shares: sum over its units and the types of rate times share.
std::vector<double> throughputs(const ShareProblem& problem, std::span<const double> x);

/// What each job would do on the whole cluster's mean GPU: sum_t r_it N_t / sum N [steps/s].
std::vector<double> mean_rates(const ShareProblem& problem);

/// Equal shares of the cluster (`isolated`): y_it = (N_t / m / g_i) / max(1, its sum over t), m the number of jobs;
/// pairs have none. Objective: 0.
Shares equal_shares(const ShareProblem& problem);

/// The constraints above as a program with a column for each unit and type where it runs. Callers add rows with the
/// throughputs of jobs.
class ShareProgram {
 public:
  /// `cost(unit, type)` is the coefficient of the share in the objective. `rated` jobs get a row of their throughput,
  /// times `scale` of the job, without bounds as yet.
  template <typename Cost>
  ShareProgram(const ShareProblem& problem, std::span<const double> scale,
               const std::vector<bool>& rated, Cost&& cost)
      : problem_(problem) {
    add_rows(rated);
    for (std::size_t u = 0; u < problem.units.size(); ++u) {
      for (std::size_t t = 0; t < problem.types(); ++t) add_share(u, t, scale, cost(u, t));
    }
  }

  LinearProgram& program() { return program_; }
  /// The row of a rated job's throughput.
  std::uint32_t rate_row(std::size_t job) const { return *rate_rows_[job]; }
  /// Adds a variable that enters rows of throughputs with these coefficients.
  std::uint32_t add_variable(std::uint64_t key, double cost, double most,
                             std::span<const LinearProgram::Entry> entries) {
    return program_.add_column(key, cost, most, entries);
  }
  /// The shares of a solution.
  std::vector<double> shares(const ProgramSolution& solution) const;

  static constexpr std::uint64_t kLevelKey = ~std::uint64_t{0};  ///< of the variable of a max-min

 private:
  void add_rows(const std::vector<bool>& rated);
  void add_share(std::size_t unit, std::size_t type, std::span<const double> scale, double cost);

  const ShareProblem& problem_;
  LinearProgram program_;
  std::vector<std::uint32_t> type_rows_;
  std::vector<std::uint32_t> job_rows_;
  std::vector<std::optional<std::uint32_t>> rate_rows_;
  std::vector<std::pair<std::size_t, std::uint32_t>> columns_;  ///< place in Shares::x, column
};

}  // namespace corun::inline policies
