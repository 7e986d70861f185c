#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "sim/speed_table.hpp"

/// The one interface of interference models: jobs that share a GPU in, the normalised speed of each
/// while all of them are resident out, with how far a single co-run may lie from it. J_c, ISD and PS
/// follow from the speeds and the solo times (overlap.hpp). The same object serves as a world
/// (interference_world.hpp) and as a belief (model_belief.hpp).
///
/// A model is fitted on a SpeedTable and answers for any jobs: those it was fitted with are known by
/// their opaque key, others by their features. Nothing else is ever asked about a job.
///
/// To add a model: models/interference/<name>.{hpp,cpp} and one line in catalog.cpp.
namespace corun {

struct PairFormula;

/// A job as a prediction asks for it.
struct PairJob {
  WorkloadKey workload = kUnknownWorkload;
  std::span<const double> features;  ///< as many as the model's and in their order; NaN: not known
};

/// One direction of a pair, by position among the jobs asked about. The same twice: a job beside a
/// copy of itself.
struct PairQuery {
  std::size_t of = 0;
  std::size_t beside = 0;
};

/// Normalised speed of one job beside its co-runners.
struct SpeedPrediction {
  double speed = 1;  ///< median, above 0; may exceed 1 by noise
  double sd = 0;     ///< standard deviation of a single co-run's speed, noise included
  double lo = 1;     ///< 90 % of single co-runs should lie between
  double hi = 1;
};

/// The most that a measured speed can be by noise; no median lies above.
inline constexpr double kFastest = 2;

/// What every fit is told beside the rows.
struct FitOptions {
  std::uint64_t seed = 1;  ///< of draws, where a model has any
  int threads = 1;         ///< changes speed only
};

class InterferenceModel {
 public:
  virtual ~InterferenceModel() = default;

  /// A copy that learns on its own.
  virtual std::unique_ptr<InterferenceModel> clone() const = 0;

  /// What it expects of a job's features.
  virtual const std::vector<SpeedTable::Feature>& features() const = 0;
  /// The jobs it was fitted with, in the order of its state; kUnknownWorkload for those that cannot be
  /// found again. Empty for models that go by features alone.
  virtual const std::vector<WorkloadKey>& workloads() const = 0;

  /// Speeds of many directed pairs among some jobs, in the order asked. Always finite; a prediction for
  /// a pair is the same bits in any batch. std::invalid_argument: a job that goes by its features has
  /// another number of them than the model, or one that is infinite or, on a log scale, not above 0.
  virtual std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                               std::span<const PairQuery> pairs) const = 0;
  /// The same for one.
  SpeedPrediction predict(const PairJob& of, const PairJob& beside) const;

  /// The model's equation in the form that is compiled for vector units and GPUs, with all it needs of
  /// these jobs: job n is kinds[kind_of[n]]. Its numbers are those of predict(), bit for bit. nullptr:
  /// there is no such form, predict() is all there is. Whatever of the model changes makes it stale.
  virtual std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                               std::span<const std::uint32_t> kind_of) const;

  /// Co-runners of any size: what each of two or more residents runs at beside all the others. Unless a
  /// model knows better, from its pairs: the excesses x = 1/speed - 1 of job i beside each other
  /// resident add up in the norm of exponent p (formulas/co_runner_norm.hpp),
  ///   x_i = (sum_j x_ij^p)^(1/p),
  /// which is the pair's for two. p was chosen by the two groups that were ever measured, of five and
  /// nine jobs (JRS Tables V and VI); `corun model eval` compares with sums (p = 1), p = 2 and products
  /// of slowdowns. Intervals: each end likewise.
  virtual std::vector<SpeedPrediction> predict_co_runners(std::span<const PairJob> residents) const;

  /// As predict_co_runners, for worlds: the expected speed only, in (0, 1]; 1 for a job alone.
  virtual void speeds(std::span<const PairJob> residents, std::span<double> out) const;

  /// Log-standard deviation of the mean-one factor by which the excess 1/s - 1 of single co-runs
  /// scatters around the model: the noise of a world made of it.
  virtual double residual_sigma() const = 0;

  /// Speeds as one draw from what the model believes possible has them, noise of single co-runs left
  /// out where a model can tell it apart: for Thompson sampling. The same `draw` among the same jobs is
  /// one draw, however its pairs are asked about. Unless a model knows better: every pair on its own,
  /// log-normal with its standard deviation, keyed by (draw, positions of both).
  virtual std::vector<double> sample(std::span<const PairJob> jobs,
                                     std::span<const PairQuery> pairs, std::uint64_t draw) const;

  /// Whether learn() does anything.
  virtual bool learns() const { return false; }
  /// Takes in one more finished co-run of two without a new fit, where the model learns. A NaN speed was
  /// not measured; jobs of kUnknownWorkload cannot be found again and may be passed over.
  /// std::invalid_argument as for predict(), and for speeds that are not above 0.
  virtual void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b);

  /// All that predict() needs beside features() and workloads(), for files (model_state.hpp).
  virtual nlohmann::json save() const = 0;
};

/// Log-standard deviation of the excesses of a table's rows around what `model` predicts of them: for
/// residual_sigma(). Directions are weighted by s^2, so that it is about relative errors of the time
/// under overlap.
double excess_scatter(const InterferenceModel& model, const SpeedTable& table);

}  // namespace corun
