#include <array>

#include "predictors/tables/job_table.hpp"

/// Peak training memory of timm's models on an A100 with 40 GB (timm_memory_clean.csv of GPUMemNet's
/// repository, joined with timm's results): rows with status `ok` count, `oom` rows are lower bounds.
namespace corun::inline predictors {

namespace {

constexpr NumberRule kTimmCount{"a number", 0, 1e12, true};
constexpr NumberRule kTimmMib{"a number of MiB", 0, 1e12};
constexpr double kMebibyte = 1048576;
/// Memory that jobs can have on this GPU [MiB]: the table's own limit for `oom`.
constexpr double kTimmLimitMib = 39'300;

class TimmMemoryTable final : public JobTableForm {
 public:
  std::string_view name() const override { return "timm's memory sweep"; }
  std::span<const std::string_view> recognised_by() const override {
    static constexpr std::array<std::string_view, 5> kColumns{"batch", "img_px", "params_m",
                                                              "gmacs", "macts_m"};
    return kColumns;
  }
  bool serves(Target target) const override { return target == Target::kMemory; }
  std::string_view column_of(std::string_view figure) const override {
    if (figure == "kept_bytes") return "graph_fwd_mib";
    if (figure == "peak_bytes") return "graph_bwd_mib or graph_total_mib";
    return figure;
  }

  class TimmReader final : public Reader {
   public:
    TimmReader(CsvReader& csv, const GpuTypes& types)
        : csv_(csv),
          batch_(csv.add_column("batch")),
          pixels_(csv.add_column("img_px")),
          parameters_(csv.add_column("params_m")),
          gmacs_(csv.add_column("gmacs")),
          activations_(csv.add_column("macts_m")),
          model_(column_if_there(csv, "model")),
          family_(column_if_there(csv, "family")),
          memory_(column_if_there(csv, "mem_mib")),
          status_(column_if_there(csv, "status")),
          forward_(column_if_there(csv, "graph_fwd_mib")),
          backward_(column_if_there(csv, "graph_bwd_mib")),
          total_(column_if_there(csv, "graph_total_mib")),
          gpu_(*types.find("A100-40GB")) {}

    JobTableRow row() override {
      JobTableRow row;
      JobFigures& f = row.job.figures;
      f.training = 1;
      f.batch = csv_.required_number(batch_, kTimmCount);
      const double pixels = csv_.required_number(pixels_, kTimmCount);
      f.input_elements = 3 * pixels * pixels;
      f.parameters = 1e6 * csv_.required_number(parameters_, kTimmCount);
      f.multiply_adds = 1e9 * csv_.required_number(gmacs_, kTimmCount);
      f.weighted_outputs = 1e6 * csv_.required_number(activations_, kTimmCount);
      f.kept_bytes = kMebibyte * number_or_nan(csv_, forward_, kTimmMib);
      f.peak_bytes = kMebibyte * number_or_nan(csv_, backward_, kTimmMib);
      // The table's total is 1.024 times the larger of both.
      if (std::isnan(f.peak_bytes)) {
        f.peak_bytes = kMebibyte / 1.024 * number_or_nan(csv_, total_, kTimmMib);
      }
      set_gpu(f, gpu_);
      if (model_) row.names[0] = csv_.text(*model_);
      if (family_) row.names[1] = csv_.text(*family_);
      row.names[2] = gpu_.name;
      const std::string_view status = status_ ? csv_.text(*status_) : "ok";
      if (status == "ok") {
        row.value = number_or_nan(csv_, memory_, kTimmMib);
        row.counts = row.value > 0;
      } else if (status == "oom") {
        row.at_least = kTimmLimitMib;
        row.counts = true;
      }
      return row;
    }

   private:
    CsvReader& csv_;
    CsvReader::Column batch_, pixels_, parameters_, gmacs_, activations_;
    std::optional<CsvReader::Column> model_, family_, memory_, status_, forward_, backward_, total_;
    const GpuSpec& gpu_;
  };

  std::unique_ptr<Reader> open(CsvReader& csv, Target, const GpuTypes& types) const override {
    return std::make_unique<TimmReader>(csv, types);
  }
};

}  // namespace

const JobTableForm& timm_memory_table() {
  static const TimmMemoryTable form;
  return form;
}

}  // namespace corun::inline predictors
