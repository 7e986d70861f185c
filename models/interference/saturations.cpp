#include "models/interference/saturations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include <Eigen/Dense>
#include <unsupported/Eigen/LevenbergMarquardt>

#include "sim/base/math.hpp"

namespace corun {

namespace {

constexpr std::size_t kMostJobs = 100;  // the fit takes the cube of their number
constexpr double kCapacityDeviation = 1;
constexpr double kProgramDeviation = 1;
constexpr double kJobDeviation = 0.2;
constexpr double kUnknownProgramDeviation = 0.4;
constexpr double kPairDeviation = 0.05;
constexpr std::ptrdiff_t kLeastJobs = 3;
constexpr double kWholeGpu = 100;  // [%]

struct PairedJob {
  WorkloadKey key{};
  double log_rate = 0;
  Eigen::Index share = 0, program = 0;
  bool knows_program = false;
  double pairs = 0;      ///< measured, with itself
  double log_speed = 0;  ///< mean of them
};

struct PairedFamily {
  std::vector<PairedJob> jobs;
  std::vector<Eigen::Index> fastest;  ///< by share: the job with the highest rate alone
  Eigen::Index programs = 0;

  Eigen::Index shares() const { return static_cast<Eigen::Index>(fastest.size()); }
  Eigen::Index size() const { return static_cast<Eigen::Index>(jobs.size()); }
  const PairedJob& at(Eigen::Index n) const { return jobs[static_cast<std::size_t>(n)]; }
  /// The job with the highest rate alone on the share of job n.
  Eigen::Index fastest_beside(Eigen::Index n) const {
    return fastest[static_cast<std::size_t>(at(n).share)];
  }
  std::ptrdiff_t jobs_on(Eigen::Index share) const {
    return std::ranges::count(jobs, share, &PairedJob::share);
  }
  /// Of the parameters: shares, programs, jobs.
  Eigen::Index parameters() const { return shares() + programs + size(); }
  /// Positions of the three parameters of a job.
  std::array<Eigen::Index, 3> of(Eigen::Index n) const {
    const PairedJob& job = at(n);
    return {job.share, shares() + job.program, shares() + programs + n};
  }
  double log_load(const Eigen::VectorXd& x, Eigen::Index n) const {
    double load = at(n).log_rate - at(fastest_beside(n)).log_rate;
    for (const Eigen::Index p : of(n)) load -= x[p];
    return load;
  }
  double deviation(Eigen::Index parameter) const {
    if (parameter < shares()) return kCapacityDeviation;
    if (parameter < shares() + programs) return kProgramDeviation;
    return at(parameter - shares() - programs).knows_program ? kJobDeviation
                                                             : kUnknownProgramDeviation;
  }
};

/// Residuals in units of their deviation: of pairs, then of the priors.
struct SaturationResiduals : Eigen::DenseFunctor<double> {
  explicit SaturationResiduals(const PairedFamily& of)
      : DenseFunctor(static_cast<int>(of.parameters()),
                     static_cast<int>(of.size() + of.parameters())),
        family(of) {}

  int operator()(const InputType& x, ValueType& out) const {
    for (Eigen::Index n = 0; n < family.size(); ++n) {
      const PairedJob& job = family.at(n);
      const double expected = log_joint_speed(family.log_load(x, n), 0, kLogTwo) - kLogTwo;
      out[n] = math::sqrt(job.pairs) * (expected - job.log_speed) / kPairDeviation;
    }
    for (Eigen::Index p = 0; p < x.size(); ++p) out[family.size() + p] = x[p] / family.deviation(p);
    return 0;
  }
  int df(const InputType& x, JacobianType& out) const {
    out.setZero();
    for (Eigen::Index n = 0; n < family.size(); ++n) {
      const double load = family.log_load(x, n);
      const double slope = share_of_load(load + kLogTwo) - share_of_load(load);
      const double scaled = math::sqrt(family.at(n).pairs) * slope / kPairDeviation;
      for (const Eigen::Index p : family.of(n)) out(n, p) = scaled;
    }
    for (Eigen::Index p = 0; p < x.size(); ++p) out(family.size() + p, p) = 1 / family.deviation(p);
    return 0;
  }

