#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "runner/builders/cluster_builder.hpp"
#include "runner/builders/service_builder.hpp"
#include "runner/builders/types_of_jobs.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/inputs/input_files.hpp"
#include "runner/inputs/measurement_tables.hpp"
#include "traces/catalog.hpp"

/// The jobs of each replication, from `workload` of a configuration.
namespace corun::inline runner {

/// The seed of a replication.
inline std::uint64_t seed_of(const Config& config, std::size_t replication) {
  return config.seed + replication;
}

class WorkloadSource {
 public:
  /// Reads all files, so that later changes of a file do not affect a long run. The jobs of
  /// `queue`, if given, replace config.workload. `config` must not be null; `cluster` must outlive the object. Throws InputError at
  /// the wrong key, and as the readers.
  WorkloadSource(std::shared_ptr<const Config> config, const Cluster& cluster,
                 std::optional<Trace> queue, InputFiles& files);

  /// The jobs of a replication. Replications share the object if they differ in the order of arrival at most.
  /// Thread-safe. InputError if a generating source fails.
  std::shared_ptr<const Trace> trace(std::size_t replication) const;
  /// The order in which the jobs of trace(replication) arrive: by submit time; those of one instant in the order
  /// of their identifiers, or in that of one permutation per seed, the same for all policies.
  std::vector<JobId> arrivals(const Trace& trace, std::size_t replication) const;

  /// Whether trace() differs between replications.
  bool draws_jobs() const;
  /// Whether arrivals() is a permutation by replication.
  bool shuffles(const Trace& trace) const;

  /// Whether the jobs come from a file or a given queue, not from a generator.
  bool is_given() const { return given_ != nullptr; }
  /// Rows of the file that are no jobs; none for generated jobs.
  std::span<const LeftOut> left_out() const {
    return given_ != nullptr ? std::span<const LeftOut>(given_->left_out)
                             : std::span<const LeftOut>();
  }
  /// Whether the workload keys of the jobs are those of tables(); not so for a given `queue`.
  bool shares_keys() const { return shares_keys_; }
  /// The tables and keys, filled by reading the workload; the world adds its own.
  const std::shared_ptr<MeasurementTables>& tables() const { return tables_; }
  /// Services beside the jobs; none for a given `queue`. Their replicas are the last jobs of trace().
  const ServiceBuilder& services() const { return services_; }
  /// Whether the source reads a file: a trace, or a table to draw jobs from.
  bool reads_file() const { return entry_->reads_file; }
  /// Sentences on jobs left out, on virtual clusters and GPU models that are ignored, and on
  /// percentages that look like fractions.
  const Notes& notes() const { return notes_; }

 private:
  void read_jobs(InputFiles& files);
  void read_file(const Cluster& cluster, InputFiles& files);
  std::map<WorkloadKey, double> measured_memory(const Trace& trace, const Cluster& cluster,
                                                InputFiles& files);
  void read_solo_times(InputFiles& files);
  void fit_phases(Trace& trace) const;
  /// Reads the table that `key` names, and checks its names of GPU types.
  const SoloTable& solo_table(InputFiles& files, const std::string& path, const char* key);
  std::optional<std::string> reference_of_draws() const;
  /// Predicts the profiles of jobs that name a model of the zoo.
  void predict_profiles(Trace& trace);
  /// Adds the solo times by GPU type to a trace, and leaves its jobs the types on which they run.
  void fit_types(Trace& trace) const;
  void note_file(const Trace& trace, const Cluster& cluster, InputFiles& files);
  void note_units(const Trace& trace);

  std::shared_ptr<const Config> config_;
  std::shared_ptr<MeasurementTables> tables_;
  const TraceEntry* entry_ = nullptr;
  const Cluster* cluster_;
  TypesOfJobs types_;
  ServiceBuilder services_;
  bool shares_keys_ = true;
  std::shared_ptr<const Trace> given_;          ///< null: the source generates
  const Measurements* drawn_from_ = nullptr;    ///< for sources that draw from one, else null
  const SoloTable* drawn_from_solo_ = nullptr;  ///< the same
  const SoloTable* solo_times_ = nullptr;       ///< workload.solo_times, or null
  mutable std::mutex keys_mutex_;               ///< guards `tables_`: generating adds keys
  Notes notes_;
};

}  // namespace corun::inline runner
