#include "runner/inputs/measurement_tables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runner/config/machines.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/catalog.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/input_file.hpp"
#include "traces/tables/gavel_rates_csv.hpp"

namespace corun::inline runner {

namespace {

constexpr std::string_view kMeasured = "a table of measured co-runs";

}  // namespace

MeasurementTables::MeasurementTables(SharingMode sharing)
    : sharing_(sharing == SharingMode::kMps ? Sharing::kMps : Sharing::kTimeSlicing) {}

const Measurements& MeasurementTables::measured(const std::string& path, const Config& config) {
  if (measurement_form(path) == MeasurementForm::kRates) return rates(path, rates_gpu(config));
  check_kind(path, {FileKind::kPairs, FileKind::kGroups, FileKind::kRates}, kMeasured);
  return table(path, CorunsAs::kRuns);
}

const Measurements& MeasurementTables::pairs(const std::string& path) {
  check_kind(path, {FileKind::kPairs, FileKind::kGroups}, kMeasured);
  return table(path, CorunsAs::kSpeeds);
}

const Measurements& MeasurementTables::table(const std::string& path, CorunsAs as) {
  if (measurement_form(path) != MeasurementForm::kCoruns) as = CorunsAs::kSpeeds;
  const auto known = tables_.find({path, as});
  if (known != tables_.end()) return known->second;
  Measurements read = read_measurements(path, keys_, as, sharing_);
  if (!read.is_measured()) {
    throw InputError(
        path + ":1:1",
        "found no pair of which both speeds were measured, expected some; give a table "
        "with norm_a and norm_b or co-run measurements");
  }
  notes_[path] = read.notes;
  return tables_.emplace(std::pair(path, as), std::move(read)).first->second;
}

const SoloTable& MeasurementTables::solo(const std::string& path) {
  const auto known = solo_.find(path);
  if (known != solo_.end()) return known->second;
  check_kind(path, {FileKind::kSoloTimes}, "a table of solo times by GPU type");
  return solo_.emplace(path, read_solo_table(path, keys_)).first->second;
}

Notes MeasurementTables::notes() const {
  Notes all;
  for (const auto& [path, texts] : notes_) {
    for (const std::string& text : texts) {
      add_note(all, NoteCode::kDoubtfulMeasurements, path, text);
    }
  }
  return all;
}

const Measurements& MeasurementTables::rates(const std::string& path, const std::string& gpu) {
  std::shared_ptr<const GavelThroughputs>& known = rates_[{path, gpu}];
  if (!known) {
    known = std::make_shared<const GavelThroughputs>(read_gavel_throughputs(path, gpu, keys_));
  }
  return known->pairs;
}

const Measurements* MeasurementTables::rates_on(const std::string& path,
                                                std::string_view gpu_type) {
  const std::string_view gpu = gpu_of_gavel(gpu_type);
  if (gpu.empty() || measurement_form(path) != MeasurementForm::kRates) return nullptr;
  return &rates(path, std::string(gpu));
}

void MeasurementTables::take_rates(std::shared_ptr<const GavelThroughputs> rates,
                                   const std::string& path) {
  if (rates) rates_[{path, rates->pairs.gpu}] = std::move(rates);
}

std::string rates_gpu(const Config& config) {
  // The reference type: as told, else the first type of the cluster that has rates.
  std::vector<std::string> types{config.cluster.gpu_type};
  std::string key = "cluster.gpu_type";
  if (config.workload.gpu_type) {
    key = "workload.gpu_type";
    types = {*config.workload.gpu_type};
  } else if (config.cluster.machines) {
    key = "cluster.machines";
    types.clear();
    for (const Machines& m : parse_machines(*config.cluster.machines, config.place(key))) {
      types.push_back(m.gpu_type);
    }
  }
  std::string_view gpu;
  for (const std::string& type : types) {
    if (gpu.empty()) gpu = gpu_of_gavel(type);
  }
  if (gpu.empty()) {
    throw InputError(
        config.place(key),
        "found " + printable(types.front()) +
            ", but Gavel has rates for V100-16GB, P100-16GB and K80; take one of them");
  }
  return std::string(gpu);
}

std::optional<std::string> rates_of_trace(const Config& config, InputFiles& files) {
  const TraceEntry* source = find_trace(config.workload.source);
  if (!config.workload.path || source == nullptr || !source->reads_rates) return std::nullopt;
  std::string path = files.find(*config.workload.path, config.place("workload.path"));
  if (!has_own_rates(first_bytes(path, "a job trace"))) return std::nullopt;
  return path;
}

RatesFile find_rates(const Config& config, InputFiles& files) {
  if (std::optional<std::string> own = rates_of_trace(config, files)) {
    return {std::move(*own), rates_gpu(config)};
  }
  if (!config.world.path) {
    throw InputError(
        config.place("workload.source"),
        "source '" + config.workload.source +
            "' counts steps: set world.path to the rates that convert them to time, Gavel's "
            "simulation_throughputs.json");
  }
  std::string path = files.find(*config.world.path, config.place("world.path"));
  if (measurement_form(path) != MeasurementForm::kRates) {
    throw InputError(config.place("world.path"),
                     "source '" + config.workload.source +
                         "' counts steps, and this file has no rates that make them time; name "
                         "Gavel's simulation_throughputs.json");
  }
  return {std::move(path), rates_gpu(config)};
}

}  // namespace corun::inline runner
