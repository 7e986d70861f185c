#include "models/interference/groups/saturations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <Eigen/Dense>
#include <unsupported/Eigen/LevenbergMarquardt>

#include "sim/base/math.hpp"
#include "sim/base/nan.hpp"

namespace corun::inline models {

namespace {

constexpr std::size_t kMostJobs = 100;  // the fit takes the cube of their number
constexpr double kCapacityDeviation = 1;
constexpr double kProgramDeviation = 1;
constexpr double kJobDeviation = 0.2;
constexpr double kUnknownProgramDeviation = 0.4;
constexpr double kMeasuredDeviation = 0.03;
constexpr std::ptrdiff_t kLeastJobs = 3;
constexpr double kSamePercent = 0.1;  ///< shares closer than this are one [% of the GPU]
constexpr double kWholeGpu = 100;     // [%]

/// Mean log speed of the copies of a job, by their number.
using Copies = std::map<std::size_t, double>;

struct CopiedJob {
  WorkloadKey key{};
  double log_rate = 0;
  Eigen::Index share = 0, program = 0;
  bool knows_program = false;
  Copies copies;
};

struct CopiedFamily {
  std::vector<CopiedJob> jobs;
  std::vector<Eigen::Index> fastest;  ///< by share: the job with the highest rate alone
  Eigen::Index programs = 0;

  Eigen::Index shares() const { return static_cast<Eigen::Index>(fastest.size()); }
  Eigen::Index size() const { return static_cast<Eigen::Index>(jobs.size()); }
  const CopiedJob& at(Eigen::Index n) const { return jobs[static_cast<std::size_t>(n)]; }
  /// The job with the highest rate alone on the share of job n.
  Eigen::Index fastest_beside(Eigen::Index n) const {
    return fastest[static_cast<std::size_t>(at(n).share)];
  }
  std::ptrdiff_t jobs_on(Eigen::Index share) const {
    return std::ranges::count(jobs, share, &CopiedJob::share);
  }
  Eigen::Index measured() const {
    Eigen::Index sum = 0;
    for (const CopiedJob& job : jobs) sum += static_cast<Eigen::Index>(job.copies.size());
    return sum;
  }
  /// Of the parameters: shares, programs, jobs.
  Eigen::Index parameters() const { return shares() + programs + size(); }
  /// Positions of the three parameters of a job.
  std::array<Eigen::Index, 3> of(Eigen::Index n) const {
    const CopiedJob& job = at(n);
    return {job.share, shares() + job.program, shares() + programs + n};
  }
  double log_load(const Eigen::VectorXd& x, Eigen::Index n) const {
    double load = at(n).log_rate - at(fastest_beside(n)).log_rate;
    for (const Eigen::Index p : of(n)) load -= x[p];
    return load;
  }
  /// Without variances.
  Saturation saturation(const Eigen::VectorXd& x, Eigen::Index n) const {
    return {log_load(x, n), -log_load(x, fastest_beside(n))};
  }
  double deviation(Eigen::Index parameter) const {
    if (parameter < shares()) return kCapacityDeviation;
    if (parameter < shares() + programs) return kProgramDeviation;
    return at(parameter - shares() - programs).knows_program ? kJobDeviation
                                                             : kUnknownProgramDeviation;
  }
};

/// Residuals in units of their deviation: of the copies of each job, then of the priors.
struct SaturationResiduals : Eigen::DenseFunctor<double> {
  explicit SaturationResiduals(const CopiedFamily& of)
      : DenseFunctor(static_cast<int>(of.parameters()),
                     static_cast<int>(of.measured() + of.parameters())),
        family(of) {}

