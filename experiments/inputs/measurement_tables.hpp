#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/inputs/input_files.hpp"
#include "sim/measurement.hpp"
#include "traces/gavel_throughputs.hpp"
#include "traces/pair_table.hpp"
#include "traces/workload_names.hpp"

/// The tables of measured co-runs of one experiment, each read once, and the workload keys that
/// they share with its jobs. Keys are numbered by first appearance of a name, so all parts must
/// share one object: the workload hands it to the world, the world to the belief.
namespace corun {

class MeasurementTables {
 public:
  WorkloadKeys& keys() { return keys_; }

  /// The table at a path that InputFiles found, one row per pair. InputError as its reader, and if
  /// no pair has both speeds.
  const PairTable& pairs(const std::string& path);

  /// The measurements of corun's own file of co-runs. InputError as its reader, and if the file is of another
  /// kind.
  std::vector<CorunMeasurement> coruns(const std::string& path);

  /// Notes of what is doubtful in the files read, for the user.
  std::vector<std::string> notes() const;

  /// Gavel's rates [steps/s] for the GPU type of the configuration, read on the first call.
  /// InputError as find_rates() and the reader.
  const GavelThroughputs& rates(const Config& config, InputFiles& files);

  /// Makes rates() return the rates read with a trace. Null changes nothing.
  void take_rates(std::shared_ptr<const GavelThroughputs> rates);

 private:
  WorkloadKeys keys_;
  std::map<std::string, PairTable> pairs_;                 ///< by path
  std::map<std::string, std::vector<std::string>> notes_;  ///< by path
  std::shared_ptr<const GavelThroughputs> rates_;
};

/// The file of Gavel's rates and Gavel's name of the cluster's GPU type.
struct RatesFile {
  std::string path;
  std::string gpu;
};

/// Reads world.path and cluster.gpu_type. InputError at the wrong key: no world.path, a file
/// without rates, or a GPU type without rates.
RatesFile find_rates(const Config& config, InputFiles& files);

}  // namespace corun
