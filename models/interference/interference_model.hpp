#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/formulas/co_runner_rule.hpp"
#include "models/interference/groups/saturations.hpp"
#include "sim/speed_table.hpp"

/// The interface of interference models. For jobs that share a GPU, a model predicts the normalised speed of
/// each while all are resident, and the spread of single co-runs around it. J_c, ISD and PS follow from the
/// speeds and the solo times (pair_cost_formula.hpp). A model serves in a world (interference_world.hpp) and
/// in a belief (model_belief.hpp).
///
/// A model is fitted on a SpeedTable. It finds fitted jobs by their opaque key and predicts all other jobs by
/// their features; it uses nothing else of a job.
///
/// models/README.md says how to add a model.
namespace corun::inline models {

struct PairFormula;

/// A job to predict.
struct PairJob {
  WorkloadKey workload = kUnknownWorkload;
  std::span<const double> features;  ///< in the order of the model's features; NaN: not known
  /// Opaque key of the jobs that are like this one, such as all batch sizes of a network; 0: not known.
  std::uint64_t family = 0;
};

/// One direction of a pair, by positions in a list of jobs. Equal positions: a job beside a copy of itself.
struct PairQuery {
  std::size_t of = 0;      ///< the slowed job
  std::size_t beside = 0;  ///< its co-runner
};

/// Normalised speed of one job beside its co-runners.
struct SpeedPrediction {
  double speed = 1;  ///< median, above 0; may exceed 1 by noise
  double sd = 0;     ///< standard deviation of the speed of a single co-run, noise included
  double lo = 1;     ///< bounds of the interval for 90 % of single co-runs
  double hi = 1;
};

/// Upper bound of a predicted median speed: noise makes no measured speed larger.
inline constexpr double kFastest = 2;

/// Options of every fit.
struct FitOptions {
  std::uint64_t seed = 1;  ///< of random draws, in models that draw
  int threads = 1;         ///< does not change the result
  double effort = 1;       ///< share of the work, at most 1 (models/interference/fits/effort.hpp)
};

class InterferenceModel {
 public:
  virtual ~InterferenceModel() = default;

  /// A copy that learns independently.
  virtual std::unique_ptr<InterferenceModel> clone() const = 0;

  /// The features that the model expects of a job.
  virtual const std::vector<SpeedTable::Feature>& features() const = 0;
  /// The jobs that the model has learnt from, in the order of its state; kUnknownWorkload for those that
  /// cannot be found again. Empty for a model that uses features only.
  virtual const std::vector<WorkloadKey>& workloads() const = 0;

  /// Speeds of many directed pairs of `jobs`, one entry per pair. All numbers are finite; a pair gets the
  /// same bits in any batch. std::invalid_argument: an unknown job has another number of features than the
  /// model, or one that is infinite or, on a log scale, not above 0.
  virtual std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                               std::span<const PairQuery> pairs) const = 0;
  /// The same for one pair.
  SpeedPrediction predict(const PairJob& of, const PairJob& beside) const;

  /// The equation of the model with the data of these jobs, compiled for vector units and GPUs; job n is
  /// kinds[kind_of[n]]. It gives the bits of predict(). nullptr if the model has no formula. It is valid
  /// while the model lives unchanged.
  virtual std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                               std::span<const std::uint32_t> kind_of) const;

  /// The speed of each resident beside all others, for any number of residents; one entry per resident.
  /// Unless a model overrides this: by_rule() of the sharing mode whose pairs it has learnt from.
  virtual std::vector<SpeedPrediction> predict_co_runners(std::span<const PairJob> residents) const;

  /// The same from the speeds of all pairs of residents by a rule (models/formulas/co_runner_rule.hpp). The ends of the
  /// intervals combine in the same way; the relative deviation is the largest of the pairs. The deviation of the rule
  /// is added to both. Copies of one job whose saturation is known go by that in place of the rule
  /// (models/formulas/saturation.hpp); of the rule only the scatter counts then. `corun model eval` compares with sums,
  /// norms and products of slowdowns.
  std::vector<SpeedPrediction> by_rule(std::span<const PairJob> residents,
                                       const CoRunnerRule& rule) const;

  /// Where the model has learnt, and the rule of each sharing mode.
  struct Groups {
    SpeedTable::Campaign
        campaign;         ///< of the rows; gpu and mode are not known if there are several
    double level = 0;     ///< mean of the rows' t = -log(speed)
    double spread = 0.3;  ///< standard deviation of the rows' t, above 0
    std::array<CoRunnerRule, kSharings> rules = kCoRunnerRules;
    Saturations saturations = {};  ///< of jobs among workloads()
    const CoRunnerRule& rule() const { return rules[static_cast<std::size_t>(campaign.sharing)]; }
  };
  const Groups& groups() const { return groups_; }
  void set_groups(Groups groups) { groups_ = std::move(groups); }

  /// FitOptions::effort of the fit; 1 for models whose fit does not depend on it.
  double effort() const { return effort_; }
  void set_effort(double effort) { effort_ = effort; }

  /// As predict_co_runners(), for worlds: the speeds only, limited to (0, 1]; 1 for a job alone. `out`: one
  /// entry per resident.
  virtual void speeds(std::span<const PairJob> residents, std::span<double> out) const;

  /// Log-standard deviation of the factor, of mean one, between the excess 1/s - 1 of single co-runs and that
  /// of the model: the noise of a world made of the model.
  virtual double residual_sigma() const = 0;

  /// One draw of the speeds from the model's belief, for Thompson sampling: one entry per pair. It excludes
  /// the noise of single co-runs if the model can separate it. Calls with the same `draw` and jobs belong to
  /// one draw, in whatever order they ask for pairs. Unless a model overrides this, pairs are independent and
  /// log-normal with their standard deviation, keyed by (draw, both positions).
  virtual std::vector<double> sample(std::span<const PairJob> jobs,
                                     std::span<const PairQuery> pairs, std::uint64_t draw) const;

  /// Whether learn() does anything.
  virtual bool learns() const { return false; }
  /// Takes in one finished co-run of two without a new fit, if the model learns. NaN: the speed was not
  /// measured. Jobs of kUnknownWorkload cannot be found again; a model may ignore them. std::invalid_argument
  /// as predict(), and for a speed not above 0.
  virtual void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b);

  /// The data that predict() needs beside features(), workloads(), groups() and effort(), for files (model_state.hpp).
  virtual nlohmann::json save() const = 0;

 private:
  /// Of residents that are copies of one job, if it is known; else nullptr.
  const Saturation* saturation_of(std::span<const PairJob> residents) const;

  Groups groups_;
  double effort_ = 1;
};

/// Whether a table's job is one of those on which errors of a fit are measured: at most a hundred of the jobs in its rows,
/// evenly spaced. A prediction of gp takes long per slowed job, and a mean error needs no more of them.
std::vector<bool> judged_jobs(const SpeedTable& table);

/// Log-standard deviation of the excesses of a table's rows around the predictions of `model`, for
/// residual_sigma(). Directions are weighted by s^2, which makes it a measure of the relative errors of the
/// time under overlap. Only judged_jobs() are slowed jobs.
double excess_scatter(const InterferenceModel& model, const SpeedTable& table);

}  // namespace corun::inline models
