#include "sim/base/csv_text.hpp"

#include <charconv>
#include <cmath>
#include <system_error>

namespace corun::inline sim {

std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

std::string csv_number(double value) {
  if (std::isnan(value)) return "";
  char digits[32];
  const auto [end, error] = std::to_chars(digits, digits + sizeof digits, value);
  return error == std::errc{} ? std::string(digits, end) : std::string();
}

std::string csv_number(const std::optional<double>& value) {
  return value ? csv_number(*value) : std::string();
}

}  // namespace corun::inline sim
