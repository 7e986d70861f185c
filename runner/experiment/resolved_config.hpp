#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runner/config/config.hpp"
#include "runner/config/note.hpp"
#include "runner/inputs/input_cache.hpp"
#include "traces/trace.hpp"

/// The values of keys that depend on other keys, on files or on jobs. Nothing else asks whether a key was given.
namespace corun::inline runner {

struct Resolved {
  std::shared_ptr<const Config> config;
  Notes notes;  ///< on values that nobody gave; not part of the results
};

/// Fills in, where the key was not given,
///   cluster.nodes       those of the virtual clusters
///   belief.model, world.model, world.fallback    that of a model file in belief.initial and world.path
///   world.fallback      factors, if the default one cannot be fitted on the table of world.path
///   estimates.duration  exact, if a policy needs estimates of run times
///   profiling.mode      minute, if a policy measures profiles, unless jobs are moved in rounds
///   policies            the default comparison without policies that cannot place a job of replication 0
/// and gives cluster.gpu_type the catalogue's name. Written and read again, the result is the same experiment. `queue` as
/// for WorkloadSource; `cache` must not be null. InputError at a key that was given and names another model than its
/// file, and as build_cluster() and WorkloadSource.
Resolved resolve(Config config, const std::string& data_directory,
                 const std::optional<Trace>& queue, const std::shared_ptr<InputCache>& cache);

/// A configuration that is not resolved, as YAML: without the keys that resolve() fills in unless they were given.
std::string dump_unresolved(const Config& config);

/// The configuration with other defaults: a key that was not given has the value of `defaults`.
Config with_defaults(Config config, Config defaults);

/// InputError at the first of `keys` that was given: "KEY WHY".
void refuse_given(const Config& config, std::span<const std::string_view> keys,
                  const std::string& why);

}  // namespace corun::inline runner
