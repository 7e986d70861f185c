#include "runner/replay/world_comparison.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>
#include <ostream>

#include <fmt/format.h>
#include <fmt/ostream.h>

#include "sim/base/correlation.hpp"
#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline runner {

namespace {

/// Mean ISD by policy.
std::vector<double> mean_isd(const ReplayResult& result) {
  std::vector<double> isd;
  for (const MetricIntervals& metrics : result.comparison.policies) {
    isd.push_back(metrics[static_cast<std::size_t>(Metric::kIsd)].mean);
  }
  return isd;
}

/// The values with NaN, which has no order, replaced by infinity.
std::vector<double> orderable(std::span<const double> isd) {
  std::vector<double> values(isd.begin(), isd.end());
  for (double& v : values) {
    if (std::isnan(v)) v = std::numeric_limits<double>::infinity();
  }
  return values;
}

std::optional<double> tau_b(std::span<const double> isd, std::span<const double> reference) {
  constexpr std::size_t kFewest = 3;  // two policies can only agree or not
  std::vector<double> x;
  std::vector<double> y;
  for (std::size_t p = 0; p < isd.size(); ++p) {
    if (!std::isfinite(isd[p]) || !std::isfinite(reference[p])) continue;
    x.push_back(reference[p]);
    y.push_back(isd[p]);
  }
  if (x.size() < kFewest) return std::nullopt;
  const double tau = kendall(x, y);
  return std::isnan(tau) ? std::nullopt : std::optional(tau);
}

/// The labels from best to worst: "a < b = c".
std::string ranking_text(const WorldResult& world, const WorldRanking& ranking) {
  const std::vector<double> isd = mean_isd(*world.result);
  std::string text;
  for (std::size_t i = 0; i < ranking.order.size(); ++i) {
    const std::size_t p = ranking.order[i];
    if (i > 0) text += isd[ranking.order[i - 1]] == isd[p] ? " = " : " < ";
    text += world.experiment->policies()[p].label;
  }
  return text;
}

std::vector<WorldRanking> rankings(const std::vector<WorldResult>& worlds) {
  const std::vector<double> reference = mean_isd(*worlds.front().result);
  std::vector<WorldRanking> all;
  for (const WorldResult& w : worlds) all.push_back(rank_world(mean_isd(*w.result), reference));
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

WorldRanking rank_world(std::span<const double> isd, std::span<const double> reference) {
  assert(isd.size() == reference.size());
  const std::vector<double> values = orderable(isd);
  WorldRanking ranking;
  ranking.order.resize(isd.size());
  std::iota(ranking.order.begin(), ranking.order.end(), std::size_t{0});
  std::ranges::stable_sort(ranking.order, {}, [&](std::size_t p) { return values[p]; });
  ranking.tau = tau_b(isd, reference);
  ranking.same = midranks(values) == midranks(orderable(reference));
  return ranking;
}

void print_ranking(std::ostream& out, const std::vector<WorldResult>& worlds) {
  fmt::print(out, "ranking by mean ISD, best first (tau: Kendall's, with {})\n",
             worlds.front().world);
  const std::vector<WorldRanking> all = rankings(worlds);
  std::size_t width = 0;
  for (const WorldResult& w : worlds) width = std::max(width, w.world.size());
  for (std::size_t w = 0; w < worlds.size(); ++w) {
    const std::string tau = all[w].tau ? fmt::format("{:+.2f}", *all[w].tau) : "-";
    fmt::print(out, "  {:<{}}  tau {:>5}  {}\n", worlds[w].world, width, tau,
               ranking_text(worlds[w], all[w]));
  }
  fmt::print(out, "the ranking {} the change of world\n",
             survives(all) ? "survives" : "does not survive");
}

Json ranking_json(const std::vector<WorldResult>& worlds) {
  const std::vector<WorldRanking> all = rankings(worlds);
  Json out;
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
