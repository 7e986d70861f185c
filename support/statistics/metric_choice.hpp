#pragma once

#include <string>
#include <vector>

#include "sim/records/metrics.hpp"

/// What readers of a metric want to know beside its name: which direction is better, whether it is
/// shown in %. Also the lists of metrics that users write.
namespace corun::inline support {

struct Judgement {
  bool has_better = false;  ///< one direction is better
  bool smaller_is_better = false;
  bool percent = false;  ///< a fraction shown in %
};

const Judgement& judged(Metric metric);

enum class MetricsAllowed { kAll, kJudged };  ///< kJudged: those that have a better direction

/// "isd,ps": the metrics of these names (metric_info()), in that order. Throws InputError, which
/// begins with `flag`, for an unknown name, one that is not allowed, and one that stands twice.
std::vector<Metric> metrics_named(const std::string& list, const std::string& flag,
                                  MetricsAllowed allowed);

}  // namespace corun::inline support
