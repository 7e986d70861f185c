#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "models/elastic/elastic_jobs.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/inputs/input_files.hpp"
#include "traces/tables/gavel_throughputs.hpp"
#include "traces/tables/measurements.hpp"
#include "traces/tables/solo_table.hpp"
#include "traces/workload_names.hpp"

/// The tables of measured co-runs and solo times of one experiment, each read once, and the workload keys that
/// they share with its jobs. Keys are numbered by first appearance of a name, so all parts must
/// share one object: the workload hands it to the world, the world to the belief.
namespace corun::inline runner {

class MeasurementTables {
 public:
  WorkloadKeys& keys() { return keys_; }

  /// What a world or a belief learns from: any form of table at a path that InputFiles found. corun's own co-runs are
  /// runs, Gavel's rates are those of rates_gpu(). InputError as its reader, for a file of another kind, and if nothing
  /// in it was measured.
  const Measurements& measured(const std::string& path, const Config& config);

  /// The jobs and speeds of a table to draw jobs from; not of Gavel's rates. InputError likewise.
  const Measurements& pairs(const std::string& path);

  /// The table of solo times at a path that InputFiles found. InputError as its reader.
  const SoloTable& solo(const std::string& path);

  /// Notes of what is doubtful in the files read, for the user.
  Notes notes() const;

  /// The rates of the file at `path` for a GPU type of the cluster, read on the first call. nullptr if the file has no
  /// rates, or Gavel none for the type. InputError as the reader.
  const Measurements* rates_on(const std::string& path, std::string_view gpu_type);

  /// The speed of the workload's jobs by allocation, where their programs were measured; else null.
  const std::shared_ptr<const ElasticJobs>& elastic() const { return elastic_; }
  void take_elastic(std::shared_ptr<const ElasticJobs> elastic) { elastic_ = std::move(elastic); }

  /// Keeps the rates read with a trace from the file at `path`. Null changes nothing.
  void take_rates(std::shared_ptr<const GavelThroughputs> rates, const std::string& path);

 private:
  const Measurements& table(const std::string& path, CorunsAs as);
  const Measurements& rates(const std::string& path, const std::string& gpu);

  WorkloadKeys keys_;
  std::shared_ptr<const ElasticJobs> elastic_;
  std::map<std::pair<std::string, CorunsAs>, Measurements> tables_;  ///< by path
  std::map<std::string, SoloTable> solo_;                            ///< by path
  std::map<std::string, std::vector<std::string>> notes_;            ///< by path
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const GavelThroughputs>>
      rates_;  ///< by path and Gavel's name of the GPU type
};

/// The file of Gavel's rates and Gavel's name of the reference GPU type.
struct RatesFile {
  std::string path;
  std::string gpu;
};

/// Gavel's name of the reference type: workload.gpu_type, else the first type of cluster.machines that has rates, else
/// cluster.gpu_type. InputError at the key of a type without rates.
std::string rates_gpu(const Config& config);

/// The trace, if it has rates of its own: they come before those of world.path.
std::optional<std::string> rates_of_trace(const Config& config, InputFiles& files);

/// rates_of_trace(), else world.path; and rates_gpu(). InputError at the wrong key: no world.path, or a file without rates.
RatesFile find_rates(const Config& config, InputFiles& files);

}  // namespace corun::inline runner
