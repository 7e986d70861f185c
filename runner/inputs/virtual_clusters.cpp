#include "runner/inputs/virtual_clusters.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>

#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline runner {

namespace {

constexpr std::uint32_t kNoNumber = 0xffffffffU;

}  // namespace

std::vector<VirtualCluster> read_virtual_clusters(const std::string& path) {
  CsvReader csv(path, {{"vc"}, {""}, {"nodes"}, {"num"}});
  const auto one_of = [&](std::string_view first, std::string_view second) {
    return csv.has(csv.column(first)) ? csv.column(first) : csv.column(second);
  };
  const auto name = one_of("vc", "");
  const auto nodes = one_of("nodes", "num");
  if (!csv.has(name) || !csv.has(nodes)) {
    throw InputError(csv.name() + ":1:1",
                     "found other columns, expected virtual clusters and their nodes: vc,nodes");
  }
  constexpr IntegerRule kNodes{"a whole number of nodes", 1, 1'000'000};
  std::vector<VirtualCluster> clusters;
  std::set<std::string, std::less<>> names;
  while (csv.next()) {
    VirtualCluster cluster;
    cluster.name = csv.required_text(name, "the name of a virtual cluster");
    if (!names.insert(cluster.name).second) csv.refuse(name, "names that differ");
    const auto count = csv.integer(nodes, kNodes);
    if (!count) csv.refuse(nodes, "a whole number of nodes, 1 or more");
    cluster.nodes = *count;
    clusters.push_back(std::move(cluster));
  }
  if (clusters.empty()) {
    throw InputError(csv.name() + ":1:1", "no virtual cluster after the header, expected some");
  }
  return clusters;
}

std::int64_t nodes_of(std::span<const VirtualCluster> clusters) {
  std::int64_t nodes = 0;
  for (const VirtualCluster& cluster : clusters) nodes += cluster.nodes;
  return nodes;
}

std::vector<TracePart> split_by_virtual_cluster(const Trace& trace, std::span<const JobId> arrivals,
                                                std::span<const VirtualCluster> clusters) {
  std::map<std::string_view, std::size_t> place;
  for (std::size_t c = 0; c < clusters.size(); ++c) place.emplace(clusters[c].name, c);
  std::vector<std::size_t> part_of;  // by virtual cluster of the trace
  for (const std::string& name : trace.virtual_clusters) {
    const auto at = place.find(name);
    if (at == place.end()) throw std::logic_error("a virtual cluster without nodes: " + name);
    part_of.push_back(at->second);
  }

  std::vector<TracePart> parts(clusters.size());
  for (TracePart& part : parts) part.trace = without_jobs(trace);
  std::vector<JobId> number(trace.jobs.size());  // of a job in its part
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    TracePart& part = parts[part_of.at(trace.jobs[j].spec.virtual_cluster)];
    number[j] = static_cast<JobId>(part.jobs.size());
    part.jobs.push_back(static_cast<JobId>(j));
    part.trace.jobs.push_back(trace.jobs[j]);
  }
  for (const JobId j : arrivals) {
    parts[part_of[trace.jobs[index(j)].spec.virtual_cluster]].arrivals.push_back(number[index(j)]);
  }
  return parts;
}

