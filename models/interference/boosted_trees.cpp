#include "models/interference/boosted_trees.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <functional>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>

#include "models/formulas/pair_formula.hpp"
#include "models/interference/fits/effort.hpp"
#include "models/interference/fits/refuse.hpp"
#include "models/learners/exact_boosting.hpp"
#include "models/model_state.hpp"
#include "models/vector_units/kernels.hpp"
#include "sim/base/math.hpp"
#include "sim/base/nan.hpp"
#include "sim/base/parallel_for.hpp"
#include "sim/rng.hpp"

namespace corun::inline models {

namespace {

constexpr const char* kBoostedTrees = "boosted trees";
constexpr BoostingShape kShape{.rounds = 150,
                               .depth = 5,
                               .learning_rate = 0.05,
                               .subsample = 0.5,
                               .columns = 0.15,
                               .lambda = 1,
                               .leaf_weight = 1,
                               .seed = 0};
/// Probability that the effects of a job are hidden from the trees in a row.
constexpr double kHidden = 0.3;
/// Ridge of the additive effects: counts as this many log slowdowns of 0.
constexpr double kRidge = 1;
constexpr int kEffectSweeps = 8;
/// Bound of linear features: the product of two must fit single precision.
constexpr double kLargestFeature = 1e15;

using trees::Effects;

/// The features of a job.
struct Job {
  std::vector<double> logs;     ///< features on log scales, then their differences
  std::vector<double> linears;  ///< the others

