#include "predictors/physics/time_predictor.hpp"

#include <cmath>
#include <numeric>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "models/model_state.hpp"
#include "predictors/physics/step_time_process.hpp"
#include "sim/base/math.hpp"
#include "sim/rng.hpp"

namespace corun::inline predictors {

namespace {

constexpr std::size_t kFewestRows = 20;
constexpr std::size_t kMostFittedRows = 1500;

/// The rows of a phase that can be learnt from.
std::vector<StepRow> rows_of(std::span<const MeasuredJob> jobs, bool training) {
  std::vector<StepRow> rows;
  for (const MeasuredJob& job : jobs) {
    if (std::isnan(job.value) || (job.job.figures.training == 1) != training) continue;
    if (!(job.value > 0)) throw std::invalid_argument("a time is not above 0");
    auto row = StepRow::of(job.job);
    if (!row) continue;
    row->log_ms = math::log(job.value);
    rows.push_back(*row);
  }
  return rows;
}

std::shared_ptr<const StepTimeProcess> fit_phase(std::vector<StepRow> rows, bool inference,
                                                 const PredictorOptions& options) {
  if (rows.size() < kFewestRows) return nullptr;
  if (rows.size() > kMostFittedRows) {
    Rng rng(options.seed, Stream::kGpRows, inference ? 1 : 0);
    rng.shuffle(std::span(rows));
    rows.resize(kMostFittedRows);
  }
  return std::make_shared<const StepTimeProcess>(
      StepTimeProcess::fit(std::move(rows), inference, options));
}

}  // namespace

std::unique_ptr<Predictor> TimePredictor::fit(std::span<const MeasuredJob> jobs,
                                              const PredictorOptions& options) {
  auto p = std::make_unique<TimePredictor>();
  p->training_ = fit_phase(rows_of(jobs, true), false, options);
  p->inference_ = fit_phase(rows_of(jobs, false), true, options);
  if (!p->training_ && !p->inference_) {
    throw std::invalid_argument(
        "twenty measured jobs are needed at least whose operations and GPU type are known");
  }
  return p;
}

std::vector<Prediction> TimePredictor::predict(std::span<const PredictorJob> jobs) const {
  std::vector<Prediction> out;
  out.reserve(jobs.size());
  for (const PredictorJob& job : jobs) {
    const auto& process = job.figures.training == 1 ? training_ : inference_;
    const auto row = process ? StepRow::of(job) : std::nullopt;
    out.push_back(row ? process->predict(*row) : Prediction{});
  }
  return out;
}

std::unique_ptr<Predictor> TimePredictor::with_seen(std::span<const MeasuredJob> jobs,
                                                    const PhysicsConstants&) const {
  auto p = std::make_unique<TimePredictor>(*this);
  for (const bool training : {true, false}) {
    auto& process = training ? p->training_ : p->inference_;
    const std::vector<StepRow> rows = rows_of(jobs, training);
    if (!process || rows.empty()) continue;
    process = std::make_shared<const StepTimeProcess>(process->with(rows));
  }
  return p;
}

nlohmann::json TimePredictor::save() const {
  return {{"training", training_ ? training_->save() : nlohmann::json()},
          {"inference", inference_ ? inference_->save() : nlohmann::json()}};
}

std::unique_ptr<Predictor> TimePredictor::built_in() {
  auto p = std::make_unique<TimePredictor>();
  p->training_ = std::make_shared<const StepTimeProcess>(StepTimeProcess::built_in(false));
  p->inference_ = std::make_shared<const StepTimeProcess>(StepTimeProcess::built_in(true));
  return p;
}

std::unique_ptr<Predictor> TimePredictor::load(const nlohmann::json& state) {
  model_state::map_of(state, 2, "a predictor of times");
  auto p = std::make_unique<TimePredictor>();
  const auto phase = [&](const char* key) -> std::shared_ptr<const StepTimeProcess> {
    const nlohmann::json& part = state.at(key);
    if (part.is_null()) return nullptr;
    return std::make_shared<const StepTimeProcess>(StepTimeProcess::load(part));
  };
  p->training_ = phase("training");
  p->inference_ = phase("inference");
  return p;
}

}  // namespace corun::inline predictors
