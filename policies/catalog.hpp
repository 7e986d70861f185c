#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string_view>

#include "policies/parameters.hpp"
#include "sim/allocation_belief.hpp"
#include "sim/belief.hpp"
#include "sim/policy.hpp"

/// The table of policies: name, one line, parameters, traits, factory. policies/README.md says how to add one.
namespace corun::inline policies {

/// A policy's source of knowledge beside the view.
enum class PolicyNeeds : std::uint8_t {
  kNothing,
  kBelief,             ///< the configured belief, which learns from finished co-runs
  kTruth,              ///< the world's expected costs; only `oracle`, and the output says so
  kAllocations,        ///< what elastic jobs gain by their allocations: PolicyContext::allocations
  kFittedAllocations,  ///< the same as fitted to what they measured so far: PolicyContext::fitted
};

/// What a preemption costs a job, by the configuration.
struct PreemptionLoss {
  double seconds = 0;  ///< to save and load its state, at full speed
  double work = 0;     ///< share of the run's work that must be done again, 0 to 1
  int large_gang = std::numeric_limits<int>::max();  ///< gangs of more GPUs take `large_seconds`
  double large_seconds = 0;

  double seconds_of(int gpus) const { return gpus > large_gang ? large_seconds : seconds; }
};

struct PolicyContext {
  Parameters parameters;
  std::unique_ptr<Belief> belief;  ///< only for PolicyNeeds::kBelief and kTruth
  std::uint64_t seed = 0;          ///< of the replication
  bool plan_once = false;          ///< control.plan: once
  /// Set from outside when the run must end: a policy that waits for an answer then throws a PolicyError.
  /// May be null; outlives the policy.
  const std::atomic<bool>* stop = nullptr;
  PreemptionLoss preemption = {};
  Duration round{
      0};  ///< control.round_s where the scheduler decides at the ends of rounds only; else 0
  /// Only for PolicyNeeds::kAllocations and PolicyEntry::takes_allocations; null: no job's speed depends on its
  /// allocation. It outlives the policy, and what it answers changes only between the policy's calls.
  const AllocationBelief* allocations = nullptr;
  bool allocations_learn = false;  ///< they change while jobs run, not only with JobView::phase
  /// Only for PolicyNeeds::kFittedAllocations and PolicyEntry::takes_allocations; null: jobs measure nothing to which a
  /// belief could be fitted.
  std::unique_ptr<AllocationBelief> fitted = {};
};

struct PolicyEntry {
  std::string_view name;
  std::string_view description;  ///< one line, with its source
  PolicyNeeds needs = PolicyNeeds::kNothing;
  std::span<const ParameterSpec> parameters;
  std::function<std::unique_ptr<Policy>(PolicyContext context)> make;
  /// For needs that depend on parameters; else nullptr.
  PolicyNeeds (*needs_with)(const Parameters& parameters) = nullptr;
  PolicyTraits traits = {};
  /// For traits that depend on parameters; else nullptr.
  PolicyTraits (*traits_with)(const Parameters& parameters) = nullptr;
  std::string_view alias = {};  ///< another name in the literature; empty: none
  /// Beside a belief it gets PolicyContext::allocations or, unless it knows the truth, `fitted`.
  bool takes_allocations = false;

  bool is_called(std::string_view word) const {
    return word == name || (!alias.empty() && word == alias);
  }
  PolicyNeeds needs_for(const Parameters& given) const {
    return needs_with == nullptr ? needs : needs_with(given);
  }
  PolicyTraits traits_for(const Parameters& given) const {
    return traits_with == nullptr ? traits : traits_with(given);
  }
};

/// In the order of listings and default comparisons; those of CORUN_POLICIES (plugin.hpp) come last. The first call throws what
/// load_policies() throws.
std::span<const PolicyEntry> policy_catalog();

/// nullptr if there is no policy of that name.
const PolicyEntry* find_policy(std::string_view name);

}  // namespace corun::inline policies
