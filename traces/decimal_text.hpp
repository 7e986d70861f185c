#pragma once

#include <string>

/// Numbers as tables of measurements write them, with a point in every number that is no count: "1.0".
/// These are the texts that Python's repr() and round() give, by which the public tables were written.
namespace corun {

/// The shortest decimal without exponent that reads back as the same double; NaN is the empty field.
std::string decimal_text(double value);

/// Rounded to so many digits behind the point, without zeros at the end but the one behind the point:
/// "0.5", "2.0". Empty for what is no finite number.
std::string rounded_text(double value, int digits);

}  // namespace corun
