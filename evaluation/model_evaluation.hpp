#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "evaluation/pair_evaluation.hpp"
#include "models/interference/catalog.hpp"
#include "sim/measurement.hpp"
#include "traces/workload_names.hpp"

/// Evaluates predictions of interference models for unknown jobs, and the pairing of queues by
/// these predictions.
///
/// **Leave one job out.** For every job, each model is fitted to the pairs without it and predicts
/// the pairs with it. A pair is thus predicted twice, once without either job; the mean of the two
/// is its held-out prediction.
///
/// **Regret.** The measured pairs of a session are the edges of a graph over its jobs. Pairing a
/// queue is a matching of that graph: a perfect one, or else one that leaves as few jobs alone as
/// possible. Regret is the excess true cost of the matching that is cheapest by the held-out
/// predictions, relative to the mean excess over all matchings:
///
///   regret = (cost of the chosen - least cost) / (mean cost over all matchings - least cost)
///
/// 0 is the true optimum, 1 equals random pairing. Cost is the sum of both ISDs over the pairs.
/// Nothing is sampled within a graph: optimum, mean over all matchings and the choice (the mean
/// over equally cheap ones) are exact.
namespace corun::inline evaluation {

/// Measured pairs and their sessions.
struct EvaluationData {
  std::string name;
  /// Two members each, of known workloads, with clusters.
  std::vector<CorunMeasurement> pairs;
  std::vector<CorunMeasurement> groups;  ///< of three members or more
  /// True: times are of whole runs, so a pair's ISD follows from speeds and solo times. False: only
  /// speeds under overlap were measured, and ISD is 1 / speed - 1.
  bool timed = true;

  /// The graph from which queues are paired.
  struct Session {
    std::string name;
    std::vector<std::size_t> pairs;  ///< indices into EvaluationData::pairs
    bool whole = true;               ///< also pair all of its jobs
    /// Number of jobs of a random queue, drawn uniformly and redrawn without a perfect matching. 0:
    /// the jobs of 4 to 12 disjoint measured pairs, which suits graphs with few edges.
    std::size_t queue_jobs = 0;
  };
  std::vector<Session> sessions;
};

/// The pairs among `rows` with two known workloads, as one session, and the larger groups. Members without a cluster get
/// that of the nearest centre. InputError, naming the data, without a pair.
EvaluationData evaluation_data(std::string name, std::span<const CorunMeasurement> rows);
/// The tables of JRS and PriRecT in three sessions: the knowledge base (JRS II, III), the queue (JRS
/// IV to VII) and PriRecT.
EvaluationData papers_evaluation(WorkloadKeys& keys);
EvaluationData papers_evaluation();
/// Reads `lucid_pairs.csv` without pairs of imputed speed; queues of 24 jobs. InputError as read_measurements() and
/// evaluation_data().
EvaluationData lucid_evaluation(const std::string& path, WorkloadKeys& keys);
EvaluationData lucid_evaluation(const std::string& path);

/// A mean with its standard error.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
};

/// Scores of one predictor; ISD as fractions, NaN if it predicts none.
struct PredictorScore {
  std::string name;
  /// Mean absolute error over both jobs of all pairs. Its standard error accounts for pairs that
  /// share a job.
  Estimate mae;
  Estimate mae_above_contention;  ///< mae less that of contention on the same pairs
  double rmse = std::numeric_limits<double>::quiet_NaN();
  double bias = std::numeric_limits<double>::quiet_NaN();      ///< mean of predicted - true
  double spearman = std::numeric_limits<double>::quiet_NaN();  ///< NaN for a constant
  std::vector<double> whole;     ///< regret per session with a whole graph, NaN elsewhere
  std::vector<Estimate> queues;  ///< regret per session over its random queues: the ratio of sums
  double mean_whole = std::numeric_limits<double>::quiet_NaN();
  Estimate mean_queues;  ///< mean over the sessions
};

/// The possible gain in one session; mean ISD per job as fractions.
struct SessionSummary {
  std::string name;
  std::size_t jobs = 0;
  std::size_t pairs = 0;  ///< measured pairs of different jobs; repetitions count once
  double matchings = 0;   ///< of the whole graph; 0 unless Session::whole
  double whole_best = std::numeric_limits<double>::quiet_NaN();
  double whole_random = std::numeric_limits<double>::quiet_NaN();
  std::size_t queues = 0;  ///< random queues found
  double queues_best = std::numeric_limits<double>::quiet_NaN();
  double queues_random = std::numeric_limits<double>::quiet_NaN();
};

/// "contention beats the mean": `ours` must be below `theirs`.
struct Claim {
  std::string text;
  double ours = 0;
  double theirs = 0;
  bool holds() const { return ours < theirs; }
};

struct ModelEvaluation {
  std::string data;
  std::size_t pairs = 0;
  std::size_t jobs = 0;
  double mean_isd = 0;  ///< [fraction]
  std::vector<SessionSummary> sessions;
  /// Training mean and median of ISD; `knowledge-base` (the papers' mean ISD per ordered pair of
  /// clusters); contention and cluster-mean; the other models and fitted ones asked for; `opposites`, which predicts no ISD and pairs jobs by
  /// the least sum of u_a u_b (on a complete graph: the largest utilisation with the smallest).
  std::vector<PredictorScore> predictors;
  /// Models that cannot be fitted to such data, and why.
  std::vector<std::pair<std::string, std::string>> left_out;
  std::vector<Claim> claims;

  /// std::logic_error for a name that is not among the predictors.
  const PredictorScore& predictor(std::string_view name) const;
  bool claims_hold() const;
};

/// What is judged beside the means, knowledge-base, contention, cluster-mean and opposites.
struct JudgedModels {
  std::vector<const InterferenceModelEntry*> models;  ///< fitted without each job in turn
  std::vector<FittedModel> fitted;  ///< on features of profiles; may have seen the pairs
  unsigned threads = 1;             ///< changes speed only
  double effort = 1;                ///< of the fits
  /// Called after the fits without a job, one call at a time.
  std::function<void(std::size_t done, std::size_t jobs)> on_fitted = {};
};

/// Evaluates with `queues` random queues per session, drawn by `seed`. InputError if no pair
/// remains to fit without some job, or contention or cluster-mean cannot be fitted.
ModelEvaluation evaluate_models(const EvaluationData& data, std::size_t queues, std::uint64_t seed,
                                const JudgedModels& judged = {});

}  // namespace corun::inline evaluation
