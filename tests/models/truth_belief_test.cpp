#include "models/truth_belief.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include <gtest/gtest.h>

namespace corun {
namespace {

/// Any two jobs run at half speed; jobs 0 and 1 do not fit together. Counts how often it is asked.
class HalfSpeed final : public World {
 public:
  Provenance speeds(const CoRunners& co_runners, std::optional<std::uint64_t>,
                    std::span<double> out) const override {
    ++asked;
    for (double& speed : out) speed = co_runners.residents.size() > 1 ? 0.5 : 1;
    return Provenance::kMeasured;
  }
  bool fits_together(JobId a, JobId b, std::uint32_t) const override {
    return index(a) + index(b) != 1;
  }

  mutable int asked = 0;
};

TEST(TruthBelief, JobsThatDoNotFitTogetherCostMoreThanAnyOthers) {
  const HalfSpeed world;
  const TruthBelief belief(world, std::vector<Duration>(3, std::chrono::seconds(10)), false);
  const PairBelief fits = belief.pair(JobId{0}, JobId{2});
  EXPECT_DOUBLE_EQ(fits.isd_a, 1);
  EXPECT_DOUBLE_EQ(fits.ps, 0);
  const PairBelief misfit = belief.pair(JobId{0}, JobId{1});
  EXPECT_GT(misfit.isd_a, 100 * fits.isd_a);
  EXPECT_GT(misfit.isd_b, 100 * fits.isd_b);
  EXPECT_LT(misfit.ps, -100);
  EXPECT_EQ(belief.pair_speeds(JobId{0}, JobId{1}).a, 0);
}

TEST(TruthBelief, AsksTheWorldOnceForAPairOfALongQueue) {
  const HalfSpeed world;
  const TruthBelief belief(world, std::vector<Duration>(5000, std::chrono::seconds(10)), false);
  const PairBelief first = belief.pair(JobId{7}, JobId{4000});
  const int asked = world.asked;
  EXPECT_GT(asked, 0);
  EXPECT_DOUBLE_EQ(belief.pair(JobId{7}, JobId{4000}).isd_b, first.isd_b);
  EXPECT_EQ(world.asked, asked);
}

}  // namespace
}  // namespace corun
