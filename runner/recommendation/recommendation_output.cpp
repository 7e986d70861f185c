#include "runner/recommendation/recommendation_output.hpp"

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "support/json.hpp"
#include "support/text_table.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline runner {

namespace {

/// "7.0 [0, 30]", in %.
std::string shown(double x, const PredictionInterval& in) {
  return std::isfinite(in.lo)
             ? fmt::format("{:.1f} [{:.0f}, {:.0f}]", 100 * x, 100 * in.lo, 100 * in.hi)
             : fmt::format("{:.1f}", 100 * x);
}

Json to_json(const PredictionInterval& i) {
  return std::isfinite(i.lo) ? Json{i.lo, i.hi} : Json(nullptr);
}

Json to_json(const Recommendation& r) {
  Json entry;
  entry["jobs"] = r.jobs;
  entry["clusters"] = r.clusters;
  // The knowledge base knows costs of pairs only, so a bin has none.
  const auto& expected = r.group.expected;
  entry["isd"] =
      expected ? Json{json_number(expected->isd_a), json_number(expected->isd_b)} : Json(nullptr);
  entry["ps"] = expected ? json_number(expected->ps) : Json(nullptr);
  entry["isd_interval"] = expected ? Json{to_json(r.isd[0]), to_json(r.isd[1])} : Json(nullptr);
  entry["ps_interval"] = expected ? to_json(r.ps) : Json(nullptr);
  entry["observations"] = r.observations;
  entry["overridden"] = r.overridden;
  entry["uncertainty"] = Json::array();
  for (const double u : r.uncertainty) entry["uncertainty"].push_back(json_number(u));
  entry["reason"] = r.reason;
  return entry;
}

}  // namespace

std::string recommendation_table(const RecommendedQueue& queue) {
  using enum TextTable::Align;
  TextTable table({kLeft, kRight, kRight, kLeft});
  table.add({"jobs", "ISD % [90 %]", "PS % [90 %]", "reason"});
  for (const Recommendation& r : queue.groups) {
    const auto& e = r.group.expected;
    table.add({fmt::format("{}", fmt::join(r.jobs, " + ")),
               e ? shown(e->isd_a, r.isd[0]) + " / " + shown(e->isd_b, r.isd[1]) : "-",
               e ? shown(e->ps, r.ps) : "-", r.reason});
  }
  for (const std::string& job : queue.alone) table.add_line(job + "  alone");
  return table.text();
}

nlohmann::ordered_json recommendation_json(const RecommendedQueue& queue) {
  Json json;
  json["groups"] = Json::array();
  for (const Recommendation& r : queue.groups) json["groups"].push_back(to_json(r));
  json["alone"] = queue.alone;
  return json;
}

std::string recommendation_csv(const RecommendedQueue& queue) {
  std::string out = "group,job,cluster,uncertainty,isd,isd_lo,isd_hi,ps,ps_lo,ps_hi,reason\n";
  for (std::size_t g = 0; g < queue.groups.size(); ++g) {
    const Recommendation& r = queue.groups[g];
    for (std::size_t j = 0; j < r.jobs.size(); ++j) {
      out += fmt::format("{},{},{},{}", g, csv_text(r.jobs[j]), r.clusters[j],
                         std::isfinite(r.uncertainty[j]) ? csv_number(r.uncertainty[j]) : "");
      if (const auto& e = r.group.expected) {
        for (const double x :
             {j == 0 ? e->isd_a : e->isd_b, r.isd[j].lo, r.isd[j].hi, e->ps, r.ps.lo, r.ps.hi}) {
          out += "," + csv_number(x);
        }
      } else {
        out += ",,,,,,";
      }
      out += "," + csv_text(r.reason) + "\n";
    }
  }
  for (const std::string& job : queue.alone) out += "," + csv_text(job) + ",,,,,,,,,alone\n";
  return out;
}

ArgoPlan argo_plan(const RecommendedQueue& queue) {
  ArgoPlan plan;
  for (const Recommendation& r : queue.groups) {
    ArgoGroup group{r.jobs, r.reason, {}, {}};
    if (r.group.expected) {
      group.expected_isd = {r.group.expected->isd_a, r.group.expected->isd_b};
      group.expected_ps = r.group.expected->ps;
    }
    plan.groups.push_back(std::move(group));
  }
  plan.alone = queue.alone;
  return plan;
}

}  // namespace corun::inline runner
