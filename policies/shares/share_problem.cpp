#include "policies/shares/share_problem.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include <fmt/format.h>

namespace corun::inline policies {

namespace {

// Keys of rows and columns, so that a basis fits the next problem with other jobs. Numbers of jobs have 30 bits.
constexpr std::uint64_t kJobBits = 30;

std::uint64_t row_key(std::uint64_t kind, std::uint64_t number) { return kind << 60U | number; }

std::uint64_t share_key(const ShareProblem& problem, const ShareUnit& unit, std::size_t type) {
  const std::uint64_t a = problem.jobs[unit.a].id;
  const std::uint64_t b = unit.b ? problem.jobs[*unit.b].id : a;
  return (b << kJobBits | a) << 4U | type;
}

}  // namespace

int ShareProblem::total_gpus() const { return std::accumulate(gpus.begin(), gpus.end(), 0); }

std::string share_fault(const ShareProblem& problem, std::span<const double> x) {
  constexpr double kSlack = 1e-6;
  const auto text = [](double number) { return fmt::format("{:g}", number); };
  const std::size_t types = problem.types();
  std::vector<double> of_job(problem.jobs.size(), 0.0);
  std::vector<double> on_type(types, 0.0);
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    const ShareUnit& unit = problem.units[u];
    for (std::size_t t = 0; t < types; ++t) {
      const double share = x[u * types + t];
      if (!(share >= -kSlack && share <= 1 + kSlack)) {  // NaN, too
        return fmt::format("found the share {} of unit {} (job {}) on GPU type {}, expected 0 to 1",
                           text(share), u, problem.jobs[unit.a].id, t);
      }
      of_job[unit.a] += share;
      if (unit.b) of_job[*unit.b] += share;
      on_type[t] += problem.jobs[unit.a].gpus * share;
    }
  }
  for (std::size_t j = 0; j < of_job.size(); ++j) {
    if (of_job[j] <= 1 + kSlack) continue;
    return fmt::format("found shares of job {} that add up to {}, expected at most 1",
                       problem.jobs[j].id, text(of_job[j]));
  }
  for (std::size_t t = 0; t < types; ++t) {
    if (on_type[t] <= problem.gpus[t] * (1 + kSlack)) continue;
    return fmt::format("found shares of {} GPUs of type {}, expected at most {}", text(on_type[t]),
                       t, problem.gpus[t]);
  }
  return "";
}

std::vector<double> throughputs(const ShareProblem& problem, std::span<const double> x) {
  std::vector<double> all(problem.jobs.size(), 0.0);
  for (std::size_t u = 0; u < problem.units.size(); ++u) {
    const ShareUnit& unit = problem.units[u];
    for (std::size_t t = 0; t < problem.types(); ++t) {
      const double share = x[u * problem.types() + t];
      all[unit.a] += problem.rate(u, t).a * share;
      if (unit.b) all[*unit.b] += problem.rate(u, t).b * share;
    }
  }
  return all;
}

std::vector<double> mean_rates(const ShareProblem& problem) {
  const double total = problem.total_gpus();
  std::vector<double> all(problem.jobs.size(), 0.0);
  for (std::size_t j = 0; j < all.size(); ++j) {
    for (std::size_t t = 0; t < problem.types(); ++t) {
      all[j] += problem.rate(j, t).a * (problem.gpus[t] / total);
    }
  }
  return all;
}

Shares equal_shares(const ShareProblem& problem) {
  Shares shares;
  shares.x.assign(problem.units.size() * problem.types(), 0.0);
  const auto jobs = static_cast<double>(problem.jobs.size());
  for (std::size_t j = 0; j < problem.jobs.size(); ++j) {
    double* const row = &shares.x[j * problem.types()];
    double sum = 0;
    for (std::size_t t = 0; t < problem.types(); ++t) {
      row[t] = problem.gpus[t] / jobs / problem.jobs[j].gpus;
      sum += row[t];
    }
    for (std::size_t t = 0; t < problem.types(); ++t) row[t] /= std::max(1.0, sum);
  }
  return shares;
}

void ShareProgram::add_rows(const std::vector<bool>& rated) {
  for (std::size_t t = 0; t < problem_.types(); ++t) {
    type_rows_.push_back(
        program_.add_row(row_key(1, t), -LinearProgram::kInfinite, problem_.gpus[t]));
  }
  rate_rows_.resize(problem_.jobs.size());
  for (std::size_t j = 0; j < problem_.jobs.size(); ++j) {
    const std::uint64_t id = problem_.jobs[j].id;
    job_rows_.push_back(program_.add_row(row_key(2, id), -LinearProgram::kInfinite, 1));
    if (!rated[j]) continue;
    rate_rows_[j] =
        program_.add_row(row_key(3, id), -LinearProgram::kInfinite, LinearProgram::kInfinite);
  }
}

void ShareProgram::add_share(std::size_t unit, std::size_t type, std::span<const double> scale,
                             double cost) {
  const UnitRates& rates = problem_.rate(unit, type);
  const ShareUnit& jobs = problem_.units[unit];
  const int gpus = problem_.jobs[jobs.a].gpus;
  const bool runs = jobs.b ? rates.a > 0 && rates.b > 0 : rates.a > 0;
  if (!runs || gpus > problem_.gpus[type]) return;
  std::vector<LinearProgram::Entry> entries{{type_rows_[type], gpus}, {job_rows_[jobs.a], 1.0}};
  if (rate_rows_[jobs.a]) entries.emplace_back(*rate_rows_[jobs.a], rates.a * scale[jobs.a]);
  if (jobs.b) {
    entries.emplace_back(job_rows_[*jobs.b], 1.0);
    if (rate_rows_[*jobs.b]) entries.emplace_back(*rate_rows_[*jobs.b], rates.b * scale[*jobs.b]);
  }
  const std::uint32_t column =
      program_.add_column(share_key(problem_, jobs, type), cost, 1, entries, !jobs.b);
  columns_.emplace_back(unit * problem_.types() + type, column);
}

std::vector<double> ShareProgram::shares(const ProgramSolution& solution) const {
  std::vector<double> x(problem_.units.size() * problem_.types(), 0.0);
  for (const auto& [place, column] : columns_) x[place] = std::min(solution.x[column], 1.0);
  return x;
}

}  // namespace corun::inline policies
