#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "knowledge/model_file.hpp"
#include "models/allocation_speeds.hpp"
#include "models/interference/held_out.hpp"
#include "models/interference/interference_world.hpp"
#include "models/listed_pairs_world.hpp"
#include "runner/builders/cluster_builder.hpp"
#include "runner/builders/types_of_jobs.hpp"
#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/inputs/input_files.hpp"
#include "runner/inputs/measurement_tables.hpp"
#include "sim/world.hpp"
#include "traces/trace.hpp"

/// Builds the worlds, the true costs of co-runs, from `world` of a configuration (DESIGN 4.6).
namespace corun::inline runner {

class WorldBuilder {
 public:
  /// Reads the measurements and fits the model, or reads a fitted one. `config` has the models of its
  /// files (model_files.hpp). Throws InputError at the wrong key, and as the
  /// readers.
  WorldBuilder(const Config& config, const Cluster& cluster, InputFiles& files,
               std::shared_ptr<MeasurementTables> tables);

  /// The world of the jobs of a trace. Thread-safe.
  std::unique_ptr<World> world(const Trace& trace) const;

  /// A sentence that counts and names the workloads of a trace that no measurement of a measured world
  /// or of listed-pairs has; empty if there are none, and for other worlds. The keys are those of tables().
  std::string unmeasured_workloads(const Trace& trace) const;

  /// The speed and memory of the jobs of a trace on the types of the cluster: TypesOfJobs::table().
  const TypesOfJobs& types_of_jobs() const { return types_of_jobs_; }

  /// The GPU types of the measurements; empty for the worlds none and listed-pairs.
  const std::vector<std::string>& measured_on() const { return measured_on_; }
  /// The tables and keys of the constructor, with the world's; the belief adds its own.
  MeasurementTables& tables() const { return *tables_; }
  /// The file whose model is the world; null if there is none.
  const std::shared_ptr<const ModelFile>& model_file() const { return model_file_; }
  /// Sentences on measurements from another GPU type or sharing mode, or too few to fit a model.
  const Notes& notes() const { return notes_; }

 private:
  /// Measured groups, and the model for the others, on some GPU types of the cluster.
  struct CoRunCosts {
    std::shared_ptr<const MeasuredTable> measured;
    std::shared_ptr<const InterferenceModel> model;
    bool extrapolated = false;  ///< measured on another GPU type or sharing mode

    bool operator==(const CoRunCosts&) const = default;
  };

  void list_pairs(const Config& config, InputFiles& files);
  void refuse_effort(const Config& config);
  void note_effort(const std::string& model, double effort);
  std::shared_ptr<const InterferenceModel> fit(const Config& config, const SpeedTable& table,
                                               ModelCache& models);
  void note_lost(const Config& config, const std::optional<HeldOutError>& error);
  void note_origin(const std::vector<CorunMeasurement>& rows, const Cluster& cluster);
  void note_extrapolated(const std::vector<std::string>& types);
  std::unique_ptr<World> world_of(const Trace& trace, const CoRunCosts& costs) const;
  std::unique_ptr<World> co_runs(const Trace& trace) const;
  std::shared_ptr<const AllocationSpeeds> speeds_by_allocation(const Trace& trace) const;

  std::shared_ptr<MeasurementTables> tables_;
  LevelSpeeds levels_;
  LevelLinks links_;
  std::string links_place_;                    ///< of world.gbps_in_node, for messages
  std::shared_ptr<const ListedPairs> listed_;  ///< in place of the two below
  std::shared_ptr<const ModelFile> model_file_;
  std::vector<CoRunCosts> costs_;     ///< all different
  std::vector<std::size_t> by_type_;  ///< GpuType::id -> place in costs_
  TypesOfJobs types_of_jobs_;
  /// Of the measurements; null: the world goes by no name.
  std::unique_ptr<const std::set<WorkloadKey>> workloads_;
  std::string otherwise_;  ///< "the model contention ...": the costs of other workloads
  std::vector<std::string> measured_on_;
  Notes notes_;
};

}  // namespace corun::inline runner
