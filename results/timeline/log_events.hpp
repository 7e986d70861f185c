#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "results/timeline/run_events.hpp"

/// The events of an event log, as `corun replay --timeline DIR` writes it: all of a run, without GPU types, nodes and
/// utilisation.
namespace corun::inline results {

/// Whether the file begins as an event log; false if it cannot be read.
bool is_event_log(const std::string& path);

class LogEvents final : public RunEvents {
 public:
  explicit LogEvents(std::string path) : path_(std::move(path)) {}

  void for_each(const std::function<void(const LogEntry&)>& take) const override;
  std::string_view name(JobId job) const override { return *names_[index(job)]; }
  [[noreturn]] void refuse(const std::string& why) const override;
  const std::vector<TimelineGpu>& gpus() const override { return gpus_; }
  const std::vector<UtilizationStep>& utilization() const override { return utilization_; }
  std::vector<std::pair<std::string, std::string>> facts() const override;

 private:
  std::string path_;
  mutable std::unordered_map<std::string, JobId> jobs_;  ///< by name, numbered by first event
  mutable std::vector<const std::string*> names_;        ///< keys of jobs_
  mutable std::size_t line_ = 0;
  std::vector<TimelineGpu> gpus_;
  std::vector<UtilizationStep> utilization_;
};

}  // namespace corun::inline results
