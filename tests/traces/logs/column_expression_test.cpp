#include "traces/logs/column_expression.hpp"

#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"

namespace corun::column_expression_test {
namespace {

const std::vector<std::string> kHeader = {"start", "end", "end-start", "n", "run time (h)", "a,b"};
const std::vector<double> kCells = {50, 170, 1, 4, 2.5, 7};

std::string evaluate(const std::string& text) {
  std::string problem;
  const auto expression = ColumnExpression::parse(text, kHeader, problem);
  if (!expression) return problem;
  const auto value = expression->value(
      [](std::size_t f) { return std::optional<CellValue>(CellValue{kCells[f]}); });
  return value ? csv_number(value->number) : "absent";
}

TEST(ColumnExpression, ComputesAsArithmeticDoes) {
  EXPECT_EQ(evaluate("end - start"), "120");
  EXPECT_EQ(evaluate("(end - start) / n"), "30");
  EXPECT_EQ(evaluate("end - start * 2"), "70");
  EXPECT_EQ(evaluate("n*n+-1"), "15");
  EXPECT_EQ(evaluate("-(n - 5)*2"), "2");
  EXPECT_EQ(evaluate("n/1e-3"), "4000");
  EXPECT_EQ(evaluate("end-start"), "1") << "the longest name wins";
  EXPECT_EQ(evaluate("run time (h)*3600"), "9000");
  EXPECT_EQ(evaluate("\"a,b\"*2"), "14");
  EXPECT_EQ(evaluate("n/(n-4)"), "absent") << "not finite";
}

TEST(ColumnExpression, SaysWhatIsWrong) {
  EXPECT_NE(evaluate("end - strt").find("no column 'strt'; did you mean 'start'?"),
            std::string::npos)
      << evaluate("end - strt");
  EXPECT_EQ(evaluate("(n"), "')' is missing");
  EXPECT_EQ(evaluate("n n"), "'n' is too much");
  EXPECT_EQ(evaluate("n*"), "a column or a number is missing at the end");
  EXPECT_EQ(evaluate("2*3"), "no column of the file is named");
  EXPECT_EQ(evaluate(std::string(100, '(') + "n"), "too many parentheses or signs");
}

TEST(ColumnExpression, KeepsNanosecondsOfTimes) {
  std::string problem;
  const auto difference = ColumnExpression::parse("end - start", kHeader, problem);
  ASSERT_TRUE(difference);
  const std::map<std::size_t, std::int64_t> ns = {{0, 1'700'000'000'000'000'001},
                                                  {1, 1'700'000'000'000'000'004}};
  const auto value = difference->value([&](std::size_t f) {
    return std::optional(CellValue{static_cast<double>(ns.at(f)) / 1e9, ns.at(f), true});
  });
  ASSERT_TRUE(value && value->ns);
  EXPECT_EQ(*value->ns, 3);
  EXPECT_FALSE(value->is_date);
}

}  // namespace
}  // namespace corun::column_expression_test
