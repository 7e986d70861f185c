#pragma once

#include <string>

/// Which corun this is: what `--version` prints and every output records.
namespace corun {

/// As released, "0.1.0".
std::string version();
/// The first twelve digits of the commit it was built from, "-dirty" behind them when tracked files
/// differed; "unknown" outside a checkout.
std::string commit();

}  // namespace corun
