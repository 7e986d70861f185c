#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

/// The public data sets are not part of the repository: tests that need them read the folder of CORUN_DATA.
namespace corun::test {

/// Path of a file ("alnair/alnair_dataset.csv") in the folder of CORUN_DATA; empty if that is not set.
inline std::string public_data(const std::string& file) {
  const char* set = std::getenv("CORUN_DATA");
  return set != nullptr && *set != '\0' ? std::string(set) + "/" + file : "";
}

/// Message of GTEST_SKIP() if the file is missing. The first line is the same for all tests, because the
/// report counts tests by it (scripts/test_report.py).
inline std::string not_checked(const std::string& file) {
  return "needs the public data sets: set CORUN_DATA (corun data lists them)\nmissing: " + file;
}

inline bool has_public_data(const std::string& file) {
  return std::filesystem::exists(public_data(file));
}

}  // namespace corun::test
