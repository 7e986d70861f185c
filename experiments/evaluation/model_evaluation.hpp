#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/measurement.hpp"

/// How well interference models predict jobs they have never met, and what their predictions are
/// worth to whoever pairs a queue by them.
///
/// **Leave one job out.** For every job, each model is fitted on the pairs without it and predicts
/// the pairs with it. A pair is thus predicted twice, once without either job; the mean of the two is
/// its held-out prediction.
///
/// **Regret.** The measured pairs of a session are the edges of a graph over its jobs. Pairing a
/// queue is a matching of that graph: a perfect one, or else one that leaves as few jobs alone as
/// possible. Of all such matchings the one that the held-out predictions call cheapest costs, in
/// truth, so much more than the cheapest; random costs, on average over all matchings, so much more:
///
///   regret = (cost of the chosen - least cost) / (mean cost over all matchings - least cost)
///
/// 0 is the true optimum, 1 as good as random. Cost is the sum of both ISDs over the pairs. Nothing is
/// sampled within a graph: optimum, mean over all matchings and the choice (the mean over equally
/// cheap ones) are exact.
namespace corun {

/// Measured pairs and the sessions they fall into.
struct EvaluationData {
  std::string name;
  /// Two members each, of known workloads, with clusters.
  std::vector<CorunMeasurement> pairs;
  std::vector<CorunMeasurement> groups;  ///< of three members and more
  /// The times are those of whole runs, so a pair's ISD follows from speeds and solo times of both.
  /// Else only speeds under overlap are real, and ISD is 1 / speed - 1.
  bool timed = true;

  /// One graph to pair queues of.
  struct Session {
    std::string name;
    std::vector<std::size_t> pairs;  ///< positions in EvaluationData::pairs
    bool whole = true;               ///< pair all of its jobs as well
    /// Queues of that many jobs drawn uniformly, those without a perfect matching drawn again.
    /// 0: jobs of 4 to 12 measured pairs without a common job, which suits graphs with few edges.
    std::size_t queue_jobs = 0;
  };
  std::vector<Session> sessions;
};

/// The pairs among `rows` of which both workloads are known, as one session. Members without a
/// cluster get that of the nearest centre.
EvaluationData evaluation_data(std::string name, std::span<const CorunMeasurement> rows);
/// The tables of JRS and PriRecT in three sessions: the knowledge base (JRS II, III), the queue (JRS
/// IV to VII) and PriRecT.
EvaluationData papers_evaluation();
/// `lucid_pairs.csv`, pairs with imputed speeds left out; queues of 24 jobs.
EvaluationData lucid_evaluation(const std::string& path);

/// A mean with its standard error.
struct Estimate {
  double value = std::numeric_limits<double>::quiet_NaN();
  double error = std::numeric_limits<double>::quiet_NaN();
};

/// How one predictor fared; ISD as fractions, NaN where it predicts none.
struct PredictorScore {
  std::string name;
  /// Mean absolute error over both jobs of all pairs. Its standard error allows for pairs that
  /// have a job in common.
  Estimate mae;
  Estimate mae_above_contention;  ///< the same, less that of contention on the same pairs
  double rmse = std::numeric_limits<double>::quiet_NaN();
  double bias = std::numeric_limits<double>::quiet_NaN();      ///< mean of predicted - true
  double spearman = std::numeric_limits<double>::quiet_NaN();  ///< NaN for a constant
  std::vector<double> whole;     ///< regret per session with a whole graph, NaN elsewhere
  std::vector<Estimate> queues;  ///< regret per session over its random queues: the ratio of sums
  double mean_whole = std::numeric_limits<double>::quiet_NaN();
  Estimate mean_queues;  ///< mean over the sessions
};

/// What there is to gain in one session; ISD per job as fractions.
struct SessionSummary {
  std::string name;
  std::size_t jobs = 0;
  std::size_t pairs = 0;  ///< measured pairs of different jobs; repetitions count once
  double matchings = 0;   ///< of the whole graph; 0 where it is not asked for
  double whole_best = std::numeric_limits<double>::quiet_NaN();
  double whole_random = std::numeric_limits<double>::quiet_NaN();
  std::size_t queues = 0;  ///< random queues that were found
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
  double mean_isd = 0;
  std::vector<SessionSummary> sessions;
  /// Training mean and median of ISD; `knowledge-base` (the papers: mean ISD per ordered pair of
  /// clusters); every model of the catalogue; `opposites`, which predicts nothing and pairs jobs by
  /// the least sum of u_a u_b (on a complete graph: the largest utilisation with the smallest).
  std::vector<PredictorScore> predictors;
  std::vector<Claim> claims;

  const PredictorScore& predictor(std::string_view name) const;
  bool claims_hold() const;
};

/// `queues` random queues per session, drawn by `seed`. InputError when leaving some job out leaves no
/// pair to fit on.
ModelEvaluation evaluate_models(const EvaluationData& data, std::size_t queues, std::uint64_t seed);

/// A graph whose edges have a true cost and costs in the eyes of several predictors.
struct PairGraph {
  struct Edge {
    std::size_t a = 0;
    std::size_t b = 0;
    double cost = 0;
    std::vector<double> predicted;
  };
  std::size_t jobs = 0;  ///< up to 56
  std::vector<Edge> edges;
};

/// Exact figures over all matchings that leave the fewest jobs alone.
struct MatchingSurvey {
  std::size_t pairs = 0;  ///< in each of these matchings
  double matchings = 0;   ///< how many there are
  double least = 0;       ///< true cost of the cheapest
  double mean = 0;        ///< mean true cost over all
  std::vector<double>
      chosen;  ///< true cost of the one that each predictor calls cheapest; predicted
               ///< costs are compared to 1e-9, the mean over equally cheap ones
};
/// By dynamic programming over the sets of jobs that are settled: about 1e5 sets for 24 jobs, more
/// only if there are many more edges than jobs beyond that.
MatchingSurvey survey_matchings(const PairGraph& graph);

}  // namespace corun
