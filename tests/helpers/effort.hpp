#pragma once

namespace corun::test {

/// FitOptions::effort of fits in tests that do not judge accuracy. They test the same bytes at any number of threads and
/// for any order of rows, saving and loading, finite numbers, and copies of a model that learn independently: these hold
/// at any effort. Such a fit takes a tenth of the time or less. Tests that judge errors or the coverage of intervals, and
/// recorded outputs, take 1.
inline constexpr double kLittleEffort = 0.1;
/// The same as a value of --effort.
inline constexpr const char* kLittleEffortText = "0.1";

}  // namespace corun::test
