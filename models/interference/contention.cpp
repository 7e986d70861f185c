#include "models/interference/contention.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/Dense>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/model_state.hpp"
#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

/// Exact non-negative least squares by trying every subset of columns: 15 small problems.
Eigen::Vector4d non_negative_least_squares(const Eigen::MatrixXd& a, const Eigen::VectorXd& b) {
  Eigen::Vector4d best = Eigen::Vector4d::Zero();
  double least = b.squaredNorm();
  for (int subset = 1; subset < (1 << a.cols()); ++subset) {
    std::vector<Eigen::Index> columns;
    for (int c = 0; c < a.cols(); ++c) {
      if ((subset >> c & 1) != 0) columns.push_back(c);
    }
    const Eigen::MatrixXd part = a(Eigen::all, columns);
    const Eigen::VectorXd x = part.colPivHouseholderQr().solve(b);
    if ((x.array() < 0).any()) continue;
    const double residual = (part * x - b).squaredNorm();
    if (residual < least) {
      least = residual;
      best.setZero();
      best(columns) = x;
    }
  }
  return best;
}

}  // namespace

const std::vector<WorkloadKey> ContentionModel::kNone;

void ContentionModel::find_features() {
  const auto position = [&](std::string_view name) -> std::ptrdiff_t {
    const auto at = std::ranges::find(features_, name, &SpeedTable::Feature::name);
    return at == features_.end() ? -1 : at - features_.begin();
  };
  readings_[0].feature = position(kNeeded);
  readings_[1].feature = position("mem_alloc_pct");
  readings_[2].feature = position("mem_time_pct");
  if (readings_[0].feature < 0) {
    throw std::invalid_argument("contention: the table has no feature " + std::string(kNeeded) +
                                ", which it goes by");
  }
  if (readings_[1].feature < 0) readings_[1].feature = position("mem_used_mib");
}

ContentionModel ContentionModel::fit(const SpeedTable& table, const FitOptions&) {
  check_table(table, "contention");
  ContentionModel model;
  model.features_ = table.features;
  model.find_features();
  const std::size_t width = table.features.size();
  const Reading& memory = model.readings_[1];
  if (memory.feature >= 0 &&
      table.features[static_cast<std::size_t>(memory.feature)].name == "mem_used_mib") {
    double most = 0;
    for (const SpeedTable::Row& row : table.rows) {
      for (const std::uint32_t job : {row.a, row.b}) {
        const double used = table.of(job)[memory.feature];
        if (!std::isnan(used)) most = std::max(most, used);
      }
    }
    if (most > 0) model.readings_[1].full = most;
  }

  // First the means of the known values, which replace values that a job lacks.
  struct Side {
    std::uint32_t of, beside;
    double excess;
  };
  std::vector<Side> sides;
  std::array<double, 3> sum{};
  std::array<double, 3> count{};
  for (const SpeedTable::Row& row : table.rows) {
    for (const std::uint32_t job : {row.a, row.b}) {
      for (std::size_t f = 0; f < model.readings_.size(); ++f) {
        const Reading& reading = model.readings_[f];
        if (reading.feature < 0 || std::isnan(table.of(job)[reading.feature])) continue;
        sum[f] += table.of(job)[reading.feature] / reading.full;
        count[f] += 1;
      }
    }
    for (const Side& side : {Side{row.a, row.b, row.speed_a}, Side{row.b, row.a, row.speed_b}}) {
      if (!std::isnan(side.excess)) sides.push_back({side.of, side.beside, 1 / side.excess - 1});
    }
  }
  if (sides.empty()) throw std::invalid_argument("contention: no measured pair");
  if (count[0] == 0) {
    throw std::invalid_argument("contention: no job of the pairs has a known " +
                                std::string(kNeeded) + ", which it goes by");
  }
  const auto mean = [&](std::size_t f) {
    return count[f] > 0 ? std::clamp(sum[f] / count[f], 0.0, 1.0) : 0.5;
  };
  model.mean_ = {mean(0), mean(1), mean(2)};

  const auto job = [&](std::uint32_t j) { return PairJob{table.jobs[j], {table.of(j), width}}; };
  const auto rows = static_cast<Eigen::Index>(sides.size());
  Eigen::MatrixXd pressure(rows, static_cast<Eigen::Index>(kTerms));
  Eigen::VectorXd excess(rows);
  for (Eigen::Index n = 0; n < rows; ++n) {
    const Side& side = sides[static_cast<std::size_t>(n)];
    const ContentionLoad other = model.load_of(job(side.beside));
    std::array<double, kTerms> p{};
    model.equation().pressures(model.load_of(job(side.of)), other.free_u, other.u, other.t,
                               p.data());
    for (std::size_t k = 0; k < kTerms; ++k) pressure(n, static_cast<Eigen::Index>(k)) = p[k];
    excess(n) = side.excess;
  }
  const Eigen::VectorXd weight =
      (1 + excess.array()).inverse().min(1.0);  // sqrt of s^2, speeds above 1 count as 1
  Eigen::Vector4d c =
      non_negative_least_squares(weight.asDiagonal() * pressure, weight.asDiagonal() * excess);
  const double fitted_level = (pressure * c).sum();
  if (fitted_level > 0) c *= std::max(0.0, excess.sum()) / fitted_level;

  const Eigen::VectorXd predicted = pressure * c;
  const double error = (weight.array() * (excess - predicted).array()).square().sum();
  const double scale = (weight.array() * predicted.array()).square().sum();
  model.sigma_ = scale > 0 ? std::sqrt(math::log1p(error / scale)) : 0;
  for (std::size_t k = 0; k < kTerms; ++k) {
    model.coefficients_[k] = c(static_cast<Eigen::Index>(k));
  }
  std::vector<double> residuals;
  for (Eigen::Index n = 0; n < rows; ++n) {
    residuals.push_back(math::log1p(excess(n)) - math::log1p(predicted(n)));
  }
  model.spread_ = ResidualSpread::of(residuals);
  return model;
}

