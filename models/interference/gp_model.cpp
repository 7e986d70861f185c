#include "models/interference/gp_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/fits/effort.hpp"
#include "models/interference/fits/lbfgs.hpp"
#include "models/interference/fits/observations.hpp"
#include "models/interference/gp/covariance_matrix.hpp"
#include "models/interference/gp/refuse.hpp"
#include "models/vector_units/kernels.hpp"
#include "sim/base/half_width.hpp"

namespace corun::inline models {

namespace {

bool possible(double speed) { return std::isnan(speed) || (speed > 0 && std::isfinite(speed)); }

}  // namespace

// ---- fit ----------------------------------------------------------------------------------------

GpModel::GpModel(gp::State state) : state_(std::move(state)) {
  const gp::Rows& rows = state_.data.rows;
  for (std::uint32_t j = 0; j < state_.data.keys.size(); ++j) know(j);
  for (std::size_t a = 0; a < rows.observations.size(); ++a) order_.add(rows);
}

GpModel GpModel::of(gp::State state, const FitOptions* calibrated) {
  GpModel model(std::move(state));
  const gp::Rows& rows = model.state_.data.rows;
  const std::size_t count = rows.observations.size();
  const gp::Covariance covariance(model.state_.parameters);
  const gp::Panels root = gp::inverse_root_of(
      gp::covariance_matrix(rows, covariance, gp::kernels_between(rows.places, covariance)), count);
  model.posterior_ = gp::Posterior(covariance, rows, root);
  const gp::Panels precision = gp::precision_of(root, count);
  model.precision_ = gp::Precision(precision, model.order_.observations());
  if (calibrated != nullptr) {
    model.state_.calibration = gp::calibrate(rows, model.state_.data.target, model.posterior_,
                                             precision, calibrated->effort);
  }
  return model;
}

namespace {

std::vector<double> least_of(const gp::Rows& rows, std::vector<double> start, int iterations) {
  return minimise([&](const std::vector<double>& at) { return gp::Evidence(rows, at); },
                  std::move(start), iterations);
}

}  // namespace

GpModel GpModel::fit(const SpeedTable& table, const FitOptions& options) {
  gp::State state{gp::training_set_of(table, kMostFitted, options.seed), {}, {}};
  constexpr int kIterations = 40;
  constexpr int kLeastRows = 60;
  const auto hyper_rows =
      static_cast<std::size_t>(steps_at(options.effort, static_cast<int>(kHyperRows), kLeastRows));
  int iterations = steps_at(options.effort, kIterations, 2);
  state.parameters = gp::prior_medians(parameter_count(table.features));
  // A step takes time in proportion to the cube of the rows, so few rows lead to where more of them end.
  if (std::min(hyper_rows, state.data.rows.observations.size()) > kFirstRows) {
    state.parameters = least_of(state.data.rows.some(kFirstRows, options.seed),
                                std::move(state.parameters), iterations);
    iterations = std::min(iterations, kLastIterations);
  }
  state.parameters = least_of(state.data.rows.some(hyper_rows, options.seed),
                              std::move(state.parameters), iterations);
  GpModel model = of(std::move(state), &options);
  model.set_effort(options.effort);
  return model;
}

GpModel GpModel::fit_from(const std::vector<double>& start, const SpeedTable& table,
                          const FitOptions& options) {
  gp::State state{gp::training_set_of(table, kMostFitted, options.seed), {}, {}};
  state.parameters = least_of(state.data.rows.some(kFirstRows, options.seed), start,
                              steps_at(options.effort, kLastIterations, 1));
  GpModel model = of(std::move(state), &options);
  model.set_effort(options.effort);
  return model;
}

std::size_t GpModel::parameter_count(const std::vector<SpeedTable::Feature>& features) {
  return gp::parameter_count(expanded_width(features));
}

GpModel::Evidence GpModel::evidence(const SpeedTable& table, std::span<const double> parameters) {
  const gp::TrainingSet data =
      gp::training_set_of(table, std::numeric_limits<std::size_t>::max(), 1);
  if (parameters.size() != parameter_count(table.features)) {
    gp::refuse("another number of parameters");
  }
  const gp::Evidence evidence(data.rows, parameters);
  return {evidence.value(), evidence.gradient()};
}

/// Makes a job of the data findable by its key.
void GpModel::know(std::uint32_t job) {
  const WorkloadKey key = state_.data.keys[job];
  if (key != kUnknownWorkload && !position_.emplace(key, job).second) {
    gp::refuse("a workload is listed twice");
  }
}

// ---- predictions --------------------------------------------------------------------------------

void GpModel::describe_equation(gp::Model& formula) const {
  const gp::Covariance& s = posterior_.covariance();
  formula.own = s[kOwn];
  formula.own_identity = s[kOwnIdentity];
  formula.co_runner = s[kCoRunner];
  formula.co_runner_identity = s[kCoRunnerIdentity];
  formula.product = s[kProduct];
  formula.product_own = s[kProductOwn];
  formula.product_co_runner = s[kProductCoRunner];
  formula.constant = s[kConstant];
  formula.pressures = s[kPressures];
  formula.prior = s.prior({});
  formula.noise = s.noise();
  state_.data.features.set_pressures(formula);
  formula.target_mean = state_.data.target.mean;
  formula.target_deviation = state_.data.target.deviation;
  for (std::size_t f = 0; f < state_.calibration.factors.size(); ++f) {
    formula.share[f] = state_.calibration.factors[f].share;
    formula.factor[f] = state_.calibration.factors[f].factor;
  }
}

void GpModel::describe_rows(GpBatch& out) const {
  const gp::Covariance& s = posterior_.covariance();
  const gp::Rows& data = state_.data.rows;
  const std::vector<std::uint32_t>& order = order_.observations();
  gp::Model& formula = out.formula;
  formula.rows = static_cast<std::uint32_t>(order.size());
  formula.owns = static_cast<std::uint32_t>(order_.owns().size());
  formula.co_runners = static_cast<std::uint32_t>(order_.co_runners().size());
  formula.features = static_cast<std::uint32_t>(s.width());
  const auto append = [](std::vector<double>& to, const std::vector<double>& what) {
    to.insert(to.end(), what.begin(), what.end());
  };
  for (const std::uint32_t j : order_.owns()) append(out.own_places, data.places[j].x);
  for (const std::uint32_t j : order_.co_runners()) append(out.co_runner_places, data.places[j].x);
  out.own_rates.assign(s.own_rates().begin(), s.own_rates().end());
  out.co_runner_rates.assign(s.co_runner_rates().begin(), s.co_runner_rates().end());
  out.first = order_.first();
  const std::vector<double>& weights = posterior_.weights();
  for (const std::uint32_t a : order) {
    const std::int32_t column = order_.own_column(data.observations[a].own);
    out.own_of.push_back(static_cast<std::uint32_t>(column));
    out.weights.push_back(weights[a]);
  }
  out.precision = precision_.packed();
  const double w2 = s[kPressures];
  for (std::size_t p = 0; p < gp::kPressureCount; ++p) {
    for (const std::uint32_t a : order)
      out.weighted_pressures.push_back(2 * w2 * posterior_.weighted_pressures()[p][a]);
    const auto sum = [&](const std::vector<double>& of_row) {
      double total = 0;
      for (std::size_t a = 0; a < order.size(); ++a) total += data.phi[a][p] * of_row[a];
      return total;
    };
    formula.pressure_weights[p] = w2 * sum(weights);
    for (std::size_t q = 0; q <= p; ++q) {
      formula.pressure_form[p][q] =
          (p == q ? 1 : 2) * w2 * w2 * sum(posterior_.weighted_pressures()[q]);
    }
  }
}

void GpModel::describe_jobs(std::span<const PairJob> jobs, GpBatch& out) const {
  const std::size_t width = posterior_.covariance().width();
  out.count = jobs.size();
  out.stride =
      (jobs.size() + gp::Kernels::kPadding - 1) / gp::Kernels::kPadding * gp::Kernels::kPadding;
  const auto per_job = [&](std::size_t count) {
    return std::vector<double>(count * out.stride, 0);
  };
  out.x = per_job(width);
  out.u = out.t = out.m = per_job(1);
  out.own.assign(out.stride, gp::kNew);
  out.line = out.own;
  out.co_runner = per_job(order_.co_runners().size());
  out.smooth = out.alone = out.identity = per_job(order_.owns().size());
  std::vector<std::int32_t> known_of(order_.co_runners().size(), gp::kNew);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto at = position_.find(jobs[j].workload);
    const bool held = at != position_.end();
    const gp::Place place =
        held ? state_.data.rows.places[at->second] : state_.data.features.place(jobs[j].features);
    for (std::size_t f = 0; f < width; ++f) out.x[f * out.stride + j] = place.x[f];
    out.u[j] = place.load.u;
    out.t[j] = place.load.t;
    out.m[j] = place.load.m;
    if (!held) continue;
    out.own[j] = order_.own_column(at->second);
    const std::int32_t column = order_.co_runner_column(at->second);
    if (column == gp::kNew) continue;
    std::int32_t& known = known_of[static_cast<std::size_t>(column)];
    if (known == gp::kNew) {
      known = static_cast<std::int32_t>(out.known.size());
      out.known.push_back(static_cast<std::uint32_t>(column));
    }
    out.line[j] = known;
  }
}

