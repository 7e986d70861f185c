#include "predictors/graph/operation.hpp"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "tests/predictors/graph/refusal.hpp"

namespace corun::test::operation_test {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 42;

TEST(ElementsOf, MultipliesSizesUpTo2To42) {
  EXPECT_EQ(elements_of({}), 1);
  EXPECT_EQ(elements_of({7}), 7);
  EXPECT_EQ(elements_of({2, 3, 5}), 30);
  EXPECT_EQ(elements_of({kMostElements}), kMostElements);
  EXPECT_EQ(elements_of({1 << 21, 1, 1 << 21}), kMostElements);
}

TEST(ElementsOf, RefusesOthersByTheirShape) {
  const auto message = [](const Shape& shape) { return refusal_of([&] { elements_of(shape); }); };
  EXPECT_EQ(message({2, 0}), "a tensor of 2 x 0 has a size below 1");
  EXPECT_EQ(message({-1}), "a tensor of -1 has a size below 1");
  EXPECT_EQ(message({kMostElements + 1}), "a tensor of 4398046511105 has more than 2^42 elements");
  EXPECT_EQ(message({kMostElements, 2}),
            "a tensor of 4398046511104 x 2 has more than 2^42 elements");
  constexpr std::int64_t kLargest = std::numeric_limits<std::int64_t>::max();
  EXPECT_NE(message({kLargest, kLargest}).find("has more than 2^42"), std::string::npos);
}

TEST(TextOf, HasAllSizes) {
  EXPECT_EQ(text_of({}), "one number");
  EXPECT_EQ(text_of({5}), "5");
  EXPECT_EQ(text_of({2, -1, 0}), "2 x -1 x 0");
}

TEST(NameOf, IsDifferentForEachKind) {
  for (int a = 0; a < kOperationKinds; ++a) {
    const std::string name = name_of(static_cast<OperationKind>(a));
    EXPECT_FALSE(name.empty());
    for (int b = 0; b < a; ++b) EXPECT_NE(name, name_of(static_cast<OperationKind>(b)));
  }
  EXPECT_STREQ(name_of(OperationKind::kInput), "input");
  EXPECT_STREQ(name_of(OperationKind::kUnknown), "unknown");
  EXPECT_STREQ(name_of(OperationKind::kMatrixProduct), "matrix product");
}

}  // namespace
}  // namespace corun::test::operation_test
