#include "predictors/catalog.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "predictors/paper_forms.hpp"
#include "predictors/physics/memory_predictor.hpp"
#include "predictors/physics/time_predictor.hpp"
#include "predictors/physics/utilisation_predictor.hpp"
#include "predictors/torchinfo.hpp"

namespace corun::inline predictors {

namespace {

std::unique_ptr<Predictor> fit_physics(Target target, std::span<const MeasuredJob> jobs,
                                       const PredictorOptions& options) {
  switch (target) {
    case Target::kMemory:
      return MemoryPredictor::fit(jobs, options);
    case Target::kTime:
      return TimePredictor::fit(jobs, options);
    case Target::kUtilisation:
      return UtilisationPredictor::fit(jobs, options);
  }
  throw std::logic_error("no such target");
}

std::unique_ptr<Predictor> load_physics(Target target, const nlohmann::json& state) {
  switch (target) {
    case Target::kMemory:
      return MemoryPredictor::load(state);
    case Target::kTime:
      return TimePredictor::load(state);
    case Target::kUtilisation:
      return UtilisationPredictor::load(state);
  }
  throw std::logic_error("no such target");
}

template <RegressorForm kForm>
std::unique_ptr<Predictor> fit_form(Target target, std::span<const MeasuredJob> jobs,
                                    const PredictorOptions& options) {
  return PaperFormPredictor::fit(kForm, target, jobs, options);
}

std::unique_ptr<Predictor> fit_torchinfo(Target target, std::span<const MeasuredJob> jobs,
                                         const PredictorOptions&) {
  return TorchinfoPredictor::fit(target, jobs);
}

constexpr std::array<PredictorEntry, 2 + kRegressorForms> kPredictors{{
    {"physics", "a formula of the job's operations and the GPU, and a learnt residual", fit_physics,
     load_physics},
    {"random-forest", "the form that SchedTune and Util20 chose", fit_form<RegressorForm::kForest>,
     PaperFormPredictor::load},
    {"boosting", "gradient boosting on the same features", fit_form<RegressorForm::kBoosting>,
     PaperFormPredictor::load},
    {"voting", "mean of polynomial, random-forest and boosting", fit_form<RegressorForm::kVoting>,
     PaperFormPredictor::load},
    {"polynomial", "all products of two features, ridge", fit_form<RegressorForm::kPolynomial>,
     PaperFormPredictor::load},
    {"linear", "least squares", fit_form<RegressorForm::kLinear>, PaperFormPredictor::load},
    {"torchinfo", "memory only: input, outputs of layers twice, parameters (SchedTune's baseline)",
     fit_torchinfo, TorchinfoPredictor::load, Target::kMemory},
}};

}  // namespace

std::span<const PredictorEntry> predictor_catalog() { return kPredictors; }

std::unique_ptr<Predictor> built_in_predictor(Target target) {
  switch (target) {
    case Target::kMemory:
      return MemoryPredictor::built_in();
    case Target::kTime:
      return TimePredictor::built_in();
    case Target::kUtilisation:
      return UtilisationPredictor::built_in();
  }
  throw std::logic_error("no such target");
}

const PredictorEntry* find_predictor(std::string_view name) {
  if (name == "default") return kPredictors.data();
  const auto* const at = std::ranges::find(kPredictors, name, &PredictorEntry::name);
  return at == kPredictors.end() ? nullptr : at;
}

}  // namespace corun::inline predictors
