#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <boost/program_options.hpp>

/// Values of options that several commands read the same way. All throw InputError that begins with the
/// flag.
namespace corun {

/// One of the known names; anything else is answered with them and the nearest.
std::string choice_option(const boost::program_options::variables_map& values,
                          const std::string& key, std::span<const std::string_view> known);
std::string choice_option(const boost::program_options::variables_map& values,
                          const std::string& key, std::initializer_list<std::string_view> known);

/// A number from `min` to `max`; `what` says what it is, "a ratio".
double number_option(const boost::program_options::variables_map& values, const std::string& key,
                     double min, double max, const std::string& what);

/// The parts between separators; one more than there are of them.
std::vector<std::string> split_text(const std::string& text, char separator);

}  // namespace corun
