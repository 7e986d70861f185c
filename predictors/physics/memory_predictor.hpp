#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "predictors/held_out.hpp"
#include "predictors/physics/memory_probes.hpp"
#include "predictors/predictor.hpp"
#include "predictors/residual_model.hpp"

/// Peak memory of a job on a GPU [MiB]: physics first, the residual learnt.
///
///   memory = c_0 + V e^r,   V = sum of c_i x_i,   c >= 0
///
/// c_0 is the process's context with its libraries and the framework's first blocks. V is the part that varies
/// with the job. If a shape-only execution is known, its terms x_i are the tensors kept for the backward pass,
/// the most that lives at a time, the weights and the input of a batch; else weights,
/// outputs of convolutions and linear layers, input, batch and multiply-adds. The coefficients are those of
/// least squared relative errors (non_negative_fit.hpp). r is learnt (residual_model.hpp) from logarithms of
/// ratios of these figures, so it carries over to models of another size; a row weighs as the square of V's share of
/// the memory, because an error of r has no more effect than that.
///
/// Inference, of which no public table tells the memory, so that no error is known: V is 1.1 times weights, the most
/// that lives at a time and the workspace; r is 0, and errors count as half as large again as those of training.
///
/// On another GPU type than the fitted jobs ran on, c_0 changes by 2.4 KiB for each thread that can be resident more
/// or less (models/solo/roofline.hpp: context_mib()).
///
/// Errors are judged in units of V / memory: a job that is mostly context is known well. Jobs that ran out of memory
/// although their prediction fits are learnt from, as if they had needed 1.05 times what there was.
///
/// Known error (experiments/predictors/README.md), mean absolute percentage error of jobs held out: timm's sweep (A100),
/// random jobs 3.0, unseen models 3.7, unseen families 5.0, and 15.1 without a shape-only execution; GPUMemNet's
/// convolutional networks (A100), random jobs 3.9, unseen architectures 5.5. The 90 % intervals hold 90 to 91 %.
///
/// with_seen() weighs a few measured jobs against what the formula is known to err by: memory_probes.hpp.
namespace corun::inline predictors {

class MemoryPredictor final : public Predictor {
 public:
  /// std::invalid_argument below 20 jobs with a value, and if no figure of the job is known.
  static std::unique_ptr<Predictor> fit(std::span<const MeasuredJob> jobs,
                                        const PredictorOptions& options);
  static std::unique_ptr<Predictor> built_in();  ///< built_in_predictor()
  static std::unique_ptr<Predictor> load(const nlohmann::json& state);

  Target target() const override { return Target::kMemory; }
  std::vector<Prediction> predict(std::span<const PredictorJob> jobs) const override;
  std::vector<std::string_view> lacking(const PredictorJob& job) const override;
  bool runs_out(const PredictorJob& job, const Prediction& prediction,
                double capacity_mib) const override;
  bool has_learnt_limit() const override { return !limits_.empty(); }
  std::unique_ptr<Predictor> with_seen(std::span<const MeasuredJob> jobs,
                                       const PhysicsConstants& constants) const override;
  nlohmann::json save() const override;

  double context_mib() const { return coefficients_.at(0); }

 private:
  struct Parts {
    double context = 0;   ///< c_0
    double variable = 0;  ///< V; NaN: a term is not known
  };

  MemoryPredictor() = default;
  /// Formula and residual, without intervals.
  static MemoryPredictor learn(std::span<const MeasuredJob* const> all,
                               const PredictorOptions& options, int ensembles);
  Parts parts(const JobFigures& figures) const;
  static double weight_of(const Parts& parts);  ///< of the residual
  std::vector<float> features(const JobFigures& figures, const Parts& parts) const;
  /// Context and variable part with the learnt residual, before any probes; NaN if terms are missing.
  MemoryParts base(const PredictorJob& job) const;
  /// Logarithm of the median and scale of the error of the same; NaN if terms are missing.
  std::pair<double, double> log_median(const PredictorJob& job) const;
  void prepare_probes(const PhysicsConstants& constants);

  std::vector<std::int32_t> terms_;     ///< positions in the list of terms, the constant first
  std::vector<double> coefficients_;    ///< of each
  std::vector<std::int32_t> features_;  ///< positions in the list of features
  double threads_ = 0;  ///< resident ones, mean over the GPU types of the fitted jobs; 0: not known
  ResidualModel residual_;
  SeenGroups seen_;
  ErrorSpread spread_;
  MemoryLimits limits_;
  std::vector<MemoryProbe> probes_;  ///< what with_seen() was given
  MemoryPosterior posterior_;        ///< of these
};

}  // namespace corun::inline predictors
