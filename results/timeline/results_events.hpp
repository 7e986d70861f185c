#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "results/hdf5_table.hpp"
#include "results/timeline/run_events.hpp"

/// The events of a run in a results file of `corun replay` or `corun live run` (docs/results.md, "Details").
namespace corun::inline results {

/// Which run of a results file.
struct RunChoice {
  std::string policy;  ///< label; empty: the first
  std::int64_t replication = 0;
};

class ResultsEvents final : public RunEvents {
 public:
  /// Reads the run. Throws InputError that begins with the path if the file is no results file, is damaged, or lacks the
  /// events of the run, and that begins with --policy or --replication if it has no such run. Locks hdf5_mutex().
  ResultsEvents(const std::string& path, const RunChoice& choice);

  void for_each(const std::function<void(const LogEntry&)>& take) const override;
  std::string_view name(JobId job) const override;
  [[noreturn]] void refuse(const std::string& why) const override;
  const std::vector<TimelineGpu>& gpus() const override { return gpus_; }
  const std::vector<UtilizationStep>& utilization() const override { return utilization_; }
  std::vector<std::pair<std::string, std::string>> facts() const override { return facts_; }

  const std::vector<std::string>& policies() const { return policies_; }  ///< labels
  const std::string& policy() const { return policies_[policy_]; }
  std::size_t jobs() const { return name_ends_.size(); }
  /// Whether the file lacks events because of its bounds, of this run or another.
  bool is_cut() const { return left_out_ > 0; }

 private:
  void read(const std::string& path, const RunChoice& choice);
  void read_gpus(hid_t file);
  void read_names(hid_t file, std::int64_t replication);
  void read_events(hid_t file, std::int64_t replication);
  void read_utilization(hid_t file, std::int64_t replication);

  std::string path_;
  std::vector<std::string> policies_;
  std::size_t policy_ = 0;
  std::vector<TimelineGpu> gpus_;
  std::string names_;                   ///< of the jobs, one after another
  std::vector<std::size_t> name_ends_;  ///< in names_
  // Rows of /events: one per event and GPU.
  std::vector<Time> time_;
  std::vector<LogKind> kind_;
  std::vector<JobId> job_;
  std::vector<std::int64_t> gpu_;  ///< -1: none
  std::int64_t left_out_ = 0;
  std::vector<UtilizationStep> utilization_;
  std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace corun::inline results
