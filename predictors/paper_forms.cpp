#include "predictors/paper_forms.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/learners/cross_validation.hpp"
#include "models/model_state.hpp"

namespace corun::inline predictors {

namespace {

using FigureOf = double (*)(const JobFigures&);

constexpr double kMegabyte = 1e6;
constexpr double kNumberBytes = 4;

constexpr std::array<FigureOf, 10> kSchedTune{
    [](const JobFigures& f) {
      const double elements =
          std::isnan(f.activation_elements) ? f.weighted_outputs : f.activation_elements;
      return elements * f.batch * kNumberBytes / kMegabyte;
    },
    [](const JobFigures& f) { return f.parameters * kNumberBytes / kMegabyte; },
    [](const JobFigures& f) { return f.input_elements * f.batch * kNumberBytes / kMegabyte; },
    [](const JobFigures& f) { return f.batch; },
    [](const JobFigures& f) { return f.bandwidth_gbs; },
    [](const JobFigures& f) { return f.cuda_cores; },
    [](const JobFigures& f) { return f.sms; },
    [](const JobFigures& f) { return f.memory_clock_mhz; },
    [](const JobFigures& f) { return f.tensor_cores; },
    [](const JobFigures& f) { return f.multiply_adds * f.batch / 1e9; },
};
constexpr std::size_t kOfMemory = kSchedTune.size() - 1;

constexpr std::array<FigureOf, 7> kUtil20{
    [](const JobFigures& f) { return f.convolutions; },
    [](const JobFigures& f) { return f.linear_layers; },
    [](const JobFigures& f) { return f.functions; },
    [](const JobFigures& f) { return f.other_layers + f.normalisations; },
    [](const JobFigures& f) { return f.parameters * kNumberBytes / kMegabyte; },
    [](const JobFigures& f) { return 2 * f.multiply_adds / 1e9; },
    [](const JobFigures& f) { return f.batch; },
};

std::span<const FigureOf> features_of(Target target) {
  if (target == Target::kUtilisation) return kUtil20;
  return std::span(kSchedTune).first(target == Target::kMemory ? kOfMemory : kSchedTune.size());
}

constexpr int kQuantileFolds = 5;
constexpr std::size_t kFewestOfForm = 10;
constexpr double kTail = 0.05;

/// The value below which a share `q` lies; `values` are sorted.
double quantile_of_ratios(std::span<const double> values, double q) {
  const double at = q * static_cast<double>(values.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, values.size() - 1);
  return values[below] + (at - static_cast<double>(below)) * (values[above] - values[below]);
}

}  // namespace

std::unique_ptr<Predictor> PaperFormPredictor::fit(RegressorForm form, Target target,
                                                   std::span<const MeasuredJob> jobs,
                                                   const PredictorOptions& options) {
  std::vector<const MeasuredJob*> known;
  for (const MeasuredJob& job : jobs) {
    if (!std::isnan(job.value)) known.push_back(&job);
  }
  if (known.size() < kFewestOfForm) {
    throw std::invalid_argument("ten measured jobs are needed at least");
  }
  std::unique_ptr<PaperFormPredictor> p(new PaperFormPredictor(target));
  const std::span<const FigureOf> all = features_of(target);
  for (std::size_t f = 0; f < all.size(); ++f) {
    double sum = 0, count = 0, least = 0, most = 0;
    for (const MeasuredJob* job : known) {
      const double figure = all[f](job->job.figures);
      if (std::isnan(figure)) continue;
      least = count == 0 ? figure : std::min(least, figure);
      most = count == 0 ? figure : std::max(most, figure);
      sum += figure;
      count += 1;
    }
    if (count == 0 || least == most) continue;
    p->used_.push_back(static_cast<std::int32_t>(f));
    p->mean_.push_back(sum / count);
  }
  if (p->used_.empty()) throw std::invalid_argument("the jobs have none of the form's figures");
  std::vector<double> rows, values;
  for (const MeasuredJob* job : known) {
    const std::vector<double> row = p->features(job->job.figures);
    rows.insert(rows.end(), row.begin(), row.end());
    values.push_back(job->value);
  }
  const MatrixView view{rows, values.size(), p->used_.size()};
  p->floor_ = 0.1 * std::max(0.0, *std::ranges::min_element(values));
  std::vector<double> ratios;
  for (const Split& fold : split(view, values, {kQuantileFolds, options.seed})) {
    const Regressor without(form, fold.train_view(), fold.train_target, options.seed);
    const std::vector<double> predicted = without.predict(fold.test_view());
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      ratios.push_back(fold.test_target[i] / std::max(predicted[i], std::max(p->floor_, 1e-9)));
    }
  }
  std::ranges::sort(ratios);
  p->low_ = quantile_of_ratios(ratios, kTail);
  p->high_ = quantile_of_ratios(ratios, 1 - kTail);
  p->safe_ = quantile_of_ratios(ratios, 0.99);
  p->regressor_ = Regressor(form, view, values, options.seed);
  return p;
}

