#include "runner/config/scope.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "policies/catalog.hpp"
#include "runner/config/config_yaml.hpp"
#include "runner/config/key_descriptions.hpp"
#include "sim/error.hpp"
#include "traces/job_csv.hpp"

namespace corun::scope_test {
namespace {

using testing::HasSubstr;

std::vector<std::string> words_of(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

/// Keys of a configuration, policies and columns of the job CSV.
std::set<std::string> names_of_the_program() {
  std::set<std::string> names;
  for (const KeyDescription& key : describe_keys()) names.insert(key.key);
  for (const PolicyEntry& policy : policy_catalog()) names.insert(std::string(policy.name));
  for (const std::string_view column : job_csv_columns()) names.insert(std::string(column));
  return names;
}

TEST(Scope, WhatIsModelledHasNamesThatTheProgramKnows) {
  const std::set<std::string> known = names_of_the_program();
  for (const Topic& topic : topics()) {
    EXPECT_EQ(topic.names.empty(), topic.modelled == Modelled::kNo) << topic.name;
    for (const std::string& name : words_of(topic.names)) {
      EXPECT_TRUE(known.contains(name)) << topic.name << ": " << name;
    }
  }
}

/// A feature that lands with a key, a policy or a column of this name must change its topic.
TEST(Scope, WhatIsNotModelledHasNoKeyPolicyOrColumn) {
  for (const std::string& name : names_of_the_program()) {
    std::string word;
    std::istringstream parts(name);
    while (std::getline(parts, word, '.')) {
      const Topic* topic = find_topic(word);
      if (topic == nullptr || topic->modelled != Modelled::kNo) continue;
      // A word that is a part of a name, not the name: "gpu_speed" is no topic, "max_power" would be.
      ADD_FAILURE() << "'" << name << "' is there, and " << topic->name << " is not modelled";
    }
  }
}

TEST(Scope, EveryWordLeadsToOneTopic) {
  std::set<std::string> all;
  for (const Topic& topic : topics()) {
    EXPECT_EQ(find_topic(topic.name), &topic) << topic.name;
    for (const std::string& word : words_of(topic.words)) {
      EXPECT_TRUE(all.insert(word).second) << word;
      EXPECT_EQ(find_topic(word), &topic) << word;
    }
  }
}

TEST(Scope, FindsWordsInOtherForms) {
  ASSERT_NE(find_topic("SLO"), nullptr);
  EXPECT_EQ(find_topic("SLO")->name, "deadlines");
  EXPECT_EQ(find_topic("batch_size")->name, "elastic jobs");
  EXPECT_EQ(find_topic("max_power_w")->name, "energy");
  EXPECT_EQ(find_topic("cluster.mig")->name, "MIG");
  EXPECT_EQ(find_topic("Out of memory")->name, "out of memory");
  for (const char* none : {"", "-", "..", "xyzzy", "nodes"}) EXPECT_EQ(find_topic(none), nullptr);
}

TEST(Scope, AnUnknownKeyOfATopicSaysWhatToUse) {
  const auto refusal = [](const std::string& override) -> std::string {
    try {
      default_config_with(parse_overrides(std::vector<std::string>{override}), policy_catalog());
    } catch (const InputError& e) {
      return e.what();
    }
    return "taken";
  };
  EXPECT_THAT(refusal("cluster.mig=2"), HasSubstr("MIG: not modelled: a GPU has no slices"));
  EXPECT_THAT(refusal("cluster.mig=2"), HasSubstr("known: path, machines"));
  EXPECT_THAT(refusal("elastic=true"), HasSubstr("elastic jobs: modelled in part"));
  EXPECT_THAT(refusal("energy=true"), HasSubstr("energy: not modelled"));
  EXPECT_THAT(refusal("cluster.quota=3"), HasSubstr("quota: modelled in part"));
}

TEST(Scope, ThePageAgrees) {
  const std::string docs = std::string(CORUN_SOURCE_DIR) + "/docs/";
  std::ifstream page(docs + "limits.md");
  std::string line;
  while (std::getline(page, line) && !line.starts_with("---|")) {
  }
  for (const Topic& topic : topics()) {
    std::string names;
    for (const std::string& name : words_of(topic.names)) {
      names += (names.empty() ? "`" : ", `") + name + "`";
    }
    const std::string file(topic.page.substr(topic.page.find('/') + 1));
    EXPECT_TRUE(std::filesystem::exists(docs + file)) << file;
    ASSERT_TRUE(std::getline(page, line)) << topic.name;
    EXPECT_EQ(line, fmt::format("{} | {} | {} | {} | [{}]({})", topic.name, name_of(topic.modelled),
                                topic.text, names, file.substr(0, file.size() - 3), file));
  }
  EXPECT_FALSE(std::getline(page, line) && line.find(" | ") != std::string::npos) << line;
}

}  // namespace
}  // namespace corun::scope_test
