#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>

#include "predictors/tables/job_table.hpp"
#include "predictors/tables/layer_list.hpp"
#include "sim/base/text.hpp"

/// GPUMemNet's runs of generated networks on an A100 with 40 GB: convolutional (cnn_data) and of linear layers
/// (mlp_data). The file's name of a run states the architecture and the input; the layers are listed. Left out: runs
/// without layers (Depth 0), and convolutional ones below 1,200 MiB, which were read too early. Crashed runs
/// ran out of memory: what was read then means nothing.
namespace corun::inline predictors {

namespace {

constexpr NumberRule kRunMib{"a number of MiB", -1, 1e9};
constexpr NumberRule kRunPercent{"a percentage, or -1 without", -1, 100};
constexpr NumberRule kRunBatch{"a batch size", 1, 1e9};
constexpr double kLeastRunMib = 1200;
/// Memory that a job can have on this GPU: the largest reading of a run that ended well is 40,369 MiB.
constexpr double kRunLimitMib = 40'300;
constexpr std::int64_t kLongestInput = 100'000;

/// The text behind `key` up to the next '_' or the end; empty if the key is not there.
std::string_view setting(std::string_view run, std::string_view key) {
  const std::size_t at = run.find(key);
  if (at == std::string_view::npos) return {};
  const std::string_view rest = run.substr(at + key.size());
  return rest.substr(0, rest.find('_'));
}

class GpuMemNetTable final : public JobTableForm {
 public:
  std::string_view name() const override { return "GPUMemNet's runs"; }
  std::span<const std::string_view> recognised_by() const override {
    static constexpr std::array<std::string_view, 3> kColumns{"Filename", "Activations-Params",
                                                              "Batch Size"};
    return kColumns;
  }
  bool serves(Target target) const override { return target != Target::kTime; }

  class RunReader final : public Reader {
   public:
    RunReader(CsvReader& csv, Target target, const GpuTypes& types)
        : csv_(csv),
          target_(target),
          run_(csv.add_column("Filename")),
          layers_(csv.add_column("Activations-Params")),
          batch_(csv.add_column("Batch Size")),
          memory_(column_if_there(csv, "Max GPU Memory (MiB)")),
          utilisation_(column_if_there(csv, "Avg GPUTL")),
          status_(column_if_there(csv, "Status")),
          gpu_(*types.find("A100-40GB")) {}

    JobTableRow row() override {
      JobTableRow row;
      const std::string run(csv_.required_text(run_, "the name of a run"));
      row.names[0] = run.substr(0, run.find("_batch:"));  // the network; its batch follows
      if (const std::size_t size = run.find("_input_size:"); size != std::string::npos) {
        row.names[0] += run.substr(size);
      }
      row.names[1] = setting(run, "arch:");
      row.names[2] = gpu_.name;
      const double batch = csv_.required_number(batch_, kRunBatch);
      const std::vector<ListedLayer> layers = listed();
      if (layers.empty()) return row;
      const bool images = !setting(run, "input_size:").empty();
      try {
        const auto graph = std::make_shared<const ComputationGraph>(
            images
                ? image_layers(layers, number(run, "input_channels:"), number(run, "input_size:"))
                : row_layers(layers, number(run, "input:")));
        set_graph(row.job.figures, *graph, batch, true);
        row.job.graph = graph;
      } catch (const std::invalid_argument& e) {
        csv_.fail(layers_, std::string("found ") + e.what() +
                               ", expected a list of layers (type, elements, parameters)");
      }
      set_gpu(row.job.figures, gpu_);
      set_outcome(row, images);
      return row;
    }

   private:
    std::vector<ListedLayer> listed() const {
      try {
        return parse_layer_list(csv_.text(layers_));
      } catch (const std::invalid_argument& e) {
        csv_.fail(layers_, std::string("found ") + e.what() +
                               ", expected a list of layers (type, elements, parameters)");
      }
    }

    std::int64_t number(const std::string& run, std::string_view key) const {
      const std::string_view text = setting(run, key);
      const auto value = parse_integer(text.substr(0, text.find('.')));
      if (!value || *value < 1 || *value > kLongestInput) {
        csv_.refuse(run_, std::string(key) + " and a whole number from 1 to 100000 in it");
      }
      return *value;
    }

    void set_outcome(JobTableRow& row, bool images) const {
      const bool crashed = status_ && csv_.text(*status_) == "OOM_CRASH";
      const double memory = number_or_nan(csv_, memory_, kRunMib);
      if (target_ == Target::kMemory) {
        if (crashed) {
          row.at_least = kRunLimitMib;
        } else if (memory >= (images ? kLeastRunMib : 1)) {
          row.value = memory;
        }
      } else if (!crashed) {
        const double percent = number_or_nan(csv_, utilisation_, kRunPercent);
        if (percent >= 0) row.value = percent;
      }
      row.counts = !(std::isnan(row.value) && std::isnan(row.at_least));
    }

    CsvReader& csv_;
    Target target_;
    CsvReader::Column run_, layers_, batch_;
    std::optional<CsvReader::Column> memory_, utilisation_, status_;
    const GpuSpec& gpu_;
  };

  std::unique_ptr<Reader> open(CsvReader& csv, Target target,
                               const GpuTypes& types) const override {
    return std::make_unique<RunReader>(csv, target, types);
  }
};

}  // namespace

const JobTableForm& gpumemnet_table() {
  static const GpuMemNetTable form;
  return form;
}

}  // namespace corun::inline predictors