GpBatch GpModel::batch(std::span<const PairJob> jobs) const {
  GpBatch out;
  describe_equation(out.formula);
  describe_rows(out);
  describe_jobs(jobs, out);
  return out;
}

std::shared_ptr<PairFormula> GpModel::formula(std::span<const PairJob> kinds,
                                              std::span<const std::uint32_t> kind_of) const {
  std::vector<PairJob> jobs;
  jobs.reserve(kind_of.size());
  for (const std::uint32_t kind : kind_of) jobs.push_back(kinds[kind]);
  GpBatch batch = this->batch(jobs);
  best_kernels().of<GpBatch>().describe(batch.problem(), 0, batch.size());
  return std::make_shared<PairFormula>(PairFormula{std::move(batch)});
}

std::vector<SpeedPrediction> GpModel::predict(std::span<const PairJob> jobs,
                                              std::span<const PairQuery> pairs) const {
  constexpr std::size_t kStates = std::size_t{1} << 20U;  // numbers of slowed jobs at a time
  // Slowed jobs come first.
  constexpr std::size_t kUnused = std::numeric_limits<std::size_t>::max();
  std::vector<std::size_t> position(jobs.size(), kUnused);
  std::vector<PairJob> used;
  const auto use = [&](std::size_t job) {
    if (job >= jobs.size()) gp::refuse("a pair is of a job that is not there");
    if (position[job] != kUnused) return;
    position[job] = used.size();
    used.push_back(jobs[job]);
  };
  for (const PairQuery& pair : pairs) use(pair.of);
  const std::size_t slowed = used.size();
  for (const PairQuery& pair : pairs) use(pair.beside);
  std::vector<std::vector<std::size_t>> of(slowed);  // pairs in which a job is slowed
  for (std::size_t q = 0; q < pairs.size(); ++q) of[position[pairs[q].of]].push_back(q);

  GpBatch batch = this->batch(used);
  const gp::Kernels& kernels = best_kernels().of<GpBatch>();
  const gp::Problem problem = batch.problem();
  const gp::Layout& layout = problem.layout;
  kernels.describe(problem, 0, used.size());
  const std::size_t block =
      std::clamp<std::size_t>(kStates / layout.size(), 1, gp::Kernels::kPadding);
  std::vector<double> states(std::min(block, slowed) * layout.size());
  std::vector<double> scratch(gp::Kernels::scratch(problem));
  std::vector<std::uint32_t> co_runners;
  std::vector<LogSlowdown> log_slowdown;
  std::vector<SpeedPrediction> out(pairs.size());
  for (std::size_t from = 0; from < slowed; from += block) {
    const std::size_t to = std::min(from + block, slowed);
    kernels.prepare(problem, {from, to - from, batch.known.data()}, states.data(), scratch.data());
    for (std::size_t i = from; i < to; ++i) {
      co_runners.clear();
      for (const std::size_t q : of[i]) {
        co_runners.push_back(static_cast<std::uint32_t>(position[pairs[q].beside]));
      }
      log_slowdown.resize(co_runners.size());
      kernels.log_slowdown(problem, i, states.data() + (i - from) * layout.size(),
                           {co_runners.data(), co_runners.size()}, scratch.data(),
                           log_slowdown.data());
      for (std::size_t n = 0; n < of[i].size(); ++n) {
        const auto [t, sd] = log_slowdown[n];
        const double speed = speed_of_log_slowdown(t);
        out[of[i][n]] = {speed, speed * sd, speed_of_log_slowdown(t + kHalfWidth90 * sd),
                         speed_of_log_slowdown(t - kHalfWidth90 * sd)};
      }
    }
  }
  return out;
}

