#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "policies/parameters.hpp"

/// Where a parameter of a policy has an effect. A policy says so where it declares the parameter
/// (ParametersOf::only_where); the runner, which knows the configuration, tells users of a setting without effect.
namespace corun::inline policies {

/// The configuration and the jobs beside which a parameter is set.
struct ParameterContext {
  const Parameters& parameters;       ///< all of the policy
  const ParameterSpec& spec;          ///< of the parameter in question
  std::int64_t max_jobs_per_gpu = 0;  ///< 0: no limit
  std::size_t jobs = 0;
  std::size_t nodes = 0;
  std::size_t gpu_types = 1;
  bool gangs = false;         ///< some job wants several GPUs
  bool elastic = false;       ///< some job may have several numbers of GPUs
  bool jobs_differ = false;   ///< in their numbers of GPUs, or in the types that they name
  bool rounds = false;        ///< control.mode is rounds
  bool knows_memory = false;  ///< of some job
  bool estimates_run_times = false;
  bool services = false;              ///< the workload has services
  bool believes_by_clusters = false;  ///< the policy's belief is about clusters of jobs
};

inline std::string jobs_share(const ParameterContext& c) {
  return c.max_jobs_per_gpu == 1 ? "cluster.max_jobs_per_gpu is 1" : "";
}

inline std::string memory_is_known(const ParameterContext& c) {
  return c.knows_memory ? "" : "no job has a known memory demand";
}

inline std::string jobs_share_memory(const ParameterContext& c) {
  std::string reason = jobs_share(c);
  return reason.empty() ? memory_is_known(c) : reason;
}

inline std::string some_jobs_are_gangs(const ParameterContext& c) {
  return c.gangs ? "" : "no job wants more than one GPU";
}

inline std::string some_jobs_are_elastic(const ParameterContext& c) {
  return c.elastic ? "" : "no job may have another number of GPUs than it asks for";
}

inline std::string jobs_are_of_several_sizes(const ParameterContext& c) {
  return c.jobs_differ ? "" : "all jobs want equally many GPUs";
}

inline std::string gpus_are_of_several_types(const ParameterContext& c) {
  return c.gpu_types > 1 ? "" : "all GPUs are of one type";
}

/// Of a number of waiting jobs that are looked at: more jobs than it, or than its default (null: all jobs).
inline std::string jobs_exceed_window(const ParameterContext& c) {
  const auto holds_all = [&](const ParameterValue& window) {
    const auto* const size = std::get_if<std::int64_t>(&window);
    return size == nullptr || c.jobs <= static_cast<std::size_t>(*size);
  };
  return holds_all(c.spec.fallback) && holds_all(c.parameters.value(c.spec.name))
             ? "the workload has " + std::to_string(c.jobs) + " jobs"
             : "";
}

}  // namespace corun::inline policies