  int operator()(const InputType& x, ValueType& out) const {
    Eigen::Index row = 0;
    for (Eigen::Index n = 0; n < family.size(); ++n) {
      const Saturation job = family.saturation(x, n);
      for (const auto& [count, log_speed] : family.at(n).copies) {
        out[row++] = (speed_by_load(job, count).log_speed - log_speed) / kMeasuredDeviation;
      }
    }
    for (Eigen::Index p = 0; p < x.size(); ++p) out[row++] = x[p] / family.deviation(p);
    return 0;
  }
  int df(const InputType& x, JacobianType& out) const {
    out.setZero();
    Eigen::Index row = 0;
    for (Eigen::Index n = 0; n < family.size(); ++n) {
      const Saturation job = family.saturation(x, n);
      const bool is_clamped = job.gain() != math::exp(job.log_gain);
      for (const auto& [count, log_speed] : family.at(n).copies) {
        const SpeedByLoad speed = speed_by_load(job, count);
        // More capacity is less load; that of the fastest is its gain.
        for (const Eigen::Index p : family.of(n)) {
          out(row, p) -= speed.by_log_load / kMeasuredDeviation;
        }
        for (const Eigen::Index p : family.of(family.fastest_beside(n))) {
          if (!is_clamped) out(row, p) += speed.by_log_gain / kMeasuredDeviation;
        }
        ++row;
      }
    }
    for (Eigen::Index p = 0; p < x.size(); ++p) out(row++, p) = 1 / family.deviation(p);
    return 0;
  }

  const CopiedFamily& family;
};

void fit_family(const CopiedFamily& family, std::unordered_map<WorkloadKey, Saturation>& out) {
  SaturationResiduals residuals(family);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(family.parameters());
  Eigen::LevenbergMarquardt<SaturationResiduals>(residuals).minimize(x);
  SaturationResiduals::JacobianType slopes(residuals.values(), residuals.inputs());
  residuals.df(x, slopes);
  const Eigen::LLT<Eigen::MatrixXd> precision(slopes.transpose() * slopes);
  const auto of_load = [&](Eigen::Index n) {
    Eigen::VectorXd direction = Eigen::VectorXd::Zero(family.parameters());
    for (const Eigen::Index p : family.of(n)) direction[p] = -1;
    return direction;
  };
  for (Eigen::Index n = 0; n < family.size(); ++n) {
    const CopiedJob& job = family.at(n);
    if (family.jobs_on(job.share) < kLeastJobs) continue;
    const Eigen::VectorXd load = of_load(n);
    const Eigen::VectorXd gain = -of_load(family.fastest_beside(n));
    const Eigen::VectorXd of_gain = precision.solve(gain);
    Saturation found = family.saturation(x, n);
    found.load_variance = load.dot(precision.solve(load));
    found.gain_variance = gain.dot(of_gain);
    found.covariance = load.dot(of_gain);
    if (found.is_possible()) out[job.key] = found;
  }
}

std::optional<std::size_t> feature_at(const SpeedTable& table, std::string_view name) {
  const auto at = std::ranges::find(table.features, name, &SpeedTable::Feature::name);
  if (at == table.features.end()) return std::nullopt;
  return static_cast<std::size_t>(at - table.features.begin());
}

/// What a table tells of one job.
struct Seen {
  std::set<std::uint32_t> campaigns;
  std::map<std::size_t, std::vector<double>> copies;  ///< log speeds, by the number of copies
};

std::map<std::uint32_t, Seen> seen_jobs(const SpeedTable& table) {
  std::map<std::uint32_t, Seen> out;
  const auto take = [&](std::span<const std::uint32_t> jobs, std::span<const double> speeds,
                        std::uint32_t campaign) {
    const bool are_copies = std::ranges::count(jobs, jobs.front()) == std::ssize(jobs);
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      out[jobs[i]].campaigns.insert(campaign);
      if (std::isnan(speeds[i])) continue;
      sum += math::log(speeds[i]);
      count += 1;
    }
    if (are_copies && count > 0) out[jobs.front()].copies[jobs.size()].push_back(sum / count);
  };
  for (const SpeedTable::Row& row : table.rows) {
    take(std::array{row.a, row.b}, std::array{row.speed_a, row.speed_b}, row.campaign);
  }
  for (const SpeedTable::Group& group : table.groups) {
    take(group.jobs, group.speeds, group.campaign);
  }
  return out;
}

/// The campaign with MPS of most jobs that have copies there and are in no other.
std::optional<std::uint32_t> campaign_of_most(const SpeedTable& table,
                                              const std::map<std::uint32_t, Seen>& seen) {
  std::map<std::uint32_t, std::size_t> jobs;
  for (const auto& [job, what] : seen) {
    const std::uint32_t campaign = *what.campaigns.begin();
    const bool counts = what.campaigns.size() == 1 && !what.copies.empty() &&
                        table.campaigns[campaign].sharing == Sharing::kMps;
    if (counts) ++jobs[campaign];
  }
  const auto most = std::ranges::max_element(
      jobs, [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == jobs.end()) return std::nullopt;
  return most->first;
}

/// Numbers for values in the order in which they come.
template <typename Value>
struct Numbered {
  std::map<Value, Eigen::Index> all;
  Eigen::Index of(const Value& value) {
    return all.emplace(value, static_cast<Eigen::Index>(all.size())).first->second;
  }
};

/// The jobs of one family; `shares` [%], one per job of `members`, NaN where it is not known. Nothing if a program has two
/// rates on one share.
std::optional<CopiedFamily> family_of(const SpeedTable& table,
                                      std::span<const std::uint32_t> members,
                                      std::span<const double> shares, std::size_t rate,
                                      const std::map<std::uint32_t, Seen>& seen) {
  const bool all_use_the_gpu = std::ranges::all_of(shares, [](double s) { return std::isnan(s); });
  CopiedFamily family;
  Numbered<std::uint64_t> programs;
  Numbered<long long> numbered_shares;
  std::map<std::pair<Eigen::Index, Eigen::Index>, double> rates;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (!all_use_the_gpu && std::isnan(shares[i])) continue;
    const std::uint32_t at = members[i];
    const double share = all_use_the_gpu ? kWholeGpu : shares[i];
    CopiedJob job{table.jobs[at],
                  math::log(table.of(at)[rate]),
                  numbered_shares.of(std::llround(share / kSamePercent)),
                  programs.of(table.program_of(at)),
                  table.program_of(at) != 0,
                  {}};
    const auto known = rates.emplace(std::pair(job.share, job.program), job.log_rate).first;
    if (job.knows_program && known->second != job.log_rate) return std::nullopt;
    for (const auto& [count, log_speeds] : seen.at(at).copies) {
      double sum = 0;
      for (const double log_speed : log_speeds) sum += log_speed;
      job.copies[count] = sum / static_cast<double>(log_speeds.size());
    }
    family.jobs.push_back(std::move(job));
  }
  family.programs = static_cast<Eigen::Index>(programs.all.size());
  family.fastest.assign(numbered_shares.all.size(), -1);
  for (Eigen::Index n = 0; n < family.size(); ++n) {
    Eigen::Index& fastest = family.fastest[static_cast<std::size_t>(family.at(n).share)];
    if (fastest < 0 || family.at(n).log_rate > family.at(fastest).log_rate) fastest = n;
  }
  return family;
}

}  // namespace

