#include "runner/replay/world_comparison.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "runner/replay/replay_columns.hpp"
#include "sim/base/correlation.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"
#include "support/statistics/metric_choice.hpp"

namespace corun::inline runner {

namespace {

/// The mean of a metric by policy, less is better: negative where more is.
std::vector<double> means_of(const ReplayResult& result, Metric metric) {
  std::vector<double> means;
  for (const MetricIntervals& metrics : result.comparison.policies) {
    const double mean = interval_of(metrics, metric).mean;
    means.push_back(judged(metric).smaller_is_better ? mean : -mean);
  }
  return means;
}

/// The values with NaN, which has no order, replaced by infinity.
std::vector<double> orderable(std::span<const double> means) {
  std::vector<double> values(means.begin(), means.end());
  for (double& v : values) {
    if (std::isnan(v)) v = std::numeric_limits<double>::infinity();
  }
  return values;
}

std::optional<double> tau_b(std::span<const double> means, std::span<const double> reference) {
  constexpr std::size_t kFewest = 3;  // two policies can only agree or not
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t p = 0; p < means.size(); ++p) {
    if (!std::isfinite(means[p]) || !std::isfinite(reference[p])) continue;
    x.push_back(reference[p]);
    y.push_back(means[p]);
  }
  if (x.size() < kFewest) return std::nullopt;
  const double tau = kendall(x, y);
  return std::isnan(tau) ? std::nullopt : std::optional(tau);
}

/// The labels from best to worst: "a < b = c".
std::string ranking_text(const WorldResult& world, const WorldRanking& ranking, Metric metric) {
  const std::vector<double> means = means_of(*world.result, metric);
  std::string text;
  for (std::size_t i = 0; i < ranking.order.size(); ++i) {
    const std::size_t p = ranking.order[i];
    if (i > 0)
      text += means[ranking.order[i - 1]] == means[p] ? " = "
              : judged(metric).smaller_is_better      ? " < "
                                                      : " > ";
    text += world.experiment->policies()[p].label;
  }
  return text;
}

std::vector<WorldRanking> rankings(const std::vector<WorldResult>& worlds, Metric metric) {
  const std::vector<double> reference = means_of(*worlds.front().result, metric);
  std::vector<WorldRanking> all;
  for (const WorldResult& w : worlds) {
    all.push_back(rank_world(means_of(*w.result, metric), reference));
  }
  return all;
}

bool survives(const std::vector<WorldRanking>& rankings) {
  return std::ranges::all_of(rankings, &WorldRanking::same);
}

/// A WorldModel or ModelName from --worlds.
template <typename Choice>
Choice world_model(const std::string& name) {
  if (const auto choice = Choice::find(name)) return *choice;
  throw InputError("--worlds", unknown_model_message(name));
}

}  // namespace

Config in_world(Config config, const std::string& world) {
  const auto plus = world.find('+');
  const std::string name = world.substr(0, plus);
  if (plus != std::string::npos && WorldModel::find(name) != WorldKind::kMeasured) {
    throw InputError("--worlds",
                     "found '" + printable(world) + "', only measured takes a +fallback");
  }
  config.world.model = world_model<WorldModel>(name);
  config.places.set("world.model", "--worlds");
  if (plus != std::string::npos) {
    config.world.fallback = world_model<ModelName>(world.substr(plus + 1));
    config.places.set("world.fallback", "--worlds");
  }
  return config;
}

Metric ranking_metric(const std::vector<Metric>& asked) {
  const auto first = std::ranges::find_if(asked, [](Metric m) { return judged(m).has_better; });
  return first == asked.end() ? Metric::kIsd : *first;
}

WorldRanking rank_world(std::span<const double> means, std::span<const double> reference) {
  assert(means.size() == reference.size());
  const std::vector<double> values = orderable(means);
  WorldRanking ranking;
  ranking.order.resize(means.size());
  std::iota(ranking.order.begin(), ranking.order.end(), std::size_t{0});
  std::ranges::stable_sort(ranking.order, {}, [&](std::size_t p) { return values[p]; });
  ranking.tau = tau_b(means, reference);
  ranking.same = midranks(values) == midranks(orderable(reference));
  return ranking;
}

void print_ranking(std::ostream& out, const std::vector<WorldResult>& worlds, Metric metric) {
  fmt::print(out, "ranking by {}, best first (tau: Kendall's, with {})\n",
             metric == Metric::kIsd ? "mean ISD" : metric_info(metric).name, worlds.front().world);
  const std::vector<WorldRanking> all = rankings(worlds, metric);
  std::size_t width = 0;
  for (const WorldResult& w : worlds) width = std::max(width, w.world.size());
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    const std::string tau = all[w].tau ? fmt::format("{:+.2f}", *all[w].tau) : "-";
    fmt::print(out, "  {:<{}}  tau {:>5}  {}\n", worlds[w].world, width, tau,
               ranking_text(worlds[w], all[w], metric));
  }
  fmt::print(out, "the ranking {} the change of world\n",
             survives(all) ? "survives" : "does not survive");
}

Json ranking_json(const std::vector<WorldResult>& worlds, Metric metric) {
  const std::vector<WorldRanking> all = rankings(worlds, metric);
  Json out;
  out["metric"] = metric_info(metric).name;
  out["worlds"] = Json::array();
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    Json entry;
    entry["world"] = worlds[w].world;
    entry["ranking"] = Json::array();
    for (const std::size_t p : all[w].order) {
      entry["ranking"].push_back(worlds[w].experiment->policies()[p].label);
    }
    entry["tau"] = all[w].tau ? Json(*all[w].tau) : Json(nullptr);
    out["worlds"].push_back(std::move(entry));
  }
  out["survives"] = survives(all);
  return out;
}

}  // namespace corun::inline runner
