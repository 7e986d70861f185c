#include "runner/config/machines.hpp"

#include <gtest/gtest.h>

#include "sim/error.hpp"

namespace corun::test::machines_test {
namespace {

TEST(Machines, AreReadWithAndWithoutTypes) {
  const auto alike = parse_machines("4x8", "here");
  ASSERT_EQ(alike.size(), 1U);
  EXPECT_EQ(alike[0].nodes, 4);
  EXPECT_EQ(alike[0].gpus_per_node, 8);
  EXPECT_EQ(alike[0].gpu_type, "");
  const auto mixed = parse_machines("4x8:V100-16GB+1x7:A100-40GB:1g.5gb", "here");
  ASSERT_EQ(mixed.size(), 2U);
  EXPECT_EQ(mixed[0].gpu_type, "V100-16GB");
  EXPECT_EQ(mixed[1].gpus_per_node, 7);
  EXPECT_EQ(mixed[1].gpu_type, "A100-40GB:1g.5gb") << "the name of a slice has a colon";
}

TEST(Machines, RefusesAnyOtherText) {
  for (const char* text : {"", "4", "4x", "x8", "0x8", "4x0", "-1x8", "4x8x2", "4x8:", "4x8+2x4",
                           "4x8:T4+", "+4x8:T4", "4x8:T4+2x4", "1000001x1", "1.5x2", "4 x 8"}) {
    try {
      parse_machines(text, "here");
      ADD_FAILURE() << "accepted " << text;
    } catch (const InputError& e) {
      EXPECT_TRUE(std::string(e.what()).starts_with("here: found ")) << e.what();
      EXPECT_NE(std::string(e.what()).find("expected NODESxGPUS"), std::string::npos) << e.what();
    }
  }
}

}  // namespace
}  // namespace corun::test::machines_test
