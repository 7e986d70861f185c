#include <array>
#include <cmath>

#include "predictors/tables/job_table.hpp"
#include "predictors/tables/zoo_jobs.hpp"

/// Forward and backward times of ten CNNs with Torch7 on older GPU types (cnn-benchmarks). Rows with cuDNN
/// count; those of a processor have no prediction.
namespace corun::inline predictors {

namespace {

constexpr NumberRule kCnnMilliseconds{"a number of ms", 0, 1e9, true};
constexpr IntegerRule kCnnBatch{"a batch size", 1, 1'000'000};
constexpr IntegerRule kCnnPixels{"a number of pixels", 1, 100'000};
constexpr std::string_view kProcessor = "c4.4xlarge";

/// The zoo's name: resnet-18 is resnet18.
std::string zoo_name(std::string_view name) {
  if (name == "googlenet-v1") return "googlenet";
  std::string text(name);
  if (const std::size_t dash = text.find('-'); dash != std::string::npos) text.erase(dash, 1);
  return text;
}

class CnnTimesTable final : public JobTableForm {
 public:
  std::string_view name() const override { return "cnn-benchmarks' times"; }
  std::span<const std::string_view> recognised_by() const override {
    static constexpr std::array<std::string_view, 5> kColumns{"gpu", "use_cudnn", "model", "batch",
                                                              "h"};
    return kColumns;
  }
  bool serves(Target target) const override { return target == Target::kTime; }

  class CnnReader final : public Reader {
   public:
    CnnReader(CsvReader& csv, const GpuTypes& types)
        : csv_(csv),
          types_(types),
          gpu_(csv.add_column("gpu")),
          model_(csv.add_column("model")),
          batch_(csv.add_column("batch")),
          height_(csv.add_column("h")),
          use_cudnn_(csv.add_column("use_cudnn")),
          run_(column_if_there(csv, "run")),
          cudnn_(column_if_there(csv, "cudnn")),
          total_(column_if_there(csv, "total_ms")) {}

    JobTableRow row() override {
      JobTableRow row;
      const auto batch = csv_.integer(batch_, kCnnBatch);
      const auto height = csv_.integer(height_, kCnnPixels);
      if (!batch) csv_.refuse(batch_, "a batch size");
      if (!height) csv_.refuse(height_, "a number of pixels");
      const std::string model = zoo_name(csv_.required_text(model_, "the name of a model"));
      row.job = zoo_.row(csv_, height_, model, static_cast<double>(*batch), *height, true);
      row.names[0] = model;
      row.names[1] = zoo_.family(model);
      if (csv_.text(gpu_) == kProcessor) {
        row.job = {};
        return row;
      }
      set_gpu_column(row, csv_, gpu_, types_);
      if (run_) row.names[3] = csv_.text(*run_);
      const bool library = csv_.text(use_cudnn_) == "1";
      if (cudnn_ && library) {
        row.job.figures.library_version = csv_.number(*cudnn_, {"a version"}).value_or(kNaN);
      }
      row.value = number_or_nan(csv_, total_, kCnnMilliseconds);
      if (!library) row.unlike = "without cuDNN";
      row.counts = library && !std::isnan(row.value);
      return row;
    }

   private:
    CsvReader& csv_;
    const GpuTypes& types_;
    ZooJobs zoo_;
    CsvReader::Column gpu_, model_, batch_, height_, use_cudnn_;
    std::optional<CsvReader::Column> run_, cudnn_, total_;
  };

  std::unique_ptr<Reader> open(CsvReader& csv, Target, const GpuTypes& types) const override {
    return std::make_unique<CnnReader>(csv, types);
  }
};

}  // namespace

const JobTableForm& cnn_times_table() {
  static const CnnTimesTable form;
  return form;
}

}  // namespace corun::inline predictors
