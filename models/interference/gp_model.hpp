#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "models/interference/interference_model.hpp"
#include "models/scoring/gp_batch.hpp"
#include "sim/speed_table.hpp"

/// Gaussian process over directed pairs of jobs: grey box, exact, learns online.
///
/// For job i beside job j, t_ij = -log(speed), standardised over the fitted rows, is
///
///   t_ij = constant + own effect of i + partner effect of j + product effect of (i, j)
///        + pressures(i, j) . w + noise                         all Gaussian, of covariance
///
///   K[(i,j),(k,l)] = c + (a1 A_ik + a2 [i = k]) + (b1 B_jl + b2 [j = l])
///                  + p (A_ik + r1 [i = k]) (B_jl + r2 [j = l])
///                  + w2 phi_ij . phi_kl + noise [same row]
///
/// A and B are kernels over the jobs' features, of a job as the one that is slowed and as the one
/// that slows: A_ik = exp(-sum_f ((x_if - x_kf) / l_f)^2 / 2) with a length for every feature
/// (automatic relevance), B likewise with lengths of its own. x: the features, those on a log scale
/// as logarithms and beside them the difference of every two of these (ratios of rates),
/// standardised over the jobs, at most 10 deviations from the mean; NaN is the mean. [i = k]: the
/// same workload by its opaque key, so that a job measured before has effects of its own; a job
/// never seen goes by its features.
///
/// Grey box: where the table has the features gpu_util_pct (u), mem_time_pct (t) and mem_alloc_pct
/// (m), the mean is linear in what contention.hpp calls pressures, (1-m_i) u_i (1-m_j) u_j, t_i
/// u_j, max(0, 1 - u_i/0.10) u_j, max(0, t_i + t_j - 0.5), and in max(0, u_i + u_j - 1), all
/// standardised. Their weights have a Gaussian prior of variance w2 and are integrated out: a
/// linear kernel. What of u, t and m is not among the features counts as 0; a pressure that is the
/// same in all rows is left out.
///
/// The variances, r1, r2 and the lengths maximise the marginal likelihood times log-normal priors,
/// wide ones, which decide where there are few rows (MAP-II; Rasmussen and Williams, "Gaussian
/// Processes for Machine Learning", 2006, section 5.4.1), by L-BFGS with analytic gradients; on
/// kHyperRows directed rows at most, drawn by the seed.
///
/// Speed is exp(-mean of t): the median. Intervals are the posterior's times a factor that depends
/// on the share of the prior variance that is left. It is found by leaving out, in closed form,
/// every co-run, every job with all its co-runs, and some jobs with those most like them (an eighth
/// of all): a posterior of one set of parameters is too sure of what is far away.
///
/// learn() appends to the inverse of the Cholesky root and to the inverse, O(rows^2): a millisecond for a
/// co-run at 1000 rows; parameters, standardisation and factors stay as fitted. Predictions
/// (models/scoring/gp_formula.hpp): O(rows^2) for every job that is slowed, then O(partners^2) for a
/// pair, with as many partners as jobs are in the rows. A fit takes three seconds for 1000 rows
/// (docs/performance.md).
///
/// Where it fails: families of jobs whose like was never measured. Intervals there missed 11 to 22 %
/// of the co-runs of four public tables. Settings were chosen looking at those tables: expect a
/// little less on others.
namespace corun {

class GpModel final : public InterferenceModel {
 public:
  static constexpr std::size_t kMostFeatures = 32;
  /// Directed rows that hyper-parameters are found on.
  static constexpr std::size_t kHyperRows = 800;
  /// Directed rows a fit takes in (of more, that many are drawn by the seed), and learn() up to.
  static constexpr std::size_t kMostFitted = 2000;
  static constexpr std::size_t kMostHeld = 4000;

  /// std::invalid_argument: no row with a speed, a speed not above 0 or not finite, a row of a job
  /// that is not there, a workload listed twice, features that are infinite, beyond 1e100 or, on a
  /// log scale, not above 0, more than kMostFeatures of them. Jobs of kUnknownWorkload are learnt
  /// from, but never found again.
  static GpModel fit(const SpeedTable& table, const FitOptions& options = {});
  /// What save() gave. std::invalid_argument: sizes do not fit each other, or a number is not
  /// possible.
  static GpModel load(const nlohmann::json& state, std::vector<SpeedTable::Feature> features,
                      std::vector<WorkloadKey> workloads);

  std::unique_ptr<InterferenceModel> clone() const override;
  const std::vector<SpeedTable::Feature>& features() const override { return features_; }
  const std::vector<WorkloadKey>& workloads() const override { return keys_; }
  using InterferenceModel::predict;
  std::vector<SpeedPrediction> predict(std::span<const PairJob> jobs,
                                       std::span<const PairQuery> pairs) const override;
  /// The model and these jobs as the formula wants them, for as long as the model stays as it is.
  /// std::invalid_argument as predict().
  GpBatch batch(std::span<const PairJob> jobs) const;
  std::shared_ptr<PairFormula> formula(std::span<const PairJob> kinds,
                                       std::span<const std::uint32_t> kind_of) const override;
  double residual_sigma() const override { return residual_sigma_; }
  /// Also of jobs never seen, which are known from then on. False: kMostHeld rows are held.
  bool learns() const override { return true; }
  void learn(const PairJob& a, const PairJob& b, double speed_a, double speed_b) override;
  nlohmann::json save() const override;

