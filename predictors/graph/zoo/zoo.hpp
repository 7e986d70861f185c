#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "predictors/graph/computation_graph.hpp"

/// Computation graphs of well-known models, by their names in torchvision or their papers. To add one, write its
/// builder and one line in zoo.cpp.
namespace corun::inline predictors {

struct ZooInput {
  std::int64_t pixels = 0;  ///< side of an image; 0: as the model's source has it
  std::int64_t tokens = 0;  ///< length of a text; likewise
};

struct ZooEntry {
  std::string_view name;
  std::string_view family;
  std::string_view source;  ///< paper, or official configuration
  std::int64_t pixels = 0;  ///< of its source; 0: it reads texts
  std::int64_t tokens = 0;  ///< of its source; 0: it reads images
  /// The graph for one sample. std::invalid_argument for images or texts that are too small.
  ComputationGraph (*build)(const ZooInput& input) = nullptr;
};

/// All models, by family.
std::span<const ZooEntry> zoo_catalog();
/// The model of that name; nullptr if there is none.
const ZooEntry* find_zoo_model(std::string_view name);

/// The graph of an entry; sizes of 0 become those of its source.
ComputationGraph build_zoo_model(const ZooEntry& entry, ZooInput input = {});

}  // namespace corun::inline predictors
