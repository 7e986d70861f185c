#include "predictors/physics/memory_predictor.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "predictors/non_negative_fit.hpp"
#include "sim/base/math.hpp"

namespace corun::inline predictors {

namespace {

using MemoryFigure = double (*)(const JobFigures&);

constexpr double kMib = 1048576;
constexpr double kSingle = 4;  // bytes

double mib_of_batch(double elements, const JobFigures& f) {
  return elements * f.batch * kSingle / kMib;
}

/// Terms of the formula [MiB, or a figure that grows as memory does], the constant first. The terms of a
/// shape-only execution stand in for those of layers if they are known.
constexpr std::array<MemoryFigure, 11> kTerms{
    [](const JobFigures&) { return 1.0; },
    [](const JobFigures& f) { return f.peak_bytes / kMib; },
    [](const JobFigures& f) { return f.kept_bytes / kMib; },
    [](const JobFigures& f) { return weight_bytes(f) / kMib; },
    [](const JobFigures& f) { return input_bytes(f) * f.batch / kMib; },
    [](const JobFigures& f) { return mib_of_batch(f.weighted_outputs, f); },
    [](const JobFigures& f) { return f.batch; },
    [](const JobFigures& f) { return f.batch * f.multiply_adds / 1e9; },
    [](const JobFigures& f) { return f.reserved_bytes / kMib; },
    [](const JobFigures& f) { return f.lean_reserved_bytes / kMib; },
    [](const JobFigures& f) { return f.workspace_bytes / kMib; },
};
/// Their figures in `corun list figures`.
constexpr std::array<std::string_view, 11> kTermFigures{"",
                                                        "peak_bytes",
                                                        "kept_bytes",
                                                        "parameters",
                                                        "input_elements",
                                                        "weighted_outputs",
                                                        "batch",
                                                        "multiply_adds",
                                                        "reserved_bytes",
                                                        "lean_reserved_bytes",
                                                        "workspace_bytes"};
/// Of these, terms that only serve where no execution is known.
constexpr std::array<std::int32_t, 3> kCoarseTerms{5, 6, 7};
constexpr std::int32_t kPeakTerm = 1;
/// Features that only serve there: beside an execution they let the trees recognise single models.
constexpr std::array<std::size_t, 3> kCoarseFeatures{6, 11, 12};

double ln(double x) { return x > 0 ? math::log(x) : kNaN; }

/// Features of the residual: logarithms of ratios, and of the few sizes that change how libraries work.
constexpr std::array<MemoryFigure, 20> kFeatures{
    [](const JobFigures& f) { return ln(f.peak_bytes / f.batch); },
    [](const JobFigures& f) { return ln(f.kept_bytes / f.peak_bytes); },
    [](const JobFigures& f) { return ln(f.weighted_outputs * f.batch * kSingle / f.kept_bytes); },
    [](const JobFigures& f) { return ln(weight_bytes(f) / f.peak_bytes); },
    [](const JobFigures& f) { return ln(f.multiply_adds / f.weighted_outputs); },
    [](const JobFigures& f) { return ln(f.multiply_adds / f.parameters); },
    [](const JobFigures& f) { return ln(f.parameters / f.weighted_outputs); },
    [](const JobFigures& f) { return ln(f.input_elements); },
    [](const JobFigures& f) { return ln(f.input_elements / f.weighted_outputs); },
    [](const JobFigures& f) { return ln(f.batch); },
    [](const JobFigures& f) { return ln(f.parameters); },
    [](const JobFigures& f) { return ln(f.weighted_outputs); },
    [](const JobFigures& f) { return ln(f.multiply_adds); },
    [](const JobFigures& f) { return ln(f.lean_reserved_bytes / f.peak_bytes); },
    [](const JobFigures& f) { return ln(f.reserved_bytes / f.lean_reserved_bytes); },
    [](const JobFigures& f) { return f.workspace_bytes / f.peak_bytes; },
    [](const JobFigures& f) { return f.dropout_elements * f.batch * kSingle / f.peak_bytes; },
    [](const JobFigures& f) { return ln(f.mean_channels); },
    [](const JobFigures& f) { return ln(f.mean_length); },
    [](const JobFigures& f) { return ln(f.even_layers); },
};

double resident_threads(const JobFigures& f) { return f.sms * f.threads_per_sm; }

constexpr double kContextOfThreadMib = 2.4 / 1024;
constexpr std::size_t kFewestJobs = 20;

/// Whether a formula can be fitted to the jobs that have a value.
bool enough(std::span<const MeasuredJob* const> jobs) {
  const auto measured =
      std::ranges::count_if(jobs, [](const MeasuredJob* job) { return !std::isnan(job->value); });
  return measured >= static_cast<std::ptrdiff_t>(kFewestJobs);
}

/// The variable part of a measured memory is at least this share of it, for its logarithm.
constexpr double kLeastVariable = 0.05;
constexpr double kLeastWeight = 1e-4;  ///< of a job's residual
constexpr double kMostMib = 1e9;
/// Of inference: the allocator's rounding, and how much larger errors are than those of training.
constexpr double kInferenceFactor = 1.1;
constexpr double kInferenceError = 1.5;
/// A job that ran out of memory needs this much more than there was, for lack of better knowledge.
constexpr double kAboveCapacity = 1.05;
constexpr int kAllEnsembles = 3;

}  // namespace

MemoryPredictor::Parts MemoryPredictor::parts(const JobFigures& figures) const {
  Parts parts{coefficients_[0], 0};
  const double threads = resident_threads(figures);
  if (threads_ > 0 && threads > 0) {
    parts.context = std::max(0.0, parts.context + kContextOfThreadMib * (threads - threads_));
  }
  if (figures.training == 0) {
    parts.variable = kInferenceFactor *
                     (weight_bytes(figures) + figures.peak_bytes + figures.workspace_bytes) / kMib;
    return parts;
  }
  for (std::size_t t = 1; t < terms_.size(); ++t) {
    parts.variable += coefficients_[t] * kTerms.at(static_cast<std::size_t>(terms_[t]))(figures);
  }
  if (parts.variable < 1) parts.variable = 1;  // keeps NaN
  return parts;
}

double MemoryPredictor::weight_of(const Parts& parts) {
  const double share = parts.variable / (parts.variable + parts.context);
  return share * share + kLeastWeight;
}

std::vector<float> MemoryPredictor::features(const JobFigures& figures, const Parts& parts) const {
  std::vector<float> row;
  for (const std::int32_t feature : features_) {
    row.push_back(static_cast<float>(kFeatures.at(static_cast<std::size_t>(feature))(figures)));
  }
  row.push_back(static_cast<float>(ln(parts.variable / std::max(parts.context, 1.0))));
  return row;
}

MemoryPredictor MemoryPredictor::learn(std::span<const MeasuredJob* const> all,
                                       const PredictorOptions& options, int ensembles) {
  MemoryPredictor p;
  std::vector<const MeasuredJob*> jobs;  // with a value
  for (const MeasuredJob* job : all) {
    if (!std::isnan(job->value)) jobs.push_back(job);
  }
  if (!enough(all)) {
    throw std::invalid_argument("twenty measured jobs are needed at least");
  }
  const auto known = [&](MemoryFigure figure) {
    return std::ranges::all_of(
        jobs, [&](const MeasuredJob* job) { return std::isfinite(figure(job->job.figures)); });
  };
  // Whether figures of layers give way to those of an execution.
  const bool executed = options.constants.coarse == 0 && known(kTerms[kPeakTerm]);
  for (std::size_t t = 0; t < kTerms.size(); ++t) {
    const auto term = static_cast<std::int32_t>(t);
    const bool coarse = std::ranges::find(kCoarseTerms, term) != kCoarseTerms.end();
    if (known(kTerms.at(t)) && !(executed && coarse)) p.terms_.push_back(term);
  }
  if (p.terms_.size() < 2) throw std::invalid_argument("the jobs have no figure of memory");
  std::vector<double> terms, values;
  for (const MeasuredJob* job : jobs) {
    for (const std::int32_t t : p.terms_) {
      terms.push_back(kTerms.at(static_cast<std::size_t>(t))(job->job.figures));
    }
    values.push_back(job->value);
  }
  p.coefficients_ = fit_non_negative({terms, values.size(), p.terms_.size()}, values);
  double threads = 0, with_threads = 0;
  for (const MeasuredJob* job : jobs) {
    if (!(resident_threads(job->job.figures) > 0)) continue;
    threads += resident_threads(job->job.figures);
    with_threads += 1;
  }
  p.threads_ = with_threads > 0 ? threads / with_threads : 0;

  for (std::size_t f = 0; f < kFeatures.size(); ++f) {
    if (executed && std::ranges::find(kCoarseFeatures, f) != kCoarseFeatures.end()) continue;
    const bool any = std::ranges::any_of(jobs, [&](const MeasuredJob* job) {
      return std::isfinite(kFeatures.at(f)(job->job.figures));
    });
    if (any) p.features_.push_back(static_cast<std::int32_t>(f));
  }
  ResidualRows rows;
  rows.columns = p.features_.size() + 1;
  const auto add = [&](const MeasuredJob& job, const Parts& parts, double residual) {
    const std::vector<float> features = p.features(job.job.figures, parts);
    rows.features.insert(rows.features.end(), features.begin(), features.end());
    rows.residual.push_back(static_cast<float>(residual));
    rows.weight.push_back(static_cast<float>(weight_of(parts)));
  };
  for (const MeasuredJob* job : jobs) {
    const Parts parts = p.parts(job->job.figures);
    const double variable = std::max(job->value - parts.context, kLeastVariable * job->value);
    add(*job, parts, math::log(variable / parts.variable));
  }
  p.residual_.fit_trees(rows, options, ensembles);

  // Jobs that ran out of memory although the prediction would have fitted.
  const std::size_t measured = rows.rows();
  for (const MeasuredJob* job : all) {
    if (!std::isnan(job->value)) continue;
    const Parts parts = p.parts(job->job.figures);
    const double needed = kAboveCapacity * job->at_least;
    if (!std::isfinite(parts.variable) || p.log_median(job->job).first > math::log(needed))
      continue;
    add(*job, parts, math::log(std::max(needed - parts.context, 1.0) / parts.variable));
  }
  if (rows.rows() > measured) p.residual_.fit_trees(rows, options, ensembles);
  p.residual_.fit_process(rows, options);
  return p;
}

std::unique_ptr<Predictor> MemoryPredictor::fit(std::span<const MeasuredJob> jobs,
                                                const PredictorOptions& options) {
  std::vector<const MeasuredJob*> known;
  std::vector<JobGroups> groups;
  for (const MeasuredJob& job : jobs) {
    if (std::isnan(job.value) && std::isnan(job.at_least)) continue;
    if (job.job.figures.training == 0) continue;
    known.push_back(&job);
    groups.push_back(job.job.groups);
  }
  auto p = std::make_unique<MemoryPredictor>(learn(known, options, kAllEnsembles));
  p->seen_ = SeenGroups(groups);
  if (!options.intervals) return p;
  const std::vector<HeldOutError> errors = held_out_errors(
      groups, options.seed, {},
      [&](std::span<const std::size_t> train, std::span<const std::size_t> test) {
        std::vector<const MeasuredJob*> part;
        for (const std::size_t j : train) part.push_back(known[j]);
        std::vector<HeldOutError> held_out;
        if (!enough(part)) return held_out;
        const MemoryPredictor without = learn(part, options, 1);
        for (const std::size_t j : test) {
          const auto [median, scale] = without.log_median(known[j]->job);
          if (std::isnan(median)) continue;
          const bool crashed = std::isnan(known[j]->value);
          const double value = math::log(crashed ? known[j]->at_least : known[j]->value);
          held_out.push_back({j, value - median, scale, value, crashed, {}, 0, 0});
        }
        return held_out;
      });
  p->spread_ = ErrorSpread(errors);
  p->limits_ = MemoryLimits(errors, options.constants);
  return p;
}

MemoryParts MemoryPredictor::base(const PredictorJob& job) const {
  const Parts parts = this->parts(job.figures);
  if (!std::isfinite(parts.variable)) return {kNaN, kNaN, kNaN};
  const bool inference = job.figures.training == 0;
  const double residual =
      inference ? 0 : residual_.at(features(job.figures, parts), weight_of(parts));
  return {parts.context, std::min(parts.variable * math::exp(residual), kMostMib),
          inference ? kInferenceError : 1};
}

std::pair<double, double> MemoryPredictor::log_median(const PredictorJob& job) const {
  const MemoryParts parts = base(job);
  if (std::isnan(parts.variable)) return {kNaN, kNaN};
  return {math::log(std::min(parts.mib(), kMostMib)), parts.scale()};
}

std::vector<Prediction> MemoryPredictor::predict(std::span<const PredictorJob> jobs) const {
  std::vector<Prediction> out;
  out.reserve(jobs.size());
  for (const PredictorJob& job : jobs) {
    const MemoryParts parts = base(job);
    if (std::isnan(parts.variable)) {
      out.emplace_back();
      continue;
    }
    const SeenLevel level = seen_.level(job.groups);
    const auto [median, scale] = posterior_.at({job.groups, level.job, parts});
    out.push_back(spread_.around(std::min(median, math::log(kMostMib)), scale, level, kMostMib));
  }
  return out;
}

std::vector<std::string_view> MemoryPredictor::lacking(const PredictorJob& job) const {
  std::vector<std::string_view> figures;
  if (job.figures.training == 0) return figures;
  for (const std::int32_t term : terms_) {
    const auto t = static_cast<std::size_t>(term);
    if (!std::isfinite(kTerms.at(t)(job.figures))) figures.push_back(kTermFigures.at(t));
  }
  return figures;
}

bool MemoryPredictor::runs_out(const PredictorJob& job, const Prediction& prediction,
                               double capacity_mib) const {
  if (limits_.empty()) return Predictor::runs_out(job, prediction, capacity_mib);
  return prediction.median > limits_.limit_mib(capacity_mib, seen_.familiarity(job.groups));
}

std::unique_ptr<Predictor> MemoryPredictor::with_seen(std::span<const MeasuredJob> jobs,
                                                      const PhysicsConstants& constants) const {
  auto p = std::make_unique<MemoryPredictor>(*this);
  for (const MeasuredJob& job : jobs) {
    if (std::isnan(job.value)) continue;
    if (!(job.value > 0)) throw std::invalid_argument("a measured memory is not above 0");
    const MemoryParts parts = base(job.job);
    if (std::isnan(parts.variable)) continue;
    p->probes_.push_back({{job.job.groups, seen_.familiarity(job.job.groups), parts}, job.value});
  }
  p->prepare_probes(constants);
  return p;
}

void MemoryPredictor::prepare_probes(const PhysicsConstants& constants) {
  posterior_ =
      MemoryPosterior(probes_, MemoryErrors(spread_, limits_.small_error_mib()), constants);
}

nlohmann::json MemoryPredictor::save() const {
  using model_state::packed;
  return {{"probes", save_probes(probes_)}, {"threads", threads_},
          {"terms", packed(terms_)},        {"coefficients", packed(coefficients_)},
          {"features", packed(features_)},  {"residual", residual_.save()},
          {"seen", seen_.save()},           {"spread", spread_.save()},
          {"limits", limits_.save()}};
}

std::unique_ptr<Predictor> MemoryPredictor::built_in() {
  MemoryPredictor p;
  // The constant, tensors kept, weights, input, what the allocator reserves, workspace.
  p.terms_ = {0, 2, 3, 4, 8, 10};
  p.coefficients_ = {1735, 0.52, 2.37, 7.07, 0.60, 1.42};
  p.threads_ = 108 * 2048;  // of an A100
  p.residual_ = ResidualModel(1);
  p.spread_ = ErrorSpread(-0.25, 0.25, 0.4);
  return std::make_unique<MemoryPredictor>(std::move(p));
}

std::unique_ptr<Predictor> MemoryPredictor::load(const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 9, "a predictor of memory");
  MemoryPredictor p;
  p.terms_ = integers(state, "terms");
  for (const std::int32_t term : p.terms_) {
    if (term < 0 || term >= static_cast<std::int32_t>(kTerms.size())) {
      throw std::invalid_argument("an unknown term");
    }
  }
  if (p.terms_.size() < 2 || p.terms_[0] != 0) throw std::invalid_argument("terms are missing");
  p.coefficients_ = finite_doubles(state, "coefficients", p.terms_.size());
  p.features_ = integers(state, "features");
  for (const std::int32_t feature : p.features_) {
    if (feature < 0 || feature >= static_cast<std::int32_t>(kFeatures.size())) {
      throw std::invalid_argument("an unknown feature");
    }
  }
  p.residual_ = ResidualModel::load(state.at("residual"), p.features_.size() + 1);
  p.threads_ = number_of(state.at("threads"), "threads");
  p.seen_ = SeenGroups::load(state.at("seen"));
  p.spread_ = ErrorSpread::load(state.at("spread"));
  p.limits_ = MemoryLimits::load(state.at("limits"));
  p.probes_ = load_probes(state.at("probes"));
  p.prepare_probes({});
  return std::make_unique<MemoryPredictor>(std::move(p));
}

}  // namespace corun::inline predictors
