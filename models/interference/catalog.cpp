#include "models/interference/catalog.hpp"

#include <array>

#include "models/interference/cluster_mean_speed.hpp"
#include "models/interference/contention.hpp"

namespace corun {

namespace {

template <typename Model>
std::unique_ptr<SpeedModel> fit(std::span<const CorunMeasurement> rows) {
  return std::make_unique<Model>(Model::fit(rows));
}

}  // namespace

std::span<const SpeedModelEntry> speed_model_catalog() {
  static const std::array<SpeedModelEntry, 2> catalog{{
      {"contention", "physical, k-way: units, memory traffic, launch latency; four coefficients",
       fit<ContentionModel>},
      {"cluster-mean", "the papers' view: mean speed per ordered pair of clusters",
       fit<ClusterMeanSpeed>},
  }};
  return catalog;
}

const SpeedModelEntry* find_speed_model(std::string_view name) {
  for (const SpeedModelEntry& entry : speed_model_catalog()) {
    if (entry.name == name) return &entry;
  }
  return nullptr;
}

}  // namespace corun
