#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "report/report.hpp"
#include "tests/helpers/program.hpp"

/// Results files for tests of reports, and the columns of the page.
namespace corun::report_test {

/// A directory with the results of one call of the program.
class Results {
 public:
  /// Writes `input`, if given, to the file that the second argument names; runs `arguments` and --output in the
  /// directory.
  explicit Results(std::vector<std::string> arguments, const std::string& input = "")
      : path_(directory_.path("results.h5")) {
    if (!input.empty()) directory_.write(arguments.at(1), input);
    arguments.insert(arguments.end(), {"--quiet", "--output", path_});
    const test::Outcome outcome = test::run_corun(arguments, directory_.path());
    EXPECT_EQ(outcome.code, 0) << outcome.err;
  }

  const std::string& path() const { return path_; }
  const test::TemporaryDirectory& directory() const { return directory_; }

 private:
  test::TemporaryDirectory directory_;
  std::string path_;
};

/// Bytes of base64 text, read one letter after the other.
inline std::vector<std::uint8_t> bytes_of(const std::string& text) {
  const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::vector<std::uint8_t> out;
  unsigned bits = 0;
  int have = 0;
  for (const char c : text) {
    if (c == '=') break;
    const std::size_t value = letters.find(c);
    EXPECT_NE(value, std::string::npos) << "in base64: " << c;
    bits = (bits << 6 | static_cast<unsigned>(value)) & 0xffffffU;
    have += 6;
    if (have >= 8) {
      have -= 8;
      out.push_back(static_cast<std::uint8_t>(bits >> have));
    }
  }
  return out;
}

/// The numbers of a packed column.
template <typename Number>
std::vector<Number> numbers_of(const Json& text) {
  const std::vector<std::uint8_t> bytes = bytes_of(text.get<std::string>());
  std::vector<Number> out(bytes.size() / sizeof(Number));
  std::memcpy(out.data(), bytes.data(), out.size() * sizeof(Number));
  return out;
}

}  // namespace corun::report_test
