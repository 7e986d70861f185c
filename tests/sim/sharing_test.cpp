#include "sim/sharing.hpp"

#include <gtest/gtest.h>

namespace corun::sharing_test {
namespace {

TEST(Sharing, IsToldByTheWordsOfTables) {
  EXPECT_EQ(sharing_of("MPS"), Sharing::kMps);
  EXPECT_EQ(sharing_of("MPS, fixed shares"), Sharing::kMps);
  EXPECT_EQ(sharing_of("MPS in a MIG slice"), Sharing::kMps);
  EXPECT_EQ(sharing_of("time-slicing"), Sharing::kTimeSlicing);
  EXPECT_EQ(sharing_of("MIG 1g.10gb"), Sharing::kSeparate);
  EXPECT_EQ(sharing_of(""), Sharing::kUnknown);
  EXPECT_EQ(sharing_of("Unknown"), Sharing::kUnknown);
  EXPECT_EQ(sharing_of("by luck"), std::nullopt);
}

}  // namespace
}  // namespace corun::sharing_test
