#include "evaluation/paper_sections/kb_interference.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "evaluation/paper_sections/leave_one_pair_out.hpp"
#include "knowledge/knowledge_report.hpp"
#include "support/json.hpp"
#include "traces/paper_workloads.hpp"

namespace corun::inline evaluation {

namespace {

/// Measured pairs of a paper, or of both.
struct NamedRows {
  const char* name;
  std::vector<CorunMeasurement> rows;
};

Json to_json(const char* name, const LeaveOneOut& l) {
  return {
      {"rows", name},
      {"pairs", l.pairs},
      {"mae_isd", rounded(l.mae_isd)},
      {"mae_isd_overall_mean", rounded(l.mae_isd_overall)},
      {"gain",
       {{"mean", rounded(l.gain.mean)}, {"lo", rounded(l.gain.lo)}, {"hi", rounded(l.gain.hi)}}},
      {"mae_ps", rounded(l.mae_ps)},
      {"mae_ps_overall_mean", rounded(l.mae_ps_overall)},
      {"covered_isd", rounded(l.covered_isd())},
      {"covered_ps", rounded(l.covered_ps())}};
}

void add_leave_one_out(StudySection& section, const std::vector<NamedRows>& all) {
  section.text += fmt::format(
      "each pair left out and predicted by the mean of its clusters over the others\n"
      "  {:<10}{:>6}{:>11}{:>14}{:>27}{:>11}{:>14}\n",
      "pairs of", "n", "MAE ISD %", "overall mean", "overall - clusters [95 %]", "MAE PS %",
      "overall mean");
  std::string covered = fmt::format(
      "\nhow often the 90 % interval of the others holds it\n  {:<10}{:>8}{:>8}{:>8}"
      "{:>9}{:>8}{:>8}{:>8}\n",
      "pairs of", "ISD", "below", "above", "of", "PS", "outside", "of");
  section.json["leave_one_out"] = Json::array();
  for (const NamedRows& n : all) {
    const LeaveOneOut l = leave_one_pair_out(n.rows, paper_clusters(), Labels::kPrinted);
    section.text += fmt::format(
        "  {:<10}{:>6}{:>11.2f}{:>14.2f}{:>27}{:>11.2f}{:>14.2f}\n", n.name, l.pairs,
        100 * l.mae_isd, 100 * l.mae_isd_overall,
        fmt::format("{:.1f} [{:.1f}, {:.1f}]", 100 * l.gain.mean, 100 * l.gain.lo, 100 * l.gain.hi),
        100 * l.mae_ps, 100 * l.mae_ps_overall);
    covered += fmt::format("  {:<10}{:>7.0f}%{:>8}{:>8}{:>9}{:>7.0f}%{:>8}{:>8}\n", n.name,
                           100 * l.covered_isd(), l.isd_below, l.isd_above, l.intervals_isd,
                           100 * l.covered_ps(), l.ps_below + l.ps_above, l.intervals_ps);
    section.json["leave_one_out"].push_back(to_json(n.name, l));
  }
  section.text += covered;
}

std::string said(const ClusterPairKnowledge& p, const char* joint) {
  return fmt::format("{} {} {} ({:.1f} %, {} observed)", p.cluster, joint, p.co_runner,
                     100 * p.statistic->mean(), p.statistic->count());
}

const ClusterPairKnowledge& of_clusters(const std::vector<ClusterPairKnowledge>& pairs, int a,
                                        int b) {
  return *std::find_if(pairs.begin(), pairs.end(),
                       [&](const auto& p) { return p.cluster == a && p.co_runner == b; });
}

/// Whether co-runs of clusters 1 and 2 are the best, as PriRecT claims with its figures 5 and 6.
void add_ranks(StudySection& section, const NamedRows& n) {
  const KnowledgeBase kb = build_knowledge_base(n.rows);
  const auto isd = ranked_isd(kb);
  const auto ps = ranked_ps(kb);
  const auto median = std::min_element(isd.begin(), isd.end(), [](const auto& a, const auto& b) {
    return a.statistic->quantile(0.5) < b.statistic->quantile(0.5);
  });
  const ClusterPairKnowledge& one = of_clusters(isd, 1, 2);
  const ClusterPairKnowledge& two = of_clusters(isd, 2, 1);
  section.claim(
      fmt::format("jobs of cluster 1 beside cluster 2 show the least ISD ({} tables)", n.name),
      isd.front().cluster == 1 && isd.front().co_runner == 2,
      fmt::format("least mean: {}; {} is rank {}, {} rank {} of {}; least median: {} beside {}, "
                  "{:.1f} % (2 beside 1: {:.1f} %)",
                  said(isd.front(), "beside"), said(one, "beside"), one.rank, said(two, "beside"),
                  two.rank, isd.size(), median->cluster, median->co_runner,
                  100 * median->statistic->quantile(0.5), 100 * two.statistic->quantile(0.5)));
  const ClusterPairKnowledge& together = of_clusters(ps, 1, 2);
  section.claim(fmt::format("jobs of clusters 1 and 2 together save the most ({} tables)", n.name),
                ps.front().cluster == 1 && ps.front().co_runner == 2,
                fmt::format("most: {}; {} is rank {} of {}", said(ps.front(), "with"),
                            said(together, "with"), together.rank, ps.size()));
}

}  // namespace

StudySection interference_section() {
  WorkloadKeys keys;
  const NamedRows jrs{"jrs", paper_measurements(keys, kJrsKnowledgeBase)};
  const NamedRows prirect{"prirect", paper_measurements(keys, kPrirectKnowledgeBase)};
  NamedRows both{"both", jrs.rows};
  both.rows.insert(both.rows.end(), prirect.rows.begin(), prirect.rows.end());
  StudySection section;
  add_leave_one_out(section, {jrs, prirect, both});
  add_ranks(section, prirect);
  add_ranks(section, jrs);
  section.figure = knowledge_figure(build_knowledge_base(prirect.rows),
                                    "PriRecT Tables III and IV by pair of clusters");
  return section;
}

}  // namespace corun::inline evaluation
