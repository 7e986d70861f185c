#include "policies/external/external_wakes.hpp"

#include <cstddef>
#include <cstdint>

#include <gtest/gtest.h>

#include "policies/external/external_process.hpp"

namespace corun::test::external_wakes_test {
namespace {

TEST(ExternalWakes, OnlySoManyAreToCome) {
  ExternalWakes wakes;
  for (std::size_t i = 1; i <= ExternalWakes::kMostPending; ++i) {
    wakes.add(Time{static_cast<std::int64_t>(i)});
  }
  wakes.add(Time{1});  // the same time again changes nothing
  EXPECT_THROW(wakes.add(Time{0}), ExternalError);
  wakes.new_question(Time{2}, true);  // those at 0, 1 and 2 have come
  wakes.add(Time{1'000'000'000});
  wakes.add(Time{1'000'000'001});
  EXPECT_THROW(wakes.add(Time{1'000'000'002}), ExternalError);
}

TEST(ExternalWakes, OnlySoManyInARowAreIdle) {
  ExternalWakes wakes;
  const auto idle = [&](int times) {
    for (int i = 0; i < times; ++i) wakes.new_question(Time{i}, false);
  };
  idle(ExternalWakes::kMostIdle);
  wakes.act();
  idle(ExternalWakes::kMostIdle);
  wakes.new_question(Time{0}, true);
  idle(ExternalWakes::kMostIdle);
  EXPECT_THROW(idle(1), ExternalError);
}

}  // namespace
}  // namespace corun::test::external_wakes_test
