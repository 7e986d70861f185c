#include <array>
#include <cmath>
#include <vector>

#include "predictors/tables/job_table.hpp"
#include "predictors/tables/zoo_jobs.hpp"
#include "sim/base/text.hpp"

/// corun's own form: one row per job, with batch and gpu_type, and either the name of a model of the zoo or any
/// of the figures that `corun list figures` shows; the measured values in mem_mib, step_ms, gpu_util_pct.
namespace corun::inline predictors {

namespace {

constexpr NumberRule kFigure{"a number", 0, 1e18};
constexpr NumberRule kOwnValue{"a number", 0, 1e12, true};
constexpr NumberRule kOwnBatch{"a batch size", 1, 1e9};
constexpr std::array<std::string_view, kTargets> kValueColumns{"mem_mib", "step_ms",
                                                               "gpu_util_pct"};

class OwnJobTable final : public JobTableForm {
 public:
  std::string_view name() const override { return "corun's table of jobs"; }
  std::span<const std::string_view> recognised_by() const override {
    static constexpr std::array<std::string_view, 2> kColumns{"batch", "gpu_type"};
    return kColumns;
  }
  bool serves(Target) const override { return true; }

  class OwnReader final : public Reader {
   public:
    OwnReader(CsvReader& csv, Target target, const GpuTypes& types)
        : csv_(csv),
          types_(types),
          batch_(csv.add_column("batch")),
          gpu_(csv.add_column("gpu_type")),
          zoo_model_(column_if_there(csv, "zoo")),
          pixels_(column_if_there(csv, "img_px")),
          phase_(column_if_there(csv, "phase")),
          model_(column_if_there(csv, "model")),
          family_(column_if_there(csv, "family")),
          host_(column_if_there(csv, "host")),
          value_(column_if_there(csv, kValueColumns.at(static_cast<std::size_t>(target)))) {
      for (const FigureEntry& figure : figure_catalog()) {
        if (figure.name == "batch") continue;
        if (const auto column = column_if_there(csv, figure.name)) {
          figures_.emplace_back(*column, figure.value);
        }
      }
    }

    JobTableRow row() override {
      JobTableRow row;
      const double batch = csv_.required_number(batch_, kOwnBatch);
      bool training = true;
      if (phase_ && !csv_.text(*phase_).empty()) {
        training = csv_.text(*phase_) == "train";
        if (!training && csv_.text(*phase_) != "inference") {
          csv_.refuse(*phase_, "train or inference");
        }
      }
      if (zoo_model_ && !csv_.text(*zoo_model_).empty()) {
        row.names[0] = csv_.text(*zoo_model_);
        row.names[1] = zoo_.family(row.names[0]);
        if (row.names[1].empty()) {
          csv_.refuse(*zoo_model_, "a model of the zoo", "corun list zoo shows all");
        }
        const double pixels = number_or_nan(csv_, pixels_, {"a number of pixels", 1, 100'000});
        row.job = zoo_.row(csv_, std::isnan(pixels) ? *zoo_model_ : *pixels_, row.names[0], batch,
                           std::isnan(pixels) ? 0 : static_cast<std::int64_t>(pixels), training);
      }
      row.job.figures.batch = batch;
      row.job.figures.training = training ? 1 : 0;
      set_gpu_column(row, csv_, gpu_, types_);
      for (const auto& [column, figure] : figures_) {
        const double value = number_or_nan(csv_, column, kFigure);
        if (!std::isnan(value)) row.job.figures.*figure = value;
      }
      if (model_) row.names[0] = csv_.text(*model_);
      if (family_) row.names[1] = csv_.text(*family_);
      if (host_) row.names[3] = csv_.text(*host_);
      row.value = number_or_nan(csv_, value_, kOwnValue);
      row.counts = !std::isnan(row.value);
      return row;
    }

   private:
    CsvReader& csv_;
    const GpuTypes& types_;
    ZooJobs zoo_;
    CsvReader::Column batch_, gpu_;
    std::optional<CsvReader::Column> zoo_model_, pixels_, phase_, model_, family_, host_, value_;
    std::vector<std::pair<CsvReader::Column, double JobFigures::*>> figures_;
  };

  std::unique_ptr<Reader> open(CsvReader& csv, Target target,
                               const GpuTypes& types) const override {
    return std::make_unique<OwnReader>(csv, target, types);
  }
};

}  // namespace

const JobTableForm& own_job_table() {
  static const OwnJobTable form;
  return form;
}

}  // namespace corun::inline predictors
