#include "predictors/physics/physics_constants.hpp"

#include <set>
#include <stdexcept>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "predictors/physics/memory_probes.hpp"

namespace corun::physics_constants_test {
namespace {

TEST(PhysicsConstants, EachIsNamedOnceAndLiesWithinItsBounds) {
  const PhysicsConstants usual;
  std::set<std::string_view> names;
  for (const PhysicsConstantEntry& entry : physics_constants()) {
    EXPECT_TRUE(names.insert(entry.name).second) << entry.name;
    EXPECT_GE(usual.*entry.value, entry.least) << entry.name;
    EXPECT_LE(usual.*entry.value, entry.most) << entry.name;
  }
  EXPECT_EQ(names.size() * sizeof(double), sizeof(PhysicsConstants));
}

// The more likely another stack is, the more of a miss goes to the context of all.
TEST(PhysicsConstants, ProbesHeedThem) {
  MemoryErrors errors;
  errors.job = 0.002;
  errors.model = errors.family = 0.001;
  errors.total = {0.002, 0.003, 0.004};
  const ProbedJob probed{{.model = 1, .family = 7}, Familiarity::kFamily, {1500, 800, 1}};
  const ProbedJob other{{.model = 2, .family = 8}, Familiarity::kFamily, {1500, 800, 1}};
  const auto moved = [&](double probability) {
    PhysicsConstants constants;
    constants.stack_probability = probability;
    const MemoryPosterior posterior(std::vector<MemoryProbe>{{probed, 2600}}, errors, constants);
    return posterior.at(other).log_mib;
  };
  EXPECT_GT(moved(0.5), moved(0.01));
  PhysicsConstants impossible;
  impossible.stack_probability = 0.9;
  EXPECT_THROW(MemoryPosterior(std::vector<MemoryProbe>{{probed, 2600}}, errors, impossible),
               std::invalid_argument);
}

}  // namespace
}  // namespace corun::physics_constants_test