  std::size_t rows() const { return rows_.observations.size(); }

  /// Logarithms of a1, a2, b1, b2, p, r1, r2, c, w2, noise, then of the lengths of A and of B.
  enum Parameter : std::uint8_t {
    kOwn,
    kOwnIdentity,
    kPartner,
    kPartnerIdentity,
    kProduct,
    kProductOwn,
    kProductPartner,
    kConstant,
    kPressures,
    kNoise,
    kLengths,
  };
  const std::vector<double>& parameters() const { return parameters_; }

  /// Minus the logarithm of marginal likelihood times prior (constants left out), and its
  /// derivatives.
  struct Evidence {
    double value = 0;
    std::vector<double> gradient;
  };
  /// Of the rows of `table`, all of them, at the parameters given. std::invalid_argument as for
  /// fit().
  static Evidence evidence(const SpeedTable& table, std::span<const double> parameters);
  /// How many parameters a model of these features has.
  static std::size_t parameter_count(const std::vector<SpeedTable::Feature>& features);

 private:
  static constexpr std::size_t kPressureCount = gp::kPressures;
  using Pressures = std::array<double, kPressureCount>;

  using Load = gp::Load;  ///< 0: not among the features; the mean: not known of this job
  /// Where a job is among others.
  struct Place {
    std::vector<double> x;
    Load load;
  };
  struct Observation {
    std::uint32_t own = 0;  ///< positions of the jobs
    std::uint32_t partner = 0;
    double target = 0;  ///< t, standardised
  };
  struct Rows {
    std::vector<Place> places;  ///< of the jobs
    std::vector<Observation> observations;
    std::vector<Pressures> phi;  ///< of the observations
    /// So many observations at most, drawn by the seed, and the jobs in them.
    Rows some(std::size_t most, std::uint64_t seed) const;
  };
  /// Inverse of the Cholesky root of a covariance matrix that grows: rows of inv(L), K = L L'.
  class InverseRoot {
   public:
    std::size_t size() const { return size_; }
    const double* row(std::size_t r) const { return packed_.data() + r * (r + 1) / 2; }
    /// One more variable: covariances with those before, and its variance, which holds kLeastNoise.
    void append(const double* covariance, double variance);

   private:
    std::size_t size_ = 0;
    std::vector<double> packed_;  ///< of the lower triangle
    std::vector<double> white_;
  };
  /// Inverse of the covariance matrix, that of two rows doubled (gp::Model::precision), which grows;
  /// rows in the order of predictions.
  class Precision {
   public:
    Precision() = default;
    /// order[a]: which row of the root row a of this one is.
    Precision(const InverseRoot& root, const std::vector<std::uint32_t>& order);
    /// One more row and column at `at`. `line`: the root's new row, in the new order.
    void insert(std::size_t at, const std::vector<double>& line);
    std::span<const double> packed() const { return packed_; }

   private:
    static void add(double* row, std::size_t a, const double* line);

    std::size_t size_ = 0;
    std::vector<double> packed_;  ///< the lower triangle, row by row
  };
  /// What the deviation is multiplied by where that share of the prior variance is left.
  struct Factor {
    double share = 0, factor = 1;
  };

  GpModel() = default;
  static GpModel described(const SpeedTable& table, std::size_t most, std::uint64_t seed);
  static Evidence evidence_of(const Rows& rows, std::span<const double> parameters);
  Place raw_place(std::span<const double> features) const;
  Place standardise(Place place) const;
  static Pressures raw_pressures(const Load& own, const Load& partner);
  Pressures pressures(const Load& own, const Load& partner) const;
  double prior_variance(const Pressures& phi) const;
  std::vector<double> kernels(const Place& place, std::size_t rates) const;
  void hold();
  void know(std::uint32_t job);
  void take_in(std::size_t observation);
  void calibrate();
  std::vector<std::size_t> neighbours(std::size_t job, std::size_t count) const;
  std::size_t sort_in(std::size_t observation);
  void set_pressures(gp::Model& formula) const;

  std::vector<SpeedTable::Feature> features_;
  std::vector<WorkloadKey> keys_;
  std::vector<double> mean_, deviation_;  ///< of x; deviation 0: the same for all, says nothing
  Load mean_load_;
  Pressures pressure_mean_{}, pressure_deviation_{};
  double target_mean_ = 0, target_deviation_ = 1;
  std::vector<double> parameters_;
  Rows rows_;
  std::array<Factor, 3> factors_{};  ///< by rising share
  double residual_sigma_ = 0;

  // What follows from the above.
  std::map<WorkloadKey, std::uint32_t> position_;
  std::vector<double> scales_;  ///< exp(parameters_), lengths inverted
  InverseRoot root_;
  std::vector<double> weights_;                              ///< inv(K) y
  std::array<std::vector<double>, kPressureCount> pressed_;  ///< inv(K) phi
  // The order of predictions: by partner.
  std::vector<std::int32_t> own_column_, partner_column_;  ///< of a job; gp::kNew: in no row
  std::vector<std::uint32_t> owns_, partners_;             ///< jobs of the columns
  std::vector<std::uint32_t> first_{0};  ///< of the rows of each partner; their number
  std::vector<std::uint32_t> order_;     ///< observations
  Precision precision_;
};

}  // namespace corun
