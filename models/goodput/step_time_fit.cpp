#include "models/goodput/step_time_fit.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>

#include <nlopt.h>

#include "sim/base/math.hpp"

namespace corun::inline models {

namespace {

constexpr std::size_t kParameters = 7;
constexpr std::size_t kAlphaC = 0, kBetaC = 1, kAlphaN = 2, kBetaN = 3, kAlphaR = 4, kBetaR = 5,
                      kGamma = 6;
constexpr double kLeast = 1e-8;
constexpr double kMostGamma = 10;
constexpr double kGammaWeight = 1e-3;
constexpr double kRatioWeight = 1e-2;
/// Costs that no step has shown are this much above those within a node.
constexpr double kBetweenNodes = 1.1;
/// Relative change of the value that ends a search, and the evaluations that end it in any case.
constexpr double kTolerance = 1e-13;
constexpr int kEvaluations = 200;

using Vector = std::array<double, kParameters>;

StepTimeParameters parameters_of(const Vector& x) {
  return {.alpha_c = x[kAlphaC],
          .beta_c = x[kBetaC],
          .alpha_n = x[kAlphaN],
          .beta_n = x[kBetaN],
          .alpha_r = x[kAlphaR],
          .beta_r = x[kBetaR],
          .gamma = x[kGamma]};
}

/// A root mean square and its derivatives. It has a kink where all errors are 0: `rounding` is added to the mean square.
struct RootMeanSquare {
  double squares = 0;
  Vector slope{};  ///< sum of error times its derivative

  double add_to(Vector& gradient, double count, double rounding) const {
    const double value = math::sqrt(squares / count + rounding);
    if (value > 0) {
      for (std::size_t p = 0; p < kParameters; ++p) gradient[p] += slope[p] / count / value;
    }
    return value;
  }
};

double value_at(const Vector& x, std::span<const ProfiledStep> steps, double rounding,
                Vector& gradient) {
  const StepTimeParameters parameters = parameters_of(x);
  const double gamma = parameters.gamma;
  RootMeanSquare passes;
  RootMeanSquare whole;
  for (const ProfiledStep& step : steps) {
    const double gradient_s = gradient_time_s(parameters, step.gpu_batch);
    const double exchange_s = exchange_time_s(parameters, step.spread);
    const double log_gradient = math::log(gradient_s);
    const double log_exchange = math::log(exchange_s);

    const double pass_error = log_gradient - math::log(step.gradient_s);
    passes.squares += pass_error * pass_error;
    passes.slope[kAlphaC] += pass_error / gradient_s;
    passes.slope[kBetaC] += pass_error * step.gpu_batch / gradient_s;

    const double largest = std::max(log_gradient, log_exchange);
    const double power_gradient = math::exp(gamma * (log_gradient - largest));
    const double power_exchange = math::exp(gamma * (log_exchange - largest));
    const double sum = power_gradient + power_exchange;
    const double log_step = largest + math::log(sum) / gamma;
    const double share = power_gradient / sum;  // d log T_opt / d log T_grad
    const double error = log_step - math::log(step.step_s);
    whole.squares += error * error;
    whole.slope[kAlphaC] += error * share / gradient_s;
    whole.slope[kBetaC] += error * share * step.gpu_batch / gradient_s;
    const double above_two = step.spread.gpus > 2 ? step.spread.gpus - 2.0 : kLeast;
    if (step.spread.gpus > 1) {
      const std::size_t alpha = step.spread.nodes > 1 ? kAlphaN : kAlphaR;
      whole.slope[alpha] += error * (1 - share) / exchange_s;
      whole.slope[alpha + 1] += error * (1 - share) * above_two / exchange_s;
    }
    whole.slope[kGamma] +=
        error * (share * log_gradient + (1 - share) * log_exchange - log_step) / gamma;
  }
  gradient.fill(0);
  const auto count = static_cast<double>(steps.size());
  double value = passes.add_to(gradient, count, rounding) + whole.add_to(gradient, count, rounding);
  value += kGammaWeight * (gamma - 1) * (gamma - 1);
  gradient[kGamma] += 2 * kGammaWeight * (gamma - 1);
  for (const std::size_t alpha : {kAlphaN, kAlphaR}) {
    const double ratio = x[alpha + 1] / x[alpha];
    value += kRatioWeight * ratio * ratio;
    gradient[alpha + 1] += 2 * kRatioWeight * ratio / x[alpha];
    gradient[alpha] -= 2 * kRatioWeight * ratio * ratio / x[alpha];
  }
  return value;
}

struct Bounds {
  Vector least{kLeast, kLeast, kLeast, kLeast, kLeast, kLeast, 1};
  Vector most{};

  Bounds() {
    most.fill(std::numeric_limits<double>::infinity());
    most[kGamma] = kMostGamma;
  }
  void fix(std::size_t parameter, double value) { least[parameter] = most[parameter] = value; }
  double clamped(std::size_t parameter, double value) const {
    return std::clamp(value, least[parameter], most[parameter]);
  }
};

Bounds bounds_of(std::span<const ProfiledStep> steps) {
  const auto any = [&](auto holds) { return std::ranges::any_of(steps, holds); };
  const bool several_nodes = any([](auto& s) { return s.spread.nodes > 1; });
  const bool within_node = any([](auto& s) { return s.spread.nodes == 1 && s.spread.gpus > 1; });
  const bool above_two = any([](auto& s) { return s.spread.gpus > 2; });
  Bounds bounds;
  if (!any([&](auto& s) { return s.gpu_batch != steps.front().gpu_batch; })) {
    double sum = 0;
    for (const ProfiledStep& step : steps) sum += step.gradient_s;
    bounds.fix(kAlphaC, std::max(sum / static_cast<double>(steps.size()) / 2, kLeast));
  }
  if (!several_nodes) bounds.fix(kAlphaN, kLeast);
  if (!within_node) bounds.fix(kAlphaR, kLeast);
  if (!several_nodes || !above_two) bounds.fix(kBetaN, kLeast);
  if (!within_node || !above_two) bounds.fix(kBetaR, kLeast);
  return bounds;
}

/// One search of NLopt. The times of a job may differ by orders of magnitude, so alpha and beta are searched by their
/// logarithms or, near the minimum, by multiples of the start: those at their bounds are reached only then.
struct LocalSearch {
  std::span<const ProfiledStep> steps;
  const Bounds& bounds;
  bool logarithms;
  double rounding;
  Vector scale{};

