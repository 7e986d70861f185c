#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

/// Values of options that several commands share. All throw InputError that begins with the flag.
namespace corun::inline cli {

/// The value, which must be one of the known names; the error lists them and suggests the nearest.
std::string choice_option(const boost::program_options::variables_map& values,
                          const std::string& key, std::span<const std::string_view> known);
std::string choice_option(const boost::program_options::variables_map& values,
                          const std::string& key, std::initializer_list<std::string_view> known);

/// A number from `min` to `max`; messages call it `what`, such as "a ratio".
double number_option(const boost::program_options::variables_map& values, const std::string& key,
                     double min, double max, const std::string& what);

/// The parts between separators: one more than there are separators.
std::vector<std::string> split_text(const std::string& text, char separator);

}  // namespace corun::inline cli
