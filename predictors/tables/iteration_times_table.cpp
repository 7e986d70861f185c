#include <array>
#include <cmath>

#include "predictors/tables/job_table.hpp"
#include "predictors/tables/zoo_jobs.hpp"

/// Iteration times of torchvision's models on many GPU types (pytorch-gpu-benchmark and its forks): batches of
/// 12 images of 224 x 224. Rows of the newer protocol in single precision that are not marked as suspect
/// count; the older protocol's batches are not known.
namespace corun::inline predictors {

namespace {

constexpr NumberRule kMilliseconds{"a number of ms", 0, 1e9, true};
constexpr double kIterationBatch = 12;
constexpr std::int64_t kIterationPixels = 224;

class IterationTimesTable final : public JobTableForm {
 public:
  std::string_view name() const override { return "pytorch-gpu-benchmark's iteration times"; }
  std::span<const std::string_view> recognised_by() const override {
    static constexpr std::array<std::string_view, 4> kColumns{"gpu_type", "precision", "phase",
                                                              "model"};
    return kColumns;
  }
  bool serves(Target target) const override { return target == Target::kTime; }

  class IterationReader final : public Reader {
   public:
    IterationReader(CsvReader& csv, const GpuTypes& types)
        : csv_(csv),
          types_(types),
          gpu_(csv.add_column("gpu_type")),
          precision_(csv.add_column("precision")),
          phase_(csv.add_column("phase")),
          model_(csv.add_column("model")),
          host_(column_if_there(csv, "host")),
          source_(column_if_there(csv, "src")),
          protocol_(column_if_there(csv, "protocol")),
          suspect_(column_if_there(csv, "suspect")),
          median_(column_if_there(csv, "median_ms")) {}

    JobTableRow row() override {
      JobTableRow row;
      const bool training = csv_.required_text(phase_, "train or inference") == "train";
      if (!training && csv_.text(phase_) != "inference") csv_.refuse(phase_, "train or inference");
      row.job = zoo_.row(csv_, model_, csv_.required_text(model_, "the name of a model"),
                         kIterationBatch, kIterationPixels, training);
      row.names[0] = csv_.text(model_);
      row.names[1] = zoo_.family(row.names[0]);
      set_gpu_column(row, csv_, gpu_, types_);
      row.names[3] = run_of(row.names[2]);
      const bool newer = !protocol_ || csv_.text(*protocol_).starts_with("new");
      const bool trusted = !suspect_ || csv_.text(*suspect_) != "1";
      row.value = number_or_nan(csv_, median_, kMilliseconds);
      if (csv_.text(precision_) != "float") row.unlike = "of another precision than float";
      row.counts = newer && trusted && row.unlike.empty() && !std::isnan(row.value);
      return row;
    }

   private:
    /// A run of the benchmark: the GPU, the host, and the folder of its results.
    std::string run_of(const std::string& gpu) const {
      std::string run = gpu;
      if (host_) run.append("\n").append(csv_.text(*host_));
      if (source_) {
        const std::string_view path = csv_.text(*source_);
        run.append("\n").append(path.substr(0, path.rfind('/')));
      }
      return run;
    }

    CsvReader& csv_;
    const GpuTypes& types_;
    ZooJobs zoo_;
    CsvReader::Column gpu_, precision_, phase_, model_;
    std::optional<CsvReader::Column> host_, source_, protocol_, suspect_, median_;
  };

  std::unique_ptr<Reader> open(CsvReader& csv, Target, const GpuTypes& types) const override {
    return std::make_unique<IterationReader>(csv, types);
  }
};

}  // namespace

const JobTableForm& iteration_times_table() {
  static const IterationTimesTable form;
  return form;
}

}  // namespace corun::inline predictors
