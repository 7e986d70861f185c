#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

/// The jobs of a study on a real cluster that schedules in rounds, in the form of Shockwave's published
/// runs (Zheng et al., NSDI 2023): docs/real-runs.md has the columns. Each job trains for a number of
/// epochs; its batch size, and with it its speed, may change between epochs.
namespace corun::inline traces {

/// How a job changes its batch size. An open word of the trace; jobs of one model and mode run one script.
using AdaptationMode = std::string;

/// From an epoch on (they count from 0) the job has this global batch size.
struct BatchChange {
  std::int64_t from_epoch = 0;
  std::int64_t batch_size = 1;
};

struct RoundJob {
  double arrival_s = 0;
  std::string model;
  AdaptationMode mode;
  std::int64_t samples_per_epoch = 1;
  std::int64_t initial_batch_size = 1;
  int gpus = 1;            ///< all at once, or none
  std::int64_t steps = 1;  ///< in all, at the initial batch size
  std::int64_t epochs = 1;
  double declared_s = 1;  ///< run time alone as declared to policies and to the run-time limit
  std::vector<BatchChange>
      declared;                     ///< batch sizes as declared: the first from epoch 0, ascending
  std::vector<BatchChange> target;  ///< rule of the authors' simulator; empty if there is none

  /// Training samples in all.
  double samples() const {
    return static_cast<double>(samples_per_epoch) * static_cast<double>(epochs);
  }
};

/// Steps per second alone, by model, global batch size and GPUs.
class StepRates {
 public:
  void set(const std::string& model, std::int64_t batch_size, int gpus, double steps_per_s);
  std::optional<double> find(const std::string& model, std::int64_t batch_size, int gpus) const;
  /// The largest batch size that the table has for the model, at any number of GPUs; 0 if there is none.
  std::int64_t largest_batch(const std::string& model) const;

 private:
  std::map<std::tuple<std::string, std::int64_t, int>, double> rates_;
  std::map<std::string, std::int64_t> largest_;
};

struct RoundWorkload {
  std::vector<RoundJob> jobs;  ///< in order of arrival
  StepRates rates;
};

/// The last change of which `from_epoch` is at most `epoch`; the first one before that.
std::int64_t batch_at(const std::vector<BatchChange>& changes, std::int64_t epoch);

/// Reads trace.csv, throughput_oracle.csv, batch_schedule_predicted.csv and, if it exists,
/// batch_rule_simulated.csv of the directory. InputError for anything that docs/real-runs.md excludes.
RoundWorkload read_round_workload(const std::string& directory);

}  // namespace corun::inline traces