  static constexpr double kLogTwo = 0.6931471805599453;
  const PairedFamily& family;
};

void fit_family(const PairedFamily& family, std::unordered_map<WorkloadKey, Saturation>& out) {
  SaturationResiduals residuals(family);
  Eigen::VectorXd x = Eigen::VectorXd::Zero(family.parameters());
  Eigen::LevenbergMarquardt<SaturationResiduals>(residuals).minimize(x);
  SaturationResiduals::JacobianType slopes(residuals.values(), residuals.inputs());
  residuals.df(x, slopes);
  const Eigen::LLT<Eigen::MatrixXd> precision(slopes.transpose() * slopes);

  const auto log_load_sd = [&](Eigen::Index n) {
    Eigen::VectorXd direction = Eigen::VectorXd::Zero(family.parameters());
    for (const Eigen::Index p : family.of(n)) direction[p] = 1;
    return math::sqrt(direction.dot(precision.solve(direction)));
  };
  for (Eigen::Index n = 0; n < family.size(); ++n) {
    const PairedJob& job = family.at(n);
    const Eigen::Index top = family.fastest_beside(n);
    if (family.jobs_on(job.share) < kLeastJobs) continue;
    const Saturation found{family.log_load(x, n), log_load_sd(n), -family.log_load(x, top),
                           log_load_sd(top)};
    if (found.is_possible()) out[job.key] = found;
  }
}

std::optional<std::size_t> feature_at(const SpeedTable& table, std::string_view name) {
  const auto at = std::ranges::find(table.features, name, &SpeedTable::Feature::name);
  if (at == table.features.end()) return std::nullopt;
  return static_cast<std::size_t>(at - table.features.begin());
}

/// What the pairs of jobs with themselves show.
struct OwnPairs {
  double count = 0, log_speed = 0;
  std::set<std::uint32_t> campaigns;
};

std::map<std::uint32_t, OwnPairs> own_pairs(const SpeedTable& table) {
  std::map<std::uint32_t, OwnPairs> out;
  for (const SpeedTable::Row& row : table.rows) {
    if (row.a != row.b || table.campaigns[row.campaign].sharing != Sharing::kMps) continue;
    const double speed_a = std::isnan(row.speed_a) ? row.speed_b : row.speed_a;
    const double speed_b = std::isnan(row.speed_b) ? row.speed_a : row.speed_b;
    if (std::isnan(speed_a)) continue;
    OwnPairs& own = out[row.a];
    own.count += 1;
    own.log_speed += (math::log(speed_a) + math::log(speed_b)) / 2;
    own.campaigns.insert(row.campaign);
  }
  return out;
}

/// Numbers for values in the order in which they come.
template <typename Value>
struct Numbered {
  std::map<Value, Eigen::Index> all;
  Eigen::Index of(const Value& value) {
    return all.emplace(value, static_cast<Eigen::Index>(all.size())).first->second;
  }
};

}  // namespace

std::unordered_map<WorkloadKey, Saturation> saturations_of(const SpeedTable& table) {
  std::unordered_map<WorkloadKey, Saturation> out;
  const std::optional<std::size_t> rate = feature_at(table, "solo_rate");
  const std::optional<std::size_t> share = feature_at(table, "sm_share_pct");
  if (!rate) return out;
  const std::map<std::uint32_t, OwnPairs> pairs = own_pairs(table);

  std::map<std::uint64_t, std::vector<std::uint32_t>> families;
  for (const auto& [job, own] : pairs) {
    const bool has_rate = table.of(job)[*rate] > 0;
    if (own.count > 0 && has_rate && table.family_of(job) != 0)
      families[table.family_of(job)].push_back(job);
  }
  for (const auto& [name, members] : families) {
    PairedFamily family;
    Numbered<std::uint64_t> programs;
    Numbered<double> shares;
    std::set<std::uint32_t> campaigns;
    for (const std::uint32_t at : members) {
      const OwnPairs& own = pairs.at(at);
      campaigns.insert(own.campaigns.begin(), own.campaigns.end());
      const double stated = share ? table.of(at)[*share] : kWholeGpu;
      const PairedJob job{table.jobs[at],
                          math::log(table.of(at)[*rate]),
                          shares.of(std::isnan(stated) ? kWholeGpu : stated),
                          programs.of(table.program_of(at)),
                          table.program_of(at) != 0,
                          own.count,
                          own.log_speed / own.count};
      family.jobs.push_back(job);
    }
    family.programs = static_cast<Eigen::Index>(programs.all.size());
    family.fastest.assign(shares.all.size(), -1);
    for (Eigen::Index n = 0; n < family.size(); ++n) {
      Eigen::Index& fastest = family.fastest[static_cast<std::size_t>(family.at(n).share)];
      if (fastest < 0 || family.at(n).log_rate > family.at(fastest).log_rate) fastest = n;
    }
    if (campaigns.size() == 1 && members.size() <= kMostJobs) fit_family(family, out);
  }
  return out;
}

}  // namespace corun
