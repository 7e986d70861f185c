#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <Eigen/Dense>
#include <nlohmann/json_fwd.hpp>

#include "predictors/held_out.hpp"

/// What a few measured jobs ("probes") say about the memory of others: a small Bayesian update of a fitted predictor.
///
///   ln(measured) = ln(c + d + V e^f) + s (r_family + r_model + e)
///
/// c and V are the context and the variable part that the predictor says, s the scale of its errors there. d [MiB] is
/// a difference of the contexts and f a factor of all jobs: both belong to the software and the GPU. r_family and
/// r_model are deviations that the jobs of a family or a model share, e is a job's own.
///
/// How large these deviations are is known from the jobs held out within the fit. Errors at the three levels of
/// familiarity have variances m (model seen), f (family seen), n (neither); e has m, r_model f - m, r_family n - f. A
/// table that has no jobs of seen models does not tell m; then m = f / 2. What does not shrink with the job
/// (MemoryLimits::small_error_mib()) is added to e of a probe. e has Student's t distribution with 4 degrees of
/// freedom, so that one strange probe counts for little.
///
/// Whether the software is another one is not told, so five explanations are weighed by how well each explains the
/// probes (prior probability; deviations of d and f; PhysicsConstants):
///
///   the same software                50 %      10 MiB, 0.2 %
///   another one                      25 %      500 MiB, 5 %
///   and numbers of another size      0.1 %     500 MiB, 40 %: only several probes that agree make this likely
///   jobs that err more               15 %      10 MiB, 0.2 %; r and e 3 times as large
///   jobs unlike those of the fit     9.9 %     10 MiB, 0.2 %; r and e 10 times as large
///
/// A prediction has the mean and the variance over all five. A probe of a model that errs as models do is thus
/// explained by the model, and leaves others alone; one that misses by half a gigabyte moves the context.
namespace corun::inline predictors {

/// A prediction's parts, without probes.
struct MemoryParts {
  double context = 0;       ///< [MiB]
  double variable = 0;      ///< with the learnt residual [MiB]
  double error_factor = 1;  ///< of the scale of errors

  double mib() const { return context + variable; }
  /// Of the errors of the logarithm: the variable share, and what the context errs by.
  double scale() const;
};

/// A job as the update sees it.
struct ProbedJob {
  JobGroups groups;
  Familiarity level = Familiarity::kNeither;
  MemoryParts parts;
};

struct MemoryProbe {
  ProbedJob job;
  double value = 0;  ///< measured [MiB], above 0
};

nlohmann::json save_probes(std::span<const MemoryProbe> probes);
/// std::invalid_argument for impossible values.
std::vector<MemoryProbe> load_probes(const nlohmann::json& state);

/// Variances of the deviations, in units of the scale squared.
struct MemoryErrors {
  MemoryErrors() = default;
  MemoryErrors(const ErrorSpread& spread, double small_error_mib);

  double job = 0, model = 0, family = 0;
  double small_mib = 0;
  std::array<double, kFamiliarities> total{};  ///< by level
};

class MemoryPosterior {
 public:
  MemoryPosterior() = default;
  /// std::invalid_argument if the constants leave no probability for the same software.
  MemoryPosterior(std::span<const MemoryProbe> probes, const MemoryErrors& errors,
                  const PhysicsConstants& constants = {});

  struct Answer {
    double log_mib = 0;
    double scale =
        1;  ///< in place of the job's own: the quantiles of its level are multiplied by it
  };
  /// Jobs of probed models and families may get a narrower interval than before; others get one at least as wide.
  Answer at(const ProbedJob& job) const;

 private:
  struct Explanation {
    double weight = 1;
    Eigen::VectorXd mean;  ///< d, f, then r of the probed families and models
    Eigen::MatrixXd covariance;
  };
  /// A job's logarithm at some values of the unknowns.
  struct Line {
    double log_mib = 0, scale = 1;
    std::array<Eigen::Index, 4> index{};  ///< of the unknowns that it depends on; -1: none
    std::array<double, 4> slope{};
    double unprobed = 0;  ///< variance of r that no probe is about
  };

  Line line(const ProbedJob& job, const Eigen::VectorXd& unknowns) const;
  struct Prior;
  Explanation explain(std::span<const MemoryProbe> probes, const Prior& prior) const;

  MemoryErrors errors_;
  std::map<std::uint64_t, Eigen::Index> families_, models_;  ///< positions of their r
  std::vector<Explanation> explanations_;                    ///< empty: no probes
};

}  // namespace corun::inline predictors
