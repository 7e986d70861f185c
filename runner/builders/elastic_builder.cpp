#include "runner/builders/elastic_builder.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <boost/algorithm/string/classification.hpp>
#include <boost/algorithm/string/split.hpp>
#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/elastic/elastic_programs.hpp"

namespace corun::inline runner {

namespace {

using NamedPrograms = std::map<std::string, ElasticProgram, std::less<>>;

NamedPrograms read_programs(const Config& config, InputFiles& files) {
  const std::string& folder = config.workload.programs;
  const auto find = [&](const char* file) {
    return files.find(folder + "/" + file, config.place("workload.programs"));
  };
  return read_elastic_programs({find("applications.csv"), find("placements.csv"),
                                find("scalability.csv"), find("statistical_efficiency.csv")});
}

/// The whole numbers of a list "MODEL=NUMBER,..." by program; `what` names them in errors.
std::map<std::string, std::int64_t> numbers_by_model(const std::string& list,
                                                     const std::string& place,
                                                     const NamedPrograms& programs,
                                                     std::string_view what) {
  std::vector<std::string> parts;
  boost::algorithm::split(parts, list, boost::algorithm::is_any_of(","));
  std::map<std::string, std::int64_t> numbers;
  for (const std::string& part : parts) {
    const std::size_t equal = part.find('=');
    const std::string name = part.substr(0, equal);
    const auto number =
        equal == std::string::npos ? std::nullopt : parse_integer(part.substr(equal + 1));
    if (!number || *number < 1 || *number > 1'000'000) {
      throw InputError(place, fmt::format("found '{}', expected MODEL={}, several separated by "
                                          "commas, such as yolov3=8",
                                          printable(part), what));
    }
    if (!programs.contains(name)) {
      std::vector<std::string_view> known;
      for (const auto& [other, unused] : programs) known.push_back(other);
      throw InputError(place, "no program '" + printable(name) + "': " + did_you_mean(name, known));
    }
    numbers[name] = *number;
  }
  return numbers;
}

/// By workload.largest_local_batch.
void limit_local_batches(const Config& config, NamedPrograms& programs) {
  if (!config.workload.largest_local_batch) return;
  for (const auto& [name, samples] :
       numbers_by_model(*config.workload.largest_local_batch,
                        config.place("workload.largest_local_batch"), programs, "SAMPLES")) {
    for (ProgramOnType& on : programs.find(name)->second.on_types) {
      on.largest_local_batch = static_cast<double>(samples);
      on.least_local_batch = std::min(on.least_local_batch, on.largest_local_batch);
    }
  }
}

/// GPUs of a type, fullest nodes first: on as few nodes as can be. More than the cluster has are further nodes like its
/// largest.
std::vector<int> close_together(const ClusterSpec& cluster, std::uint32_t type, int gpus) {
  std::vector<int> sizes;
  for (const NodeSpec& node : cluster.nodes) {
    if (node.gpu.id == type) sizes.push_back(node.gpus);
  }
  std::ranges::sort(sizes, std::greater());
  std::vector<int> on_nodes;
  for (std::size_t n = 0; gpus > 0; ++n) {
    const int taken = std::min(gpus, n < sizes.size() ? sizes[n] : sizes.front());
    on_nodes.push_back(taken);
    gpus -= taken;
  }
  return on_nodes;
}

ElasticJobs::Program on_cluster(const ElasticProgram& measured, const Cluster& cluster) {
  ElasticJobs::Program program{measured, {}};
  program.program.on_types.clear();
  for (const GpuType& type : cluster.spec.types()) {
    // One GPU type was measured with two limits of the batch size: the wider one holds.
    std::optional<ProgramOnType>& chosen = program.on_types.emplace_back();
    for (const ProgramOnType& on : measured.on_types) {
      if (!cluster.types.same(on.gpu_type, type.name)) continue;
      if (!chosen || on.largest_local_batch > chosen->largest_local_batch) chosen = on;
    }
  }
  return program;
}

/// Whether one GPU of each type holds the largest batch: such a job keeps the GPUs and the batch of the file, as the jobs
/// of NCF do in the simulator of Pollux.
bool one_gpu_suffices(const ElasticJobs::Program& program) {
  return std::ranges::all_of(program.on_types, [](const auto& on) {
    return !on || on->largest_local_batch >= on->largest_batch;
  });
}

/// Bits of the types on which a program was measured; 0: on all of the cluster.
std::uint32_t types_of(const ElasticJobs::Program& program) {
  std::uint32_t types = 0;
  for (std::size_t t = 0; t < program.on_types.size(); ++t) {
    if (program.on_types[t]) types |= std::uint32_t{1} << t;
  }
  const bool all =
      std::ranges::all_of(program.on_types, [](const auto& on) { return on.has_value(); });
  return all ? 0 : types;
}

}  // namespace

bool has_elastic_programs(const Config& config) { return config.workload.source == "pollux"; }

std::shared_ptr<const ElasticJobs> make_elastic(const Config& config, const Cluster& cluster,
                                                const WorkloadKeys& keys, InputFiles& files,
                                                Trace& trace) {
  const WorkloadConfig& w = config.workload;
  const std::string path_place = config.place("workload.path");
  if (config.cluster.virtual_clusters) {
    throw InputError(
        config.place("cluster.virtual_clusters"),
        "the jobs of source pollux are one queue, expected no virtual clusters; leave it out");
  }
  NamedPrograms named = read_programs(config, files);
  limit_local_batches(config, named);
  std::map<std::string, std::int64_t> expected_starts;
  if (w.expected_start_s) {
    expected_starts = numbers_by_model(*w.expected_start_s,
                                       config.place("workload.expected_start_s"), named, "SECONDS");
  }
  std::vector<ElasticJobs::Program> programs;
  std::vector<std::string_view> names;
  for (const auto& [name, program] : named) {
    programs.push_back(on_cluster(program, cluster));
    names.push_back(name);
  }
  trace.gpu_model_names = cluster.spec.models();
  trace.phase_grid = std::chrono::seconds{1};
  trace.counts_samples = true;
  std::vector<std::size_t> program_of;
  for (TraceJob& job : trace.jobs) {
    const std::string_view name = keys.text(job.key);
    const auto at = std::ranges::find(names, name);
    if (at == names.end()) {
      throw InputError(
          path_place, "job '" + printable(job.name) + "' trains '" + printable(name) +
                          "', which workload.programs does not have: " + did_you_mean(name, names));
    }
    const auto number = static_cast<std::size_t>(at - names.begin());
    const ElasticJobs::Program& program = programs[number];
    if (std::ranges::none_of(program.on_types, [](const auto& on) { return on.has_value(); })) {
      throw InputError(path_place, "job '" + printable(job.name) + "' trains '" + printable(name) +
                                       "', which was not measured on " + cluster.gpu_types() +
                                       "; take other machines (cluster.machines)");
    }
    program_of.push_back(number);
    JobSpec& spec = job.spec;
    spec.gpu_models = types_of(program);
    const ProgramOnType& first =
        **std::ranges::find_if(program.on_types, [](const auto& on) { return on.has_value(); });
    spec.start_cost = w.start_s ? from_seconds(*w.start_s) : first.start_cost;
    if (const auto expected = expected_starts.find(std::string(name));
        expected != expected_starts.end()) {
      spec.expected_start_cost = std::chrono::seconds{expected->second};
    }
    if (w.adaptivity == Adaptivity::kRigid) continue;
    if (w.adaptivity == Adaptivity::kAdaptive && one_gpu_suffices(program)) continue;
    const double most = w.adaptivity == Adaptivity::kStrongScaling
                            ? static_cast<double>(job.batch_size)
                            : first.largest_batch;
    spec.gpus_min = 1;
    spec.gpus_max = std::max(1, static_cast<int>(most / first.least_local_batch));
  }
  // Progress slows down alike on all types, so that it is as if there were more of it.
  std::vector<double> slowdowns;
  for (const ElasticJobs::Program& program : programs) {
    const auto on =
        std::ranges::find_if(program.on_types, [](const auto& o) { return o.has_value(); });
    slowdowns.push_back(w.calibrated && on != program.on_types.end() ? (*on)->slowdown : 1.0);
  }
  auto elastic = std::make_shared<ElasticJobs>(std::move(programs), 1 - w.interference);
  bool chooses_batch = false;  // some job does
  std::vector<double> rates;
  std::vector<double> progress_of_work;
  for (std::size_t j = 0; j < trace.jobs.size(); ++j) {
    TraceJob& job = trace.jobs[j];
    const auto id = static_cast<JobId>(j);
    const std::size_t epochs = named.find(keys.text(job.key))->second.epochs;
    job.spec.first_phase = static_cast<std::uint32_t>(trace.phases.size());
    job.spec.phases = static_cast<std::uint32_t>(epochs);
    const bool chooses = w.adaptivity == Adaptivity::kAdaptive && job.spec.gpus_max > 0;
    chooses_batch |= chooses;
    elastic->add(
        {program_of[j], chooses ? 0 : static_cast<int>(job.batch_size), job.spec.first_phase});
    std::uint32_t type = 0;
    while (job.spec.gpu_models != 0 && (job.spec.gpu_models >> type & 1U) == 0) ++type;
    const std::vector<int> on_nodes = close_together(cluster.spec, type, job.spec.gpus);
    const Allocation asked{job.spec.gpus, static_cast<int>(on_nodes.size()), 1, type, on_nodes};
    job.spec.work = Duration::zero();
    for (std::size_t e = 0; e < epochs; ++e) {
      rates.push_back(elastic->rate(id, e, asked));
      progress_of_work.push_back(rates.back() / slowdowns[program_of[j]]);
      TraceJob phase = job;
      phase.name.clear();
      phase.spec.phases = 0;
      phase.spec.first_phase = 0;
      phase.spec.work = std::max(
          kShortestRun, from_seconds(slowdowns[program_of[j]] *
                                     elastic->progress_in(program_of[j], e) / rates.back()));
      job.spec.work = later(job.spec.work, phase.spec.work);
      trace.phases.push_back(std::move(phase));
    }
  }
  if (chooses_batch) elastic->set_refit(from_seconds(w.refit_s));
  elastic->set_reference_rates(std::move(rates), std::move(progress_of_work));
  return elastic;
}

}  // namespace corun::inline runner
