#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/gpu_spec.hpp"
#include "sim/speed_table.hpp"

/// The GPU types that corun knows, with their public specifications, and the names under which public tables
/// have them.
namespace corun::inline traces {

/// All types, by architecture. The slices of GPUs with MIG are types of their own, "A100-40GB:1g.5gb", with
/// their share of the SMs, the memory and its bandwidth.
std::span<const GpuSpec> gpu_catalog();

/// The type of this name, or of an alias: case, spaces, '-', '_' and the words NVIDIA, Tesla, GeForce do not
/// matter, so "GeForce RTX 3090" is RTX-3090. nullptr if there is none.
const GpuSpec* find_gpu(std::string_view name);

/// The campaign of measurements on a GPU type with a sharing mode: the type's name and figures, or the name as given if it
/// is not known.
SpeedTable::Campaign campaign_on(std::string_view gpu, Sharing sharing);

/// A GPU type of the user's own.
struct OwnGpuType {
  GpuSpec spec;
  std::vector<std::string> aliases;
  std::string place;  ///< for messages: FILE:LINE:COLUMN
};

/// The types of the catalogue and own ones, which come before those of the catalogue.
class GpuTypes {
 public:
  GpuTypes() = default;  ///< the catalogue's
  /// InputError at a type's place if its name or an alias stands for another own type.
  explicit GpuTypes(std::vector<OwnGpuType> own);

  /// As find_gpu(), among all types. The pointer lives as long as this object.
  const GpuSpec* find(std::string_view name) const;

  /// Whether two names stand for one type; unknown names only for themselves.
  bool same(std::string_view a, std::string_view b) const;

  /// The name of the type for which `name` stands; `name` itself if it is not known.
  std::string standard_name(std::string_view name) const;

  /// Advice for a name that is not known: the nearest one, and the list of all.
  std::string advice(std::string_view name) const;

  /// Own types, then the catalogue's without those that they replace.
  std::vector<const GpuSpec*> all() const;

 private:
  std::vector<OwnGpuType> own_;
  std::map<std::string, std::size_t, std::less<>> by_name_;  ///< place in own_, aliases included
};

/// Gavel's name (v100, p100, k80) for a type; empty for a type that Gavel lacks.
std::string_view gpu_of_gavel(std::string_view type);

}  // namespace corun::inline traces
