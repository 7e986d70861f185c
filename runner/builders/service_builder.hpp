#pragma once

#include <string>
#include <vector>

#include "runner/config/config.hpp"
#include "runner/inputs/input_files.hpp"
#include "services/service_run.hpp"
#include "traces/requests/service_list.hpp"
#include "traces/trace.hpp"
#include "traces/workload_names.hpp"

/// The services of a configuration (workload.services): as plans for ServiceRun, and their replicas as jobs of a trace.
namespace corun::inline runner {

class ServiceBuilder {
 public:
  ServiceBuilder() = default;
  /// No services where the key is null. InputError at the key, or at a field of a file.
  ServiceBuilder(const Config& config, InputFiles& files);

  bool empty() const { return rows_.empty(); }
  /// The plans of a replication: bursts differ by seed.
  std::vector<ServicePlan> plans(std::uint64_t seed) const;
  /// Adds the replicas to the end of the jobs. Their names are NAME#0, NAME#1 ...
  void add_replicas(Trace& trace, WorkloadKeys& keys) const;

 private:
  struct Read {
    ServiceRow row;
    ServiceTimes times;
    std::vector<Time> arrivals;  ///< within the service's time, from its start on
  };
  std::vector<Read> rows_;
};

/// By JobId: the service of a replica, -1 for jobs.
std::vector<int> services_of(const Trace& trace);

}  // namespace corun::inline runner
