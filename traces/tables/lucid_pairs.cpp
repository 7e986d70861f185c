#include "traces/tables/lucid_pairs.hpp"

#include <cstddef>
#include <string_view>
#include <utility>

#include "sim/error.hpp"
#include "traces/column_rules.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kLucidPairColumns = {
    {"job_a", true},           {"model_a", true},
    {"solo_gpu_util_a", true}, {"solo_gmem_util_a", true},
    {"solo_gmem_mib_a", true}, {"norm_a", true},
    {"job_b", true},           {"model_b", true},
    {"solo_gpu_util_b", true}, {"solo_gmem_util_b", true},
    {"solo_gmem_mib_b", true}, {"norm_b", true}};

constexpr NumberRule kLucidPairMib{"a number of MiB", 0, 1e9};
// Noise alone gives up to 1.5. A pair beyond twice the solo speed is not usable.
constexpr NumberRule kSpeed{"a speed relative to the one alone", 0, 1.99, true};

const std::vector<CsvColumn> kRateColumns = {
    {"job_a"}, {"norm_a"}, {"job_b"},  {"norm_b"},   {"model1"},     {"dataset1"}, {"batchsize1"},
    {"amp1"},  {"speed1"}, {"model2"}, {"dataset2"}, {"batchsize2"}, {"amp2"},     {"speed2"}};
constexpr NumberRule kRate{"a speed relative to the one alone", 0, 10, true};

/// The columns of one of the two jobs.
struct Side {
  CsvReader::Column job, model, gpu_util, mem_time, mem_used, speed;

  Side(const CsvReader& csv, std::string_view suffix)
      : job(of(csv, "job", suffix)),
        model(of(csv, "model", suffix)),
        gpu_util(of(csv, "solo_gpu_util", suffix)),
        mem_time(of(csv, "solo_gmem_util", suffix)),
        mem_used(of(csv, "solo_gmem_mib", suffix)),
        speed(of(csv, "norm", suffix)) {}

 private:
  static CsvReader::Column of(const CsvReader& csv, std::string name, std::string_view suffix) {
    return csv.column(name.append(suffix));
  }
};

std::vector<LucidPair> read_lucid_pairs(CsvReader& csv, WorkloadKeys& keys) {
  const std::array<Side, 2> sides{Side(csv, "_a"), Side(csv, "_b")};
  std::vector<LucidPair> pairs;
  while (csv.next()) {
    LucidPair pair;
    pair.measurement.source = "Lucid line " + std::to_string(csv.line());
    pair.measurement.gpu_type = kLucidGpuType;
    pair.measurement.sharing = "time-slicing";
    for (std::size_t i = 0; i < sides.size(); ++i) {
      const Side& side = sides[i];
      CorunMember member;
      member.workload = keys.of(csv.required_text(side.job, "the name of a workload"));
      member.profile.gpu_util_pct = csv.number(side.gpu_util, kShare);
      member.profile.mem_time_pct = csv.number(side.mem_time, kShare);
      member.profile.mem_used_mib = csv.number(side.mem_used, kLucidPairMib);
      if (member.profile.mem_used_mib) {
        member.profile.mem_alloc_pct = 100 * *member.profile.mem_used_mib / kLucidMemoryMib;
      }
      pair.speeds[i] = csv.required_number(side.speed, kSpeed);
      member.solo_s = pair.speeds[i] * kLucidCorunSeconds;
      member.corun_s = kLucidCorunSeconds;
      const std::string_view model = csv.required_text(side.model, "the name of a model");
      pair.imputed_speed = pair.imputed_speed || model == "PPO" || model == "TD3";
      pair.measurement.members.push_back(member);
    }
    pairs.push_back(std::move(pair));
  }
  if (pairs.empty()) {
    throw InputError(csv.name(), "no row after the header, expected measured pairs; is it whole?");
  }
  return pairs;
}

}  // namespace

std::vector<LucidRates> read_lucid_rates(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, kRateColumns, kAnyColumns);
  const bool pairs = csv.has(csv.column("norm_a"));
  for (const std::string_view needed : pairs ? std::array{"job_a", "norm_a", "job_b", "norm_b"}
                                             : std::array{"model1", "speed1", "model2", "speed2"}) {
    if (csv.has(csv.column(needed))) continue;
    throw InputError(csv.name() + ":1:1",
                     "found no column '" + std::string(needed) +
                         "', expected Lucid's pairs (job_a, norm_a, ...) or its "
                         "colocate_info (model1, speed1, ...)");
  }
  std::vector<LucidRates> rows;
  while (csv.next()) {
    LucidRates row;
    for (std::size_t i = 0; i < 2; ++i) {
      const std::string suffix = pairs ? (i == 0 ? "_a" : "_b") : (i == 0 ? "1" : "2");
      std::string text;
      if (pairs) {
        text = csv.required_text(csv.column("job" + suffix), "the name of a workload");
      } else {
        for (const char* part : {"model", "dataset", "batchsize", "amp"}) {
          text.append(text.empty() ? "" : "|").append(csv.text(csv.column(part + suffix)));
        }
      }
      row.workloads[i] = keys.of(text);
      row.speeds[i] = csv.required_number(csv.column((pairs ? "norm" : "speed") + suffix), kRate);
    }
    rows.push_back(row);
  }
  return rows;
}

std::vector<LucidPair> read_lucid_pairs(const std::string& path, WorkloadKeys& keys) {
  CsvReader csv(path, kLucidPairColumns, kAnyColumns);
  return read_lucid_pairs(csv, keys);
}

std::vector<LucidPair> read_lucid_pairs(std::istream& in, const std::string& name,
                                        WorkloadKeys& keys) {
  CsvReader csv(in, name, kLucidPairColumns, kAnyColumns);
  return read_lucid_pairs(csv, keys);
}

}  // namespace corun::inline traces