// ---- learning, copies, files --------------------------------------------------------------------

std::unique_ptr<InterferenceModel> GpModel::clone() const {
  return std::make_unique<GpModel>(*this);
}

void GpModel::learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) {
  if (!possible(speed_a) || !possible(speed_b)) gp::refuse("a speed is not above 0 and finite");
  // All that can throw comes first, so that an exception changes nothing.
  const bool same_job = a.workload == b.workload && a.workload != kUnknownWorkload;
  std::array<gp::Place, 2> fresh;
  const std::array<const PairJob*, 2> jobs{&a, &b};
  for (std::size_t side = 0; side < 2; ++side) {
    if (!position_.contains(jobs[side]->workload)) {
      fresh[side] = state_.data.features.place(jobs[side]->features);
    }
  }
  if (rows() + 2 > kMostHeld) return;
  if (std::isnan(speed_a) && std::isnan(speed_b)) return;
  std::array<std::uint32_t, 2> at{};
  for (std::size_t side = 0; side < 2; ++side) {
    if (const auto known = position_.find(jobs[side]->workload); known != position_.end()) {
      at[side] = known->second;
      continue;
    }
    at[side] = static_cast<std::uint32_t>(state_.data.keys.size());
    state_.data.keys.push_back(jobs[side]->workload);
    state_.data.rows.places.push_back(std::move(fresh[side]));
    know(at[side]);
  }
  if (same_job && !std::isnan(speed_a) && !std::isnan(speed_b)) {
    learn(at[0], at[1], speed_a / 2 + speed_b / 2);
  } else {
    learn(at[0], at[1], speed_a);
    learn(at[1], at[0], speed_b);
  }
}

/// Learns one direction of a pair of known jobs; NaN: not measured.
void GpModel::learn(std::uint32_t slowed, std::uint32_t co_runner, double speed) {
  if (std::isnan(speed)) return;
  state_.data.add(slowed, co_runner, state_.data.target_of(speed));
  posterior_.take_in(state_.data.rows);
  const std::size_t at = order_.add(state_.data.rows);
  const double* const root = posterior_.root().row(rows() - 1);
  std::vector<double> root_row;
  for (const std::uint32_t row : order_.observations()) root_row.push_back(root[row]);
  precision_.insert(at, root_row);
}

nlohmann::json GpModel::save() const { return state_.save(); }

GpModel GpModel::load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                      std::vector<WorkloadKey> workloads) {
  return of(gp::State::load(state, std::move(features), std::move(workloads)), nullptr);
}

}  // namespace corun::inline models
