#include "predictors/physics/utilisation_predictor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "predictors/non_negative_fit.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

constexpr std::size_t kUtilisationTerms = 5;
constexpr double kReachedBandwidth = 5.0 / 6;
constexpr double kShortestKernel = 3e-3;  // ms
constexpr double kSmallKernel = 8e-3;     // ms
constexpr double kMostPercent = 100;
constexpr double kOptimiserMoves = 7;  // numbers per weight: reads and writes of Adam
constexpr float kWeight = 1;           // of each job's residual
constexpr std::size_t kFewestMeasured = 20;
constexpr int kEnsemblesOfFit = 3;

double log_or_nan(double x) { return x > 0 ? math::log(x) : kNaN; }

}  // namespace

struct UtilisationPredictor::Job {
  double kernel_ms = 0;      ///< t
  double arithmetic_ms = 0;  ///< without the least time of a kernel
  double memory_ms = 0;
  double kernels = 0;
  double small_share = 0;  ///< of the kernels
  double batch = 0;
  double input_mib = 0;
  double pointwise_share = 0;  ///< of the outputs of convolutions
  double outputs = 0;          ///< features of the last layer with weights
  double largest_layer = 0;    ///< parameters
  JobFigures figures;
};

std::optional<UtilisationPredictor::Job> UtilisationPredictor::job_of(const PredictorJob& job) {
  const JobFigures& f = job.figures;
  constexpr double kTeraPerMs = 1e9;
  const double single_peak = f.convolution_tflops * kTeraPerMs;
  const double bandwidth = kReachedBandwidth * f.bandwidth_gbs * 1e6;  // bytes per ms
  if (!job.graph || !(single_peak > 0 && bandwidth > 0 && f.batch > 0) || f.training != 1) {
    return std::nullopt;
  }
  const ComputationGraph& graph = *job.graph;
  const double scale = f.batch / static_cast<double>(graph.samples());
  Job out;
  out.figures = f;
  out.batch = f.batch;
  out.input_mib = input_bytes(f) * f.batch / 1048576;
  double small = 0, outputs = 0, pointwise = 0, tensors = 0;
  double repeats = 1;
  const auto kernel = [&](double arithmetic, double bytes) {
    const double memory = bytes / bandwidth;
    const double ms = std::max(arithmetic, memory);
    out.kernel_ms += repeats * std::max(ms, kShortestKernel);
    out.arithmetic_ms += repeats * arithmetic;
    out.memory_ms += repeats * memory;
    out.kernels += repeats;
    small += ms < kSmallKernel ? repeats : 0;
  };
  for (ComputationGraph::Node node = 0; node < graph.size(); ++node) {
    const Operation& op = graph[node];
    if (op.kind == OperationKind::kInput || op.kind == OperationKind::kView) continue;
    const double moved = graph.bytes(node) * scale;
    double read = 0;
    for (const ComputationGraph::Node input : graph.inputs(node)) {
      read += graph.bytes(input) * scale;
    }
    repeats = op.repeats;
    const double peak =
        op.multiply_adds > 0 ? peak_tflops(f, op.precision) * kTeraPerMs : single_peak;
    if (!(peak > 0)) return std::nullopt;
    const auto parameters = static_cast<double>(op.parameters);
    out.largest_layer = std::max(out.largest_layer, parameters);
    tensors += op.parameter_tensors;
    switch (op.kind) {
      case OperationKind::kConvolution:
      case OperationKind::kLinear:
      case OperationKind::kMatrixProduct:
      case OperationKind::kRecurrent:
        for (int pass = 0; pass < 3; ++pass) {
          kernel(2 * op.multiply_adds * scale / peak, moved + read + weight_bytes(op));
          if (op.kind == OperationKind::kConvolution) kernel(0, 2 * (moved + read));
        }
        out.outputs = static_cast<double>(op.output.size() > 1 ? op.output[1] : 1);
        if (op.kind == OperationKind::kConvolution) {
          outputs += moved;
          if (op.window == 1) pointwise += moved;
        }
        break;
      case OperationKind::kNormalisation:
        kernel(0, 3 * moved);
        kernel(0, 5 * moved);
        break;
      case OperationKind::kDropout:
        kernel(0, 2.25 * moved);
        kernel(0, 2.25 * moved);
        break;
      case OperationKind::kElementwise:
      case OperationKind::kConcatenation:
        kernel(0, 3 * moved);
        kernel(0, 3 * moved);
        break;
      default:
        kernel(0, 2 * moved);
        kernel(0, 3 * moved);
    }
  }
  out.small_share = small / std::max(1.0, out.kernels);
  const double optimiser = kOptimiserMoves * weight_bytes(f) / bandwidth;
  out.kernel_ms += std::max(optimiser, kShortestKernel * tensors);
  out.memory_ms += optimiser;
  out.kernels += tensors;
  out.pointwise_share = outputs > 0 ? pointwise / outputs : 0;
  if (!(out.kernel_ms > 0 && out.memory_ms > 0)) return std::nullopt;
  return out;
}

