#include "evaluation/paper_sections/leave_one_pair_out.hpp"

#include <cmath>
#include <vector>

namespace corun::inline evaluation {

LeaveOneOut leave_one_pair_out(std::span<const CorunMeasurement> rows, const Clusters& clusters,
                               Labels labels) {
  LeaveOneOut out;
  std::vector<double>
      gained;  // per co-run: error of the overall mean less that of the cluster means
  for (std::size_t left = 0; left < rows.size(); ++left) {
    const auto seen = observe_pair(clusters, rows[left], labels);
    if (!seen) continue;
    KnowledgeBase kb(clusters);
    learn_rows(kb, rows.subspan(0, left), labels);
    learn_rows(kb, rows.subspan(left + 1), labels);
    const auto [a, b] = seen->cluster;
    ++out.pairs;
    double gain = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      const double truth = seen->isd[i];
      const Statistic& s = kb.isd(i == 0 ? a : b, i == 0 ? b : a);
      const double error = std::abs(truth - (s.count() > 0 ? s.mean() : kb.overall_isd()));
      const double overall = std::abs(truth - kb.overall_isd());
      out.mae_isd += error;
      out.mae_isd_overall += overall;
      gain += (overall - error) / 2;
      const PredictionInterval in = isd_interval(kb, i == 0 ? a : b, i == 0 ? b : a);
      if (!std::isfinite(in.lo)) continue;
      ++out.intervals_isd;
      out.isd_below += truth < in.lo ? 1 : 0;
      out.isd_above += truth > in.hi ? 1 : 0;
    }
    gained.push_back(gain);
    const Statistic& s = kb.ps(a, b);
    out.mae_ps += std::abs(seen->ps - (s.count() > 0 ? s.mean() : kb.overall_ps()));
    out.mae_ps_overall += std::abs(seen->ps - kb.overall_ps());
    const PredictionInterval in = ps_interval(kb, a, b);
    if (!std::isfinite(in.lo)) continue;
    ++out.intervals_ps;
    out.ps_below += seen->ps < in.lo ? 1 : 0;
    out.ps_above += seen->ps > in.hi ? 1 : 0;
  }
  const auto share = [](double sum, double n) { return n > 0 ? sum / n : 0; };
  const auto pairs = static_cast<double>(out.pairs);
  out.mae_isd = share(out.mae_isd, 2 * pairs);
  out.mae_isd_overall = share(out.mae_isd_overall, 2 * pairs);
  out.mae_ps = share(out.mae_ps, pairs);
  out.mae_ps_overall = share(out.mae_ps_overall, pairs);
  out.gain = mean_interval(gained);
  return out;
}

}  // namespace corun::inline evaluation
