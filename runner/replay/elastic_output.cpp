#include "runner/replay/elastic_output.hpp"

#include <algorithm>
#include <cmath>

#include "support/statistics/interval_output.hpp"
#include "support/text_table.hpp"

namespace corun::inline runner {
namespace {

struct ElasticFigure {
  const char* name;
  const char* heading;
  double ElasticMeans::*mean;
  double scale;  ///< of the table
  int digits;
};

constexpr ElasticFigure kElasticFigures[] = {
    {"throughput_per_s", "throughput/s", &ElasticMeans::throughput, 1, 1},
    {"goodput_per_s", "goodput/s", &ElasticMeans::goodput, 1, 1},
    {"efficiency", "efficiency %", &ElasticMeans::efficiency, 100, 1},
    {"restarts", "restarts", &ElasticMeans::restarts, 1, 2},
};

}  // namespace

std::vector<std::pair<std::string, Interval>> elastic_figures(const ReplayResult& result,
                                                              std::size_t policy) {
  std::vector<std::pair<std::string, Interval>> figures;
  for (const ElasticFigure& figure : kElasticFigures) {
    std::vector<double> values;
    for (const Replication& replication : result.replications) {
      const ElasticMeans& means = replication.runs[policy].elastic;
      if (means.jobs > 0 && !std::isnan(means.*figure.mean)) values.push_back(means.*figure.mean);
    }
    if (!values.empty()) figures.emplace_back(figure.name, mean_interval(values));
  }
  return figures;
}

std::string elastic_table(const std::vector<PolicyInstance>& policies, const ReplayResult& result) {
  std::vector<std::vector<std::string>> cells{{"policy"}};
  for (const ElasticFigure& figure : kElasticFigures) cells.front().emplace_back(figure.heading);
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const auto figures = elastic_figures(result, p);
    if (figures.empty()) continue;
    std::vector<std::string>& row = cells.emplace_back();
    row.push_back(policies[p].label);
    for (const ElasticFigure& figure : kElasticFigures) {
      const auto at =
          std::ranges::find(figures, figure.name, &std::pair<std::string, Interval>::first);
      row.push_back(at == figures.end() ? "-"
                                        : interval_text(at->second, figure.scale, figure.digits));
    }
  }
  if (cells.size() == 1) return "";
  return "\nelastic jobs, mean of a job: samples per second on GPUs; the same in samples with the "
         "initial batch size; their ratio; restarts\n" +
         aligned(std::move(cells)) + "\n";
}

}  // namespace corun::inline runner
