#pragma once

#include <map>
#include <optional>
#include <span>
#include <vector>

#include "models/elastic/triangulation.hpp"
#include "sim/elastic_program.hpp"

/// The measured time of a step of a program on one GPU type, by placement and local batch.
namespace corun::inline models {

struct StepTime {
  double step_s = 0;
  double sync_s = 0;  ///< the part of it in which gradients are exchanged
};

class StepTimes {
 public:
  /// The rules of the simulator of Pollux (Qiao et al., OSDI 2021):
  ///   - a placement that was measured, by its smallest rotation: linear in the local batch;
  ///   - else linear in (nodes, GPUs, local batch) over the Delaunay triangulation of all that was measured, of placements
  ///     with equally many nodes and GPUs the mean, with nodes at most as many as were measured.
  /// Beyond what was measured, which that simulator does not allow: as at the nearest local batch of the placement, and as
  /// at the nearest measured point (in shares of the range of each coordinate).
  /// std::invalid_argument if nothing was measured.
  explicit StepTimes(const ProgramOnType& measured);

  StepTime at(std::span<const int> on_nodes, double local_batch) const;

  int most_gpus() const { return most_gpus_; }

 private:
  struct Sample {
    double local_batch = 0;
    StepTime time;
  };

  StepTime between(int nodes, int gpus, double local_batch) const;

  std::map<std::vector<int>, std::vector<Sample>> placements_;  ///< by smallest rotation, by batch
  std::vector<StepTime> times_;                                 ///< by point of all_
  std::vector<Triangulation::Point> points_;
  std::optional<Triangulation> all_;  ///< nothing if the points have no volume
  int most_nodes_ = 1;
  int most_gpus_ = 1;
};

}  // namespace corun::inline models
