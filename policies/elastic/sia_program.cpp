#include "policies/elastic/sia_program.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include <CbcModel.hpp>
#include <OsiClpSolverInterface.hpp>

#include "sim/base/math.hpp"

namespace corun::inline policies {

namespace {

constexpr double kMostCost = 3000;
/// Differences of objectives that count: costs differ by a hundredth or by the last bits of 32-bit floats, 1e-7.
constexpr double kSiaTolerance = 1e-9;
constexpr int kMostNodes = 1000;  // of branch and bound

double to_two_decimals(double value) { return std::nearbyint(value * 100) / 100; }

/// A column of the integer program.
struct Column {
  std::uint32_t job, configuration;
};

}  // namespace

std::vector<SiaConfiguration> sia_configurations(std::span<const SiaNodes> types) {
  std::vector<SiaConfiguration> found;
  for (std::uint32_t type = 0; type < types.size(); ++type) {
    const auto [nodes, per_node] = types[type];
    if (nodes == 0 || per_node == 0) continue;
    for (std::uint32_t gpus = 1; gpus < per_node; gpus *= 2) found.push_back({type, 1, gpus});
    for (std::uint32_t n = 1; n <= nodes; ++n) found.push_back({type, n, n * per_node});
  }
  return found;
}

double restart_factor(double age_s, double restarts, double penalty_s) {
  if (age_s < penalty_s || penalty_s <= 0) return 1;
  return std::max(age_s - restarts * penalty_s, 0.0) / (age_s + penalty_s);
}

std::vector<double> sia_costs(std::span<const double> goodputs, std::optional<std::uint32_t> held,
                              double restart_factor, double p) {
  double least = std::numeric_limits<double>::infinity();
  for (const double goodput : goodputs) {
    if (goodput > 0) least = std::min(least, goodput);
  }
  std::vector<double> costs;
  for (std::uint32_t c = 0; c < goodputs.size(); ++c) {
    if (!(goodputs[c] > 0)) {
      costs.push_back(std::numeric_limits<double>::infinity());
      continue;
    }
    const double rho = !held || *held == c ? 1 : restart_factor;
    // A power of 0 is 0 or infinite; both are within the limits.
    const double power = math::exp(p * math::log(rho * (goodputs[c] / least)));
    costs.push_back(static_cast<float>(std::min(to_two_decimals(power), kMostCost)));
  }
  return costs;
}

SiaAssignment assign_configurations(const SiaProgram& program) {
  const double sign = program.p < 0 ? 1 : -1;
  SiaAssignment result;
  result.configurations.resize(program.jobs.size());
  // Rows: a job's configurations, then the types' GPUs. The objective leaves out lambda times the jobs.
  std::vector<Column> columns;
  std::vector<double> costs;
  std::vector<double> most;
  std::vector<double> left(program.gpus.begin(), program.gpus.end());
  result.objective = program.lambda * static_cast<double>(program.jobs.size());
  for (std::uint32_t j = 0; j < program.jobs.size(); ++j) {
    const SiaProgram::Job& job = program.jobs[j];
    if (job.keeps) {
      const SiaConfiguration& kept = program.configurations[*job.keeps];
      left[kept.type] -= kept.gpus;
      result.configurations[j] = job.keeps;
      result.objective += sign * job.costs[*job.keeps] - program.lambda;
      continue;
    }
    for (std::uint32_t c = 0; c < program.configurations.size(); ++c) {
      const double gain = sign * job.costs[c] - program.lambda;
      // A configuration that costs more than none is in no optimum.
      if (std::isinf(job.costs[c]) || gain > kSiaTolerance) continue;
      columns.push_back({j, c});
      costs.push_back(gain);
    }
  }
  if (columns.empty()) return result;

  const auto jobs = static_cast<int>(program.jobs.size());
  const auto types = static_cast<int>(program.gpus.size());
  std::vector<double> row_most(static_cast<std::size_t>(jobs), 1.0);
  row_most.insert(row_most.end(), left.begin(), left.end());
  const std::vector<double> row_least(row_most.size(), -COIN_DBL_MAX);
  CoinPackedMatrix matrix(true, 0, 0);
  matrix.setDimensions(jobs + types, 0);
  for (const Column& column : columns) {
    const SiaConfiguration& c = program.configurations[column.configuration];
    const int rows[] = {static_cast<int>(column.job), jobs + static_cast<int>(c.type)};
    const double entries[] = {1, static_cast<double>(c.gpus)};
    matrix.appendCol(2, rows, entries);
  }
  const std::vector<double> least(columns.size(), 0.0);
  most.assign(columns.size(), 1.0);

  OsiClpSolverInterface linear;
  linear.messageHandler()->setLogLevel(0);
  linear.loadProblem(matrix, least.data(), most.data(), costs.data(), row_least.data(),
                     row_most.data());
  linear.setDblParam(OsiDualTolerance, kSiaTolerance);
  linear.setDblParam(OsiPrimalTolerance, kSiaTolerance);
  for (int c = 0; c < static_cast<int>(columns.size()); ++c) linear.setInteger(c);
  linear.initialSolve();
  CbcModel integer(linear);
  integer.setLogLevel(0);
  integer.messageHandler()->setLogLevel(0);
  integer.setNumberThreads(0);
  integer.setAllowableGap(0);
  integer.setAllowableFractionGap(0);
  integer.setCutoffIncrement(kSiaTolerance);
  integer.setMaximumNodes(kMostNodes);
  integer.branchAndBound();
  const double* x = integer.bestSolution();
  for (std::size_t c = 0; x != nullptr && c < columns.size(); ++c) {
    if (std::lround(x[c]) != 1) continue;
    result.configurations[columns[c].job] = columns[c].configuration;
    result.objective += costs[c];
  }
  return result;
}

}  // namespace corun::inline policies
