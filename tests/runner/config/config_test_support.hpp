#pragma once

#include <array>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_reader.hpp"
#include "sim/error.hpp"

/// Shared by the tests of configurations: a catalogue of policies, reading of texts, and texts that
/// must be refused.
namespace corun::config_test {

using Strings = std::vector<std::string>;

// A catalogue with a parameter of each kind, so that these tests need no real policy.
inline const std::array<ParameterSpec, 8> kParameters = {{
    {"pairing",
     "how",
     ParameterKind::kChoice,
     std::string("matching"),
     0,
     0,
     {"matching", "greedy-rank", "given"}},
    {"epsilon", "share of random choices", ParameterKind::kNumber, 0.0, 0, 1, {}},
    {"order", "pairs of clusters", ParameterKind::kClusterPairs, std::monostate{}, 0, 0, {}},
    {"bin", "jobs", ParameterKind::kJobs, std::monostate{}, 0, 0, {}},
    {"bin_max",
     "jobs in a bin",
     ParameterKind::kInteger,
     std::monostate{},
     1,
     std::numeric_limits<double>::infinity(),
     {}},
    {"threshold",
     "any number or none",
     ParameterKind::kNumber,
     std::monostate{},
     -std::numeric_limits<double>::infinity(),
     std::numeric_limits<double>::infinity(),
     {}},
    {"steps", "some numbers", ParameterKind::kNumbers, std::vector<double>{1}, 0, 9, {}},
    {"command", "some words", ParameterKind::kTexts, std::monostate{}, 0, 0, {}},
}};

inline const std::array<PolicyEntry, 4> kPolicies = {{
    {"fcfs", "oldest two", PolicyNeeds::kNothing, {}, nullptr},
    {"random", "any two", PolicyNeeds::kNothing, {}, nullptr},
    {"min-slowdown", "the least slowdown", PolicyNeeds::kBelief, kParameters, nullptr},
    {"max-packing", "fullest", PolicyNeeds::kBelief, kParameters, nullptr},
}};

// The catalogue with all default policies, for overrides of the default list.
inline std::vector<PolicyEntry> with_defaults() {
  std::vector<PolicyEntry> entries(kPolicies.begin(), kPolicies.end());
  for (const std::string_view name :
       {"kube-default", "balance", "opposites", "exclusive", "oracle"}) {
    entries.push_back({name, "", PolicyNeeds::kNothing, kParameters, nullptr});
  }
  return entries;
}

inline Config parse(std::string_view text, const Strings& overrides = {}) {
  return parse_config(text, "c.yaml", parse_overrides(overrides), kPolicies);
}

/// The text of the InputError, or "accepted".
inline std::string error_of(std::string_view text, const Strings& overrides = {}) {
  try {
    parse(text, overrides);
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

struct Refusal {
  const char* name;
  std::string text;
  const char* place;  // beginning of the error
  const char* hint;   // a part of it
};

inline void PrintTo(const Refusal& r, std::ostream* out) { *out << r.name; }

inline void expect_refused(const Refusal& refusal) {
  const std::string error = error_of(refusal.text);
  const std::string place = std::string(refusal.place) + ": ";
  EXPECT_EQ(error.substr(0, place.size()), place) << error;
  EXPECT_NE(error.find(refusal.hint), std::string::npos) << error;
  EXPECT_EQ(error.find_first_of("\n\r\t"), std::string::npos) << error;
}

inline std::string named(const testing::TestParamInfo<Refusal>& info) { return info.param.name; }

// Every key with a value that is not its default, in block and flow style.
inline const std::string kFull = R"(# everything
workload:
  source: 'csv'      # quoted
  path: "data/jobs '1' \u00e4.csv"
  order: trace
  jobs: 7
  load: 0.1
  profiles: jrs
cluster: {path: nodes.csv, nodes: 3, gpus_per_node: 2, gpu_type: A100, gpu_memory_mib: 40960.5,
          gpu_speed: 2.5, cpu_milli_per_node: 1000, memory_mib_per_node: 2000, sharing: mps, max_jobs_per_gpu: 3,
          oom: {ramp_s: 0, retries: 0}}
world: {model: contention, fallback: cluster-mean, path: 'true', noise: false}
belief: {model: truth, initial: none}
estimates: {duration: lognormal, sigma: 0.30000000000000004}
profiling: {mode: minute, keeps_progress: true}
probing: {probes: 0, seconds: 0.5, keeps_progress: true}
preemption: {save_s: 1.5, restore_s: 2, lost_work: 0.25}
control: {start: join, plan: once, round_s: 1.5e2, reallocate_s: 1920, tick_s: 5}
policies:
  - fcfs
  - {name: min-slowdown, label: '1e3', pairing: given, epsilon: 0.1,
     order: [[1, 1], [0, 2]], bin: [J7-205, 12, 'a, b'], bin_max: 4}
  - name: max-packing
    bin_max: null
    threshold: -1.5
    epsilon: -0
    steps: [2, 0.5]
    command: [python3, '-c', 7, 'a b']
replications: 9
seed: 18446744073709551615
)";

}  // namespace corun::config_test