void add_part(RunRecord& whole, RunRecord part, const TracePart& of) {
  const auto first_gpu = static_cast<std::uint32_t>(whole.gpu_count);
  const auto moved = [&](GpuId g) {
    return GpuId{first_gpu + static_cast<std::uint32_t>(index(g))};
  };
  std::uint32_t first_group = 0;
  for (const JobRecord& job : whole.jobs) first_group = std::max(first_group, job.group + 1);
  for (std::size_t j = 0; j < part.jobs.size(); ++j) {
    JobRecord& job = whole.jobs[index(of.jobs[j])];
    job = part.jobs[j];
    job.gpu = moved(job.gpu);
    job.group += first_group;
  }
  for (EpisodeRecord& episode : part.episodes) {
    episode.gpu = moved(episode.gpu);
    for (JobId& job : episode.jobs) job = of.jobs[index(job)];
    whole.episodes.push_back(std::move(episode));
  }
  for (ProbeRecord& probe : part.probes) {
    probe.gpu = moved(probe.gpu);
    for (JobId& job : probe.jobs) job = of.jobs[index(job)];
    whole.probes.push_back(probe);
  }
  whole.usage.busy += part.usage.busy;
  whole.usage.util_s += part.usage.util_s;
  whole.usage.util_known_s += part.usage.util_known_s;
  whole.usage.mem_s += part.usage.mem_s;
  whole.usage.mem_known_s += part.usage.mem_known_s;
  for (std::size_t p = 0; p < whole.usage.corun_s.size(); ++p) {
    whole.usage.corun_s[p] += part.usage.corun_s[p];
  }
  whole.gpu_count += part.gpu_count;
  whole.unknown_memory_jobs += part.unknown_memory_jobs;
  whole.passes += part.passes;
}

void sort_by_end(RunRecord& whole) {
  std::ranges::stable_sort(whole.episodes, {}, &EpisodeRecord::end);
  std::ranges::stable_sort(whole.probes, {}, &ProbeRecord::end);
}

void add_details(RunDetails& whole, RunDetails part, const TracePart& of, int first_gpu) {
  const auto moved = [&](GpuId g) {
    return g == kNoGpu ? g
                       : GpuId{static_cast<std::uint32_t>(index(g)) +
                               static_cast<std::uint32_t>(first_gpu)};
  };
  const auto renamed = [&](JobId j) { return j == kNoJob ? j : of.jobs[index(j)]; };
  // Sorting keeps the rows of a co-run together only if no other part has the same numbers.
  std::uint32_t first_co_run = 0;
  for (const CoRunRecord& c : whole.co_runs) first_co_run = std::max(first_co_run, c.co_run + 1);
  for (CoRunRecord& c : part.co_runs) {
    c.co_run += first_co_run;
    c.gpu = moved(c.gpu);
    for (JobId& job : c.pair) job = renamed(job);
    whole.co_runs.push_back(c);
  }
  for (EventRecord& e : part.events) {
    e.job = renamed(e.job);
    e.gpu = moved(e.gpu);
    e.co_runner = renamed(e.co_runner);
    whole.events.push_back(e);
  }
  whole.co_runs_left_out += part.co_runs_left_out;
  whole.events_left_out += part.events_left_out;
}

void sort_details(RunDetails& whole, const DetailLimits& limits) {
  std::ranges::stable_sort(whole.co_runs, {}, &CoRunRecord::start);
  std::ranges::stable_sort(whole.events, {}, &EventRecord::at);
  if (whole.co_runs.size() > limits.co_runs) {
    whole.co_runs_left_out += whole.co_runs.size() - limits.co_runs;
    whole.co_runs.resize(limits.co_runs);
  }
  if (whole.events.size() > limits.events) {
    whole.events_left_out += whole.events.size() - limits.events;
    whole.events.resize(limits.events);
  }
  // Numbers rise with the start.
  std::vector<std::uint32_t> number;
  std::uint32_t next = 0;
  for (CoRunRecord& c : whole.co_runs) {
    if (c.co_run >= number.size()) number.resize(c.co_run + 1, kNoNumber);
    if (number[c.co_run] == kNoNumber) number[c.co_run] = next++;
    c.co_run = number[c.co_run];
  }
}

void renumber(EventLog& log, const TracePart& of, int first_gpu) {
  for (LogEntry& entry : log) {
    entry.job = of.jobs[index(entry.job)];
    if (entry.reason && entry.reason->beside != kNoJob) {
      entry.reason->beside = of.jobs[index(entry.reason->beside)];
    }
    for (GpuId& g : entry.gpus) {
      g = GpuId{static_cast<std::uint32_t>(index(g)) + static_cast<std::uint32_t>(first_gpu)};
    }
  }
}

}  // namespace corun::inline runner