namespace {

/// The formula's terms of 1 / u, u in percent.
template <typename Job>
std::array<double, kUtilisationTerms> terms_of(const Job& job) {
  const double t = job.kernel_ms;
  return {1 / kMostPercent, 1 / t / kMostPercent, job.batch / t / kMostPercent,
          job.input_mib / t / kMostPercent, job.kernels / t / kMostPercent};
}

}  // namespace

double UtilisationPredictor::formula(const Job& job) const {
  const auto terms = terms_of(job);
  double sum = 0;
  for (std::size_t t = 0; t < kUtilisationTerms; ++t) sum += coefficients_[t] * terms[t];
  return std::min(kMostPercent, 1 / std::max(sum, 1e-3));
}

std::vector<float> UtilisationPredictor::features(const Job& job) const {
  const JobFigures& f = job.figures;
  const double layers = f.convolutions + f.linear_layers;
  const std::array<double, 22> values{formula(job),
                                      log_or_nan(job.kernel_ms),
                                      log_or_nan(job.arithmetic_ms / job.memory_ms),
                                      log_or_nan(job.kernel_ms / job.kernels),
                                      job.kernels,
                                      log_or_nan(job.input_mib),
                                      job.batch,
                                      log_or_nan(job.kernel_ms / job.batch),
                                      log_or_nan(job.input_mib / job.kernel_ms),
                                      log_or_nan(f.parameters),
                                      job.small_share,
                                      f.normalisations / std::max(1.0, layers),
                                      f.dropout_elements > 0 ? 1.0 : 0.0,
                                      log_or_nan(f.input_elements),
                                      log_or_nan(f.mean_channels),
                                      log_or_nan(f.mean_length),
                                      log_or_nan(f.multiply_adds * job.batch),
                                      job.pointwise_share,
                                      job.outputs,
                                      log_or_nan(job.largest_layer),
                                      f.linear_layers,
                                      log_or_nan(f.even_layers)};
  return {values.begin(), values.end()};
}

UtilisationPredictor UtilisationPredictor::learn(std::span<const MeasuredJob* const> jobs,
                                                 std::span<const Job> figures,
                                                 const PredictorOptions& options, int ensembles) {
  if (jobs.size() < kFewestMeasured) {
    throw std::invalid_argument("twenty measured jobs are needed at least");
  }
  UtilisationPredictor p;
  std::vector<double> terms, inverse;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto row = terms_of(figures[j]);
    terms.insert(terms.end(), row.begin(), row.end());
    inverse.push_back(1 / std::max(jobs[j]->value, 1.0));
  }
  p.coefficients_ = fit_non_negative({terms, jobs.size(), kUtilisationTerms}, inverse);
  ResidualRows rows;
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const std::vector<float> features = p.features(figures[j]);
    rows.columns = features.size();
    rows.features.insert(rows.features.end(), features.begin(), features.end());
    rows.residual.push_back(
        static_cast<float>(math::log1p(jobs[j]->value) - math::log1p(p.formula(figures[j]))));
    rows.weight.push_back(kWeight);
  }
  p.residual_.fit_trees(rows, options, ensembles);
  p.residual_.fit_process(rows, options);
  return p;
}

