#include "sim/base/member_span.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace corun::member_span_test {
namespace {

struct Element {
  char odd = 'x';
  std::string name;
  double value = 0;
};

TEST(MemberSpan, ViewsAMemberOrTheElementsThemselves) {
  const std::vector<Element> elements{{'a', "one", 1}, {'b', "two", 2}, {'c', "three", 3}};
  const MemberSpan<std::string> names(elements, &Element::name);
  const MemberSpan<double> values(elements, &Element::value);
  ASSERT_EQ(names.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(&names[i], &elements[i].name);
    EXPECT_EQ(&values[i], &elements[i].value);
  }
  const std::vector<double> numbers{4, 5};
  const MemberSpan<double> plain = numbers;
  ASSERT_EQ(plain.size(), 2U);
  EXPECT_EQ(&plain[1], &numbers[1]);
  EXPECT_EQ(MemberSpan<double>(std::vector<Element>{}, &Element::value).size(), 0U);
}

}  // namespace
}  // namespace corun::member_span_test
