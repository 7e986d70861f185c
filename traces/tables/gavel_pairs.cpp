#include "traces/tables/gavel_pairs.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <string_view>
#include <vector>

#include "sim/base/csv_text.hpp"
#include "sim/error.hpp"
#include "traces/decimal_text.hpp"

namespace corun::inline traces {
namespace {

constexpr std::array<std::string_view, 3> kSoloColumns{"solo_v100", "solo_p100", "solo_k80"};
constexpr int kSpeedDigits = 6;
constexpr int kSlowdownDigits = 4;

/// "ResNet-18" and "16" of "ResNet-18 (batch size 16)".
struct TypeParts {
  std::string_view family;
  std::string_view batch = "-1";
};

TypeParts parts_of(std::string_view type) {
  constexpr std::string_view kBatch = " (batch size ";
  const std::size_t at = type.rfind(kBatch);
  if (at == std::string_view::npos || !type.ends_with(')')) return {type};
  const std::size_t digits = at + kBatch.size();
  return {type.substr(0, at), type.substr(digits, type.size() - digits - 1)};
}

/// "JOB,FAMILY,BATCH".
std::string type_fields(std::string_view type) {
  const TypeParts parts = parts_of(type);
  return csv_text(type) + ',' + csv_text(parts.family) + ',' + csv_text(parts.batch);
}

/// ",V100,P100,K80": rates alone, for all three GPU types in every table.
std::string solo_fields(const GavelThroughputs& rates, std::uint32_t job) {
  const SpeedTable& speeds = rates.pairs.speeds;
  std::string fields;
  for (const std::string_view column : kSoloColumns) {
    const auto at = std::ranges::find(speeds.features, column, &SpeedTable::Feature::name);
    fields +=
        ',' + decimal_text(speeds.of(job)[static_cast<std::size_t>(at - speeds.features.begin())]);
  }
  return fields;
}

/// Position of each job in a table: in the order of the file's list, unlisted jobs last.
std::vector<std::size_t> order_of_jobs(const GavelThroughputs& rates) {
  const std::size_t jobs = rates.pairs.names.size();
  std::vector<std::size_t> order(jobs);
  for (std::size_t j = 0; j < jobs; ++j) order[j] = jobs + j;
  for (std::size_t i = 0; i < rates.listed.size(); ++i) order[rates.listed[i]] = i;
  return order;
}

struct GavelPair {
  std::array<std::uint32_t, 2> jobs;
  std::array<double, 2> rates;  ///< [steps/s]
};

/// Pairs of jobs of one GPU; the first job of a pair is the one that the file lists first.
std::vector<GavelPair> ordered_pairs(const GavelThroughputs& rates) {
  const std::vector<std::size_t> order = order_of_jobs(rates);
  std::vector<GavelPair> pairs;
  for (std::size_t i = 0; i < rates.rates.size(); ++i) {
    const SpeedTable::Row& row = rates.pairs.speeds.rows[i];
    if (rates.scale_factors[row.a] != 1 || rates.scale_factors[row.b] != 1) continue;
    GavelPair pair{{row.a, row.b}, rates.rates[i]};
    if (order[row.b] < order[row.a]) {
      std::ranges::reverse(pair.jobs);
      std::ranges::reverse(pair.rates);
    }
    pairs.push_back(pair);
  }
  std::ranges::sort(pairs, {}, [&](const GavelPair& pair) {
    return std::array{order[pair.jobs[0]], order[pair.jobs[1]]};
  });
  return pairs;
}

/// ",NORM,SLOWDOWN,CAPPED" of one job of a pair that fits together.
std::string speed_fields(double beside, double alone) {
  return ',' + rounded_text(beside / alone, kSpeedDigits) + ',' +
         rounded_text((alone / beside - 1) * 100, kSlowdownDigits) +
         (beside == alone ? ",1" : ",0");
}

void write_pair(std::ostream& out, const GavelThroughputs& rates, const GavelPair& pair) {
  out << rates.pairs.gpu;
  for (const std::uint32_t job : pair.jobs) out << ',' << type_fields(rates.pairs.names[job]);
  for (const std::uint32_t job : pair.jobs) out << solo_fields(rates, job);
  for (const double rate : pair.rates) out << ',' << decimal_text(rate);
  if (pair.rates[0] == 0) {
    out << ",1,0.0,,0,0.0,,0,0.0\n";
    return;
  }
  out << ",0";
  double sum = 0;
  for (std::size_t i = 0; i < pair.jobs.size(); ++i) {
    const double alone = rates.alone[pair.jobs[i]];
    out << speed_fields(pair.rates[i], alone);
    sum += pair.rates[i] / alone;
  }
  out << ',' << rounded_text(sum, kSpeedDigits) << '\n';
}

}  // namespace

std::size_t write_gavel_pairs(std::ostream& out, const GavelThroughputs& rates) {
  const std::vector<GavelPair> pairs = ordered_pairs(rates);
  if (pairs.empty()) {
    throw InputError(rates.source + ":1:1", "found no pair of jobs of one GPU for '" +
                                                rates.pairs.gpu +
                                                "', expected some; is the file whole?");
  }
  out << "gpu,job_a,family_a,bs_a,job_b,family_b,bs_b,solo_v100_a,solo_p100_a,solo_k80_a,solo_v100_"
         "b,"
         "solo_p100_b,solo_k80_b,corun_a,corun_b,failed,norm_a,slowdown_a_pct,capped_a,norm_b,"
         "slowdown_b_pct,capped_b,norm_sum\n";
  for (const GavelPair& pair : pairs) write_pair(out, rates, pair);
  return pairs.size();
}

std::size_t write_gavel_solo(std::ostream& out, const GavelThroughputs& rates) {
  out << "job,family,bs,solo_v100,solo_p100,solo_k80\n";
  std::size_t rows = 0;
  for (const std::uint32_t job : rates.listed) {
    if (rates.scale_factors[job] != 1) continue;
    out << type_fields(rates.pairs.names[job]) << solo_fields(rates, job) << '\n';
    ++rows;
  }
  return rows;
}

}  // namespace corun::inline traces
