#pragma once

#include <map>
#include <memory>
#include <string>

#include "experiments/config/config.hpp"
#include "experiments/inputs/input_files.hpp"
#include "traces/gavel_throughputs.hpp"
#include "traces/pair_table.hpp"
#include "traces/workload_names.hpp"

/// The tables of measured co-runs that one experiment reads, each read once, and the keys by which
/// they and its jobs name workloads. A key is the number of the name's first appearance: whoever reads
/// next takes the tables from whoever read before (the world from the workload, the belief from the world).
namespace corun {

class MeasurementTables {
 public:
  WorkloadKeys& keys() { return keys_; }

  /// The table at a path that InputFiles found, one row per pair. InputError: as its reader, or no pair
  /// has both speeds.
  const PairTable& pairs(const std::string& path);

  /// Gavel's rates, read on the first call, for the GPU type of the configuration. InputError: as
  /// find_rates() and their reader.
  const GavelThroughputs& rates(const Config& config, InputFiles& files);

  /// Rates that came with a trace: rates() gives them. Null changes nothing.
  void take_rates(std::shared_ptr<const GavelThroughputs> rates);

 private:
  WorkloadKeys keys_;
  std::map<std::string, PairTable> pairs_;  ///< by path
  std::shared_ptr<const GavelThroughputs> rates_;
};

/// world.path, which must be a file of Gavel's rates, and Gavel's name of the cluster's GPU type.
struct RatesFile {
  std::string path;
  std::string gpu;
};

/// InputError at the key that does not fit: no world.path, no rates in it, or no rates for the type.
RatesFile find_rates(const Config& config, InputFiles& files);

}  // namespace corun
