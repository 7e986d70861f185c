#pragma once

#include <span>
#include <string>
#include <string_view>

#include "runner/builders/cluster_builder.hpp"
#include "traces/trace.hpp"

/// The names of GPU types in input files, which must be names of types that something describes.
namespace corun::inline runner {

/// A name of a GPU type, and where it stands: FILE:LINE:COLUMN.
struct TypeName {
  std::string_view name;
  std::string_view place;
};

/// InputError at the place of a name for which the catalogue, cluster.gpu_types and the cluster have no type, and
/// at that of a name whose type has another name before it. Names that are equal count once.
void check_type_names(std::span<const TypeName> names, const Cluster& cluster);

/// The same for the GPU models that the jobs of a trace may run on, but any number of names may be of one type.
/// `place`: of the trace.
void check_gpu_models(const Trace& trace, const Cluster& cluster, const std::string& place);

}  // namespace corun::inline runner
