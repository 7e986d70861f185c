#include "knowledge/cluster_assignment.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/base/text.hpp"
#include "support/json.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline knowledge {

AssignmentTable assign_profiles(const Clusters& clusters, const ProfileTable& table) {
  AssignmentTable out;
  out.rule = clusters.rule;
  for (std::size_t i = 0; i < table.jobs.size(); ++i) {
    AssignedProfile row;
    row.job = table.jobs[i];
    row.has_features = has_features(table.profiles[i]);
    row.assignment = assign_cluster(clusters, table.profiles[i]);
    out.rows.push_back(std::move(row));
  }
  const auto rank = [&](double ClusterAssignment::*score, int AssignedProfile::*place) {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < out.rows.size(); ++i) order.push_back(i);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return out.rows[a].assignment.*score < out.rows[b].assignment.*score;
    });
    std::map<int, int> placed;
    for (const std::size_t i : order) {
      if (!out.rows[i].has_features) continue;
      out.rows[i].*place = ++placed[out.rows[i].assignment.cluster];
    }
  };
  rank(&ClusterAssignment::all_centres, &AssignedProfile::rank_all);
  rank(&ClusterAssignment::own_centre, &AssignedProfile::rank_own);
  out.moved = static_cast<std::size_t>(
      std::count_if(out.rows.begin(), out.rows.end(),
                    [](const AssignedProfile& r) { return r.rank_all != r.rank_own; }));
  return out;
}

std::string assignment_table(const AssignmentTable& table) {
  std::size_t width = 3;
  for (const AssignedProfile& r : table.rows) width = std::max(width, printable(r.job).size());
  std::string out =
      fmt::format("{:<{}}  {:>7}  {:>12} {:>6}  {:>12} {:>6}  {}\n", "job", width, "cluster",
                  "all centres", "rank", "own centre", "rank", "distances");
  for (const AssignedProfile& r : table.rows) {
    std::vector<std::string> distances;
    for (const double d : r.assignment.distances) distances.push_back(fmt::format("{:.2f}", d));
    out +=
        r.has_features
            ? fmt::format("{:<{}}  {:>7}  {:>12.2f} {:>6}  {:>12.2f} {:>6}  {}\n", printable(r.job),
                          width, r.assignment.cluster, r.assignment.all_centres, r.rank_all,
                          r.assignment.own_centre, r.rank_own, fmt::join(distances, " "))
            : fmt::format("{:<{}}  {:>7}  no profile: cluster {} by default\n", printable(r.job),
                          width, "-", r.assignment.cluster);
  }
  out += fmt::format(
      "\nRanks are within the cluster; this knowledge base goes by {}.\n{} of {} profiles have "
      "another rank by their own centre than by all.\n",
      table.rule == Uncertainty::kAllCentres ? "all centres" : "the own centre", table.moved,
      table.rows.size());
  return out;
}

std::string assignment_csv(const AssignmentTable& table) {
  std::string out = "job,cluster,all_centres,own_centre,rank_all,rank_own";
  const std::size_t k = table.rows.empty() ? 0 : table.rows.front().assignment.distances.size();
  for (std::size_t c = 0; c < k; ++c) out += fmt::format(",d{}", c);
  out += "\n";
  for (const AssignedProfile& r : table.rows) {
    const auto shown = [&](double d) { return r.has_features ? csv_number(d) : std::string(); };
    out += fmt::format("{},{},{},{},{},{}", csv_text(r.job), r.assignment.cluster,
                       shown(r.assignment.all_centres), shown(r.assignment.own_centre),
                       r.has_features ? std::to_string(r.rank_all) : "",
                       r.has_features ? std::to_string(r.rank_own) : "");
    for (const double d : r.assignment.distances) out += "," + shown(d);
    out += "\n";
  }
  return out;
}

nlohmann::ordered_json assignment_json(const AssignmentTable& table) {
  Json json;
  json["profiles"] = Json::array();
  for (const AssignedProfile& r : table.rows) {
    Json distances = Json::array();
    for (const double d : r.assignment.distances) distances.push_back(json_number(d));
    json["profiles"].push_back({{"job", r.job},
                                {"cluster", r.assignment.cluster},
                                {"has_profile", r.has_features},
                                {"all_centres", json_number(r.assignment.all_centres)},
                                {"own_centre", json_number(r.assignment.own_centre)},
                                {"rank_all", r.has_features ? Json(r.rank_all) : Json(nullptr)},
                                {"rank_own", r.has_features ? Json(r.rank_own) : Json(nullptr)},
                                {"distances", distances}});
  }
  json["other_rank_by_own_centre"] = table.moved;
  return json;
}

}  // namespace corun::inline knowledge
