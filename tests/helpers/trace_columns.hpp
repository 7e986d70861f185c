#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "traces/trace.hpp"

/// One datum of all jobs of a trace, by JobId.
namespace corun::test {

inline std::vector<JobSpec> specs_of(const Trace& trace) {
  std::vector<JobSpec> specs;
  for (const TraceJob& job : trace.jobs) specs.push_back(job.spec);
  return specs;
}

/// Run times on the type Trace::measured_types[t] [s].
inline std::vector<double> solo_s_on(const Trace& trace, std::size_t t) {
  std::vector<double> times;
  for (const TraceJob& job : trace.jobs) times.push_back(on_type(job, t).solo_s);
  return times;
}

/// Memory demands on the type Trace::measured_types[t] [MiB].
inline std::vector<double> memory_mib_on(const Trace& trace, std::size_t t) {
  std::vector<double> demands;
  for (const TraceJob& job : trace.jobs) demands.push_back(on_type(job, t).memory_mib);
  return demands;
}

/// Adds a type with these data of all jobs.
inline void add_type(Trace& trace, const std::string& name, const std::vector<double>& solo_s,
                     const std::vector<double>& memory_mib) {
  trace.measured_types.push_back({name});
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    trace.jobs[j].on_types.push_back({solo_s.at(j), memory_mib.at(j)});
  }
}

inline std::size_t imputed_profiles(const Trace& trace) {
  std::size_t imputed = 0;
  for (const TraceJob& job : trace.jobs) imputed += job.spec.profile.imputed ? 1 : 0;
  return imputed;
}

}  // namespace corun::test
