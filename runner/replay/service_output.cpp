#include "runner/replay/service_output.hpp"

#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "services/queue_approximation.hpp"
#include "support/statistics/interval_output.hpp"
#include "support/statistics/mean_interval.hpp"
#include "support/text_table.hpp"

namespace corun::inline runner {
namespace {

/// Of one service, or of all, over the replications.
struct ServiceFigures {
  Interval within;
  Interval mean_s;
  Interval p50_s;
  Interval p95_s;
  Interval p99_s;
  Interval goodput_per_s;
  Interval replicas;  ///< mean number on GPUs
  Interval busy;      ///< share of their time in which they worked
  double requests = 0;
  std::array<double, kMethods> methods{};
};

/// `service`: nothing for all together.
ServiceFigures service_figures(const ReplayResult& result, std::size_t policy,
                               std::optional<std::size_t> service) {
  std::array<std::vector<double>, 8> values;
  ServiceFigures figures;
  std::uint64_t answered = 0;
  for (const Replication& replication : result.replications) {
    const std::vector<ServiceOutcome>& all = replication.runs[policy].services;
    if (all.empty()) continue;  // a run that failed
    LatencyRecord latency;
    double requests = 0;
    double within = 0;
    double goodput = 0;
    double replica_s = 0;
    double replicas = 0;
    double busy_s = 0;
    for (std::size_t s = 0; s < all.size(); ++s) {
      if (service && *service != s) continue;
      const ServiceOutcome& one = all[s];
      latency.add(one.result.latency);
      requests += static_cast<double>(one.requests);
      within += static_cast<double>(one.within);
      goodput += one.goodput_per_s();
      replica_s += one.replica_s;
      replicas += one.replicas();
      busy_s += to_seconds(one.result.busy);
      for (std::size_t m = 0; m < kMethods; ++m) {
        figures.methods.at(m) += static_cast<double>(one.methods.at(m));
        answered += one.methods.at(m);
      }
    }
    const std::array<double, 8> of_run{requests > 0 ? within / requests : 1,
                                       latency.mean_s(),
                                       latency.quantile_s(0.5),
                                       latency.quantile_s(0.95),
                                       latency.quantile_s(0.99),
                                       goodput,
                                       replicas,
                                       replica_s > 0 ? busy_s / replica_s : 0};
    for (std::size_t i = 0; i < of_run.size(); ++i) values.at(i).push_back(of_run.at(i));
    figures.requests += requests;
  }
  if (!values[0].empty()) figures.requests /= static_cast<double>(values[0].size());
  for (double& share : figures.methods) {
    if (answered > 0) share /= static_cast<double>(answered);
  }
  figures.within = mean_interval(values[0]);
  figures.mean_s = mean_interval(values[1]);
  figures.p50_s = mean_interval(values[2]);
  figures.p95_s = mean_interval(values[3]);
  figures.p99_s = mean_interval(values[4]);
  figures.goodput_per_s = mean_interval(values[5]);
  figures.replicas = mean_interval(values[6]);
  figures.busy = mean_interval(values[7]);
  return figures;
}

/// The outcomes of the first run that did not fail; nullptr if there is none.
const std::vector<ServiceOutcome>* first_outcomes(const ReplayResult& result, std::size_t policy) {
  for (const Replication& replication : result.replications) {
    const std::vector<ServiceOutcome>& all = replication.runs[policy].services;
    if (!all.empty()) return &all;
  }
  return nullptr;
}

std::string methods_text(const ServiceFigures& figures) {
  std::string text;
  for (std::size_t m = 0; m < kMethods; ++m) {
    if (figures.methods.at(m) == 0) continue;
    text += fmt::format("{}{} {:.0f} %", text.empty() ? "" : ", ", name_of(static_cast<Method>(m)),
                        100 * figures.methods.at(m));
  }
  return text;
}

}  // namespace

Json services_json(const ReplayResult& result, std::size_t policy) {
  Json list = Json::array();
  const std::vector<ServiceOutcome>* outcomes = first_outcomes(result, policy);
  if (outcomes == nullptr) return list;
  for (std::size_t s = 0; s <= outcomes->size(); ++s) {
    const bool all = s == outcomes->size();
    const ServiceFigures figures =
        service_figures(result, policy, all ? std::nullopt : std::optional(s));
    Json one{{"service", all ? Json(nullptr) : Json((*outcomes)[s].name)},
             {"requests", figures.requests},
             {"within_goal", interval_json(figures.within)},
             {"mean_s", interval_json(figures.mean_s)},
             {"p50_s", interval_json(figures.p50_s)},
             {"p95_s", interval_json(figures.p95_s)},
             {"p99_s", interval_json(figures.p99_s)},
             {"goodput_per_s", interval_json(figures.goodput_per_s)},
             {"replicas", interval_json(figures.replicas)},
             {"busy", interval_json(figures.busy)}};
    for (std::size_t m = 0; m < kMethods; ++m) {
      one["methods"][std::string(name_of(static_cast<Method>(m)))] = figures.methods.at(m);
    }
    list.push_back(std::move(one));
  }
  return list;
}

std::string services_table(const std::vector<PolicyInstance>& policies,
                           const ReplayResult& result) {
  std::vector<std::vector<std::string>> cells{{"policy", "service", "within goal %", "p50 ms",
                                               "p95 ms", "p99 ms", "goodput/s", "replicas",
                                               "busy %", "method"}};
  for (std::size_t p = 0; p < policies.size(); ++p) {
    const std::vector<ServiceOutcome>* outcomes = first_outcomes(result, p);
    if (outcomes == nullptr) continue;
    const std::size_t services = outcomes->size();
    constexpr std::size_t kMostShown = 8;
    for (std::size_t s = 0; s <= services; ++s) {
      const bool all = s == services;
      if (all ? services == 1 : services > kMostShown) continue;
      const ServiceFigures figures =
          service_figures(result, p, all ? std::nullopt : std::optional(s));
      cells.push_back({policies[p].label, all ? "all" : (*outcomes)[s].name,
                       interval_text(figures.within, 100, 2), interval_text(figures.p50_s, 1e3, 1),
                       interval_text(figures.p95_s, 1e3, 1), interval_text(figures.p99_s, 1e3, 1),
                       interval_text(figures.goodput_per_s, 1, 1),
                       interval_text(figures.replicas, 1, 2), interval_text(figures.busy, 100, 1),
                       methods_text(figures)});
    }
  }
  if (cells.size() == 1) return "";
  return "\nservices: requests within the latency goal, and replicas on GPUs\n" +
         aligned(std::move(cells)) + "\n";
}

}  // namespace corun::inline runner
