#include "runner/inputs/public_data_sets.hpp"

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tests/helpers/public_data.hpp"
#include "tests/helpers/temporary_directory.hpp"

namespace corun::public_data_sets_test {
namespace {

std::set<std::string> listed() {
  std::set<std::string> files;
  for (const PublicDataSet& set : public_data_sets()) files.emplace(set.file);
  return files;
}

TEST(PublicDataSets, EachFileOnceAndDescribed) {
  EXPECT_EQ(listed().size(), public_data_sets().size());
  const std::regex sha("[0-9a-f]{64}");
  std::set<const DataSource*> closed;
  const DataSource* source = nullptr;
  for (const PublicDataSet& set : public_data_sets()) {
    EXPECT_FALSE(set.holds.empty() || set.path.empty() || origin_text(set.origin).empty())
        << set.file;
    EXPECT_TRUE(std::regex_match(std::string(set.sha256), sha)) << set.file;
    if (set.source != source) {
      EXPECT_TRUE(closed.insert(set.source).second) << "not in a row: " << set.source->repository;
    }
    source = set.source;
  }
}

TEST(PublicDataSets, WhatTheSourcesNameIsListed) {
  namespace fs = std::filesystem;
  const std::regex named(
      R"(\b((alnair|gavel|lucid|openb|peers|realruns)/[\w/.]*\w\.(csv|json|trace))\b)");
  const std::set<std::string> known = listed();
  std::size_t found = 0;
  for (const char* folder :
       {"experiments", "docs", "traces", "examples", "bench", "cli", "runner", "evaluation"}) {
    for (const auto& entry :
         fs::recursive_directory_iterator(std::string(CORUN_SOURCE_DIR "/") + folder)) {
      const std::string ending = entry.path().extension().string();
      if (ending != ".cpp" && ending != ".hpp" && ending != ".py" && ending != ".yaml" &&
          ending != ".md") {
        continue;
      }
      const std::string text = test::read_file(entry.path().string());
      for (std::sregex_iterator at(text.begin(), text.end(), named), end; at != end; ++at) {
        ++found;
        EXPECT_TRUE(known.contains((*at)[1])) << (*at)[1] << " in " << entry.path();
      }
    }
  }
  EXPECT_GT(found, 60U);
}

TEST(PublicDataSets, AFileIsFoundWithItsChecksum) {
  const PublicDataSet& set = public_data_sets().front();
  EXPECT_FALSE(find_data_set(set, "").present);
  const test::TemporaryDirectory directory;
  EXPECT_FALSE(find_data_set(set, directory.path()).present);
  const std::filesystem::path path = directory.path() + "/" + std::string(set.file);
  std::filesystem::create_directories(path);
  EXPECT_FALSE(find_data_set(set, directory.path()).present) << "a directory is no file";
  std::filesystem::remove(path);
  std::ofstream(path) << "abc";
  const FoundDataSet found = find_data_set(set, directory.path());
  EXPECT_TRUE(found.present);
  EXPECT_EQ(found.bytes, 3U);
  EXPECT_EQ(found.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_FALSE(found.as_tested);
}

TEST(PublicDataSets, FilesHereAreThoseThatCorunIsTestedWith) {
  const std::string first(public_data_sets().front().file);
  if (!test::has_public_data(first)) GTEST_SKIP() << test::not_checked(first);
  for (const PublicDataSet& set : public_data_sets()) {
    const FoundDataSet found = find_data_set(set, test::public_data("."));
    EXPECT_TRUE(!found.present || found.as_tested) << set.file;
  }
}

}  // namespace
}  // namespace corun::public_data_sets_test