ContentionLoad ContentionModel::load_of(const PairJob& job) const {
  if (job.features.size() != features_.size()) {
    throw std::invalid_argument("contention: a job has " + std::to_string(job.features.size()) +
                                " features, the model " + std::to_string(features_.size()));
  }
  const auto fraction = [&](const Reading& reading, double otherwise) {
    if (reading.feature < 0) return otherwise;
    const double value = job.features[static_cast<std::size_t>(reading.feature)];
    if (std::isinf(value)) throw std::invalid_argument("contention: a feature is infinite");
    return std::isnan(value) ? otherwise : std::clamp(value / reading.full, 0.0, 1.0);
  };
  return ContentionLoad::of(fraction(readings_[0], mean_.u), fraction(readings_[1], mean_.m),
                            fraction(readings_[2], mean_.t));
}

ContentionEquation ContentionModel::equation() const {
  ContentionEquation out;
  std::ranges::copy(coefficients_, out.coefficients);
  out.deviation = spread_.deviation;
  return out;
}

std::shared_ptr<PairFormula> ContentionModel::formula(
    std::span<const PairJob> kinds, std::span<const std::uint32_t> kind_of) const {
  std::vector<ContentionLoad> loads;
  loads.reserve(kinds.size());
  for (const PairJob& kind : kinds) loads.push_back(load_of(kind));
  ContentionJobs jobs;
  jobs.equation = equation();
  for (const std::uint32_t kind : kind_of) jobs.add(loads.at(kind));
  return std::make_shared<PairFormula>(PairFormula{std::move(jobs)});
}

std::vector<SpeedPrediction> ContentionModel::predict(std::span<const PairJob> jobs,
                                                      std::span<const PairQuery> pairs) const {
  const ContentionEquation equation = this->equation();
  std::vector<ContentionLoad> loads;
  loads.reserve(jobs.size());
  for (const PairJob& job : jobs) loads.push_back(load_of(job));
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (const auto& [i, j] : pairs) {
    const ContentionLoad& other = loads.at(j);
    out.push_back(
        spread_.around(equation.speed(loads.at(i), other.free_u, other.u, other.t).speed));
  }
  return out;
}

std::vector<SpeedPrediction> ContentionModel::predict_co_runners(
    std::span<const PairJob> residents) const {
  return spread_.around(*this, residents);
}

void ContentionModel::speeds(std::span<const PairJob> residents, std::span<double> out) const {
  for (std::size_t i = 0; i < residents.size(); ++i) {
    double others_free_u = 0;
    double others_u = 0;
    double others_t = 0;
    // Summed for each job in order: subtracting the job from a total would leave rounding errors.
    for (std::size_t j = 0; j < residents.size(); ++j) {
      if (j == i) continue;
      const ContentionLoad l = load_of(residents[j]);
      others_free_u += l.free_u;
      others_u += l.u;
      others_t += l.t;
    }
    out[i] = residents.size() == 1
                 ? 1.0
                 : equation().speed(load_of(residents[i]), others_free_u, others_u, others_t).speed;
  }
}

nlohmann::json ContentionModel::save() const {
  using model_state::packed;
  return {{"coefficients", packed(std::vector<double>(coefficients_.begin(), coefficients_.end()))},
          {"mean", packed(std::vector<double>{mean_.u, mean_.m, mean_.t})},
          {"full_memory", packed(std::vector<double>{readings_[1].full})},
          {"sigma", sigma_},
          {"spread", spread_.save()}};
}

ContentionModel ContentionModel::load(const nlohmann::json& saved,
                                      std::vector<SpeedTable::Feature> features,
                                      const std::vector<WorkloadKey>&) {
  using namespace model_state;
  map_of(saved, 5, "the model");
  ContentionModel model;
  model.features_ = std::move(features);
  model.find_features();
  const auto within = [](double x, double least, double most) {
    if (!(x >= least && x <= most))
      throw std::invalid_argument("contention: a number is not possible");
    return x;
  };
  constexpr double kMost = 1e6;
  const std::vector<double> c = finite_doubles(saved, "coefficients", kTerms);
  for (std::size_t k = 0; k < kTerms; ++k) model.coefficients_[k] = within(c[k], 0, kMost);
  const std::vector<double> mean = finite_doubles(saved, "mean", 3);
  model.mean_ = {within(mean[0], 0, 1), within(mean[1], 0, 1), within(mean[2], 0, 1)};
  model.readings_[1].full = within(finite_doubles(saved, "full_memory", 1)[0], 1e-9, 1e15);
  model.sigma_ = within(number_of(saved.at("sigma"), "sigma"), 0, kMost);
  model.spread_ = ResidualSpread::load(saved.at("spread"));
  return model;
}

}  // namespace corun::inline models
