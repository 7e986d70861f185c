#pragma once

#include <string>

/// Numbers in the style of the public tables of measurements, which have the texts of Python's repr() and
/// round(): all numbers but counts have a point, "1.0".
namespace corun::inline traces {

/// The shortest decimal without exponent that reads back as the same double; NaN is the empty field.
std::string decimal_text(double value);

/// Rounded to `digits` digits behind the point, without trailing zeros except directly behind the point:
/// "0.5", "2.0". Empty for a value that is not finite.
std::string rounded_text(double value, int digits);

}  // namespace corun::inline traces
