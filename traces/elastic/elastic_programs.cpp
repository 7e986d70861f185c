#include "traces/elastic/elastic_programs.hpp"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {

namespace {

using Programs = std::map<std::string, ElasticProgram, std::less<>>;

constexpr std::string_view kPipeline = "gpt_pmp";
constexpr NumberRule kBatchSize{"a batch size", 1, 1e9};
constexpr NumberRule kStepSeconds{"a number of seconds", 0, 1e6, true};
constexpr NumberRule kSyncSeconds{"a number of seconds", 0, 1e6};
constexpr NumberRule kSteps{"a number of steps", 0, 1e15, true};
constexpr NumberRule kGradient{"a number", 0, 1e300};
constexpr IntegerRule kEpoch{"a whole number of epochs", 1, 10'000};
constexpr IntegerRule kSome{"a whole number", 1, 100'000};

/// The measurements of the row's program on its cluster; null for those that are left out.
ProgramOnType* find_row(Programs& programs, CsvReader& csv, CsvReader::Column cluster,
                        CsvReader::Column model) {
  const std::string name(csv.required_text(model, "the name of a model"));
  const std::string_view type = csv.required_text(cluster, "the name of a cluster");
  const auto program = programs.find(name);
  if (program == programs.end()) return nullptr;
  std::vector<ProgramOnType>& all = program->second.on_types;
  const auto on = std::ranges::find(all, type, &ProgramOnType::gpu_type);
  return on == all.end() ? nullptr : &*on;
}

void read_applications(const std::string& path, Programs& programs) {
  CsvReader csv(path,
                {{"cluster", true},
                 {"model", true},
                 {"initial_batch_size", true},
                 {"max_batch_size", true},
                 {"min_local_batch_size", true},
                 {"max_local_batch_size", true},
                 {"epochs", true},
                 {"sia_restart_s", true},
                 {"sia_calibration_slowdown", false}},
                kAnyColumns);
  const auto cluster = csv.column("cluster");
  const auto model = csv.column("model");
  const auto initial = csv.column("initial_batch_size");
  const auto largest = csv.column("max_batch_size");
  const auto least_local = csv.column("min_local_batch_size");
  const auto largest_local = csv.column("max_local_batch_size");
  const auto epochs = csv.column("epochs");
  const auto restart = csv.column("sia_restart_s");
  const auto slowdown = csv.column("sia_calibration_slowdown");
  while (csv.next()) {
    const std::string name(csv.required_text(model, "the name of a model"));
    if (name == kPipeline) continue;
    ProgramOnType on;
    on.gpu_type = csv.required_text(cluster, "the name of a cluster");
    on.largest_batch = csv.required_number(largest, kBatchSize);
    on.least_local_batch = csv.required_number(least_local, kBatchSize);
    on.largest_local_batch = csv.required_number(largest_local, kBatchSize);
    on.start_cost = csv.required_seconds(restart, {"a number of seconds", 0, 1e6});
    on.slowdown = csv.number(slowdown, {"a factor from 1", 1, 1000}).value_or(1);
    if (on.least_local_batch > on.largest_local_batch) {
      csv.refuse(largest_local, "the least local batch size or more");
    }
    const double first = csv.required_number(initial, kBatchSize);
    if (first > on.largest_batch) csv.refuse(largest, "the initial batch size or more");
    const auto count = csv.integer(epochs, kEpoch);
    if (!count) csv.refuse(epochs, "a whole number of epochs");
    ElasticProgram& program = programs[name];
    const bool known = !program.on_types.empty();
    if (known && program.initial_batch != first) {
      csv.refuse(initial, "that of the program on other clusters");
    }
    if (known && program.epochs != static_cast<std::size_t>(*count)) {
      csv.refuse(epochs, "those of the program on other clusters");
    }
    if (std::ranges::find(program.on_types, on.gpu_type, &ProgramOnType::gpu_type) !=
        program.on_types.end()) {
      csv.refuse(cluster, "one row for each program and cluster");
    }
    program.initial_batch = first;
    program.epochs = static_cast<std::size_t>(*count);
    program.on_types.push_back(std::move(on));
  }
  if (programs.empty())
    throw InputError(csv.name() + ":1:1", "no programs, expected a row for each");
}

MeasuredStep step_of(CsvReader& csv, CsvReader::Column local, CsvReader::Column step,
                     CsvReader::Column sync) {
  MeasuredStep measured;
  measured.local_batch = csv.required_number(local, kBatchSize);
  measured.step_s = csv.required_number(step, kStepSeconds);
  measured.sync_s = csv.required_number(sync, kSyncSeconds);
  if (measured.sync_s > measured.step_s) csv.refuse(sync, "at most the time of the step");
  return measured;
}

void read_placements(const std::string& path, Programs& programs) {
  CsvReader csv(path,
                {{"cluster", true},
                 {"model", true},
                 {"gpus_per_node", true},
                 {"local_batch_size", true},
                 {"step_time_s", true},
                 {"sync_time_s", true}},
                kAnyColumns);
  const auto cluster = csv.column("cluster");
  const auto model = csv.column("model");
  const auto placement = csv.column("gpus_per_node");
  const auto local = csv.column("local_batch_size");
  const auto step = csv.column("step_time_s");
  const auto sync = csv.column("sync_time_s");
  while (csv.next()) {
    ProgramOnType* const on = find_row(programs, csv, cluster, model);
    if (on == nullptr) continue;
    MeasuredStep measured = step_of(csv, local, step, sync);
    measured.gpus = 0;
    std::string_view text = csv.required_text(placement, "numbers of GPUs such as 1-1-2");
    while (true) {
      const std::size_t dash = text.find('-');
      const auto gpus = parse_integer(text.substr(0, dash));
      if (!gpus || *gpus < 1 || *gpus > 1024) {
        csv.refuse(placement, "numbers of GPUs on each node, such as 1-1-2");
      }
      measured.on_nodes.push_back(static_cast<int>(*gpus));
      measured.gpus += static_cast<int>(*gpus);
      if (dash == std::string_view::npos) break;
      text.remove_prefix(dash + 1);
    }
    measured.nodes = static_cast<int>(measured.on_nodes.size());
    on->placements.push_back(std::move(measured));
  }
}

void read_scalability(const std::string& path, Programs& programs) {
  CsvReader csv(path,
                {{"cluster", true},
                 {"model", true},
                 {"nodes", true},
                 {"gpus", true},
                 {"local_batch_size", true},
                 {"step_time_s", true},
                 {"sync_time_s", true}},
                kAnyColumns);
  const auto cluster = csv.column("cluster");
  const auto model = csv.column("model");
  const auto nodes = csv.column("nodes");
  const auto gpus = csv.column("gpus");
  const auto local = csv.column("local_batch_size");
  const auto step = csv.column("step_time_s");
  const auto sync = csv.column("sync_time_s");
  while (csv.next()) {
    ProgramOnType* const on = find_row(programs, csv, cluster, model);
    if (on == nullptr) continue;
    MeasuredStep measured = step_of(csv, local, step, sync);
    const auto on_nodes = csv.integer(nodes, kSome);
    const auto all = csv.integer(gpus, kSome);
    if (!on_nodes) csv.refuse(nodes, "a whole number of nodes");
    if (!all || *all < *on_nodes) csv.refuse(gpus, "as many GPUs as nodes, or more");
    measured.nodes = static_cast<int>(*on_nodes);
    measured.gpus = static_cast<int>(*all);
    on->others.push_back(std::move(measured));
  }
}

void read_statistics(const std::string& path, Programs& programs) {
  CsvReader csv(path,
                {{"model", true},
                 {"batch_size", true},
                 {"epoch", true},
                 {"progress_iterations_at_initial_batch", true},
                 {"iterations", true},
                 {"grad_sqr", true},
                 {"grad_var", true}},
                kAnyColumns);
  const auto model = csv.column("model");
  const auto batch = csv.column("batch_size");
  const auto epoch = csv.column("epoch");
  const auto progress = csv.column("progress_iterations_at_initial_batch");
  const auto iterations = csv.column("iterations");
  const auto sqr = csv.column("grad_sqr");
  const auto var = csv.column("grad_var");
  while (csv.next()) {
    const auto program = programs.find(csv.required_text(model, "the name of a model"));
    if (program == programs.end()) continue;
    std::vector<EpochsOfBatch>& batches = program->second.batches;
    const double size = csv.required_number(batch, kBatchSize);
    auto at = std::ranges::lower_bound(batches, size, {}, &EpochsOfBatch::batch);
    if (at == batches.end() || at->batch != size) at = batches.insert(at, {size, {}});
    MeasuredEpoch measured;
    measured.progress = csv.required_number(progress, kSteps);
    measured.iterations = csv.required_number(iterations, kSteps);
    measured.gradient_sqr = csv.required_number(sqr, kGradient);
    measured.gradient_var = csv.required_number(var, kGradient);
    if (measured.gradient_sqr + measured.gradient_var == 0) {
      csv.refuse(var, "a number above 0, or such a number in grad_sqr");
    }
    const auto number = csv.integer(epoch, kEpoch);
    if (!number || static_cast<std::size_t>(*number) != at->epochs.size() + 1) {
      csv.refuse(epoch, "the epochs of a batch size in their order, from 1");
    }
    if (!at->epochs.empty() && at->epochs.back().progress >= measured.progress) {
      csv.refuse(progress, "more than in the epoch before");
    }
    if (!at->epochs.empty() && at->epochs.back().iterations > measured.iterations) {
      csv.refuse(iterations, "as many as in the epoch before, or more");
    }
    at->epochs.push_back(measured);
  }
  for (const auto& [name, program] : programs) {
    const bool whole = std::ranges::all_of(
        program.batches, [&](const EpochsOfBatch& b) { return b.epochs.size() >= program.epochs; });
    if (program.batches.empty() || !whole) {
      throw InputError(csv.name() + ":1:1", "of the program '" + printable(name) +
                                                "' some epochs are missing, expected its " +
                                                std::to_string(program.epochs) +
                                                " epochs for each batch size; add them");
    }
  }
}

}  // namespace

Programs read_elastic_programs(const ElasticProgramFiles& files) {
  Programs programs;
  read_applications(files.applications, programs);
  read_placements(files.placements, programs);
  read_scalability(files.scalability, programs);
  read_statistics(files.statistics, programs);
  for (const auto& [name, program] : programs) {
    for (const ProgramOnType& on : program.on_types) {
      if (!on.placements.empty() || !on.others.empty()) continue;
      throw InputError(files.placements + ":1:1",
                       "no steps of the program '" + printable(name) + "' on '" +
                           printable(on.gpu_type) +
                           "', expected some, as applications.csv has it; add them");
    }
  }
  return programs;
}

}  // namespace corun::inline traces
