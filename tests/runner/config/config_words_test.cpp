#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "runner/config/config_keys.hpp"
#include "runner/config/config_writer.hpp"
#include "tests/runner/config/config_test_support.hpp"

/// Every key of words accepts each of its words, writes it back, and refuses others.
namespace corun::config_words_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

struct WordKey {
  std::string path;
  std::vector<std::string_view> words;
  bool may_be_null = false;
};

std::vector<WordKey> word_keys() {
  Config any;
  std::vector<WordKey> found;
  for (const ConfigKey& key : config_keys(any)) {
    const auto* word = std::get_if<KeyWord>(&key.value);
    if (word != nullptr) found.push_back({std::string(key.path), word->words, word->may_be_null});
  }
  return found;
}

/// Overrides that some words require.
Strings beside(const std::string& path, std::string_view word) {
  if (path == "control.mode" && word == "rounds") return {"control.round_s=60"};
  if (path == "control.tick_rule" && word == "progress") return {"control.tick_s=1"};
  return {};
}

Config with_word(const std::string& path, std::string_view word) {
  Strings overrides = beside(path, word);
  overrides.push_back(fmt::format("{}={}", path, word));
  return default_config_with(parse_overrides(overrides), with_defaults());
}

/// The value of a key "section.name".
nlohmann::ordered_json written(const Config& config, const std::string& path) {
  const std::size_t point = path.find('.');
  return to_json(config)[path.substr(0, point)][path.substr(point + 1)];
}

TEST(ConfigWords, AreThoseOfThisManyKeys) { EXPECT_EQ(word_keys().size(), 15U); }

TEST(ConfigWords, AreReadAndWrittenBack) {
  for (const WordKey& key : word_keys()) {
    EXPECT_GE(key.words.size(), 2U) << key.path;
    for (const std::string_view word : key.words) {
      const Config config = with_word(key.path, word);
      EXPECT_EQ(written(config, key.path).get<std::string>(), word) << key.path;
      const std::string dump = dump_yaml(config);
      EXPECT_NE(dump.find(fmt::format(": {}\n", word)), std::string::npos) << dump;
      EXPECT_EQ(dump_yaml(parse_config(dump, "dump.yaml", {}, with_defaults())), dump) << key.path;
    }
  }
}

TEST(ConfigWords, NullStandsWhereItMay) {
  for (const WordKey& key : word_keys()) {
    const std::string error = error_of("seed: 1\n", {key.path + "=null"});
    if (key.may_be_null) {
      EXPECT_EQ(error, "accepted") << key.path;
      EXPECT_TRUE(written(with_word(key.path, "null"), key.path).is_null()) << key.path;
    } else {
      EXPECT_NE(error.find(": found nothing (null), expected one of "), std::string::npos) << error;
    }
  }
}

TEST(ConfigWords, OthersAreRefusedWithTheFullList) {
  for (const WordKey& key : word_keys()) {
    const std::string override = key.path + "=Xyzzy";
    EXPECT_EQ(error_of("seed: 1\n", {override}),
              fmt::format("--set {}: {}: found 'Xyzzy', expected one of {}{}", override, key.path,
                          fmt::join(key.words, ", "), key.may_be_null ? ", or null" : ""));
  }
}

}  // namespace
}  // namespace corun::config_words_test
