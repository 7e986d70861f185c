#pragma once

#include <optional>
#include <string>
#include <string_view>

/// Fields of CSV (RFC 4180).
namespace corun::inline sim {

/// `text` as a CSV field, quoted if it has a comma, a quote or a line break.
std::string csv_text(std::string_view text);

/// The shortest decimal that reads back as the same double; NaN is the empty field.
std::string csv_number(double value);

/// The same; std::nullopt is the empty field, too.
std::string csv_number(const std::optional<double>& value);

}  // namespace corun::inline sim
