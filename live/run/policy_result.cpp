#include "live/run/policy_result.hpp"

namespace corun::live {

std::optional<PredictionError> prediction_error(const PolicyResult& result) {
  std::vector<double> isd;
  std::vector<double> jct_s;
  for (std::size_t j = 0; j < result.record.jobs.size(); ++j) {
    const JobRecord& measured = result.record.jobs[j];
    const JobRecord& predicted = result.predicted.record.jobs[j];
    if (measured.end != JobEnd::kFinished || predicted.end != JobEnd::kFinished) continue;
    isd.push_back(measured.isd() - predicted.isd());
    jct_s.push_back(to_seconds(measured.finish - measured.submit) -
                    to_seconds(predicted.finish - predicted.submit));
  }
  if (isd.empty()) return std::nullopt;
  return PredictionError{isd.size(), mean_interval(isd), mean_interval(jct_s)};
}

}  // namespace corun::live