double UtilisationPredictor::log_median(const Job& job) const {
  const double log = math::log1p(formula(job)) + residual_.at(features(job), kWeight);
  return std::clamp(log, 0.0, math::log1p(kMostPercent));
}

std::unique_ptr<Predictor> UtilisationPredictor::fit(std::span<const MeasuredJob> jobs,
                                                     const PredictorOptions& options) {
  std::vector<const MeasuredJob*> known;
  std::vector<JobGroups> groups;
  std::vector<Job> figures;
  for (const MeasuredJob& job : jobs) {
    if (std::isnan(job.value)) continue;
    if (job.value < 0 || job.value > kMostPercent) {
      throw std::invalid_argument("a utilisation is not from 0 to 100 percent");
    }
    const auto one = job_of(job.job);
    if (!one) continue;
    known.push_back(&job);
    groups.push_back(job.job.groups);
    figures.push_back(*one);
  }
  auto p = std::make_unique<UtilisationPredictor>(learn(known, figures, options, kEnsemblesOfFit));
  p->seen_ = SeenGroups(groups);
  if (!options.intervals) return p;
  p->spread_ = ErrorSpread(held_out_errors(
      groups, options.seed, {},
      [&](std::span<const std::size_t> train, std::span<const std::size_t> test) {
        std::vector<const MeasuredJob*> part;
        std::vector<Job> of_part;
        for (const std::size_t j : train) {
          part.push_back(known[j]);
          of_part.push_back(figures[j]);
        }
        std::vector<HeldOutError> errors;
        if (part.size() < kFewestMeasured) return errors;
        const UtilisationPredictor without = learn(part, of_part, options, 1);
        for (const std::size_t j : test) {
          HeldOutError error;
          error.job = j;
          error.error = math::log1p(known[j]->value) - without.log_median(figures[j]);
          errors.push_back(error);
        }
        return errors;
      }));
  return p;
}

std::vector<Prediction> UtilisationPredictor::predict(std::span<const PredictorJob> jobs) const {
  std::vector<Prediction> out;
  out.reserve(jobs.size());
  for (const PredictorJob& job : jobs) {
    const auto one = job_of(job);
    if (!one) {
      out.emplace_back();
      continue;
    }
    Prediction p = spread_.around(log_median(*one), 1, seen_.level(job.groups), 1 + kMostPercent);
    for (double* value : {&p.median, &p.lo, &p.hi, &p.safe}) *value = std::max(0.0, *value - 1);
    out.push_back(p);
  }
  return out;
}

std::unique_ptr<Predictor> UtilisationPredictor::with_seen(std::span<const MeasuredJob>,
                                                           const PhysicsConstants&) const {
  return std::make_unique<UtilisationPredictor>(*this);
}

nlohmann::json UtilisationPredictor::save() const {
  return {{"coefficients", model_state::packed(coefficients_)},
          {"residual", residual_.save()},
          {"seen", seen_.save()},
          {"spread", spread_.save()}};
}

std::unique_ptr<Predictor> UtilisationPredictor::built_in() {
  auto p = std::make_unique<UtilisationPredictor>();
  p->coefficients_ = {1.07, 0.090, 0.0151, 0.213, 0.00334};
  p->residual_ = ResidualModel(p->features(Job{}).size());
  p->spread_ = ErrorSpread(-0.2, 0.2, 0.3);
  return p;
}

std::unique_ptr<Predictor> UtilisationPredictor::load(const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 4, "a predictor of utilisation");
  auto p = std::make_unique<UtilisationPredictor>();
  p->coefficients_ = finite_doubles(state, "coefficients", kUtilisationTerms);
  p->residual_ = ResidualModel::load(state.at("residual"), p->features(Job{}).size());
  p->seen_ = SeenGroups::load(state.at("seen"));
  p->spread_ = ErrorSpread::load(state.at("spread"));
  return p;
}

}  // namespace corun::inline predictors
