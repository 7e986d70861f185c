#include "runner/config/key_descriptions.hpp"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "runner/config/config_writer.hpp"
#include "tests/runner/config/config_test_support.hpp"

namespace corun::key_descriptions_test {
namespace {

using namespace config_test;  // NOLINT: its own tests

/// The cells of a row of a Markdown table without bars at its ends.
std::vector<std::string> cells_of(const std::string& row) {
  std::vector<std::string> cells;
  for (std::size_t begin = 0; begin <= row.size();) {
    const std::size_t end = std::min(row.find('|', begin), row.size());
    std::string cell = row.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t first = cell.find_first_not_of(' ');
    const std::size_t last = cell.find_last_not_of(' ');
    cell = first == std::string::npos ? "" : cell.substr(first, last - first + 1);
    cells.push_back(std::move(cell));
  }
  return cells;
}

std::string without_marks(std::string text) {
  std::erase(text, '`');
  return text;
}

/// The rows of the table of keys in docs/configuration.md.
std::vector<std::vector<std::string>> documented() {
  std::ifstream page(std::string(CORUN_SOURCE_DIR) + "/docs/configuration.md");
  std::string line;
  while (std::getline(page, line) && line != "key | default | meaning") {
  }
  std::getline(page, line);  // ---|---|---
  std::vector<std::vector<std::string>> rows;
  while (std::getline(page, line) && line.starts_with('`')) rows.push_back(cells_of(line));
  return rows;
}

TEST(KeyDescriptions, TheTableOfTheDocumentationAgrees) {
  std::map<std::string, std::string> defaults;
  for (const KeyDescription& key : describe_keys()) defaults[key.key] = key.by_default;
  std::set<std::string> found;
  for (const std::vector<std::string>& row : documented()) {
    ASSERT_EQ(row.size(), 3U) << row.front();
    const std::string key = without_marks(row[0]);
    EXPECT_TRUE(found.insert(key).second) << key << " is documented twice";
    ASSERT_TRUE(defaults.contains(key))
        << "docs/configuration.md has '" << key << "', corun list keys has not; one row is one key";
    EXPECT_EQ(without_marks(row[1]), defaults.at(key)) << "default of " << key;
    EXPECT_FALSE(row[2].empty()) << key << " has no meaning";
  }
  for (const auto& [key, by_default] : defaults) {
    EXPECT_TRUE(found.contains(key)) << key << " is missing in docs/configuration.md";
  }
}

TEST(KeyDescriptions, AKeyWithItsDefaultIsTheDefaultConfiguration) {
  const std::string expected = dump_yaml(default_config());
  for (const KeyDescription& key : describe_keys()) {
    const Strings override{key.key + "=" + key.by_default};
    EXPECT_EQ(dump_yaml(default_config_with(parse_overrides(override), with_defaults())), expected)
        << override[0];
  }
}

TEST(KeyDescriptions, SayWhatARefusalSays) {
  for (const KeyDescription& key : describe_keys()) {
    const std::string error = error_of("seed: 1\n", {key.key + "={a: b}"});
    EXPECT_NE(error.find(": found a map, expected " + key.value), std::string::npos) << error;
  }
}

TEST(KeyDescriptions, AreOneLineEachAndAllDifferent) {
  std::set<std::string> keys;
  for (const KeyDescription& key : describe_keys()) {
    EXPECT_TRUE(keys.insert(key.key).second) << key.key;
    EXPECT_FALSE(key.meaning.empty()) << key.key;
    EXPECT_LE(key.meaning.size(), 100U) << key.key;
    EXPECT_EQ((key.key + key.by_default + key.value + key.meaning).find('\n'), std::string::npos);
  }
  EXPECT_FALSE(keys.empty());
}

}  // namespace
}  // namespace corun::key_descriptions_test
