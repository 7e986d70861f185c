#include "runner/inputs/measurement_tables.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "runner/config/machines.hpp"
#include "runner/inputs/file_kind.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/gpu_catalog.hpp"
#include "traces/tables/corun_csv.hpp"

namespace corun::inline runner {

const PairTable& MeasurementTables::pairs(const std::string& path) {
  const auto known = pairs_.find(path);
  if (known != pairs_.end()) return known->second;
  check_kind(path, {FileKind::kPairs}, "a table of measured co-runs");
  PairTable table = read_pair_table(path, keys_);
  if (std::ranges::none_of(table.scored, [](bool scored) { return scored; })) {
    throw InputError(
        path + ":1:1",
        "found no pair of which both speeds were measured, expected some; give a table "
        "with norm_a and norm_b or co-run measurements");
  }
  notes_[path] = table.notes;
  return pairs_.emplace(path, std::move(table)).first->second;
}

const SoloTable& MeasurementTables::solo(const std::string& path) {
  const auto known = solo_.find(path);
  if (known != solo_.end()) return known->second;
  check_kind(path, {FileKind::kSoloTimes}, "a table of solo times by GPU type");
  return solo_.emplace(path, read_solo_table(path, keys_)).first->second;
}

std::vector<CorunMeasurement> MeasurementTables::coruns(const std::string& path) {
  check_kind(path, {FileKind::kPairs}, "a table of measured co-runs");
  CorunFile file = read_corun_csv(path, keys_);
  notes_[path] = std::move(file.notes);
  return std::move(file.measurements);
}

std::vector<std::string> MeasurementTables::notes() const {
  std::vector<std::string> all;
  for (const auto& [path, notes] : notes_) all.insert(all.end(), notes.begin(), notes.end());
  return all;
}

const GavelThroughputs& MeasurementTables::rates(const Config& config, InputFiles& files) {
  if (!rates_) {
    const RatesFile file = find_rates(config, files);
    rates_path_ = file.path;
    rates_ = std::make_shared<const GavelThroughputs>(
        read_gavel_throughputs(file.path, file.gpu, keys_));
  }
  return *rates_;
}

const GavelThroughputs* MeasurementTables::rates_on(std::string_view gpu_type) {
  const std::string_view gpu = gpu_of_gavel(gpu_type);
  if (!rates_ || gpu.empty()) return nullptr;
  if (rates_->pairs.gpu == gpu) return rates_.get();
  const auto known = rates_on_.find(std::string(gpu));
  if (known != rates_on_.end()) return &known->second;
  return &rates_on_.emplace(gpu, read_gavel_throughputs(rates_path_, gpu, keys_)).first->second;
}

void MeasurementTables::take_rates(std::shared_ptr<const GavelThroughputs> rates,
                                   const std::string& path) {
  if (!rates) return;
  rates_ = std::move(rates);
  rates_path_ = path;
}

RatesFile find_rates(const Config& config, InputFiles& files) {
  if (!config.world.path) {
    throw InputError(
        config.place("workload.source"),
        "source '" + config.workload.source +
            "' counts steps: set world.path to the rates that convert them to time, Gavel's "
            "simulation_throughputs.json");
  }
  std::string path = files.find(*config.world.path, config.place("world.path"));
  if (!has_throughputs(path)) {
    throw InputError(config.place("world.path"),
                     "source '" + config.workload.source +
                         "' counts steps, and this file has no rates that make them time; name "
                         "Gavel's simulation_throughputs.json");
  }
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
  return {std::move(path), std::string(gpu)};
}

}  // namespace corun::inline runner