  trees::Features features() const { return {logs.data(), linears.data(), 1}; }
};

Job job_of(std::span<const double> values, const std::vector<SpeedTable::Feature>& features) {
  check_features(values, features, kBoostedTrees);
  Job job;
  for (std::size_t f = 0; f < values.size(); ++f) {
    if (features[f].scale == FeatureScale::kLog) {
      job.logs.push_back(math::log(values[f]));
    } else {
      job.linears.push_back(std::clamp(values[f], -kLargestFeature, kLargestFeature));
    }
  }
  const std::size_t logs = job.logs.size();
  for (std::size_t f = 0; f < logs && logs <= trees::Shape::kMostCrossed; ++f) {
    for (std::size_t g = f + 1; g < logs; ++g) job.logs.push_back(job.logs[f] - job.logs[g]);
  }
  return job;
}

trees::Shape shape_of(const std::vector<SpeedTable::Feature>& features) {
  const std::vector<double> unknown(features.size(), kNaN);
  const Job job = job_of(unknown, features);
  return {static_cast<std::uint32_t>(job.logs.size()),
          static_cast<std::uint32_t>(job.linears.size())};
}

void add_row(std::vector<float>& out, const Job& of, const Job& beside, const Effects& of_effects,
             const Effects& beside_effects) {
  const trees::Shape shape{static_cast<std::uint32_t>(of.logs.size()),
                           static_cast<std::uint32_t>(of.linears.size())};
  trees::pair_row(shape, of.features(), beside.features(), of_effects, beside_effects,
                  [&](std::size_t, float x) { out.push_back(x); });
}

/// The effects of all jobs from the observations for which `counts` is true, by block coordinate descent.
std::vector<Effects> additive_effects(const std::vector<Observation>& all, std::size_t jobs,
                                      double mean,
                                      const std::function<bool(const Observation&)>& counts) {
  std::vector<const Observation*> seen;
  std::vector<double> as_slowed(jobs, 0);
  std::vector<double> as_co_runner(jobs, 0);
  for (const Observation& o : all) {
    if (!counts(o)) continue;
    seen.push_back(&o);
    as_slowed[o.of] += 1;
    as_co_runner[o.beside] += 1;
  }
  std::vector<Effects> effects(jobs, {0, 0});
  std::vector<double> sum(jobs);
  for (int sweep = 0; sweep < kEffectSweeps; ++sweep) {
    std::fill(sum.begin(), sum.end(), 0);
    for (const Observation* o : seen) sum[o->beside] += o->log_slowdown - mean - effects[o->of].own;
    for (std::size_t j = 0; j < jobs; ++j)
      effects[j].co_runner = sum[j] / (as_co_runner[j] + kRidge);
    std::fill(sum.begin(), sum.end(), 0);
    for (const Observation* o : seen)
      sum[o->of] += o->log_slowdown - mean - effects[o->beside].co_runner;
    for (std::size_t j = 0; j < jobs; ++j) effects[j].own = sum[j] / (as_slowed[j] + kRidge);
  }
  for (std::size_t j = 0; j < jobs; ++j) {
    if (as_slowed[j] == 0) effects[j].own = kNaN;
    if (as_co_runner[j] == 0) effects[j].co_runner = kNaN;
  }
  return effects;
}

/// The inputs that all ensembles of a fit share.
struct Task {
  const std::vector<Observation>& all;
  const std::vector<Job>& jobs;
  const Holdout& holdout;
  double mean;
  const FitOptions& options;
};

/// The trees of an ensemble at an effort.
BoostingShape shape_at(double effort) {
  constexpr int kLeastRounds = 8;
  constexpr double kFastestRate = 0.5;
  BoostingShape shape = kShape;
  shape.rounds = steps_at(effort, kShape.rounds, kLeastRounds);
  if (shape.rounds < kShape.rounds) {
    shape.learning_rate =
        std::min(kFastestRate, kShape.learning_rate * kShape.rounds / shape.rounds);
  }
  return shape;
}

/// One ensemble and its predictions of the rows held out. It has no trees if all rows are held out.
struct Bag {
  TreeEnsemble trees;
  std::vector<HeldOut> held_out;
};

Bag fit_bag(const Task& task, std::size_t number) {
  const auto held = [&](const Observation& o) { return task.holdout.held(number, o); };
  // The effects in a training row leave out the row's fold; those in a held-out row leave out all held-out
  // rows.
  std::vector<std::vector<Effects>> without_fold;
  for (std::size_t fold = 0; fold < Holdout::kFolds; ++fold) {
    without_fold.push_back(additive_effects(
        task.all, task.jobs.size(), task.mean,
        [&](const Observation& o) { return !held(o) && task.holdout.fold_of_row(o.row) != fold; }));
  }
  const std::vector<Effects> without_held = additive_effects(
      task.all, task.jobs.size(), task.mean, [&](const Observation& o) { return !held(o); });

  std::vector<float> train;
  std::vector<float> target;
  std::vector<float> test;
  Bag bag;
  for (std::size_t n = 0; n < task.all.size(); ++n) {
    const Observation& o = task.all[n];
    const Job& of = task.jobs[o.of];
    const Job& beside = task.jobs[o.beside];
    if (held(o)) {
      add_row(test, of, beside, without_held[o.of], without_held[o.beside]);
      const auto unknown = [&](std::size_t j) { return task.holdout.unknown(number, j) ? 1U : 0U; };
      bag.held_out.push_back({unknown(o.of) + unknown(o.beside), 0, o.log_slowdown});
    } else {
      const std::vector<Effects>& effects = without_fold[task.holdout.fold_of_row(o.row)];
      Rng rng(task.options.seed, Stream::kBoosting,
              (static_cast<std::uint64_t>(number) << 32U) + 1 + n);
      const bool hide_of = rng.uniform() < kHidden;
      const bool hide_beside = rng.uniform() < kHidden;
      add_row(train, of, beside, hide_of ? Effects{} : effects[o.of],
              hide_beside ? Effects{} : effects[o.beside]);
      target.push_back(static_cast<float>(o.log_slowdown - task.mean));
    }
  }
  if (target.empty()) return {};
  BoostingShape shape = shape_at(task.options.effort);
  shape.seed =
      Rng(task.options.seed, Stream::kBoosting, static_cast<std::uint64_t>(number) << 32U).next() >>
      1U;
  bag.trees = boosted_exactly(train, train.size() / target.size(), target, shape);
  const std::vector<double> predicted = bag.trees.sums(test);
  for (std::size_t n = 0; n < predicted.size(); ++n) {
    bag.held_out[n].predicted = task.mean + predicted[n];
  }
  return bag;
}

}  // namespace

BoostedTrees BoostedTrees::fit(const SpeedTable& table, const FitOptions& options) {
  const std::size_t width = table.features.size();
  if (width > kMostFeatures) refuse(kBoostedTrees, "too many features");
  if (options.threads < 1) refuse(kBoostedTrees, "threads are below 1");
  const std::vector<Observation> all = observations_of(table, kBoostedTrees);
  std::vector<Job> jobs;
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    jobs.push_back(job_of({table.of(j), width}, table.features));
  }
  BoostedTrees model;
  model.features_ = table.features;
  for (const Observation& o : all) model.mean_ += o.log_slowdown / static_cast<double>(all.size());

