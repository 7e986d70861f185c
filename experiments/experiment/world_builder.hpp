#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/config/config.hpp"
#include "experiments/experiment/cluster_builder.hpp"
#include "experiments/inputs/input_files.hpp"
#include "experiments/inputs/measurement_tables.hpp"
#include "models/interference/interference_world.hpp"
#include "models/listed_pairs_world.hpp"
#include "sim/world.hpp"
#include "traces/trace.hpp"

/// From `world` of a configuration to what co-runs really cost in each replication (DESIGN 4.6).
namespace corun {

class WorldBuilder {
 public:
  /// Reads the measurements and fits the model, once. Throws InputError at the key that does not fit,
  /// and as the readers.
  WorldBuilder(const Config& config, const Cluster& cluster, InputFiles& files,
               std::shared_ptr<MeasurementTables> tables);

  /// The world over the jobs of a trace. Any thread.
  std::unique_ptr<World> world(const Trace& trace) const;

  /// The tables it was given and what it has read; the belief's are read into them next.
  MeasurementTables& tables() const { return *tables_; }
  /// Measured elsewhere than on this cluster, or too little to fit a model on.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void list_pairs(const Config& config, InputFiles& files);
  void fit(const Config& config, const SpeedTable& table);
  void note_origin(const std::vector<CorunMeasurement>& rows, const Cluster& cluster);

  std::shared_ptr<MeasurementTables> tables_;
  std::shared_ptr<const ListedPairs> listed_;  ///< in place of the two below
  std::shared_ptr<const MeasuredTable> measured_;
  std::shared_ptr<const InterferenceModel> model_;
  bool extrapolated_ = false;  ///< the cluster is not what the world was measured on
  std::vector<std::string> warnings_;
};

}  // namespace corun
