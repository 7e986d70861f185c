#include "runner/replay/knowledge_history.hpp"

#include <sstream>
#include <utility>
#include <vector>

#include "knowledge/knowledge_report.hpp"
#include "traces/csv_reader.hpp"

namespace corun::inline runner {

namespace {

/// Writes one row per pair of clusters.
void write_rows(std::ostream& out, const std::string& start, const char* metric,
                const std::vector<ClusterPairKnowledge>& pairs) {
  for (const ClusterPairKnowledge& p : pairs) {
    out << start << ',' << metric << ',' << p.cluster << ',' << p.co_runner << ','
        << p.statistic->count() << ',' << csv_number(p.statistic->mean()) << ',' << p.rank << '\n';
  }
}

}  // namespace

std::string knowledge_history(const Experiment& experiment) {
  std::ostringstream text;
  text << "policy,time_s,co_runs,metric,cluster,partner,count,mean,rank\n";
  const std::shared_ptr<const Trace> trace = experiment.make_trace(0);
  for (const PolicyInstance& policy : experiment.policies()) {
    if (policy.granted_truth || policy.needs != PolicyNeeds::kBelief) continue;
    std::size_t co_runs = 0;
    const auto write = [&](Time at, const KnowledgeBase& kb) {
      const std::string start =
          csv_text(policy.label) + ',' + csv_seconds(at) + ',' + std::to_string(co_runs);
      write_rows(text, start, "isd", ranked_isd(kb));
      write_rows(text, start, "ps", ranked_ps(kb));
    };
    write(Time{0}, experiment.initial_knowledge());
    RunObservation observation;
    observation.on_learned = [&](Time at, const KnowledgeBase& kb) {
      ++co_runs;
      write(at, kb);
    };
    experiment.run_policy(*trace, 0, policy, observation);
  }
  return std::move(text).str();
}

}  // namespace corun::inline runner
