#include "support/statistics/metric_choice.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/error.hpp"

namespace corun::metric_choice_test {
namespace {

std::string refusal(const std::string& list, MetricsAllowed allowed) {
  try {
    metrics_named(list, "--metrics", allowed);
  } catch (const InputError& error) {
    return error.what();
  }
  return "not refused";
}

TEST(MetricChoice, NamesInTheirOrder) {
  const std::vector<Metric> metrics{Metric::kJobs, Metric::kIsd};
  EXPECT_EQ(metrics_named("jobs,isd", "--metrics", MetricsAllowed::kAll), metrics);
  for (std::size_t m = 0; m < kMetricCount; ++m) {
    const auto metric = static_cast<Metric>(m);
    const std::string name(metric_info(metric).name);
    EXPECT_EQ(metrics_named(name, "--metrics", MetricsAllowed::kAll).front(), metric);
    const bool refused = refusal(name, MetricsAllowed::kJudged) != "not refused";
    EXPECT_EQ(refused, !judged(metric).has_better) << name;
  }
}

TEST(MetricChoice, Refusals) {
  EXPECT_TRUE(
      refusal("isd,jct_p9_s", MetricsAllowed::kAll)
          .starts_with("--metrics: no metric 'jct_p9_s': did you mean 'jct_p95_s'? known: "));
  EXPECT_TRUE(refusal("jobs", MetricsAllowed::kJudged)
                  .starts_with("--metrics: no metric 'jobs' that has a better and a worse: "));
  EXPECT_EQ(refusal("ps,isd,ps", MetricsAllowed::kAll),
            "--metrics: found 'ps' twice; name it once");
  EXPECT_TRUE(refusal("", MetricsAllowed::kAll).starts_with("--metrics: found no name"));
}

}  // namespace
}  // namespace corun::metric_choice_test
