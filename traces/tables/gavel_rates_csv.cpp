#include "traces/tables/gavel_rates_csv.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include "sim/base/nan.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "traces/csv_reader.hpp"
#include "traces/input_file.hpp"
#include "traces/trace_builder.hpp"

namespace corun::inline traces {
namespace {

constexpr NumberRule kStepsPerSecond{"a number of steps per second", 0, 1e12};
constexpr IntegerRule kGangGpus{"a whole number of GPUs", 1, 1'000'000};
constexpr double kSameRate = 1e-6;  ///< allowed difference: digits lost in writing

std::string rate_column(std::string_view gpu) { return "steps_per_s_" + std::string(gpu); }

const std::vector<CsvColumn> kColumnsAlone{{"job_type", true},
                                           {"scale_factor", true},
                                           {"steps_per_s_v100"},
                                           {"steps_per_s_p100"},
                                           {"steps_per_s_k80"}};
const std::vector<CsvColumn> kColumnsOfPairs{{"scale_factor", true}, {"job_type_a", true},
                                             {"job_type_b", true},   {"gpu", true},
                                             {"rate_a", true},       {"rate_b", true}};

bool is_same_rate(double a, double b) { return std::fabs(a - b) <= kSameRate * std::max(a, b); }

/// The rates of the jobs alone.
void read_alone(CsvReader& csv, GavelThroughputs& rates, WorkloadKeys& keys) {
  std::vector<std::string> names;
  for (const std::string& gpu : rates.gpus) names.push_back(rate_column(gpu));
  const auto type = csv.column("job_type");
  const auto scale_factor = csv.column("scale_factor");
  Measurements& pairs = rates.pairs;
  while (csv.next()) {
    const std::string_view what = csv.required_text(type, "a type of jobs");
    const auto gpus = csv.integer(scale_factor, kGangGpus);
    if (!gpus) csv.refuse(scale_factor, "a whole number of GPUs");
    const std::string name = gavel_job_name(what, *gpus);
    const auto next = static_cast<std::uint32_t>(pairs.names.size());
    const auto [at, is_new] = rates.places.emplace(name, next);
    if (is_new) {
      pairs.names.push_back(name);
      rates.scale_factors.push_back(*gpus);
      rates.listed.push_back(next);
      pairs.families.emplace_back();
      pairs.speeds.jobs.push_back(keys.of(name));
      pairs.speeds.values.insert(pairs.speeds.values.end(), rates.gpus.size(), kNaN);
    }
    for (std::size_t g = 0; g < names.size(); ++g) {
      const auto column = csv.column(names[g]);
      const std::optional<double> rate = csv.number(column, kStepsPerSecond);
      if (!rate) continue;
      double& known = pairs.speeds.values[at->second * rates.gpus.size() + g];
      if (!std::isnan(known) && !is_same_rate(known, *rate)) {
        csv.refuse(column, csv_number(known) + ", the rate of an earlier job of this type",
                   "give jobs of one type one rate");
      }
      if (std::isnan(known)) known = *rate;
    }
  }
}

/// The pairs on the first of the GPU types.
void read_pairs(CsvReader& csv, GavelThroughputs& rates) {
  const auto scale_factor = csv.column("scale_factor");
  const std::array types{csv.column("job_type_a"), csv.column("job_type_b")};
  const std::array columns{csv.column("rate_a"), csv.column("rate_b")};
  const auto gpu = csv.column("gpu");
  std::vector<RatedPair> measured;
  std::vector<std::size_t> lines;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::size_t> known;
  while (csv.next()) {
    const auto gpus = csv.integer(scale_factor, kGangGpus);
    if (!gpus) csv.refuse(scale_factor, "a whole number of GPUs");
    const std::string_view on = csv.required_text(gpu, "a GPU type");
    if (!is_gavel_gpu(on)) csv.refuse(gpu, "v100, p100 or k80");
    std::array<double, 2> pair{};
    for (std::size_t i = 0; i < 2; ++i) {
      const auto rate = csv.number(columns[i], kStepsPerSecond);
      if (!rate) csv.refuse(columns[i], "a number of steps per second");
      pair[i] = *rate;
    }
    const auto a = rates.find(csv.required_text(types[0], "a type of jobs"), *gpus);
    const auto b = rates.find(csv.required_text(types[1], "a type of jobs"), *gpus);
    if (on != rates.gpus.front() || !a || !b) continue;  // of no job of the trace
    if (*b < *a) std::swap(pair[0], pair[1]);
    const auto [at, is_new] = known.emplace(std::minmax(*a, *b), measured.size());
    if (is_new) {
      measured.push_back({std::min(*a, *b), std::max(*a, *b), pair});
      lines.push_back(csv.line());
    } else if (const auto& before = measured[at->second].rates;
               !is_same_rate(before[0], pair[0]) || !is_same_rate(before[1], pair[1])) {
      csv.refuse(columns[0],
                 "the rates of the same pair on line " + std::to_string(lines[at->second]),
                 "leave one of the two out");
    }
  }
  complete_rates(rates, measured, [&](std::size_t pair, const std::string& found) {
    throw InputError(csv.name() + ":" + std::to_string(lines[pair]) + ":1", found);
  });
}

GavelThroughputs no_rates(std::string source, std::string_view gpu) {
  GavelThroughputs rates;
  rates.source = std::move(source);
  rates.gpus.emplace_back(gpu);
  for (const std::string_view other : kGavelGpuTypes) {
    if (other != gpu) rates.gpus.emplace_back(other);
  }
  return rates;
}

void complete_without_pairs(GavelThroughputs& rates) {
  complete_rates(rates, {}, [](std::size_t, const std::string&) {});
}

}  // namespace

bool has_own_rates(std::string_view head) {
  const std::string_view header = first_line(head);
  return header.find("job_type") != std::string_view::npos &&
         header.find("steps_per_s_") != std::string_view::npos;
}

std::string pair_rates_path(const std::string& trace) {
  return (std::filesystem::path(trace).parent_path() / "pair_rates.csv").string();
}

GavelThroughputs read_rates_of_trace(const std::string& trace, std::string_view gpu,
                                     WorkloadKeys& keys) {
  GavelThroughputs rates = no_rates(shown_path(trace), gpu);
  CsvReader alone(trace, kColumnsAlone, kAnyColumns);
  read_alone(alone, rates, keys);
  const std::string path = pair_rates_path(trace);
  if (!std::filesystem::exists(path)) {
    complete_without_pairs(rates);
    return rates;
  }
  CsvReader pairs(path, kColumnsOfPairs);
  read_pairs(pairs, rates);
  return rates;
}

GavelThroughputs read_rates_of_trace(std::istream& trace, std::istream* pairs, std::string_view gpu,
                                     WorkloadKeys& keys) {
  GavelThroughputs rates = no_rates("trace", gpu);
  CsvReader alone(trace, "trace", kColumnsAlone, kAnyColumns);
  read_alone(alone, rates, keys);
  if (pairs == nullptr) {
    complete_without_pairs(rates);
    return rates;
  }
  CsvReader of_pairs(*pairs, "pairs", kColumnsOfPairs);
  read_pairs(of_pairs, rates);
  return rates;
}

}  // namespace corun::inline traces