/// The largest prediction.
constexpr double most_of(Target target) { return target == Target::kUtilisation ? 100 : 1e12; }

std::vector<double> PaperFormPredictor::features(const JobFigures& figures) const {
  const std::span<const FigureOf> all = features_of(target_);
  std::vector<double> row;
  for (std::size_t i = 0; i < used_.size(); ++i) {
    const double figure = all[static_cast<std::size_t>(used_[i])](figures);
    row.push_back(std::isnan(figure) ? mean_[i] : figure);
  }
  return row;
}

std::vector<Prediction> PaperFormPredictor::predict(std::span<const PredictorJob> jobs) const {
  std::vector<double> rows;
  for (const PredictorJob& job : jobs) {
    const std::vector<double> row = features(job.figures);
    rows.insert(rows.end(), row.begin(), row.end());
  }
  std::vector<Prediction> out;
  if (jobs.empty()) return out;
  const double most = most_of(target_);
  for (const double value : regressor_.predict({rows, jobs.size(), used_.size()})) {
    const double median = std::clamp(value, floor_, most);
    const auto at = [&](double ratio) { return std::min(median * ratio, most); };
    out.push_back({median, at(low_), at(high_), at(safe_)});
  }
  return out;
}

nlohmann::json PaperFormPredictor::save() const {
  using model_state::packed;
  return {{"used", packed(used_)},
          {"mean", packed(mean_)},
          {"regressor", regressor_.save()},
          {"bounds", packed(std::vector{floor_, low_, high_, safe_})}};
}

std::unique_ptr<Predictor> PaperFormPredictor::load(Target target, const nlohmann::json& state) {
  using namespace model_state;
  map_of(state, 4, "a predictor");
  std::unique_ptr<PaperFormPredictor> p(new PaperFormPredictor(target));
  p->used_ = integers(state, "used");
  const auto all = static_cast<std::int32_t>(features_of(target).size());
  for (const std::int32_t feature : p->used_) {
    if (feature < 0 || feature >= all) throw std::invalid_argument("an unknown feature");
  }
  p->mean_ = finite_doubles(state, "mean", p->used_.size());
  p->regressor_ = Regressor::load(state.at("regressor"));
  const std::vector<double> bounds = finite_doubles(state, "bounds", 4);
  const double most = most_of(target);
  if (!(bounds[0] >= 0 && bounds[0] <= most) || !(bounds[1] >= 0) || bounds[2] < bounds[1] ||
      bounds[3] < bounds[2]) {
    throw std::invalid_argument("an impossible interval");
  }
  p->floor_ = bounds[0];
  p->low_ = bounds[1];
  p->high_ = bounds[2];
  p->safe_ = bounds[3];
  return p;
}

}  // namespace corun::inline predictors