  Vector to_times(const double* y) const {
    Vector x;
    for (std::size_t p = 0; p < kGamma; ++p)
      x[p] = bounds.clamped(p, logarithms ? math::exp(y[p]) : y[p] * scale[p]);
    x[kGamma] = bounds.clamped(kGamma, y[kGamma]);
    return x;
  }
  double from_time(std::size_t p, double x) const {
    if (p == kGamma) return x;
    return logarithms ? math::log(x) : x / scale[p];
  }

  static double value(unsigned, const double* y, double* gradient, void* self) {
    const auto& search = *static_cast<const LocalSearch*>(self);
    const Vector x = search.to_times(y);
    Vector slope;
    const double value = value_at(x, search.steps, search.rounding, slope);
    for (std::size_t p = 0; gradient != nullptr && p < kParameters; ++p)
      gradient[p] =
          p == kGamma ? slope[p] : slope[p] * (search.logarithms ? x[p] : search.scale[p]);
    return value;
  }

  /// A local minimum near `start`, or the best point found before a step failed.
  Vector from(const Vector& start) {
    scale = start;
    Vector y;
    Vector least;
    Vector most;
    for (std::size_t p = 0; p < kParameters; ++p) {
      least[p] = from_time(p, bounds.least[p]);
      most[p] = from_time(p, bounds.most[p]);
      y[p] = std::clamp(from_time(p, start[p]), least[p], most[p]);
    }
    const std::unique_ptr<nlopt_opt_s, decltype(&nlopt_destroy)> nlopt(
        nlopt_create(NLOPT_LD_LBFGS, kParameters), &nlopt_destroy);
    nlopt_set_min_objective(nlopt.get(), &LocalSearch::value, this);
    nlopt_set_lower_bounds(nlopt.get(), least.data());
    nlopt_set_upper_bounds(nlopt.get(), most.data());
    nlopt_set_ftol_rel(nlopt.get(), kTolerance);
    nlopt_set_maxeval(nlopt.get(), kEvaluations);
    double value = 0;
    nlopt_optimize(nlopt.get(), y.data(), &value);
    return to_times(y.data());
  }
};

/// Where searches start: half of a pass is constant, and an exchange takes `exchanges` times the mean that the steps
/// show.
Vector start_of(std::span<const ProfiledStep> steps, const Bounds& bounds, double exchanges,
                double gamma) {
  constexpr double kPerGpu = 0.05;  // of alpha_n and alpha_r
  const auto count = static_cast<double>(steps.size());
  double gradient_s = 0;
  double batch = 0;
  double exchange_s = 0;
  double exchanging = 0;
  for (const ProfiledStep& step : steps) {
    gradient_s += step.gradient_s / count;
    batch += step.gpu_batch / count;
    if (step.spread.gpus == 1) continue;
    exchange_s += std::max(step.step_s - step.gradient_s, 1e-3 * step.step_s);
    ++exchanging;
  }
  const double exchange = exchanging > 0 ? exchange_s / exchanging : gradient_s / 10;
  Vector x{gradient_s / 2,
           gradient_s / 2 / batch,
           exchanges * exchange,
           kPerGpu * exchange,
           exchanges * exchange,
           kPerGpu * exchange,
           gamma};
  for (std::size_t p = 0; p < kParameters; ++p) x[p] = bounds.clamped(p, x[p]);
  return x;
}

}  // namespace

double step_time_error(const StepTimeParameters& parameters, std::span<const ProfiledStep> steps) {
  const Vector x{parameters.alpha_c, parameters.beta_c, parameters.alpha_n, parameters.beta_n,
                 parameters.alpha_r, parameters.beta_r, parameters.gamma};
  Vector gradient;
  return value_at(x, steps, 0, gradient);
}

StepTimeParameters fit_step_time(std::span<const ProfiledStep> steps) {
  struct Start {
    double exchanges, gamma;
  };
  // The value has several local minima, and these two starts find the best of almost all profiles that were tried.
  constexpr Start kStarts[] = {{1, 1.1}, {2, 3}};
  const Bounds bounds = bounds_of(steps);
  Vector best{};
  double least = std::numeric_limits<double>::infinity();
  for (const Start& start : kStarts) {
    Vector x = start_of(steps, bounds, start.exchanges, start.gamma);
    for (const double rounding : {1e-4, 1e-8, 0.0})
      x = LocalSearch{steps, bounds, true, rounding}.from(x);
    x = LocalSearch{steps, bounds, false, 0}.from(x);
    Vector gradient;
    const double value = value_at(x, steps, 0, gradient);
    if (!(value < least)) continue;
    least = value;
    best = x;
  }
  StepTimeParameters fitted = parameters_of(best);
  if (std::ranges::none_of(steps, [](auto& step) { return step.spread.nodes > 1; })) {
    fitted.alpha_n = std::max(fitted.alpha_n, kBetweenNodes * fitted.alpha_r);
    fitted.beta_n = std::max(fitted.beta_n, kBetweenNodes * fitted.beta_r);
  }
  return fitted;
}

}  // namespace corun::inline models
