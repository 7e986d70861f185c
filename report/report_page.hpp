#pragma once

#include <string_view>

namespace corun::inline report {

/// The page of `corun report`: HTML with its script and style inside, and one mark "@DATA@" where the data go. Empty
/// if Node.js or the packages of web/package-lock.json were missing when this program was built.
std::string_view report_page();

}  // namespace corun::inline report
