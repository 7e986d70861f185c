#include "traces/decimal_text.hpp"

#include <array>
#include <charconv>
#include <cmath>

namespace corun::inline traces {
namespace {

/// Room for the largest and the smallest double without an exponent.
using Digits = std::array<char, 512>;

}  // namespace

std::string decimal_text(double value) {
  if (std::isnan(value)) return "";
  Digits digits{};
  const auto done = std::to_chars(digits.begin(), digits.end(), value, std::chars_format::fixed);
  std::string text(digits.data(), done.ptr);
  if (text.find('.') == std::string::npos) text += ".0";
  return text;
}

std::string rounded_text(double value, int digits) {
  if (!std::isfinite(value)) return "";
  Digits all{};
  const auto done = std::to_chars(all.begin(), all.end(), value, std::chars_format::fixed, digits);
  std::string text(all.data(), done.ptr);
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
  return text;
}

}  // namespace corun::inline traces