  const Holdout holdout(table, options.seed);
  const Task task{all, jobs, holdout, model.mean_, options};
  std::vector<Bag> bags(Holdout::kCount);
  parallel_for(bags.size(), options.threads, [&](std::size_t b) { bags[b] = fit_bag(task, b); });

  model.trees_.depth = kShape.depth;
  model.trees_.columns = shape_of(model.features_).columns();
  std::vector<HeldOut> held_out;
  float ensembles = 0;
  for (std::size_t b = 0; b < bags.size(); ++b) {
    held_out.insert(held_out.end(), bags[b].held_out.begin(), bags[b].held_out.end());
    if (b >= Holdout::kFolds || bags[b].trees.trees() == 0) continue;
    model.trees_.append(bags[b].trees);
    ensembles += 1;
  }
  for (float& leaf : model.trees_.leaf) leaf /= ensembles;
  model.ranked_ = RankedTrees(model.trees_.view());
  model.spreads_ = Spreads(held_out);
  model.sigma_ = excess_scatter_of(held_out);

  const std::vector<Effects> effects = additive_effects(all, table.jobs.size(), model.mean_,
                                                        [](const Observation&) { return true; });
  for (std::size_t j = 0; j < table.jobs.size(); ++j) {
    if (std::isnan(effects[j].own) && std::isnan(effects[j].co_runner)) continue;
    model.workloads_.push_back(table.jobs[j]);
    model.slowed_.push_back(effects[j].own);
    model.co_runner_.push_back(effects[j].co_runner);
    model.values_.insert(model.values_.end(), table.of(j), table.of(j) + width);
  }
  model.index_ = JobIndex(model.workloads_, kBoostedTrees);
  model.set_effort(options.effort);
  return model;
}

std::unique_ptr<InterferenceModel> BoostedTrees::clone() const {
  return std::make_unique<BoostedTrees>(*this);
}

TreesBatch BoostedTrees::batch(std::span<const PairJob> jobs) const {
  const std::size_t width = features_.size();
  TreesBatch out;
  out.trees = trees_.view();
  out.ranked = ranked_.view();
  out.mean = mean_;
  for (std::size_t u = 0; u < out.knots.size(); ++u) {
    const std::span<const trees::Knot> knots = spreads_.knots(u);
    out.knots[u].assign(knots.begin(), knots.end());
  }
  out.shape = shape_of(features_);
  out.count = jobs.size();
  out.logs.resize(out.shape.logs * out.count);
  out.linears.resize(out.shape.linears * out.count);
  out.own.assign(out.count, kNaN);
  out.co_runner.assign(out.count, kNaN);
  out.unknown.assign(out.count, 1);
  for (std::size_t j = 0; j < jobs.size(); ++j) {
    const auto at = index_.find(jobs[j].workload);
    const Job job = at ? job_of(std::span(values_).subspan(*at * width, width), features_)
                       : job_of(jobs[j].features, features_);
    for (std::size_t f = 0; f < job.logs.size(); ++f) out.logs[f * out.count + j] = job.logs[f];
    for (std::size_t f = 0; f < job.linears.size(); ++f) {
      out.linears[f * out.count + j] = job.linears[f];
    }
    if (!at) continue;
    out.own[j] = slowed_[*at];
    out.co_runner[j] = co_runner_[*at];
    out.unknown[j] = 0;
  }
  return out;
}

std::shared_ptr<PairFormula> BoostedTrees::formula(std::span<const PairJob> kinds,
                                                   std::span<const std::uint32_t> kind_of) const {
  std::vector<PairJob> jobs;
  jobs.reserve(kind_of.size());
  for (const std::uint32_t kind : kind_of) jobs.push_back(kinds[kind]);
  return std::make_shared<PairFormula>(PairFormula{batch(jobs)});
}

