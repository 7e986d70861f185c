#include "runner/builders/service_builder.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "sim/error.hpp"
#include "traces/requests/request_trace.hpp"
#include "traces/requests/service_list.hpp"
#include "traces/requests/service_time_table.hpp"

namespace corun::inline runner {
namespace {

/// A minute with a rate for each window of a trace.
constexpr Duration kLoadWindow = std::chrono::seconds(60);

/// A file that the list of services names: beside the list, or else where inputs are looked up.
std::string named_file(InputFiles& files, const std::string& list, const std::string& path,
                       const std::string& place) {
  const std::filesystem::path beside = std::filesystem::path(list).parent_path() / path;
  std::error_code error;
  if (!std::filesystem::is_regular_file(beside, error)) return files.find(path, place);
  files.add(beside.string());
  return beside.string();
}

ServiceTimes times_of(const ServiceRow& row, const std::string& path) {
  const ServiceTimeChoice choice{row.model, row.gpu_type, row.slice, row.processes, 0};
  std::vector<MeasuredBatch> measured;
  try {
    for (const MeasuredServiceTime& time : chosen_times(read_service_times(path), choice)) {
      measured.push_back({time.batch, time.mean_s});
    }
  } catch (const InputError& e) {
    throw InputError(row.times_place, e.what());
  }
  return ServiceTimes(std::move(measured));
}

std::vector<Time> arrivals_of(const ServiceRow& row, const std::string& path) {
  std::vector<Time> arrivals = read_request_trace(path).arrivals;
  for (Time& at : arrivals) {
    at = from_nanoseconds(static_cast<double>(at.count()) / row.rate_factor);
  }
  std::erase_if(arrivals, [&](Time at) { return at >= row.end - row.start; });
  return arrivals;
}

RequestLoad load_of_row(const ServiceRow& row, std::uint64_t seed, std::uint64_t service) {
  const Duration length = row.end - row.start;
  switch (row.shape) {
    case LoadShape::kDiurnal:
      return diurnal_load({.mean_per_s = row.rate_per_s, .swing = row.swing}, length);
    case LoadShape::kBursts:
      // As of `corun service`: four times the rate for 10 s on average, every 100 s.
      return burst_load(
          {row.rate_per_s, 4 * row.rate_per_s, std::chrono::seconds(90), std::chrono::seconds(10)},
          length, seed, service);
    case LoadShape::kConstant:
      break;
  }
  return constant_load(row.rate_per_s, length);
}

}  // namespace

ServiceBuilder::ServiceBuilder(const Config& config, InputFiles& files) {
  const std::optional<std::string>& path = config.workload.services;
  if (!path) return;
  const std::string place = config.place("workload.services");
  const auto refuse = [&](bool found, const std::string& what) {
    if (!found) return;
    throw InputError(place, "services do not go with " + what + "; leave one of them out");
  };
  refuse(config.control.mode == ControlMode::kRounds, "control.mode: rounds");
  refuse(config.cluster.virtual_clusters.has_value(), "cluster.virtual_clusters");
  refuse(config.probing.probes > 0, "probing.probes");
  refuse(config.profiling.mode == ProfilingMode::kEpoch ||
             config.profiling.mode == ProfilingMode::kMinute,
         "profiling.mode: epoch or minute");
  const std::string list = files.find(*path, place);
  for (ServiceRow& row : read_services(list)) {
    ServiceTimes times = times_of(row, named_file(files, list, row.times, row.times_place));
    if (row.batch > times.largest()) {
      throw InputError(row.place, "column 'batch' is " + std::to_string(row.batch) +
                                      ", expected the largest measured batch at most, " +
                                      std::to_string(times.largest()));
    }
    std::vector<Time> arrivals;
    if (!row.requests.empty()) {
      arrivals = arrivals_of(row, named_file(files, list, row.requests, row.requests_place));
      if (arrivals.empty()) {
        throw InputError(row.requests_place,
                         "no request of this file is within the service's time");
      }
    }
    rows_.push_back({std::move(row), std::move(times), std::move(arrivals)});
  }
}

std::vector<ServicePlan> ServiceBuilder::plans(std::uint64_t seed) const {
  std::vector<ServicePlan> plans;
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    const auto& [row, times, arrivals] = rows_[s];
    ServicePlan plan{
        row.name,
        {times,
         row.exponential ? ServiceVariation::kExponential : ServiceVariation::kConstant,
         {row.batch, from_seconds(row.wait_s)},
         row.replicas}};
    plan.least_replicas = row.least_replicas;
    plan.start = row.start;
    plan.end = row.end;
    plan.goal_s = row.goal_s;
    plan.share = row.percentile / 100;
    plan.arrivals = arrivals;
    plan.load = arrivals.empty() ? load_of_row(row, seed, s) : load_of(arrivals, kLoadWindow);
    plan.spacing = row.even ? Spacing::kEven : Spacing::kPoisson;
    plans.push_back(std::move(plan));
  }
  return plans;
}

void ServiceBuilder::add_replicas(Trace& trace, WorkloadKeys& keys) const {
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    const ServiceRow& row = rows_[s].row;
    for (int r = 0; r < row.replicas; ++r) {
      TraceJob job;
      job.name = row.name + "#" + std::to_string(r);
      if (!row.workload.empty()) job.key = keys.of(row.workload);
      job.spec.submit = row.start;
      job.spec.work = row.end - row.start;
      job.spec.service = static_cast<int>(s);
      job.spec.ends = row.end;
      job.spec.priority = row.priority;
      job.spec.profile.gpu_util_pct = row.gpu_util_pct;
      job.spec.profile.mem_used_mib = row.mem_used_mib;
      job.carried.assign(trace.carried.size(), 0);
      trace.jobs.push_back(std::move(job));
    }
  }
}

std::vector<int> services_of(const Trace& trace) {
  std::vector<int> services;
  services.reserve(trace.jobs.size());
  for (const TraceJob& job : trace.jobs) services.push_back(job.spec.service);
  return services;
}

}  // namespace corun::inline runner
