#pragma once

#include <array>
#include <cstdint>
#include <span>

/// Counter-based random numbers (DESIGN 4.11): Philox4x32-10 of Salmon, Moraes, Dror and Shaw,
/// "Parallel random numbers: as easy as 1, 2, 3", SC 2011.
///
/// A draw is a pure function of (seed, stream, entity, position). One more draw for one entity never shifts
/// another entity's numbers, and the number of threads does not matter. The distributions are implemented
/// here because those of the standard library differ between implementations.
namespace corun::inline sim {

/// One name per purpose. The values determine results: append, never renumber.
enum class Stream : std::uint32_t {
  kQueueOrder = 1,      ///< permutation of the jobs that arrive (workload.order: shuffled)
  kArrivals = 2,        ///< inter-arrival times of generated workloads
  kJobChoice = 3,       ///< which measured job a generated job copies
  kWorldNoise = 4,      ///< residual of a co-run; entity = the set of jobs
  kEpsilon = 5,         ///< exploration of the JRS policies; entity = (group, slot)
  kRandomPolicy = 6,    ///< policy `random`; entity = group
  kKubeTie = 7,         ///< uniform choice among kube-default's best nodes; entity = attempt
  kBootstrap = 8,       ///< resampling of replications; entity = resample
  kEstimates = 9,       ///< error of a duration estimate; entity = job
  kTest = 10,           ///< tests and benchmarks
  kClustering = 11,     ///< starting centres of k-means; entity = restart
  kForest = 12,         ///< seeds of random forests; entity = block of trees
  kPermutation = 13,    ///< permuted labels of a permutation test; entity = permutation
  kFolds = 14,          ///< which fold of a cross-validation a row belongs to
  kFactors = 15,        ///< Gibbs sampling of the factor model; entity = chain
  kFactorDraws = 16,    ///< deviations of jobs that the factor model never saw; entity = sample
  kModelDraws = 17,     ///< Thompson draws of interference models; entity = pair
  kProbe = 18,          ///< results of probes, and choice of their co-runners; entity = job
  kThompson = 19,       ///< draws of policies that explore by Thompson sampling; entity = pass
  kBoosting = 20,       ///< boosted trees: seeds, hidden entries; entity = (ensemble, row)
  kLowRank = 21,        ///< start of alternating least squares; entity = job
  kSoloTimes = 22,      ///< solo times of jobs that come without one; entity = job
  kKnownPairs = 23,     ///< which measured pairs a belief knows at the start
  kGpRows = 24,         ///< rows on which the Gaussian process is fitted if there are many
  kTraceProfiles = 25,  ///< profiles of jobs whose trace has none; entity = job
  kLiveOrder = 26,      ///< order in which co-runs are measured
  kTraceSample = 27,    ///< which jobs `corun trace cut` keeps; entity = job
  kSweepPoints = 30,    ///< values of random and Latin-hypercube sweeps; entity = swept key
  kCoverage = 31,       ///< replications drawn to judge intervals; entity = trial
  kSoloSpeeds = 32,     ///< speeds alone that were not measured; entity = GPU type, (job, GPU type)
  kMemoryEstimates = 33,       ///< error of an estimate of memory; entity = job
  kUtilisationEstimates = 34,  ///< error of an estimate of GPU utilisation; entity = job
  kPairDraws = 36,  ///< draws of the costs of pairs by which measurements are chosen; entity = draw
  kMeasurementOutcomes = 37,  ///< outcomes of measurements that are not yet made; entity = scenario
  kRealRuns = 45,             ///< what a real cluster adds to a trace; entity = draw
  kClusterNoise = 46,         ///< speeds, starts and late reports of runs; entity = (job, run)
  kRoundNoise = 47,           ///< length of a round; entity = its begin
  kRequests = 60,             ///< arrivals of requests; entity = service
  kServiceTimes = 61,         ///< service times of batches of requests; entity = service
  kLoadBursts = 62,           ///< bursts of a load of requests; entity = service
};

/// The bijection: ten rounds on a 128-bit counter under a 64-bit key.
std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                        std::array<std::uint32_t, 2> key);

/// Order-dependent 64-bit digest of a list. For a set, pass the list sorted.
std::uint64_t hash_entity(std::span<const std::uint32_t> values);

/// The sequence of draws that belongs to one (seed, stream, entity).
class Rng {
 public:
  Rng(std::uint64_t seed, Stream stream, std::uint64_t entity = 0);

  std::uint32_t next();
  /// Uniform in [0, 1), 53 bits.
  double uniform();
  /// Fills `out` with the numbers of as many calls of uniform(), faster.
  void uniforms(std::span<double> out);
  /// Uniform in {0, ..., n - 1}, unbiased; n >= 1.
  std::uint32_t below(std::uint32_t n);
  /// Standard normal (inverse transform, Wichura's AS 241).
  double normal();
  /// Fills `out` with standard normals: the numbers of as many calls of normal(), faster.
  void normals(std::span<double> out);
  /// Exponential with the given mean > 0.
  double exponential(double mean);
  /// Gamma with the given shape > 0 and scale 1 (Marsaglia and Tsang 2000).
  double gamma(double shape);
  /// Fills `out` with the numbers of as many calls of gamma(shape), faster.
  void gammas(double shape, std::span<double> out);

  /// Fisher-Yates; the same permutation on every platform.
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[below(static_cast<std::uint32_t>(i))]);
    }
  }

 private:
  void take_back(std::size_t count);

  std::array<std::uint32_t, 2> key_;
  std::array<std::uint32_t, 4> counter_;
  std::array<std::uint32_t, 4> block_{};
  unsigned used_ = 4;
};

}  // namespace corun::inline sim
