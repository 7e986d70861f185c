#include "traces/tables/lucid_pairs.hpp"

#include <array>
#include <cstddef>
#include <string_view>

#include "sim/error.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline traces {
namespace {

const std::vector<CsvColumn> kRateColumns = {
    {"job_a"}, {"norm_a"}, {"job_b"},  {"norm_b"},   {"model1"},     {"dataset1"}, {"batchsize1"},
    {"amp1"},  {"speed1"}, {"model2"}, {"dataset2"}, {"batchsize2"}, {"amp2"},     {"speed2"}};
constexpr NumberRule kRate{"a speed relative to the one alone", 0, 10, true};

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

}  // namespace corun::inline traces
