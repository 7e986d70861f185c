#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

/// The public data sets, which are not part of the repository: tests read them where they are.
namespace corun::test {

/// Path of a file ("alnair/alnair_dataset.csv") in the folder of CORUN_DATA, else in shared/data beside
/// the checkout.
inline std::string public_data(const std::string& file) {
  const char* set = std::getenv("CORUN_DATA");
  const std::string folder =
      set != nullptr && *set != '\0' ? set : CORUN_SOURCE_DIR "/../shared/data";
  return folder + "/" + file;
}

/// What GTEST_SKIP() says where the file is missing.
inline std::string not_checked(const std::string& file) {
  return "NOT CHECKED: " + public_data(file) +
         " is missing; set CORUN_DATA to the data directory that holds " + file;
}

inline bool has_public_data(const std::string& file) {
  return std::filesystem::exists(public_data(file));
}

}  // namespace corun::test
