#include "traces/logs/column_expression.hpp"

#include <cmath>

#include "sim/base/csv_text.hpp"
#include "sim/base/text.hpp"

namespace corun::inline traces {
namespace {

constexpr double kNsInSecond = 1e9;
constexpr int kDeepest = 32;

bool is_space(char c) { return c == ' ' || c == '\t'; }
bool ends_name(std::string_view rest) {
  return rest.empty() || std::string_view(" \t+-*/()").find(rest.front()) != std::string_view::npos;
}

/// a + b or a - b: to the nanosecond if both are times.
CellValue sum(const CellValue& a, const CellValue& b, bool subtract) {
  CellValue result{subtract ? a.number - b.number : a.number + b.number};
  std::int64_t ns = 0;
  const bool fits = a.ns && b.ns &&
                    !(subtract ? __builtin_sub_overflow(*a.ns, *b.ns, &ns)
                               : __builtin_add_overflow(*a.ns, *b.ns, &ns));
  if (fits) {
    result.ns = ns;
    result.number = static_cast<double>(*result.ns) / kNsInSecond;
  }
  result.is_date = a.is_date != b.is_date;
  return result;
}

}  // namespace

/// Recursive descent, of bounded depth.
class ColumnExpression::Parser {
 public:
  Parser(std::string_view text, const std::vector<std::string>& header, ColumnExpression& result,
         std::string& problem)
      : rest_(text), header_(header), result_(result), problem_(problem) {}

  bool run() {
    if (!sum(0)) return false;
    skip_blanks();
    if (!rest_.empty()) return fail("'" + printable(rest_) + "' is too much");
    if (result_.fields_.empty()) return fail("no column of the file is named");
    return true;
  }

 private:
  bool fail(std::string why) {
    if (problem_.empty()) problem_ = std::move(why);
    return false;
  }
  void skip_blanks() {
    while (!rest_.empty() && is_space(rest_.front())) take(1);
  }
  /// Moves text that is no column.
  void take(std::size_t count) {
    auto& pieces = result_.pieces_;
    if (pieces.empty() || pieces.back().field) pieces.push_back({});
    pieces.back().text.append(rest_.substr(0, count));
    rest_.remove_prefix(count);
  }
  void push(Op op, double number = 0) {
    result_.steps_.push_back({op, 0, number});
    result_.converts_ |= op == Op::kNumber || op == Op::kMultiply || op == Op::kDivide;
  }
  void push_field(std::size_t field, std::size_t length) {
    result_.steps_.push_back({Op::kField, field, 0});
    result_.fields_.push_back(field);
    result_.pieces_.push_back({std::string(rest_.substr(0, length)), field});
    rest_.remove_prefix(length);
  }

  bool sum(int depth) {
    if (!product(depth)) return false;
    for (;;) {
      skip_blanks();
      if (rest_.empty() || (rest_.front() != '+' && rest_.front() != '-')) return true;
      const Op op = rest_.front() == '+' ? Op::kAdd : Op::kSubtract;
      take(1);
      if (!product(depth)) return false;
      push(op);
    }
  }
  bool product(int depth) {
    if (!factor(depth)) return false;
    for (;;) {
      skip_blanks();
      if (rest_.empty() || (rest_.front() != '*' && rest_.front() != '/')) return true;
      const Op op = rest_.front() == '*' ? Op::kMultiply : Op::kDivide;
      take(1);
      if (!factor(depth)) return false;
      push(op);
    }
  }
  bool factor(int depth) {
    if (depth == kDeepest) return fail("too many parentheses or signs");
    skip_blanks();
    if (rest_.empty()) return fail("a column or a number is missing at the end");
    if (name()) return true;
    if (rest_.front() == '-') {
      take(1);
      if (!factor(depth + 1)) return false;
      push(Op::kNegate);
      return true;
    }
    if (rest_.front() == '(') {
      take(1);
      if (!sum(depth + 1)) return false;
      skip_blanks();
      if (!rest_.starts_with(')')) return fail("')' is missing");
      take(1);
      return true;
    }
    std::size_t end = 0;  // "1e-3" has a sign inside
    while (end < rest_.size() &&
           (!ends_name(rest_.substr(end)) ||
            (end > 0 && (rest_[end - 1] == 'e' || rest_[end - 1] == 'E') && rest_[end] == '-'))) {
      ++end;
    }
    const std::string_view word = rest_.substr(0, end);
    const auto number = parse_number(word);
    if (!number) {
      const std::vector<std::string_view> known(header_.begin(), header_.end());
      return fail("the file has no column '" + printable(word) + "'; " + did_you_mean(word, known));
    }
    push(Op::kNumber, *number);
    take(end);
    return true;
  }
  /// The longest name of the header that stands here, or the quoted one.
  bool name() {
    if (rest_.front() == '"') {
      const std::size_t end = rest_.find('"', 1);
      if (end == std::string_view::npos) return false;
      const std::string_view quoted = rest_.substr(1, end - 1);
      for (std::size_t i = 0; i < header_.size(); ++i) {
        if (header_[i] != quoted) continue;
        push_field(i, end + 1);
        return true;
      }
      return false;
    }
    std::size_t best = header_.size();
    for (std::size_t i = 0; i < header_.size(); ++i) {
      const std::string& name = header_[i];
      if (name.empty() || !rest_.starts_with(name) || !ends_name(rest_.substr(name.size()))) {
        continue;
      }
      if (best == header_.size() || name.size() > header_[best].size()) best = i;
    }
    if (best == header_.size()) return false;
    push_field(best, header_[best].size());
    return true;
  }

  std::string_view rest_;
  const std::vector<std::string>& header_;
  ColumnExpression& result_;
  std::string& problem_;
};

std::optional<ColumnExpression> ColumnExpression::parse(std::string_view text,
                                                        const std::vector<std::string>& header,
                                                        std::string& problem) {
  ColumnExpression expression;
  problem.clear();
  if (!Parser(text, header, expression, problem).run()) return std::nullopt;
  return expression;
}

std::optional<CellValue> ColumnExpression::value(
    const std::function<std::optional<CellValue>(std::size_t field)>& cell) const {
  std::vector<CellValue> stack;
  for (const Step& step : steps_) {
    if (step.op == Op::kField) {
      const auto found = cell(step.field);
      if (!found) return std::nullopt;
      stack.push_back(*found);
      continue;
    }
    if (step.op == Op::kNumber) {
      CellValue number{step.number};
      const double ns = step.number * kNsInSecond;
      constexpr double kExact = 9e15;  // whole doubles
      if (std::abs(ns) < kExact && ns == std::floor(ns)) number.ns = static_cast<std::int64_t>(ns);
      stack.push_back(number);
      continue;
    }
    if (step.op == Op::kNegate) {
      CellValue& top = stack.back();
      top.number = -top.number;
      if (top.ns) top.ns = -*top.ns;
      continue;
    }
    const CellValue b = stack.back();
    stack.pop_back();
    CellValue& a = stack.back();
    switch (step.op) {
      case Op::kAdd:
        a = sum(a, b, false);
        break;
      case Op::kSubtract:
        a = sum(a, b, true);
        break;
      case Op::kMultiply:
        a = {a.number * b.number};
        break;
      default:
        a = {a.number / b.number};
        break;
    }
  }
  if (!std::isfinite(stack.back().number)) return std::nullopt;
  return stack.back();
}

std::string ColumnExpression::shown(
    const std::function<std::string(std::size_t field)>& cell) const {
  std::string text;
  for (const Piece& piece : pieces_) text += piece.field ? cell(*piece.field) : piece.text;
  return text;
}

}  // namespace corun::inline traces
