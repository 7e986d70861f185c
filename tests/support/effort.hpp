#pragma once

namespace corun::test {

/// FitOptions::effort of fits in tests of contracts: same bytes on any number of threads, in any order
/// and after a file, sound numbers, copies that learn apart. They hold at any effort, and a fit takes
/// a tenth of the time or less. Tests that judge errors or the coverage of intervals, and recorded
/// outputs, take 1.
inline constexpr double kLittleEffort = 0.1;
/// The same as a value of --effort.
inline constexpr const char* kLittleEffortText = "0.1";

}  // namespace corun::test
