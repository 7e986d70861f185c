#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runner/config/config.hpp"
#include "runner/inputs/input_files.hpp"
#include "sim/measurement.hpp"
#include "traces/tables/gavel_throughputs.hpp"
#include "traces/tables/pair_table.hpp"
#include "traces/tables/solo_table.hpp"
#include "traces/workload_names.hpp"

/// The tables of measured co-runs and solo times of one experiment, each read once, and the workload keys that
/// they share with its jobs. Keys are numbered by first appearance of a name, so all parts must
/// share one object: the workload hands it to the world, the world to the belief.
namespace corun::inline runner {

class MeasurementTables {
 public:
  WorkloadKeys& keys() { return keys_; }

  /// The table at a path that InputFiles found, one row per pair. InputError as its reader, and if
  /// no pair has both speeds.
  const PairTable& pairs(const std::string& path);

  /// The table of solo times at a path that InputFiles found. InputError as its reader.
  const SoloTable& solo(const std::string& path);

  /// The measurements of corun's own file of co-runs. InputError as its reader, and if the file is of another
  /// kind.
  std::vector<CorunMeasurement> coruns(const std::string& path);

  /// Notes of what is doubtful in the files read, for the user.
  std::vector<std::string> notes() const;

  /// Gavel's rates [steps/s] for the reference GPU type of the configuration, read on the first call.
  /// InputError as find_rates() and the reader.
  const GavelThroughputs& rates(const Config& config, InputFiles& files);

  /// The rates of the same file for another GPU type of the cluster, read on the first call; nullptr if
  /// Gavel has none for it, and before rates().
  const GavelThroughputs* rates_on(std::string_view gpu_type);

  /// Makes rates() return the rates read with a trace from the file at `path`. Null changes nothing.
  void take_rates(std::shared_ptr<const GavelThroughputs> rates, const std::string& path);

 private:
  WorkloadKeys keys_;
  std::map<std::string, PairTable> pairs_;                 ///< by path
  std::map<std::string, SoloTable> solo_;                  ///< by path
  std::map<std::string, std::vector<std::string>> notes_;  ///< by path
  std::shared_ptr<const GavelThroughputs> rates_;
  std::string rates_path_;
  std::map<std::string, GavelThroughputs> rates_on_;  ///< of other GPU types, by Gavel's name
};

/// The file of Gavel's rates and Gavel's name of the reference GPU type.
struct RatesFile {
  std::string path;
  std::string gpu;
};

/// Reads world.path, and the reference type: workload.gpu_type, else the first type of cluster.machines that
/// has rates, else cluster.gpu_type. InputError at the wrong key: no world.path, a file
/// without rates, or a GPU type without rates.
RatesFile find_rates(const Config& config, InputFiles& files);

}  // namespace corun::inline runner