Saturations saturations_of(const SpeedTable& table) {
  Saturations out;
  const std::optional<std::size_t> rate = feature_at(table, "solo_rate");
  const std::optional<std::size_t> share = feature_at(table, "sm_share_pct");
  const std::map<std::uint32_t, Seen> seen = seen_jobs(table);
  const std::optional<std::uint32_t> campaign = campaign_of_most(table, seen);
  if (!rate || !campaign) return out;
  out.campaign = table.campaigns[*campaign];

  std::map<std::uint64_t, std::vector<std::uint32_t>> families;
  for (const auto& [job, what] : seen) {
    const bool counts = what.campaigns == std::set{*campaign} && !what.copies.empty() &&
                        table.jobs[job] != kUnknownWorkload && table.family_of(job) != 0 &&
                        table.of(job)[*rate] > 0;
    if (counts) families[table.family_of(job)].push_back(job);
  }
  for (const auto& [name, members] : families) {
    if (members.size() > kMostJobs) continue;
    std::vector<double> shares;
    for (const std::uint32_t job : members) shares.push_back(share ? table.of(job)[*share] : kNaN);
    const std::optional<CopiedFamily> family = family_of(table, members, shares, *rate, seen);
    if (family) fit_family(*family, out.jobs);
  }
  if (out.jobs.empty()) out.campaign = {};
  return out;
}

}  // namespace corun::inline models
