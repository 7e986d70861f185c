#include "runner/recommendation/service_recommendation_output.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "sim/base/csv_text.hpp"
#include "support/text_table.hpp"

namespace corun::inline runner {

namespace {

/// A job that cannot share a GPU with a replica has no figures.
bool has_figures(const BesideService& job) { return !std::isnan(job.isd); }

std::string isd_text(const BesideService& job) {
  const PredictionInterval& in = job.isd_interval;
  if (!has_figures(job)) return "-";
  return std::isfinite(in.lo)
             ? fmt::format("{:.1f} [{:.0f}, {:.0f}]", 100 * job.isd, 100 * in.lo, 100 * in.hi)
             : fmt::format("{:.1f}", 100 * job.isd);
}

/// In %, rounded down: 100.0 is certain.
std::string probability_text(const std::optional<double>& probability) {
  if (!probability) return "unknown";
  return fmt::format("{:.1f}", std::floor(*probability * 1000) / 10);
}

std::string heading(const ServiceRecommendation& of) {
  std::string text = fmt::format(
      "{}: {:.4g} % of the requests within {:.4g} ms, {:.4g} requests/s, {} replica{}; alone "
      "{:.2f} % are within\n",
      of.service, 100 * of.share, 1e3 * of.goal_s, of.load_per_s, of.replicas,
      of.replicas == 1 ? "" : "s", 100 * of.within_alone);
  if (!of.most_isd) return text + "misses its goal without co-runners\n";
  return text + fmt::format("keeps its goal up to an ISD of {:.1f} %{}\n", 100 * *of.most_isd,
                            *of.most_isd >= kMostIsdOfService ? " or more" : "");
}

}  // namespace

std::string services_recommendation_table(std::span<const ServiceRecommendation> services) {
  using enum TextTable::Align;
  std::string text;
  for (const ServiceRecommendation& of : services) {
    if (!text.empty()) text += "\n";
    text += heading(of);
    TextTable table({kLeft, kRight, kRight, kRight, kRight, kLeft, kLeft});
    table.add({"job", "its ISD %", "service's ISD % [90 %]", "within goal %", "keeps goal %",
               "may share", "reason"});
    for (const BesideService& job : of.jobs) {
      const bool figures = has_figures(job);
      table.add({job.job, figures ? fmt::format("{:.1f}", 100 * job.job_isd) : "-", isd_text(job),
                 figures ? fmt::format("{:.2f}", 100 * job.within) : "-",
                 figures ? probability_text(job.probability) : "-", job.may_share ? "yes" : "no",
                 job.reason});
    }
    text += table.text();
  }
  return text;
}

Json services_recommendation_json(std::span<const ServiceRecommendation> services) {
  Json list = Json::array();
  for (const ServiceRecommendation& of : services) {
    Json one{{"service", of.service},
             {"goal", {{"share", of.share}, {"latency_s", of.goal_s}}},
             {"load_per_s", json_number(of.load_per_s)},
             {"replicas", of.replicas},
             {"within_alone", json_number(of.within_alone)},
             {"most_isd", of.most_isd ? Json(*of.most_isd) : Json(nullptr)}};
    one["jobs"] = Json::array();
    for (const BesideService& job : of.jobs) {
      const PredictionInterval& in = job.isd_interval;
      one["jobs"].push_back(
          {{"job", job.job},
           {"isd", json_number(job.isd)},
           {"isd_interval", std::isfinite(in.lo) ? Json{in.lo, in.hi} : Json(nullptr)},
           {"within_goal", json_number(job.within)},
           {"probability", job.probability ? Json(*job.probability) : Json(nullptr)},
           {"job_isd", json_number(job.job_isd)},
           {"may_share", job.may_share},
           {"reason", job.reason}});
    }
    list.push_back(std::move(one));
  }
  Json json;
  json["services"] = std::move(list);
  return json;
}

std::string services_recommendation_csv(std::span<const ServiceRecommendation> services) {
  std::string out =
      "service,job,isd,isd_lo,isd_hi,within_goal,probability,job_isd,may_share,reason\n";
  for (const ServiceRecommendation& of : services) {
    for (const BesideService& job : of.jobs) {
      out += csv_text(of.service) + "," + csv_text(job.job);
      for (const double x : {job.isd, job.isd_interval.lo, job.isd_interval.hi, job.within}) {
        out += "," + csv_number(x);
      }
      out += fmt::format(",{},{},{},{}\n", csv_number(job.probability), csv_number(job.job_isd),
                         job.may_share ? 1 : 0, csv_text(job.reason));
    }
  }
  return out;
}

}  // namespace corun::inline runner
