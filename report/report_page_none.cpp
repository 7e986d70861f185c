#include "report/report_page.hpp"

/// In place of the page that web/build.mjs makes, where it could not be made.
namespace corun::inline report {

std::string_view report_page() { return {}; }

}  // namespace corun::inline report
