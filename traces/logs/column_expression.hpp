#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Arithmetic on the columns of a log: "end-start", "worker_num*gpu_request", "(stop - start) / 60".
///
/// Numbers, names of columns, + - * / and parentheses. A name is the longest one of the header that stands there
/// and ends before a blank, an operator or the end; in double quotes it may hold anything but quotes.
namespace corun::inline traces {

/// The value of a cell or of an expression.
struct CellValue {
  double number = 0;
  /// The same value to the nanosecond, for times of up to 4e9 s.
  std::optional<std::int64_t> ns = {};
  bool is_date = false;  ///< counts from 1970, not a length
};

class ColumnExpression {
 public:
  /// Nothing if the text is no arithmetic on columns of `header`; `problem` then says why.
  static std::optional<ColumnExpression> parse(std::string_view text,
                                               const std::vector<std::string>& header,
                                               std::string& problem);

  /// The columns that it names, by their place in the header, in its order; repeated if named twice.
  const std::vector<std::size_t>& fields() const { return fields_; }
  /// Whether it has numbers, * or /: then the cells' unit is the user's affair.
  bool converts() const { return converts_; }

  /// Its value; `cell` gives that of a column's cell. Nothing if a cell is absent (nothing), and for a result
  /// that is not finite.
  std::optional<CellValue> value(
      const std::function<std::optional<CellValue>(std::size_t field)>& cell) const;

  /// The expression with each column replaced by `cell(field)`, for messages: "50-100".
  std::string shown(const std::function<std::string(std::size_t field)>& cell) const;

 private:
  enum class Op : std::uint8_t { kField, kNumber, kAdd, kSubtract, kMultiply, kDivide, kNegate };
  struct Step {
    Op op = Op::kNumber;
    std::size_t field = 0;
    double number = 0;
  };
  /// A piece of the text that is no column, or a column.
  struct Piece {
    std::string text;
    std::optional<std::size_t> field;
  };
  class Parser;

  std::vector<Step> steps_;  ///< postfix
  std::vector<Piece> pieces_;
  std::vector<std::size_t> fields_;
  bool converts_ = false;
};

}  // namespace corun::inline traces
