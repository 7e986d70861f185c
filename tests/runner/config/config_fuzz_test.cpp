#include <cstddef>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "runner/config/config_yaml.hpp"
#include "sim/error.hpp"
#include "tests/runner/config/config_test_support.hpp"

namespace corun::config_fuzz_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

/// Fails unless parsing gives a Config or an InputError with a place.
void expect_answer(const std::string& text) {
  try {
    const Config c = parse(text);
    const std::string dump = dump_yaml(c);
    EXPECT_EQ(dump_yaml(parse(dump)), dump) << "from: " << text;
  } catch (const InputError& e) {
    const std::string error = e.what();
    EXPECT_EQ(error.substr(0, 7), "c.yaml:") << error;
    // Two numbers from 1 follow, then ": " and a message.
    std::size_t line_end = 0;
    std::size_t column_end = 0;
    EXPECT_GE(std::stoi(error.substr(7), &line_end), 1) << error;
    EXPECT_GE(std::stoi(error.substr(8 + line_end), &column_end), 1) << error;
    EXPECT_EQ(error.substr(8 + line_end + column_end, 2), ": ") << error;
    EXPECT_EQ(error.find_first_of("\n\r\t"), std::string::npos) << error;
  }
}

TEST(Fuzz, EveryPrefix) {
  for (std::size_t n = 0; n <= kFull.size(); ++n) expect_answer(kFull.substr(0, n));
}

/// Replaces each byte by hostile ones, one in `stride` of them.
void replace_every_byte(std::size_t stride) {
  const std::string hostile = std::string(1, '\0') + "\xff\n\t '\"{],:-#&*";
  std::size_t number = 0;
  for (std::size_t i = 0; i < kFull.size(); ++i) {
    for (const char c : hostile) {
      if (number++ % stride != 0) continue;
      std::string text = kFull;
      text[i] = c;
      expect_answer(text);
    }
  }
}

// Fourteen hostile bytes: a stride of five meets each byte with two or three of them. The optimised build has all.
TEST(Fuzz, EveryByteReplacedBySome) { replace_every_byte(5); }
TEST(Fuzz, EveryByteReplaced) { replace_every_byte(1); }

void leave_out_or_double(std::size_t stride) {
  for (std::size_t i = 0; i < kFull.size(); i += stride) {
    expect_answer(std::string(kFull).erase(i, 1));
    expect_answer(std::string(kFull).insert(i, 1, kFull[i]));
  }
}

TEST(Fuzz, EveryThirdByteLeftOutOrDoubled) { leave_out_or_double(3); }
TEST(Fuzz, EveryByteLeftOutOrDoubled) { leave_out_or_double(1); }

/// Parses all texts of `length` characters of `alphabet`.
void expect_answers_to_all(std::string_view alphabet, std::size_t length) {
  std::size_t count = 1;
  for (std::size_t k = 0; k < length; ++k) count *= alphabet.size();
  for (std::size_t number = 0; number < count; ++number) {
    std::string text;
    for (std::size_t k = 0, rest = number; k < length; ++k, rest /= alphabet.size()) {
      text += alphabet[rest % alphabet.size()];
    }
    expect_answer(text);
  }
}

TEST(Fuzz, ShortTextsOfYamlCharacters) {
  for (std::size_t length = 1; length <= 3; ++length) {
    expect_answers_to_all("a1:-?[]{},&*!|>'\"#%\n ~", length);
  }
  expect_answers_to_all("a:-?[]{},\n ", 4);
}

}  // namespace
}  // namespace corun::config_fuzz_test
