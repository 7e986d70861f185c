#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

/// The public data sets, which are not part of the repository: tests read them where they are.
namespace corun::test {

/// Path of a file ("alnair/alnair_dataset.csv") in the folder of CORUN_DATA; empty where that is not set.
inline std::string public_data(const std::string& file) {
  const char* set = std::getenv("CORUN_DATA");
  return set != nullptr && *set != '\0' ? std::string(set) + "/" + file : "";
}

/// What GTEST_SKIP() says where the file is missing. The first line is the same for all tests, for the
/// report counts them by it (scripts/test_report.py).
inline std::string not_checked(const std::string& file) {
  return "needs the public data sets: set CORUN_DATA (corun data lists them)\nmissing: " + file;
}

inline bool has_public_data(const std::string& file) {
  return std::filesystem::exists(public_data(file));
}

}  // namespace corun::test
