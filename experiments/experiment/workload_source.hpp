#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "experiments/inputs/input_files.hpp"
#include "experiments/inputs/measurement_tables.hpp"
#include "traces/catalog.hpp"

/// From `workload` of a configuration to the jobs of each replication.
namespace corun {

/// The seed of a replication: it can be repeated alone.
inline std::uint64_t seed_of(const Config& config, std::size_t replication) {
  return config.seed + replication;
}

class WorkloadSource {
 public:
  /// Files are read here, once: one that changes or goes during a long run must not change the run.
  /// With a `queue` the jobs are its, whatever config.workload names. Throws InputError at the key that
  /// does not fit, and as the readers. `config` is not null.
  WorkloadSource(std::shared_ptr<const Config> config, const Cluster& cluster,
                 std::optional<Trace> queue, InputFiles& files);

  /// The jobs of a replication by JobId, and in `workload.arrivals` the order in which they come; shared
  /// where replications do not differ. Any thread. InputError where a generating source cannot make them.
  std::shared_ptr<const Trace> trace(std::size_t replication) const;

  /// The jobs are those of a file or of a queue that was given.
  bool is_given() const { return given_ != nullptr; }
  /// The tables and names that reading the workload began; the world's are read into them next.
  const std::shared_ptr<MeasurementTables>& tables() const { return tables_; }
  /// The source reads a file: a trace, or a table to draw jobs from.
  bool reads_file() const { return entry_->reads_file; }
  /// What the file brings with it: jobs left out, virtual clusters and GPU models that nobody heeds.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void read_file(const Cluster& cluster, InputFiles& files);
  void note_file(const Trace& trace, const Cluster& cluster, InputFiles& files);
  std::shared_ptr<const Trace> jobs(std::size_t replication) const;
  bool shuffles(const Trace& jobs) const;

  std::shared_ptr<const Config> config_;
  std::shared_ptr<MeasurementTables> tables_;
  const TraceEntry* entry_ = nullptr;
  int capacity_gpus_ = 0;
  std::shared_ptr<const Trace> given_;     ///< null: the source generates
  const PairTable* drawn_from_ = nullptr;  ///< of sources that draw from a table
  mutable std::mutex keys_mutex_;          ///< generating hands out keys
  std::vector<std::string> warnings_;
};

}  // namespace corun