std::vector<SpeedPrediction> BoostedTrees::predict(std::span<const PairJob> jobs,
                                                   std::span<const PairQuery> pairs) const {
  constexpr std::uint32_t kUnused = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> position(jobs.size(), kUnused);
  std::vector<PairJob> used;
  const auto use = [&](std::size_t job) {
    if (job >= jobs.size()) refuse(kBoostedTrees, "a pair is of a job that is not there");
    if (position[job] == kUnused) {
      position[job] = static_cast<std::uint32_t>(used.size());
      used.push_back(jobs[job]);
    }
    return position[job];
  };
  std::vector<std::uint32_t> of, beside;
  for (const PairQuery& pair : pairs) {
    of.push_back(use(pair.of));
    beside.push_back(use(pair.beside));
  }
  const TreesBatch batch = this->batch(used);
  const trees::Ensemble ensemble = trees_.view();
  std::vector<float> scratch(trees::Kernels::scratch(ensemble));
  std::vector<double> sums(pairs.size());
  best_kernels().of<TreesBatch>().sums(ensemble, batch.ranked, batch.jobs(),
                                       {of.data(), beside.data(), pairs.size()}, scratch.data(),
                                       sums.data());
  std::vector<SpeedPrediction> out;
  out.reserve(pairs.size());
  for (std::size_t q = 0; q < pairs.size(); ++q) {
    const std::size_t unknown = batch.unknown[of[q]] + std::size_t{batch.unknown[beside[q]]};
    out.push_back(spreads_.around(mean_ + sums[q], unknown));
  }
  return out;
}

nlohmann::json BoostedTrees::save() const {
  using model_state::packed;
  return {{"values", packed(values_)},
          {"own", packed(slowed_)},
          {"partner", packed(co_runner_)},
          {"mean", packed(std::vector{mean_})},
          {"depth", trees_.depth},
          {"tests", packed(trees_.test)},
          {"thresholds", packed(trees_.threshold)},
          {"leaves", packed(trees_.leaf)},
          {"spreads", spreads_.save()},
          {"sigma", packed(std::vector{sigma_})}};
}

BoostedTrees BoostedTrees::load(const nlohmann::json& state,
                                std::vector<SpeedTable::Feature> features,
                                std::vector<WorkloadKey> workloads) {
  model_state::map_of(state, 10, kBoostedTrees);
  if (features.size() > kMostFeatures) refuse(kBoostedTrees, "too many features");
  BoostedTrees model;
  model.features_ = std::move(features);
  model.workloads_ = std::move(workloads);
  model.index_ = JobIndex(model.workloads_, kBoostedTrees);
  const std::size_t width = model.features_.size();
  const std::size_t jobs = model.workloads_.size();
  model.values_ = model_state::doubles(state, "values");
  if (model.values_.size() != jobs * width)
    refuse(kBoostedTrees, "'values' are not jobs x features");
  for (std::size_t j = 0; j < jobs; ++j) {
    check_features(std::span(model.values_).subspan(j * width, width), model.features_,
                   kBoostedTrees);
  }
  for (auto [effects, key] : {std::pair{&model.slowed_, "own"}, {&model.co_runner_, "partner"}}) {
    *effects = model_state::doubles(state, key);
    if (effects->size() != jobs) refuse(kBoostedTrees, "effects are not one per job");
    for (const double x : *effects) {
      if (std::fabs(x) > kMostSlowness) refuse(kBoostedTrees, "an effect is not possible");
    }
  }
  model.mean_ = model_state::finite_doubles(state, "mean", 1).front();
  model.sigma_ = model_state::finite_doubles(state, "sigma", 1).front();
  if (std::fabs(model.mean_) > kMostSlowness || model.sigma_ < 0) {
    refuse(kBoostedTrees, "a mean or a scatter is not possible");
  }
  const auto at = state.find("depth");
  if (at == state.end()) refuse(kBoostedTrees, "there is no 'depth'");
  model.trees_.depth =
      static_cast<int>(model_state::whole_of(*at, "depth", 0, TreeEnsemble::kMostDepth));
  model.trees_.columns = shape_of(model.features_).columns();
  model.trees_.test = model_state::integers(state, "tests");
  model.trees_.threshold = model_state::floats(state, "thresholds");
  model.trees_.leaf = model_state::floats(state, "leaves");
  model.trees_.check();
  model.ranked_ = RankedTrees(model.trees_.view());
  const auto spreads = state.find("spreads");
  if (spreads == state.end()) refuse(kBoostedTrees, "there are no 'spreads'");
  model.spreads_ = Spreads::load(*spreads);
  return model;
}

}  // namespace corun::inline models
