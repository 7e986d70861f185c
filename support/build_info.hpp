#pragma once

#include <string>

/// The version and commit that `--version` prints and every output records.
namespace corun::inline support {

/// As released, "0.1.0".
std::string version();
/// The first twelve digits of the commit of the build, with "-dirty" appended if tracked files
/// differed; "unknown" outside a checkout.
std::string commit();

}  // namespace corun::inline support
