#include "cli/option_values.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "sim/base/text.hpp"
#include "sim/error.hpp"

namespace corun::inline cli {

namespace po = boost::program_options;

std::string choice_option(const po::variables_map& values, const std::string& key,
                          std::span<const std::string_view> known) {
  std::string value = values[key].as<std::string>();
  if (std::ranges::find(known, value) == known.end()) {
    throw InputError("--" + key, "found '" + printable(value) + "': " + did_you_mean(value, known));
  }
  return value;
}

std::string choice_option(const po::variables_map& values, const std::string& key,
                          std::initializer_list<std::string_view> known) {
  return choice_option(values, key, std::span(known.begin(), known.size()));
}

double number_option(const po::variables_map& values, const std::string& key, double min,
                     double max, const std::string& what) {
  const std::string text = values[key].as<std::string>();
  const auto number = parse_number(text);
  if (!number || *number < min || *number > max) {
    throw InputError("--" + key, fmt::format("found '{}', expected {} from {} to {}",
                                             printable(text), what, min, max));
  }
  return *number;
}

std::vector<std::string> split_text(const std::string& text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t from = 0;;) {
    const auto to = text.find(separator, from);
    parts.push_back(text.substr(from, to - from));
    if (to == std::string::npos) return parts;
    from = to + 1;
  }
}

}  // namespace corun::inline cli
